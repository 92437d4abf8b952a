//! Reads the file of a session.

use std::path::Path;

use rolecall_core::naming;

use crate::test_files::{Malformed, Rest, malformed};

/// What a user does in an empty folder, and what they see.
pub(super) struct Session {
    /// Its file, from the top of the repository.
    pub(super) file: String,
    /// Each with the line that it begins in.
    pub(super) steps: Vec<(usize, Step)>,
}

/// A step of a session. Names are of files or folders in the user's folder.
pub(super) enum Step {
    Write {
        name: String,
        text: String,
    },
    /// Copies a shared file, or what is in a shared folder.
    Copy {
        from: String,
        /// By default the name of the file, or the user's folder itself.
        to: Option<String>,
    },
    Delete(String),
    /// Accepts every result of the user's suite, and records it as the reference's.
    Accept,
    /// Replaces a text that the file has.
    Edit {
        name: String,
        from: String,
        to: String,
    },
    Type {
        /// Each with its line.
        commands: Vec<(usize, String)>,
        /// What is expected of each command.
        expected: Vec<(usize, Expected)>,
        keys: String,
    },
}

/// What is expected of a command.
pub(super) enum Expected {
    Code(i32),
    Says(String),
    SaysNot(String),
    /// The whole output is as in the snapshot of that name.
    Snapshot(String),
}

impl Session {
    pub(super) fn has_snapshot(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|(_, step)| {
            let Step::Type { expected, .. } = step else {
                return false;
            };
            let mut expected = expected.iter();
            expected.any(|(_, one)| matches!(one, Expected::Snapshot(_)))
        })
    }

    /// Reads a file below this folder. An error says which line to change, and how.
    pub(super) fn read(folder: &Path, file: &Path) -> Result<Session, String> {
        let path = Path::new(super::FOLDER).join(file);
        let name = path.to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(folder.join(file));
        let text = text.map_err(|error| format!("{name}: {error}"))?;
        match steps(&text) {
            Ok(steps) => Ok(Session { file: name, steps }),
            Err((line, why)) => Err(format!("{name}:{line}: {why}")),
        }
    }
}

fn steps(text: &str) -> Result<Vec<(usize, Step)>, Malformed> {
    let mut rest = Rest::of(text);
    if !text.starts_with("# ") {
        return malformed(
            1,
            "begin with a sentence about the user's problem: `# A mistyped name`",
        );
    }
    let mut steps = Vec::new();
    while let Some((line, text)) = rest.0.next() {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let step = match text.split_once(' ').unwrap_or((text, "")) {
            ("$", command) => rest.commands(line, command)?,
            ("file:", name) => Step::Write {
                name: name.to_owned(),
                text: rest.block(line)?,
            },
            ("copy:", names) => {
                let (from, to) = names.split_once(" as ").unzip();
                Step::Copy {
                    from: from.unwrap_or(names).to_owned(),
                    to: to.map(str::to_owned),
                }
            }
            ("delete:", name) => Step::Delete(name.to_owned()),
            ("accepted:", "everything") => Step::Accept,
            ("edit:", name) => {
                let mut marked = |mark| {
                    let text = rest.marked(mark);
                    text.map(|text| unescaped(line, &text)).transpose()
                };
                let from = marked("-")?;
                let Some(from) = from else {
                    return malformed(line + 1, "here is the text to replace: `- old text`");
                };
                let (name, to) = (name.to_owned(), marked("+")?.unwrap_or_default());
                Step::Edit { name, from, to }
            }
            _ => {
                return malformed(
                    line,
                    "begin the line with `$`, `file:`, `copy:`, `edit:`, `delete:`, `accepted: everything` \
                     or `#`; what a command says is in the lines directly below it",
                );
            }
        };
        steps.push((line, step));
    }
    Ok(steps)
}

impl Rest<'_> {
    /// Some commands, one below the other, and what is expected of each.
    fn commands(&mut self, line: usize, command: &str) -> Result<Step, Malformed> {
        let mut commands = vec![(line, typed(line, command)?)];
        let mut expected = Vec::new();
        let mut keys = String::new();
        while let Some((line, text)) = self.0.next_if(|(_, text)| !text.is_empty()) {
            let (kind, words) = text.split_once(": ").unwrap_or((text, ""));
            let one = match kind {
                _ if text.starts_with('#') => continue,
                _ if text.starts_with("$ ") && expected.is_empty() => {
                    commands.push((line, typed(line, &text[2..])?));
                    continue;
                }
                "typed" => {
                    keys.extend(words.chars().flat_map(|key| [key, '\n']));
                    continue;
                }
                "exit code" => match words.parse() {
                    Ok(code) => Expected::Code(code),
                    Err(_) => return malformed(line, "write a number: `exit code: 2`"),
                },
                "says" => Expected::Says(words_of(line, words)?),
                "does not say" => Expected::SaysNot(words_of(line, words)?),
                "snapshot" if naming::is_portable(words) => Expected::Snapshot(words.to_owned()),
                _ => {
                    return malformed(
                        line,
                        "below a command are `exit code: `, `says: `, `does not say: `, `typed: ` and \
                         `snapshot: name-of-a-file`; an empty line is before the next step",
                    );
                }
            };
            expected.push((line, one));
        }
        if !expected
            .iter()
            .any(|(_, one)| matches!(one, Expected::Code(_)))
        {
            expected.insert(0, (line, Expected::Code(0)));
        }
        Ok(Step::Type {
            commands,
            expected,
            keys,
        })
    }

    /// The text of a file, between two fences.
    fn block(&mut self, line: usize) -> Result<String, Malformed> {
        let Some((_, fence)) = self.0.next_if(|(_, text)| text.starts_with("```")) else {
            return malformed(
                line + 1,
                "here is \"```\", then the text of the file, then \"```\" again",
            );
        };
        let mut text = Vec::new();
        for (_, line) in self.0.by_ref() {
            if line == fence {
                return Ok(text.concat());
            }
            text.extend([line, "\n"]);
        }
        malformed(line, &format!("end the text of the file with {fence:?}"))
    }
}

/// A command that a session can run.
fn typed(line: usize, command: &str) -> Result<String, Malformed> {
    let words = shlex::split(command).unwrap_or_default();
    let words = words.iter().map(String::as_str);
    let words: Vec<&str> = words.skip_while(|word| word.contains('=')).collect();
    match words[..] {
        ["rolecall" | "git", ..] | ["cat", _] => Ok(command.to_owned()),
        _ => malformed(
            line,
            "write `$ rolecall …`, `$ git …`, or `$ cat FILE`, with all quotes closed",
        ),
    }
}

/// Words as an output has them. They end before `…`.
fn words_of(line: usize, words: &str) -> Result<String, Malformed> {
    let words = words.strip_suffix('…').unwrap_or(words);
    if words.trim().is_empty() {
        return malformed(line, "write the words: `says: nothing is left`");
    }
    unescaped(line, words)
}

/// A text in which `\n` and `\r` are line breaks, and `\\` a backslash.
fn unescaped(line: usize, text: &str) -> Result<String, Malformed> {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('\\') => '\\',
                _ => {
                    return malformed(
                        line,
                        "write `\\\\` for a backslash, and `\\n` or `\\r` for a line break",
                    );
                }
            },
            other => other,
        });
    }
    Ok(plain)
}
