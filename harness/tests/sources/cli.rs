//! The commands with sources.

use std::process::Output;

use super::build::Gguf;
use super::{CASES, Folder};

/// One case, and what the arguments say.
fn rolecall(folder: &Folder, arguments: &[&str]) -> Output {
    folder.write("cases.json", CASES);
    folder.run(&[arguments, &["--cases", "cases.json"]].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn what_is_broken_leaves_the_others_and_ends_in_2() {
    let folder = Folder::new();
    folder.write(
        "good/tokenizer_config.json",
        r#"{"chat_template": "{{ bos_token }}{{ messages[0].content }}", "bos_token": "<s>"}"#,
    );
    folder.write("torn.gguf", &Gguf::model("D").bytes()[..100]);
    folder.write("bad/tokenizer_config.json", "{\n\"chat_template\": 1}");
    folder.write("Modelfile", "FROM x\nTEMPLATE {{ .Prompt }}!\n");
    let sources = ["good", "torn.gguf", "bad", "Modelfile", "none"];
    let mut arguments = vec!["render", "--format", "jsonl"];
    for source in sources {
        arguments.extend(["--templates", source]);
    }
    let output = rolecall(&folder, &arguments);
    assert_eq!(output.status.code(), Some(2));
    let rendered = text(&output.stdout);
    assert!(rendered.contains(r#""text":"<s>Hi""#), "{rendered}");
    assert!(rendered.contains(r#""text":"Hi!""#), "{rendered}");
    let said = text(&output.stderr);
    for expected in [
        "torn.gguf, byte ",
        "bad/tokenizer_config.json:2:18: `chat_template` must be a string",
        "none: no such file or folder",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
}

#[test]
fn notes_are_reported_and_change_nothing() {
    let folder = Folder::new();
    folder.write("m/chat_template.jinja", "{{ messages[0].content }}");
    folder.write("m/tokenizer_config.json", r#"{"chat_template": "old"}"#);
    let output = rolecall(
        &folder,
        &["show", "m", "cases/hi", "--raw", "--templates", "m"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(output.stdout, b"Hi");
    assert_eq!(
        text(&output.stderr),
        "note: m/tokenizer_config.json: the template `default` differs from m/chat_template.jinja, which transformers 5.24 uses\n"
    );
    let output = rolecall(&folder, &["list", "templates", "--templates", "m"]);
    assert_eq!(text(&output.stdout).trim_end(), "m  jinja");
}

#[test]
fn a_template_that_does_not_parse_is_shown_in_its_place() {
    let folder = Folder::new();
    folder.write(
        "m/Modelfile",
        "FROM x\n\nTEMPLATE \"\"\"a\n{{ if }}\"\"\"\n",
    );
    let output = rolecall(&folder, &["show", "m", "cases/hi", "--templates", "m"]);
    assert!(
        text(&output.stderr).contains("m/Modelfile:4\n  {{ if }}"),
        "{}",
        text(&output.stderr)
    );
    folder.write(
        "n/tokenizer_config.json",
        r#"{"chat_template": "a\n{% if %}"}"#,
    );
    let output = rolecall(&folder, &["show", "n", "cases/hi", "--templates", "n"]);
    let said = text(&output.stderr);
    assert!(
        said.contains("n/tokenizer_config.json (chat_template, line 2)\n  {% if %}"),
        "{said}"
    );
}

/// A model with several templates is rendered with the one that its users get. Each template is
/// also there by its own name.
#[test]
fn a_model_takes_its_template_for_tools() {
    let folder = Folder::new();
    folder.write(
        "m/tokenizer_config.json",
        r#"{"chat_template": [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T{{ x.y }}"}]}"#,
    );
    folder.write(
        "cases/f.json",
        r#"{"about": "x", "cases": {"plain": {"messages": [{}]}, "tools": {"messages": [{}], "tools": []}}}"#,
    );
    let with = |arguments: &[&str]| {
        let common = ["--templates", "m", "--cases", "cases/f.json"];
        let output = rolecall(&folder, &[arguments, &common].concat());
        (text(&output.stdout), text(&output.stderr))
    };
    let (outcomes, notes) = with(&["render", "--format", "jsonl"]);
    for (pair, outcome) in [
        (r#""m","case":"f/plain""#, r#""text":"D""#),
        (r#""m","case":"f/tools""#, r#""outcome":"failed""#),
        (r#""m","case":"f/tools@raw""#, r#""text":"D""#),
        (r#""m@tool_use","case":"f/plain""#, r#""outcome":"failed""#),
    ] {
        let mut lines = outcomes.lines();
        let line = lines.find(|line| line.contains(pair)).unwrap();
        assert!(line.contains(outcome), "{line}");
    }
    assert!(
        notes.contains("m: transformers uses m@tool_use for conversations with tools"),
        "{notes}"
    );
    let (_, reported) = with(&["show", "m", "f/tools"]);
    let place = "m/tokenizer_config.json (chat_template, tool_use";
    assert!(
        reported.contains(&format!(
            "rendered with {place})\n{place}, line 1)\n  T{{{{ x.y }}}}"
        )),
        "{reported}"
    );
    assert!(!outcomes.contains("f/plain@raw"), "{outcomes}");
    let (_, reported) = with(&["show", "m", "f/plain"]);
    assert!(!reported.contains("rendered with"), "{reported}");
    let (raw, _) = with(&["show", "m", "f/tools", "--front", "raw"]);
    assert_eq!(raw, "rendered\nD␃\n");
}
