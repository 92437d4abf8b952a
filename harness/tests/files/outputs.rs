//! No result replaces an input. Every option of every command is tried, as the help lists them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use regex::Regex;

use crate::extent::{is_everything, sample};
use crate::folder::{Folder, Ran, has};

use super::{contents, ended, link};

/// How a command is called in the folder of [`world`] so that it has a result.
const CALLS: [(&str, &str); 31] = [
    ("check", "t.jinja"),
    ("show", "chat plain/user --trace"),
    ("render", "t.jinja log.jsonl"),
    ("diff", "t.jinja u.jinja --cases log.jsonl"),
    ("roundtrip", "t.jinja --cases log.jsonl"),
    ("infer", "t.jinja"),
    ("cover", "t.jinja --cases log.jsonl"),
    ("mutate", "t.jinja --cases log.jsonl --tries 0"),
    (
        "generate",
        "t.jinja --cases log.jsonl --tries 300 --overwrite",
    ),
    ("mask", "t.jinja --cases log.jsonl"),
    ("explain", "tools-kept"),
    ("init", "new"),
    ("add", "log.jsonl"),
    ("run", "--templates t.jinja --cases log.jsonl"),
    ("review", ""),
    ("accept", "--dry-run"),
    ("lint", ""),
    ("list", "cases"),
    ("mock-model", "Hello"),
    (
        "fingerprint",
        "http://127.0.0.1:9 --templates t.jinja --yes",
    ),
    ("probe-engine", "rolecall-jinja"),
    ("matrix", ""),
    ("matrix update", "rolecall-jinja"),
    ("matrix verify", "rolecall-jinja"),
    ("export", "exported"),
    ("serve", "rolecall-jinja"),
    ("reference setup", ""),
    ("reference update", "chat:plain/user"),
    ("reference verify", "chat:plain/user"),
    ("completions", "bash"),
    ("help", ""),
];

/// What values are called that are no paths.
const NO_PATHS: [&str; 20] = [
    "N",
    "K/N",
    "PERCENT",
    "TIME",
    "SEED",
    "NAME",
    "NAME=VALUE",
    "NAME=JSON",
    "NAME=VALUE,…",
    "TEXT",
    "TOKEN=TOKEN",
    "DIALECT",
    "FORMAT",
    "WHEN",
    "CONTRACT",
    "OUTCOME",
    "A,B",
    "FRONTS",
    "X",
    "ABOUT",
];

fn world() -> Folder {
    let folder = Folder::new();
    let template =
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}<assistant>";
    folder.write("t.jinja", template);
    folder.write("u.jinja", &template.replace("</s>", ""));
    let turn = |role: &str| format!(r#"{{"role": "{role}", "content": "Hi"}}"#);
    let log = format!(
        r#"{{"messages": [{}, {}]}}"#,
        turn("user"),
        turn("assistant")
    );
    folder.write("log.jsonl", &format!("{log}\n"));
    folder
}

fn words<'a>(command: &'a str, arguments: &'a str) -> Vec<&'a str> {
    let words = command.split(' ').chain(arguments.split(' '));
    words.filter(|word| !word.is_empty()).collect()
}

/// Checks that a command refused to write over a file before it did anything.
#[track_caller]
fn refused(ran: &Ran, words: &[&str]) {
    let said = ran.stderr();
    assert_eq!(ended(ran), 2, "{words:?}\n{}\n{said}", ran.stdout());
    assert_eq!(said.matches("error: ").count(), 1, "{words:?}\n{said}");
    let refusals = [
        "so it does not write over this file",
        "would replace it",
        "nothing is written through links",
    ];
    assert!(
        refusals.iter().any(|one| said.contains(one)),
        "{words:?}\n{said}"
    );
}

/// The options of a command that take something that may be a path.
fn options(folder: &Folder, command: &str) -> BTreeSet<String> {
    let help = folder.rolecall(&[&words(command, "")[..], &["--help"]].concat());
    let pattern = Regex::new(r"(?m)^ +(?:-\w, )?--([a-z-]+)[ \[=]+<([^>]+)>").unwrap();
    let help = help.stdout();
    let options = pattern.captures_iter(&help);
    let may_be_path = options.filter(|one| !NO_PATHS.contains(&&one[2]));
    may_be_path.map(|one| format!("--{}", &one[1])).collect()
}

