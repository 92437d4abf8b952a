//! The command `generate`: what it prints and what it writes.

use serde_json::Value;

use crate::folder::{Folder, Ran};

const TEMPLATE: &str = "\
{%- for m in messages -%}
{%- if m.role == 'tool' and m.name == 'clock' -%}
{{ m.content }}
{%- endif -%}
{%- if false %}{{ m.never }}{% endif -%}
{%- endfor -%}
";

const CASES: &str = r#"{"about": "Talks.", "cases": {
    "one": {"about": "A question.", "messages": [{"role": "user", "content": "q"}]}}}"#;

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("t.jinja", TEMPLATE);
    folder.write("talks.json", CASES);
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

fn rolecall(folder: &Folder, command: &str, arguments: &[&str]) -> Ran {
    let asked = [command, "t.jinja", "--cases", "talks.json"];
    folder.rolecall(&[&asked, arguments].concat())
}

fn generate(folder: &Folder, arguments: &[&str]) -> Ran {
    rolecall(
        folder,
        "generate",
        &[&["--tries", "6000"], arguments].concat(),
    )
}

#[test]
fn people_see_new_cases_and_what_stays_unreached() {
    let folder = folder();
    let ran = generate(&folder, &[]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let text = ran.stdout();
    for expected in [
        "with 1 case",
        "3 (statement",
        "\"name\": \"clock\"",
        "and 1 unreachable",
        "5:19 statement unreachable: a literal decides",
        // transformers refuses an empty conversation.
        "1:5 loop never without items",
    ] {
        assert!(text.contains(expected), "{expected:?} in\n{text}");
    }
    assert_eq!(text, generate(&folder, &[]).stdout());
}

#[test]
fn written_cases_reach_what_they_are_for() {
    let folder = folder();
    let ran = generate(&folder, &["--write", "new"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert!(ran.stderr().contains("wrote new"), "{}", ran.stderr());
    let file = read(&folder, "new/generated-t.json");
    let document: Value = serde_json::from_str(&file).unwrap();
    let cases = document["cases"].as_object().unwrap();
    let abouts = cases.values().map(|case| case["about"].as_str().unwrap());
    assert!(
        abouts
            .into_iter()
            .any(|about| about.contains("3 (statement)")),
        "{file}"
    );
    let ran = rolecall(
        &folder,
        "cover",
        &["--cases", "new/generated-t.json", "--format", "json"],
    );
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    let coverage: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let sites = coverage["templates"][0]["sites"].as_array().unwrap();
    let missing = sites.iter().filter(|site| site.get("missing").is_some());
    let missing: Vec<_> = missing.map(|site| site["line"].as_u64().unwrap()).collect();
    assert_eq!(missing, [1, 5], "{file}");
    let rendered = folder.rolecall(&[
        "render",
        "--templates",
        "t.jinja",
        "--cases",
        "new",
        "--format",
        "jsonl",
    ]);
    assert_eq!(rendered.stdout().lines().count(), cases.len());
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let folder = folder();
    for target in ["own.json", "."] {
        let file = if target == "." {
            "generated-t.json"
        } else {
            target
        };
        folder.write(file, "mine");
        let ran = generate(&folder, &["--write", target]);
        assert_eq!(ran.code(), 2, "{}", ran.stdout());
        assert!(ran.stderr().contains("--overwrite"), "{}", ran.stderr());
        assert_eq!(read(&folder, file), "mine");
        let ran = generate(&folder, &["--write", target, "--overwrite"]);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        assert!(read(&folder, file).contains("\"cases\""));
    }
    folder.write("u.jinja", TEMPLATE);
    let asked = [
        "generate",
        "t.jinja",
        "u.jinja",
        "--cases",
        "talks.json",
        "--tries",
        "10",
        "--write",
        "two.json",
    ];
    let ran = folder.rolecall(&asked);
    assert_eq!(ran.code(), 2, "{}", ran.stdout());
    assert!(ran.stderr().contains("name a folder"), "{}", ran.stderr());
    assert!(!folder.path("two.json").exists());
}
