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
    let ran = folder.rolecall(&[&["check", "--format", "json"], arguments].concat());
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
