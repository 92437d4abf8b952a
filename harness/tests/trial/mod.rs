//! The trial: what new users typed in their first hour, line by line, and what they have to see.
//!
//! Each session starts in an empty folder. Its lines write files or run commands; a command has an
//! exit code, words that its output has, and words that it must not have.

mod greens;
mod sessions;

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
                let path = folder.path(path);
                if path.is_dir() {
                    std::fs::remove_dir_all(path).unwrap();
                } else {
                    std::fs::remove_file(path).unwrap();
                }
            }
            Line::Edit(path, from, to) => {
                let text = std::fs::read_to_string(folder.path(path)).unwrap();
                assert!(
                    text.contains(from),
                    "{name}: {path} has no {from:?}:\n{text}"
                );
                folder.write(path, &text.replace(from, to));
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

#[test]
fn nothing_is_green_by_accident() {
    all_are_well(greens::GREENS);
}