#[test]
#[allow(clippy::too_many_lines)] // every option of every command
fn no_result_of_any_command_replaces_its_input() {
    let folder = world();
    let mut commands = BTreeSet::new();
    let name = Regex::new(r"(?m)^  ([a-z-]+)  ").unwrap();
    for group in ["", "matrix", "reference"] {
        let help = folder
            .rolecall(&[&words(group, "")[..], &["--help"]].concat())
            .stdout();
        let names = name
            .captures_iter(&help)
            .map(|one| format!("{group} {}", &one[1]));
        commands.extend(
            names
                .map(|one| one.trim().to_owned())
                .filter(|one| one != "reference" && !one.ends_with(" help")),
        );
    }
    let known: BTreeSet<String> = CALLS
        .iter()
        .map(|(command, _)| (*command).to_owned())
        .collect();
    assert_eq!(commands, known, "each command has a call in this file");

    let mut written = BTreeSet::new();
    let calls = CALLS.into_iter().enumerate();
    let all = calls.flat_map(|(at, (command, arguments))| {
        let options = options(&folder, command).into_iter();
        options.map(move |option| (at, command, arguments, option))
    });
    let tried = sample(all.collect(), 9);
    for (at, command, arguments, option) in tried {
        let called = words(command, arguments);
        let is_marking = (command, option.as_str()) == ("mask", "--write");
        // The name of a page, and of a case file.
        let fresh = if option == "--html" {
            "fresh.html"
        } else if is_marking {
            "fresh.jinja"
        } else {
            "fresh.json"
        };
        let folder = world();
        // What asks servers or installs programs is called only where it has to refuse.
        let is_asking = ["reference", "fingerprint", "serve", "help"]
            .iter()
            .any(|one| command.starts_with(one));
        if !is_asking {
            folder.rolecall(&[&called[..], &[&option, fresh]].concat());
        }
        let is_output = folder.path(fresh).is_file();
        if is_output {
            written.insert(format!("{command} {option}"));
            // Its own result it replaces.
            let again = folder.rolecall(&[&called[..], &[&option, fresh]].concat());
            let said = again.stderr();
            assert!(
                !said.contains("would replace it") && !said.contains("does not write over"),
                "{called:?} {option}\n{said}"
            );
        }
        let input = match command {
            _ if is_marking => "log.jsonl",
            "show" => "cases/templates/chat.jinja",
            "run" => "cases/conversations/plain.json",
            "render" | "add" | "generate" => "log.jsonl",
            _ => "t.jinja",
        };
        let folder = world();
        fs::create_dir(folder.path("d")).unwrap();
        link("..", &folder.path("d/up"));
        link(format!("../{input}"), &folder.path("d/link"));
        fs::hard_link(folder.path(input), folder.path("d/hard.json")).unwrap();
        let spelt = [
            input.to_owned(),
            format!("./d/../{input}"),
            format!("d/up/{input}"),
            "d/link".to_owned(),
            "d/hard.json".to_owned(),
            folder.path(input).to_string_lossy().into_owned(),
        ];
        // Each spelling is tried with several commands, and all with the first.
        let some = if at == 0 {
            0..spelt.len()
        } else {
            at % spelt.len()..at % spelt.len() + 1
        };
        for spelt in &spelt[some] {
            let before = fs::read(folder.path(input)).unwrap();
            let all = contents(&folder.path(""));
            // A hard link of another file is that file only if the command reads it.
            if spelt.contains("hard") && !arguments.contains(input) {
                continue;
            }
            let attack = [&called[..], &[&option, spelt]].concat();
            let ran = folder.rolecall(&attack);
            assert_eq!(fs::read(folder.path(input)).unwrap(), before, "{attack:?}");
            if is_output || is_asking && option == "--output" {
                refused(&ran, &attack);
                assert!(
                    contents(&folder.path("")) == all,
                    "{attack:?} changed something"
                );
            }
        }
    }
    let written: Vec<&str> = written
        .iter()
        .map(String::as_str)
        .filter(|one| !one.ends_with("--output"))
        .collect();
    let places = [
        "check --html",
        "check --write-baseline",
        "check --write-index",
        "cover --html",
        "diff --html",
        "generate --write",
        "mask --write",
        "run --html",
        "show --html",
    ];
    if is_everything() {
        assert_eq!(written, places);
    } else {
        assert!(
            written.iter().all(|one| places.contains(one)),
            "{written:?}"
        );
    }
}

