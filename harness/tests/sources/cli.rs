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
