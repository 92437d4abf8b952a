//! The list of changes that no check need notice, each kind with its reason.
//!
//! The tests look a change up here only after no check has noticed it. The list judges a change by
//! its meaning, not by what the harness makes of it.

use std::fmt;

use rolecall_core::wildcard::Wildcard;
use serde_json::Value;

use super::files::Kind;

/// A kind of change without any effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harmless {
    /// White space between the tokens of a JSON file that people write.
    Blanks,
    /// Another escape for the same character in such a file, or another way to write the same time.
    Spelling,
    /// Texts for people: `about`, `origin`, `reason`, `issue`.
    Words,
    /// A glob that matches the same names as before.
    Globs,
    /// The message and the line of a reference's failure.
    FailureWords,
}

impl Harmless {
    /// The whole list.
    pub(crate) const ALL: [Harmless; 5] = [
        Harmless::Blanks,
        Harmless::Spelling,
        Harmless::Words,
        Harmless::Globs,
        Harmless::FailureWords,
    ];

    /// Why it has no effect.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Harmless::Blanks => "people lay out their JSON as they like; it is read the same",
            Harmless::Spelling => "the same character or moment, however it is written",
            Harmless::Words => "words for people; no prompt and no verdict hangs on them",
            Harmless::Globs => "the same pairs are meant",
            Harmless::FailureWords => {
                "words belong to each engine, so an engine agrees that fails; `reference verify` compares them"
            }
        }
    }

    /// The kind of a change, if it is on the list. `names` are the names of all templates and
    /// cases.
    pub(crate) fn of(kind: Kind, before: &str, after: &[u8], names: &[String]) -> Option<Harmless> {
        let after = std::str::from_utf8(after).ok()?;
        if kind.is_in_family() {
            let is_same = without_failure_words(before) == without_failure_words(after);
            return is_same.then_some(Harmless::FailureWords);
        }
        let mut old: Value = serde_json::from_str(before).ok()?;
        let mut new: Value = serde_json::from_str(after).ok()?;
        if !kind.is_written_by_people() {
            return None;
        }
        if kind == Kind::Case {
            // RFC 3339 allows `T` and `Z` in either case, and a space for `T`.
            let moment = |path: &[&str], text: &str| {
                (path == ["cases", "*", "now"]).then(|| text.to_uppercase().replace(' ', "T"))
            };
            replace(&mut old, &mut Vec::new(), &moment);
            replace(&mut new, &mut Vec::new(), &moment);
        }
        if old == new {
            let is_layout = without_blanks(before) == without_blanks(after);
            return Some(if is_layout {
                Harmless::Blanks
            } else {
                Harmless::Spelling
            });
        }
        let is_word = |path: &[&str]| kind.words().contains(&path.join(".").as_str());
        replace(&mut old, &mut Vec::new(), &|path, text| {
            (is_word(path) && !text.is_empty()).then(String::new)
        });
        replace(&mut new, &mut Vec::new(), &|path, text| {
            (is_word(path) && !text.is_empty()).then(String::new)
        });
        if old == new {
            return Some(Harmless::Words);
        }
        let is_glob = |path: &[&str]| kind.globs().contains(&path.join(".").as_str());
        let reach = |path: &[&str], text: &str| {
            if !is_glob(path) {
                return None;
            }
            let glob = Wildcard::new(text).ok()?;
            let reached = names.iter().filter(|name| glob.is_match(name));
            let reached: Vec<&str> = reached.map(String::as_str).collect();
            (!reached.is_empty()).then(|| reached.join(" "))
        };
        replace(&mut old, &mut Vec::new(), &reach);
        replace(&mut new, &mut Vec::new(), &reach);
        (old == new).then_some(Harmless::Globs)
    }
}

impl fmt::Display for Harmless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Harmless::Blanks => "blanks",
            Harmless::Spelling => "spelling",
            Harmless::Words => "words",
            Harmless::Globs => "globs",
            Harmless::FailureWords => "failure words",
        })
    }
}

/// Replaces texts by their place: `*` means any key or element on the way.
fn replace<'v>(
    value: &'v mut Value,
    path: &mut Vec<&'v str>,
    with: &impl Fn(&[&str], &str) -> Option<String>,
) {
    match value {
        Value::String(text) => {
            if let Some(new) = with(path, text) {
                *text = new;
            }
        }
        Value::Array(elements) => {
            for element in elements {
                path.push("*");
                replace(element, path, with);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                // A case's name is any name, and so is a place that no case reaches with its ways.
                let is_any = path == &["cases"] || path.first() == Some(&"unreached");
                path.push(if is_any { "*" } else { key });
                replace(value, path, with);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The file of a family without the messages of the reference's failures, and their lines in the
/// template.
fn without_failure_words(file: &str) -> String {
    let without = |line: &str| {
        let mut parts = line.splitn(6, ' ');
        let is_failure = parts.next() == Some("reference") && parts.nth(1) == Some("failed");
        let (stage, at) = (parts.next(), parts.next());
        let is_place = |at: &str| at == "-" || at.parse().is_ok_and(|n: usize| n.to_string() == at);
        let message = parts.next()?;
        // Written as the harness writes it.
        let read: String = serde_json::from_str(message).ok()?;
        let again = Value::from(read).to_string();
        let is_written = is_failure && at.is_some_and(is_place) && again == message;
        is_written.then(|| {
            line.split(' ')
                .take(3)
                .chain(stage)
                .collect::<Vec<_>>()
                .join(" ")
        })
    };
    let lines = file.split('\n');
    let lines = lines.map(|line| without(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// A JSON text without white space between its tokens.
fn without_blanks(json: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    json.chars()
        .filter(|c| {
            let is_kept = is_text || !c.is_ascii_whitespace();
            if is_text && is_escaped {
                is_escaped = false;
            } else if is_text && *c == '\\' {
                is_escaped = true;
            } else if *c == '"' {
                is_text = !is_text;
            }
            is_kept
        })
        .collect()
}
