//! What may change without anyone noticing: the whole list, each kind with its reason.
//!
//! A change is looked up here only after every check has passed it. It is judged by what
//! it means, never by what the harness makes of it.

use std::fmt;

use rolecall::wildcard::Wildcard;
use serde_json::Value;

use super::files::Kind;

/// A kind of change that nothing hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harmless {
    /// White space between the tokens of a JSON file that people write.
    Blanks,
    /// Another escape for the same character of such a file, or another way to write the
    /// same moment.
    Spelling,
    /// What people say to people: `about`, `origin`, `reason`, `issue`.
    Words,
    /// A glob that reaches what it reached before.
    Globs,
    /// What a reference said when it failed, and in which line.
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

    /// Why nothing hangs on it.
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

    /// Which kind a change is of, if it is of any.
    /// `names` are those of the templates and cases that there are.
    pub(crate) fn of(kind: Kind, before: &str, after: &[u8], names: &[String]) -> Option<Harmless> {
        let after = std::str::from_utf8(after).ok()?;
        let mut old: Value = serde_json::from_str(before).ok()?;
        let mut new: Value = serde_json::from_str(after).ok()?;
        if kind == Kind::Record {
            without_failure_words(&mut old);
            without_failure_words(&mut new);
            return (old == new && new != Value::Null).then_some(Harmless::FailureWords);
        }
        if !kind.is_written_by_people() {
            return None;
        }
        if kind == Kind::Case {
            // RFC 3339 has `T` and `Z` in either case, and a blank for `T`.
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

/// Replaces texts by where they stand: `*` is any key or element on the way.
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
                // A case's name is any name; so deep down nothing else is.
                path.push(if path == &["cases"] { "*" } else { key });
                replace(value, path, with);
                path.pop();
            }
        }
        _ => {}
    }
}

/// A record without what the reference said where it failed; nothing if it is no record.
fn without_failure_words(record: &mut Value) {
    let Some(cases) = record.get_mut("cases").and_then(Value::as_object_mut) else {
        *record = Value::Null;
        return;
    };
    for entry in cases.values_mut().filter_map(Value::as_object_mut) {
        if entry
            .get("outcome")
            .is_some_and(|outcome| outcome == "failed")
        {
            entry.retain(|key, _| key != "message" && key != "line");
        }
    }
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
