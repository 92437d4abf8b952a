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

fn meanings(document: &serde_json::Value) -> Vec<&str> {
    let differences = document["bases"][0]["differences"].as_array().unwrap();
    let meanings = differences
        .iter()
        .map(|one| one["meaning"].as_str().unwrap());
    meanings.collect()
}

#[test]
fn a_template_is_reported_what_it_breaks_and_fixes() {
    let like = ["own.jinja", "--like", "good.jinja"];
    let (same, code) = compared(&fork("im_end|>\n{%", "im_end|>\n{# same #}{%"), &like);
    assert_eq!((meanings(&same), code), (Vec::new(), 0));
    let folder = fork("{{ m.content }}", "{{ m.content | trim }}");
    let (breaks, code) = compared(&folder, &like);
    assert_eq!((meanings(&breaks)[0], code), ("breaks", 1));
    let contracts = &breaks["bases"][0]["differences"][0]["contracts"];
    assert_eq!(contracts[0], "whitespace-verbatim");
    let (fixes, _) = compared(&folder, &["good.jinja", "--like", "own.jinja"]);
    assert!(meanings(&fixes).contains(&"mends"));
    assert!(!meanings(&fixes).contains(&"breaks"));
    // What no contract knows: the name of a role.
    let folder = fork("{{ m.role }}", "{{ m.role | replace('user', 'human') }}");
    let (differs, code) = compared(&folder, &like);
    assert_eq!((meanings(&differs)[0], code), ("differs", 1));
    let ran = folder.rolecall(&[&["check"], like.as_slice()].concat());
    let said = ran.stdout();
    assert!(said.contains("own compared with its base"), "{said}");
    assert!(said.contains("from good.jinja: "), "{said}");
    assert!(said.contains("just differ"), "{said}");
}

#[test]
fn tokens_that_mean_the_same_are_no_difference() {
    let folder = fork("<|im_end|>", "<end>");
    let like = ["own.jinja", "--like", "good.jinja"];
    let (other, code) = compared(&folder, &like);
    assert_eq!((meanings(&other).is_empty(), code), (false, 1));
    let (same, code) = compared(
        &folder,
        &[like.as_slice(), &["--same", "<|im_end|>=<end>"]].concat(),
    );
    assert_eq!((meanings(&same), code), (Vec::new(), 0));
    let ran = folder.rolecall(&[&["check"], like.as_slice(), &["--same", "<|im_end|>"]].concat());
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("write two tokens"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn a_suite_holds_a_template_to_its_base() {
    let folder = fork("{{ m.role }}", "{{ m.role | replace('user', 'human') }}");
    let configuration = |rest: &str| {
        format!(
            "contracts = \"off\"\n[templates.fork]\nsource = \"own.jinja\"\nbase = \"good.jinja\"\n{rest}"
        )
    };
    folder.write("rolecall.toml", &configuration(""));
    assert_eq!(compared(&folder, &[]).1, 1);
    folder.write(
        "rolecall.toml",
        &configuration("differs = { \"*\" = \"Users are human.\" }"),
    );
    let (known, code) = compared(&folder, &[]);
    assert_eq!(
        known["bases"][0]["differences"][0]["known"],
        "Users are human."
    );
    assert_eq!(code, 0);
    // What is known of an edit does not excuse what else it does.
    let other = fork("{% if add_generation_prompt %}", "{% if messages[1] %}");
    let known = "differs = { \"opening-on-request\" = \"So.\", \"system-apart\" = \"So.\" }";
    other.write("rolecall.toml", &configuration(known));
    let (some, code) = compared(&other, &[]);
    let groups = some["bases"][0]["differences"].as_array().unwrap();
    let known: Vec<bool> = groups
        .iter()
        .map(|group| group["known"].is_string())
        .collect();
    assert!(known.contains(&true) && known.contains(&false), "{known:?}");
    assert_eq!((known.len(), code), (2, 1));
    let stale = "differs = { \"*\" = \"Users are human.\", \"one-bos\" = \"It has none.\" }";
    folder.write("rolecall.toml", &configuration(stale));
    let ran = folder.rolecall(&["check"]);
    assert_eq!(ran.code(), 2);
    let reported = "rolecall.toml:4:8: `one-bos` in `differs` is no difference from the base";
    assert!(ran.stderr().contains(reported), "{}", ran.stderr());
    // Something about a base, and none.
    let text = configuration(stale).replace("base = \"good.jinja\"\n", "");
    folder.write("rolecall.toml", &text);
    let ran = folder.rolecall(&["check"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("there is none"), "{}", ran.stderr());
    // A base lies below the folder.
    folder.write(
        "rolecall.toml",
        &configuration("").replace("good.jinja", "../good.jinja"),
    );
    assert_eq!(folder.rolecall(&["check"]).code(), 2);
}

#[test]
fn a_model_card_names_the_base() {
    let folder = fork("{{ m.role }}", "{{ m.role | upper }}");
    let ran = folder.rolecall(&["check", "own.jinja", "--like", "base"]);
    assert_eq!(ran.code(), 2);
    assert!(
        ran.stderr().contains("nothing names the base of `own`"),
        "{}",
        ran.stderr()
    );
    folder.write("model/chat_template.jinja", GOOD);
    folder.write("model/config.json", "{}");
    folder.write(
        "model/README.md",
        "---\nbase_model: no-such-org/no-such-model\n---\n",
    );
    let ran = folder
        .command(&["check", "model", "--like", "base"])
        .env("HF_ENDPOINT", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    let reported = String::from_utf8(ran.stderr).unwrap();
    assert!(
        reported.contains("hf:no-such-org/no-such-model"),
        "{reported}"
    );
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
