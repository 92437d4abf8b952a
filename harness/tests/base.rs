//! Templates checked against the ones that they were made from: `check --like`, and `base` in
//! rolecall.toml.

use crate::folder::Folder;

const GOOD: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n\
                    {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A folder with a template and one that was made from it by replacing a text.
fn fork(part: &str, instead: &str) -> Folder {
    let folder = Folder::empty();
    let own = GOOD.replace(part, instead);
    assert_ne!(own, GOOD);
    folder.write("good.jinja", GOOD);
    folder.write("own.jinja", &own);
    folder
}

/// The document of `check --format json`, and the exit code.
fn compared(folder: &Folder, arguments: &[&str]) -> (serde_json::Value, i32) {
    let ran = folder.rolecall(&[&["check", "--format", "json", "-q"], arguments].concat());
    let document = serde_json::from_str(&ran.stdout());
    (
        document.unwrap_or_else(|_| panic!("{}", ran.stderr())),
        ran.code(),
    )
}

/// Whatever an edit does to conversations, it is one group, which says where the edit is.
#[test]
fn an_edit_of_the_template_is_one_difference() {
    let folder = fork("{% if add_generation_prompt %}", "{% if messages[1] %}");
    let like = ["own.jinja", "--like", "good.jinja"];
    let (one, _) = compared(&folder, &like);
    let groups = one["bases"][0]["differences"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{groups:#?}");
    let edit = &groups[0]["source_edit"];
    assert_eq!(edit["lines"], serde_json::json!([3]));
    assert_eq!(edit["a"], "{% if add_generation_prompt %}");
    assert_eq!(edit["b"], "{% if messages[1] %}");
    let kinds = groups[0]["kinds"].as_array().unwrap().iter();
    let count: u64 = kinds.map(|kind| kind["count"].as_u64().unwrap()).sum();
    assert_eq!(count, one["bases"][0]["counts"]["differ"].as_u64().unwrap());
    // A plain question is shown, although others are shorter.
    assert_eq!(groups[0]["cases"][0]["case"], "plain/single-turn");
    let ran = folder.rolecall(&[&["check", "--format", "github"], like.as_slice()].concat());
    let said = ran.stdout();
    assert!(said.contains("file=own.jinja,line=3"), "{said}");
    assert!(
        said.contains("differs from its base good.jinja by line 3 in "),
        "{said}"
    );

    // Two edits are two differences, and each case has the one that makes it.
    let own = GOOD.replace("{{ m.content }}", "{{ m.content | trim }}");
    folder.write(
        "own.jinja",
        &own.replace("<|im_start|>assistant", "<|im_start|>model"),
    );
    let (two, _) = compared(&folder, &like);
    let groups = two["bases"][0]["differences"].as_array().unwrap();
    let lines: Vec<_> = groups
        .iter()
        .map(|group| group["source_edit"]["lines"].clone())
        .collect();
    let both = |line: u64| serde_json::json!([line]);
    assert!(
        lines.contains(&both(2)) && lines.contains(&both(3)),
        "{lines:?}"
    );
    let with = |line: u64| {
        groups
            .iter()
            .find(|group| group["source_edit"]["lines"] == both(line))
    };
    let ids = with(2).unwrap()["contracts"].as_array().unwrap();
    assert!(ids.contains(&"whitespace-verbatim".into()), "{ids:?}");
    assert!(
        !with(3).unwrap()["contracts"]
            .to_string()
            .contains("whitespace")
    );

    // Ollama's templates have edits, too.
    let go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}</s>\n{{ end }}<assistant>";
    folder.write("good.gotmpl", go);
    folder.write("own.gotmpl", &go.replace(".Content", ".Role"));
    let (ollama, _) = compared(&folder, &["own.gotmpl", "--like", "good.gotmpl"]);
    let groups = ollama["bases"][0]["differences"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{groups:#?}");
    assert_eq!(groups[0]["source_edit"]["b"], "{{ .Role }}");
    assert_eq!(groups[0]["meaning"], "breaks");
}
