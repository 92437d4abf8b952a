//! The trial: what new users typed in their first hour, line by line, and what they have to see.
//!
//! Each session starts in an empty folder. Its lines write files or run commands; a command has an
//! exit code, words that its output has, and words that it must not have.
//!
//! The sessions name built-in cases one by one, since families grow.

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
        "contracts = \"off\"\n[templates]\na = \"a.jinja\"\nb = \"b.jinja\"\n[cases]\nbuiltin = [\"plain/single-turn\", \"plain/multi-turn\"]\n",
    );
    // What is new is one cause.
    reviews(
        &folder,
        "a",
        0,
        "accepted 4 snapshots and 0 report cards in 1 decision; nothing is left",
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
        "accepted 0 snapshots and 0 report cards in 2 decisions; 4 results are left",
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
        "accepted 0 snapshots and 0 report cards in 1 decision; 4 results are left",
    );
    reviews(
        &folder,
        "sa",
        1,
        "accepted 2 snapshots and 0 report cards in 2 decisions; 2 results are left",
    );
    reviews(
        &folder,
        "q",
        1,
        "accepted 0 snapshots and 0 report cards in 0 decisions; 2 results are left",
    );
    reviews(
        &folder,
        "A",
        0,
        "accepted 2 snapshots and 0 report cards in 1 decision; nothing is left",
    );
    assert_eq!(folder.rolecall(&["run"]).code(), 0);
}

/// In a checkout of Rolecall a review is about report cards, too, and takes away what insta has left
/// for its own.
#[test]
fn a_review_in_a_checkout_is_about_cards_too() {
    let folder = Folder::empty();
    folder.write("cases/templates/good.jinja", GOOD);
    folder.write(
        "cases/conversations/few.json",
        r#"{"about": "Few.", "cases": {
            "one": {"about": "One.", "messages": [{"role": "user", "content": "one"}]}}}"#,
    );
    let pending = ["few.snap.new", "_card.snap.new"]
        .map(|name| folder.write(&format!("snapshots/good/{name}"), "pending"));
    let lint = || folder.rolecall(&["lint"]).stdout();
    assert!(lint().contains("_card.snap: missing"), "{}", lint());
    assert!(
        lint().contains("_card.snap.new: waits for review"),
        "{}",
        lint()
    );
    reviews(
        &folder,
        "sr",
        1,
        "accepted 0 snapshots and 0 report cards in 2 decisions; 2 results are left",
    );
    let are_there = pending.each_ref().map(|file| file.exists());
    assert_eq!(are_there, [true, false], "only what was rejected goes");
    std::fs::write(&pending[1], "pending").unwrap();
    reviews(
        &folder,
        "aa",
        0,
        "accepted 1 snapshot and 1 report card in 2 decisions; nothing is left",
    );
    assert!(!lint().contains(".snap"), "{}", lint());
    // The card changes although no prompt does.
    folder.write(
        "cases/templates/good.jinja",
        &GOOD.replace("{{ m.content }}", "{{ m.content }}{{ m.tool_calls }}"),
    );
    let accept = folder.rolecall(&["accept"]);
    assert_eq!(accept.code(), 0, "{}", accept.stderr());
    let said = accept.stdout();
    assert!(said.contains("accepted 1 report card\n"), "{said}");
    assert!(
        said.contains("give the reason in cases/templates/good.json: \"broken\": {"),
        "{said}"
    );
    assert!(!lint().contains(".snap"), "{}", lint());
}

#[test]
fn nothing_is_green_by_accident() {
    all_are_well(greens::GREENS);
}