#[test]
fn what_a_command_reads_by_itself_is_not_replaced_either() {
    let folder = world();
    folder.accept_all();
    folder.write("own/rolecall.toml", "[templates]\nt = \"t.jinja\"\n");
    folder.write(
        "own/cases/a.json",
        r#"{"about": "x", "cases": {"a": {"about": "x", "messages": []}}}"#,
    );
    folder.write("own/t.jinja", "x");
    folder.write(
        "logs/notes.json",
        r#"{"about": "x", "cases": {"a": {"about": "x", "messages": []}}}"#,
    );
    folder.write("engine.py", "print()");
    folder.write("t.json", r#"{"about": "x"}"#);
    for arguments in [
        "run -o cases/conversations/plain.json",
        "run -o snapshots/plain.snap",
        "list cases -o snapshots/plain.snap",
        "list cases --builtin -o own/rolecall.toml",
        "list cases --builtin -o own/cases/a.json",
        "render --templates t.jinja --cases logs -o logs/notes.json",
        "cover t.jinja --cases logs -o logs/notes.json",
        "show t.jinja log.jsonl:1 -o log.jsonl",
        "run --engine 'sh engine.py' -o engine.py",
        "check t.jinja --write-baseline t.json",
        "check . --write-baseline t.json",
        "check . -o t.json",
        "generate t.jinja --tries 9 --write t.json --overwrite",
        "mask t.jinja --write own/rolecall.toml",
    ] {
        let before = contents(&folder.path(""));
        let words = shlex::split(arguments).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        refused(&folder.rolecall(&words), &words);
        assert!(
            contents(&folder.path("")) == before,
            "{words:?} changed something"
        );
    }
    // Standard input may be a file, too.
    let before = contents(&folder.path(""));
    let words = ["render", "t.jinja", "-", "-o", "log.jsonl"];
    let input = File::open(folder.path("log.jsonl")).unwrap();
    let ran = folder.command(&words).stdin(input).output().unwrap();
    refused(&Ran(ran), &words);
    assert!(contents(&folder.path("")) == before);
}

#[test]
fn two_results_do_not_share_a_file() {
    let folder = world();
    let one = ["check", "t.jinja", "--html", "p.html", "-o"];
    fs::create_dir(folder.path("d")).unwrap();
    for other in ["p.html", "./p.html", "d/../p.html", "P.html"] {
        let ran = folder.rolecall(&[&one[..], &[other]].concat());
        assert_eq!(ended(&ran), 2);
        has(&ran.stderr(), &["two results would go into this file"]);
        assert!(!folder.path("p.html").exists());
    }
    assert_ne!(ended(&folder.rolecall(&[&one[..], &["p.txt"]].concat())), 2);
    assert!(folder.path("p.html").is_file());
}

/// What is replaced by a result of the same kind, and what is not there yet.
#[test]
fn results_replace_results() {
    let folder = world();
    let commands = vec![
        "check t.jinja --html card.page",
        "check t.jinja --write-baseline known.json",
        "check t.jinja --write-index known.index",
        "check . --html index.HTM -o card.txt",
        "run --format jsonl -o run.jsonl",
        "mask t.jinja --cases log.jsonl --write marked.jinja",
        "mock-model Hello -o mock.gguf",
        "list cases -o cases.txt",
    ];
    for arguments in sample(commands, 3) {
        let words = words(arguments, "");
        for time in 0..2 {
            let ran = folder.rolecall(&words);
            let is_page = arguments.contains("card.page") && time == 1;
            assert_eq!(ended(&ran) == 2, is_page, "{words:?} {}", ran.stderr());
        }
        let output = Path::new(words[words.len() - 1]);
        assert!(folder.path("").join(output).is_file(), "{words:?}");
    }
    // The marks are put into the template itself.
    let marked = folder.rolecall(&words("mask t.jinja --cases log.jsonl --write t.jinja", ""));
    assert_eq!(ended(&marked), 0, "{}", marked.stderr());
    let text = fs::read_to_string(folder.path("t.jinja")).unwrap();
    assert!(text.contains("generation %}"), "{text}");
}
