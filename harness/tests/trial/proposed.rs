//! The commands that messages propose, typed as they are there: each works, and is about the same
//! thing as the message.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

use super::GOOD;
use crate::extent::{is_everything, sample};
use crate::folder::Folder;

/// A model folder, with a template that breaks a contract.
fn model(folder: &Folder, name: &str) {
    let loses = GOOD.replace(
        "{{ m.content }}",
        "{{ m.content }}{% if x %}{{ tools }}{% endif %}",
    );
    folder.write(&format!("{name}/chat_template.jinja"), &loses);
    folder.write(
        &format!("{name}/tokenizer_config.json"),
        r#"{"bos_token": "<s>", "eos_token": "<|im_end|>"}"#,
    );
}

/// The commands in an output: those in backquotes, and those after a colon. Words in capital
/// letters represent something else.
fn proposed(said: &str) -> BTreeSet<String> {
    let said = said.replace(" \\\n", " ");
    let quoted = Regex::new(r"`(?:rolecall|cargo run --)\s([^`]+)`").unwrap();
    let alone =
        Regex::new(r"(?m)(?::|^)\s+(?:rolecall|cargo run --) (\S[^\n]*?)(?:\s{2}.*)?$").unwrap();
    let placeholder = Regex::new(r"(?:^|[ =])[A-Z]{2,}").unwrap();
    let found = quoted
        .captures_iter(&said)
        .chain(alone.captures_iter(&said));
    let commands = found.map(|found| found[1].split_whitespace().collect::<Vec<_>>().join(" "));
    commands
        .filter(|command| !placeholder.is_match(command))
        .collect()
}

/// Runs a command, then the commands that it proposes: one for each command and template, or all if
/// the tests try everything. Those that write, or ask somebody, are left out. Returns what each
/// said, after its exit code.
fn follow(folder: &Folder, arguments: &[&str]) -> Vec<(String, i32, String)> {
    const READING: [&str; 7] = ["show", "check", "run", "explain", "list", "lint", "diff"];
    let ran = folder.rolecall(arguments);
    let said = format!("{}\n{}", ran.stdout(), ran.stderr());
    let mut followed = Vec::new();
    let mut kinds = BTreeSet::new();
    for command in proposed(&said) {
        let words = shlex::split(&command).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if !READING.contains(&words[0]) || words.contains(&"--fix") {
            continue;
        }
        let kind: Vec<String> = words.iter().take(2).map(|&word| word.to_owned()).collect();
        if !kinds.insert(kind) && !is_everything() {
            continue;
        }
        let ran = folder.rolecall(&words);
        let said = format!("{}{}", ran.stdout(), ran.stderr());
        assert_ne!(ran.code(), 2, "{arguments:?} proposes `{command}`:\n{said}");
        followed.push((command, ran.code(), said));
    }
    assert!(
        !followed.is_empty(),
        "{arguments:?} proposes nothing:\n{said}"
    );
    followed
}

