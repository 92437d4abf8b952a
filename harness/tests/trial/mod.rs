//! The trial: what new users typed in their first hour, line by line, and what they have to see.
//!
//! Each session starts in an empty folder. Its lines write files or run commands; a command has an
//! exit code, words that its output has, and words that it must not have.

mod greens;
mod sessions;

use std::io::Write as _;
use std::process::Stdio;

use rolecall::report::clean;

use crate::folder::Folder;

/// A template that does most things well.
const GOOD: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n\
    {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// What a user does.
enum Line {
    /// Writes a file.
    File(&'static str, &'static str),
    /// Deletes a file or a folder.
    Delete(&'static str),
    /// Replaces a text in a file, which has it.
    Edit(&'static str, &'static str, &'static str),
    /// Runs a command.
    Run(&'static [&'static str], Seen),
}

/// What the output of a command is like.
#[derive(Clone, Copy)]
struct Seen {
    code: i32,
    has: &'static [&'static str],
    has_not: &'static [&'static str],
}

/// A command that ends with this code and says these words.
const fn says(code: i32, has: &'static [&'static str]) -> Seen {
    Seen {
        code,
        has,
        has_not: &[],
    }
}

/// Does what a user does, and returns what they see that they should not.
fn complaints(name: &str, lines: &[Line]) -> Vec<String> {
    let folder = Folder::empty();
    let mut complaints = Vec::new();
    for line in lines {
        match line {
            Line::File(path, text) => drop(folder.write(path, text)),
            Line::Delete(path) => {
                let whole = folder.path(path);
                let deleted = if whole.is_dir() {
                    std::fs::remove_dir_all(whole)
                } else {
                    std::fs::remove_file(whole)
                };
                if let Err(error) = deleted {
                    complaints.push(format!("{name}: {path}: {error}"));
                }
            }
            Line::Edit(path, from, to) => {
                let text = std::fs::read_to_string(folder.path(path)).unwrap_or_default();
                if text.contains(from) {
                    folder.write(path, &text.replace(from, to));
                } else {
                    complaints.push(format!("{name}: {path} has no {from:?}:\n{text}"));
                }
            }
            Line::Run(arguments, seen) => {
                let ran = folder.rolecall(arguments);
                let said = format!("{}{}", ran.stdout(), ran.stderr());
                let said = clean::plain(said.as_bytes());
                let mut wrong = Vec::new();
                if ran.code() != seen.code {
                    wrong.push(format!("exit code {}, not {}", ran.code(), seen.code));
                }
                for words in seen.has {
                    if !said.contains(words) {
                        wrong.push(format!("no {words:?}"));
                    }
                }
                for words in seen.has_not {
                    if said.contains(words) {
                        wrong.push(format!("there is {words:?}"));
                    }
                }
                if !wrong.is_empty() {
                    let wrong = wrong.join(", ");
                    complaints.push(format!("{name}: {arguments:?}: {wrong} in\n{said}"));
                }
            }
        }
    }
    complaints
}

