//! Names that would lead out of a folder, that some systems do not allow, or that would control a
//! terminal.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::{Folder, contents, ended, has, install_reference, link, suite};

/// File names without their extension that no template and no family may have.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        ".",
        "..",
        "...",
        "-dash",
        "CON",
        "con",
        "nul.x",
        "com1",
        "a b",
        "a\\b",
        "a:b",
        "a\nb",
        "a\u{1b}[31mb",
        "a\u{202e}b",
        "a\u{7f}",
        "Chat",
        "CHAT",
        "e\u{301}",
        "\u{e9}",
        "a.",
        "~",
        "$HOME",
        "*",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("x".repeat(65));
    names.push("x".repeat(240));
    names
}

#[test]
fn templates_of_the_suite_have_names_that_can_be_folders() {
    let folder = Folder::new();
    install_reference(&folder, "word");
    for name in names() {
        folder.write(&format!("cases/templates/{name}.jinja"), "{{ 1 }}");
    }
    fs::write(
        folder
            .path("cases/templates")
            .join(OsStr::from_bytes(b"a\xFFb.jinja")),
        "x",
    )
    .unwrap();
    let suite = suite(&folder);
    let loaded: Vec<_> = suite.templates.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(loaded, ["chat", "strict"]);
    assert_eq!(
        suite.problems.len(),
        names().len() + 1,
        "{:#?}",
        suite.problems
    );
    for problem in &suite.problems {
        let text = problem.to_string();
        assert!(
            text.contains("cannot be the name of a snapshot folder on every system\n  name the template with at most 64 lower-case letters")
                || text.contains("the file's name is not UTF-8"),
            "{text}"
        );
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7f}']), "{text}");
    }

    // With such names nothing is written at all, least of all elsewhere.
    let before = contents(&folder.path(""));
    for command in [
        &["run"][..],
        &["reference", "update"],
        &["lint"],
        &["show", "..", "plain/user", "--diff"],
    ] {
        assert_eq!(ended(&folder.rolecall(command)), 2, "{command:?}");
    }
    assert!(contents(&folder.path("")) == before);
}

#[test]
fn families_have_names_that_can_be_folders() {
    let folder = Folder::new();
    let case = r#"{"about": "x", "cases": {"a": {"messages": [{}]}}}"#;
    let mut count = 0;
    for name in names() {
        folder.write(&format!("cases/conversations/{name}.json"), case);
        count += 1;
    }
    let suite = suite(&folder);
    assert_eq!(suite.cases.len(), 2);
    assert_eq!(suite.problems.len(), count, "{:#?}", suite.problems);
    for problem in &suite.problems {
        let text = problem.to_string();
        has(
            &text,
            &["is not a valid family name\n  a family is named by its file: at most 64 "],
        );
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7f}']), "{text}");
    }
}

/// Outside of the suite, authors may name templates as they like: no file is named after such a
/// template, and a terminal shows only its name.
#[test]
fn templates_from_elsewhere_may_have_any_name() {
    let folder = Folder::new();
    for name in names() {
        folder.write(&format!("other/{name}.jinja"), "{{ 1 }}");
    }
    let before = contents(&folder.path(""));
    let path = folder.path("other");
    let path = path.to_str().unwrap();
    for command in [
        &["list", "templates", "--templates", path][..],
        &["run", "--pairs", "--templates", path],
        &["render", "--templates", path],
        &["check", path],
    ] {
        let ran = folder.rolecall(command);
        assert!(ended(&ran) < 2, "{command:?} {}", ran.stderr());
        let said = ran.stdout() + &ran.stderr();
        assert!(
            !said.contains(['\u{1b}', '\u{202e}', '\u{7f}']),
            "{command:?} {said:?}"
        );
    }
    // Output for programs names files exactly.
    for format in ["json", "github", "junit"] {
        assert!(ended(&folder.rolecall(&["check", path, "--format", format])) < 2);
    }
    let ran = folder.rolecall(&["render", "--templates", path, "--format", "jsonl"]);
    assert_eq!(ended(&ran), 0);
    assert_eq!(ran.json_lines().len(), 2 * names().len());
    assert!(contents(&folder.path("")) == before);
}

/// No link in the suite's folders and no name in a case makes a command read a file outside.
#[test]
fn what_lies_outside_is_not_read() {
    let folder = Folder::new();
    folder.write(
        "secret.json",
        r#"{"about": "SECRET", "cases": {"a": {"messages": [{}]}}, "name": "SECRET"}"#,
    );
    folder.write("secret.jinja", "SECRET");
    folder.write("secrets/t.json", r#"{"name": "SECRET"}"#);
    let case = r#"{"about": "x", "cases": {
        "inside": {"messages": [{}], "tools": ["here"]},
        "linked": {"messages": [{}], "tools": ["t"]},
        "named": {"messages": [{}], "tools": ["../../secret"]}}}"#;
    folder.write("cases/conversations/tools.json", case);
    folder.write("cases/tools/real.json", r#"{"name": "inside"}"#);
    link("real.json", &folder.path("cases/tools/here.json"));
    link("../../secret.json", &folder.path("cases/tools/t.json"));
    link(
        "../../secret.json",
        &folder.path("cases/conversations/linked.json"),
    );
    link(
        "../../secret.jinja",
        &folder.path("cases/templates/linked.jinja"),
    );
    link("../../secrets", &folder.path("cases/templates/below"));
    let ran = folder.rolecall(&["render", "--format", "jsonl"]);
    assert_eq!(ended(&ran), 2);
    has(
        &ran.stderr(),
        &[
            "cases/conversations/linked.json: a link that leads outside of cases/conversations\n",
            "cases/tools/t.json: a link that leads outside of cases/tools\n",
            "cases/conversations/tools.json:3:48: tool file `t` cannot be used\n",
            "cases/conversations/tools.json:4:47: no tool file is named `../../secret`\n",
            "cases/templates/linked.jinja: a link that leads outside of cases/templates\n",
        ],
    );
    assert!(!ran.stdout().contains("SECRET"));
    assert_eq!(ran.json_lines().len(), 6, "two templates with three cases");

    // A file that the user names is read, wherever it is.
    let path = folder.path("cases/templates/linked.jinja");
    let ran = folder.rolecall(&["render", "--templates", path.to_str().unwrap()]);
    has(&ran.stdout(), &["SECRET"]);
}