/// In a suite that `init` makes, a template has the name of its folder. Everything that `run`
/// proposes is about the suite's template, with its tokens and variables.
#[test]
#[ignore = "long: .ci/nightly tries it"]
fn in_a_suite_of_init() {
    let folder = Folder::empty();
    model(&folder, "model");
    folder.write("my own.jinja", GOOD);
    assert_eq!(folder.rolecall(&["init"]).code(), 0);
    let file = fs::read_to_string(folder.path("rolecall.toml")).unwrap();
    assert!(file.contains("model = \"model\""), "{file}");
    let file = file.replace("builtin = [\"*\"]", "builtin = [\"plain\"]");
    let settings = "{ source = \"model\", variables = { x = true }, special_tokens = { bos_token = \"<Q>\" } }";
    folder.write(
        "rolecall.toml",
        &file.replace("model = \"model\"", &format!("model = {settings}")),
    );
    assert_eq!(folder.rolecall(&["accept"]).code(), 0);
    let template = fs::read_to_string(folder.path("model/chat_template.jinja")).unwrap();
    folder.write(
        "model/chat_template.jinja",
        &format!("{{{{ bos_token }}}}{template}"),
    );
    folder.write("my own.jinja", &GOOD.replace("<|im_end|>", "<|im_stop|>"));
    let followed = follow(&folder, &["run"]);
    let mut diffs = 0;
    for (command, code, said) in &followed {
        if command.starts_with("show model ") {
            assert!(*code == 1 && said.contains("+ <Q>"), "{command}: {said}");
            diffs += 1;
        }
        if command == "check model" {
            assert!(
                *code == 1 && said.contains("no-repr-leak"),
                "{command}: {said}"
            );
            diffs += 1;
        }
    }
    assert!(diffs >= 2, "{followed:?}");
    // All ways to name it are the same.
    let ways = vec![
        vec!["check", "model", "--all"],
        vec!["check", "model/", "--all"],
        vec!["check", "./model/chat_template.jinja", "--all"],
        vec!["check", "model/tokenizer_config.json", "model", "--all"],
    ];
    let cards = sample(ways, 2).into_iter().map(|arguments| {
        let said = folder.rolecall(&arguments).stdout();
        let card = said.split("show ").next().unwrap();
        let time = Regex::new(r"in [\d.]+ s").unwrap();
        time.replace_all(card, "").into_owned()
    });
    let cards: Vec<String> = cards.collect();
    assert!(cards.iter().all(|card| *card == cards[0]), "{cards:#?}");
    assert!(cards[0].contains("no-repr-leak"), "{}", cards[0]);
    for (arguments, has) in [
        (vec!["show", "model", "plain/single-turn"], "<Q>"),
        (vec!["show", "model", "probe/user"], "<Q>"),
        (vec!["show", "./model", "plain/single-turn"], "<Q>"),
        (
            vec![
                "show",
                "model",
                "plain/single-turn",
                "--special-token",
                "bos_token=<Z>",
            ],
            "<Z>",
        ),
        (vec!["diff", "model", "./model", "plain/*"], "None of"),
    ] {
        let ran = folder.rolecall(&arguments);
        assert_eq!(ran.code(), 0, "{arguments:?}: {}", ran.stderr());
        assert!(
            ran.stdout().contains(has),
            "{arguments:?}: {}",
            ran.stdout()
        );
    }
    folder.write("c.json", r#"[{"role": "user", "content": "x"}]"#);
    let ran = folder.rolecall(&["render", "model", "c.json"]);
    assert!(ran.stdout().contains("<Q>"), "{}", ran.stdout());
    // A card is shown, and proposes what shows its evidence.
    follow(&folder, &["check", "model", "--all"]);
    if is_everything() {
        follow(&folder, &["check", "--all"]);
    }
    // The built-in suite, from within another one.
    let html = [
        "run",
        "--builtin",
        "--limits",
        "fuel=100",
        "hermes-tools:content-types/*",
        "--html",
        "x.html",
    ];
    folder.rolecall(&html);
    let page = fs::read_to_string(folder.path("x.html")).unwrap();
    let command = Regex::new("rolecall (show hermes-tools [^<\"]+)").unwrap();
    let command = &command.captures(&page).expect("the page proposes nothing")[1];
    let words: Vec<&str> = command.split_whitespace().collect();
    let ran = folder.rolecall(&words);
    assert_ne!(ran.code(), 2, "`{command}`: {}", ran.stderr());
}

/// A model folder without a suite: what a card proposes names the path that was checked.
#[test]
fn in_a_model_folder_and_next_to_several() {
    let alone = Folder::empty();
    alone.write(
        "chat_template.jinja",
        "{% for m in messages %}{{ m }}{% endfor %}",
    );
    alone.write("tokenizer_config.json", "{}");
    follow(&alone, &["check", "--all"]);
    follow(&alone, &["check", "."]);

    let folder = Folder::empty();
    for name in ["a model", "b"] {
        model(&folder, name);
        folder.write(
            &format!("{name}/chat_template.jinja"),
            "{% for m in messages %}{{ m }}{% endfor %}",
        );
    }
    follow(&folder, &["check", "a model"]);
    follow(&folder, &["check", "a model", "b", "--all"]);
    follow(
        &folder,
        &["check", "a model", "--variable", "x=\"a b\"", "--all"],
    );
    // A source with several templates.
    folder.write(
        "two/tokenizer_config.json",
        r#"{"chat_template": [{"name": "default", "template": "{{ messages }}"},
            {"name": "rag", "template": "{{ documents }}"}]}"#,
    );
    let ran = folder.rolecall(&["show", "two", "plain/single-turn"]);
    let said = ran.stderr();
    let command = proposed(&said).into_iter().next().unwrap();
    let words = shlex::split(&command).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shown = folder.rolecall(&words);
    assert_eq!(shown.code(), 0, "`{command}`: {}", shown.stderr());
    folder.write("rolecall.toml", "[templates]\nours = \"two\"\n");
    let ran = folder.rolecall(&["show", "ours", "plain/single-turn"]);
    assert!(
        ran.stderr().contains("show ours.rag plain/single-turn"),
        "{}",
        ran.stderr()
    );
    for arguments in [
        vec!["show", "ours.two", "plain/single-turn"],
        vec!["check", "ours.rag", "-q"],
    ] {
        let ran = folder.rolecall(&arguments);
        assert_ne!(ran.code(), 2, "{arguments:?}: {}", ran.stderr());
    }
}

#[test]
fn in_a_checkout() {
    let folder = Folder::new();
    folder.write("Cargo.lock", "");
    folder.write("harness/cli/Cargo.toml", "");
    folder.accept_all();
    folder.write(
        "cases/templates/chat.jinja",
        "{% for m in messages %}<{{ m }}>{{ m.content }}\n{% endfor %}<assistant>\n",
    );
    follow(&folder, &["run"]);
    follow(&folder, &["check", "--all"]);
    follow(&folder, &["check", "chat"]);
    follow(&folder, &["show", "zzz", "plain/user"]);
}