#[track_caller]
fn all_are_well(sessions: &[(&str, &[Line])]) {
    let complaints: Vec<String> = sessions
        .iter()
        .flat_map(|(name, lines)| complaints(name, lines))
        .collect();
    assert!(
        complaints.is_empty(),
        "{} problems:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn new_users_see_what_they_need() {
    all_are_well(sessions::SESSIONS);
}

/// A review: what is typed, and the last line that it prints.
#[track_caller]
fn reviews(folder: &Folder, keys: &str, code: i32, last: &str) {
    let mut child = folder
        .command(&["review"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let typed: String = keys.chars().flat_map(|key| [key, '\n']).collect();
    let mut input = child.stdin.take().unwrap();
    input.write_all(typed.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = clean::plain(&output.stdout);
    let complained = clean::plain(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}\n{complained}");
    assert_eq!(said.lines().last(), Some(last), "{said}\n{complained}");
}

#[test]
fn a_review_asks_once_for_each_cause() {
    let folder = Folder::empty();
    folder.write("a.jinja", GOOD);
    folder.write("b.jinja", GOOD);
    folder.write(
        "rolecall.toml",
        "contracts = \"off\"\n[templates]\na = \"a.jinja\"\nb = \"b.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
    );
    // What is new is one cause.
    reviews(
        &folder,
        "a",
        0,
        "accepted 20 snapshots and 0 report cards in 1 decision; nothing is left",
    );
    reviews(
        &folder,
        "",
        0,
        "accepted 0 snapshots and 0 report cards in 0 decisions; nothing is left",
    );
    folder.write("a.jinja", &GOOD.replace("<|im_end|>", "<|im_stop|>"));
    folder.write(
        "b.jinja",
        &GOOD.replace("<|im_start|>assistant", "<|im_start|>model"),
    );
    // A key that is no answer asks again, and showing everything does, too. What is rejected is no
    // longer pending for insta.
    let pending = ["a", "b"].map(|name| {
        let file = format!("snapshots/{name}/plain.snap");
        assert!(folder.path(&file).is_file(), "{file}");
        folder.write(&format!("{file}.new"), "pending")
    });
    reviews(
        &folder,
        "rs",
        1,
        "accepted 0 snapshots and 0 report cards in 2 decisions; 20 results are left",
    );
    assert_eq!(
        pending.each_ref().map(|file| file.exists()),
        [false, true],
        "only what was rejected goes"
    );
    std::fs::remove_file(&pending[1]).unwrap();
    reviews(
        &folder,
        "xwr",
        1,
        "accepted 0 snapshots and 0 report cards in 1 decision; 20 results are left",
    );
    reviews(
        &folder,
        "sa",
        1,
        "accepted 10 snapshots and 0 report cards in 2 decisions; 10 results are left",
    );
    reviews(
        &folder,
        "q",
        1,
        "accepted 0 snapshots and 0 report cards in 0 decisions; 10 results are left",
    );
    reviews(
        &folder,
        "A",
        0,
        "accepted 10 snapshots and 0 report cards in 1 decision; nothing is left",
    );
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

#[test]
fn nothing_is_green_by_accident() {
    all_are_well(greens::GREENS);
}

/// A template that loses every message but the last.
const BAD: &str = "{{ messages[-1].content }}";

#[test]
fn a_reader_that_stops_changes_no_exit_code() {
    let folder = Folder::empty();
    folder.write("good.jinja", GOOD);
    folder.write("bad.jinja", BAD);
    folder.write(
        "rolecall.toml",
        "contracts = \"errors\"\n[templates]\nbad = \"bad.jinja\"\n[cases]\nbuiltin = [\"plain\"]\n",
    );
    let commands: &[(&[&str], i32)] = &[
        (&["run"], 1),
        (&["run", "-q"], 1),
        (&["run", "--format", "junit"], 1),
        (&["run", "--format", "jsonl"], 1),
        (&["check", "bad.jinja"], 1),
        (&["check", "bad.jinja", "--format", "github"], 1),
        (&["check", "nowhere", "bad.jinja"], 2),
        (&["diff", "good.jinja", "bad.jinja"], 1),
        (&["lint"], 1),
        (&["list", "cases"], 0),
    ];
    for (arguments, code) in commands {
        // A reader stops before the first byte, and one of both streams does.
        for both in [false, true] {
            let mut command = folder.command(arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            drop(child.stdout.take());
            if both {
                drop(child.stderr.take());
            }
            let ended = child.wait_with_output().unwrap().status;
            assert_eq!(ended.code(), Some(*code), "{arguments:?}, both: {both}");
        }
    }
}

#[test]
fn a_home_is_not_nobodys_folder() {
    let folder = Folder::empty();
    let home = |folder: &Folder| {
        let mut command = folder.command(&["run", "chatml"]);
        command.env("HOME", folder.path(""));
        command.output().unwrap()
    };
    assert_eq!(home(&folder).status.code(), Some(0));
    folder.write("model/chat_template.jinja", GOOD);
    assert_eq!(home(&folder).status.code(), Some(2));
}

#[test]
fn the_more_records_are_missing_the_less_green() {
    let folder = Folder::new();
    // A built-in family has its name.
    let ours = folder.path("cases/conversations/ours.json");
    std::fs::rename(folder.path("cases/conversations/plain.json"), ours).unwrap();
    folder.accept_all();
    let toml = "contracts = \"off\"\n[templates]\nchat = \"cases/templates/chat.jinja\"\n\
                strict = { source = \"cases/templates/strict.jinja\" }\n[cases]\nbuiltin = []\n\
                own = [\"cases/conversations\"]\n";
    folder.write("rolecall.toml", toml);
    for name in ["chat", "strict"] {
        std::fs::remove_file(folder.path(&format!("snapshots/{name}/ours.snap"))).unwrap();
    }
    folder.rolecall(&["accept"]);
    let run = folder.rolecall(&["run", "-q"]);
    assert_eq!(run.code(), 0, "{}", folder.rolecall(&["run"]).stdout());
    let record = |name: &str| folder.path(&format!("snapshots/{name}/reference.json"));
    std::fs::remove_file(record("chat")).unwrap();
    let told = "missing: the template has no reference records, and other templates have";
    for (arguments, words) in [
        (
            &["run", "-q"][..],
            "rolecall.toml: Failed: 2 pairs unverified",
        ),
        (&["run"], "; 2 unverified"),
        (&["run", "chat"], "none of 2 pairs are verified"),
        (&["lint"], told),
    ] {
        let ran = folder.rolecall(arguments);
        assert_eq!(ran.code(), 1, "{arguments:?}");
        assert!(
            ran.stdout().contains(words),
            "{arguments:?}: {}",
            ran.stdout()
        );
    }
    // Without any record, a suite is checked by its snapshots.
    std::fs::remove_file(record("strict")).unwrap();
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
    assert_eq!(folder.rolecall(&["lint"]).code(), 0);
}

#[test]
fn a_damaged_builtin_suite_is_made_again() {
    let folder = Folder::empty();
    let cache = tempfile::tempdir().unwrap();
    let run = || {
        folder
            .rolecall_with_cache(cache.path(), &["run", "-q"])
            .stdout()
    };
    let whole = run();
    assert!(whole.contains("agree (100 %)"), "{whole}");
    let mut suites = std::fs::read_dir(cache.path()).unwrap();
    let suite = suites.next().unwrap().unwrap().path();
    std::fs::remove_dir_all(suite.join("snapshots/qwen2.5")).unwrap();
    std::fs::remove_file(suite.join("cases/templates/qwen2.5.jinja")).unwrap();
    std::fs::remove_file(suite.join("cases/templates/qwen2.5.json")).unwrap();
    assert_eq!(run(), whole);
}
