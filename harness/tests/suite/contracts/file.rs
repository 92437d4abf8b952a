//! Reads a file of templates and of what their cards say.

use std::path::Path;

use rolecall_check::contract::{Contract, Severity, by_id};
use rolecall_core::Dialect;
use serde_json::Value;

use crate::test_files::{Malformed, Rest, folder, malformed};

/// A template, and what its card says.
pub(super) struct Part {
    /// Its file, from the top of the repository.
    pub(super) file: String,
    pub(super) line: usize,
    /// What is special about the template, in words.
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) notes: Vec<(usize, Note)>,
}

pub(super) enum Source {
    Whole(Dialect, String),
    /// A change of a template with a name.
    Changed(String, Changes),
}

/// Texts, each with its line and with what replaces it. What replaces no text comes before everything.
pub(super) struct Changes(pub(super) Vec<(usize, [String; 2])>);

/// What a card says.
pub(super) enum Note {
    Finds(Severity, &'static Contract, String),
    /// Why two prompts part, in the words of the finding before it.
    Because(String),
    Holds(&'static Contract),
    /// The card does not notice the change, for this reason.
    Unnoticed,
    /// No prompt of the suite shows the change, for this reason.
    Hidden,
    /// A patch changes the template, and is not safe if there are words of the reason.
    Fix(&'static Contract, Option<String>, Changes),
    /// There is no patch, or none that is safe.
    NoSafeFix(&'static Contract),
    /// The proof of the patch has a list of names of conversations. The word says how they relate.
    Proof(String, String),
    /// The conversation of the next notes.
    Asked(Vec<Value>),
    /// Its prompt after the patch.
    Prompt(String),
    SamePrompt,
    Refusal(String),
}

impl Part {
    /// Reads the parts of a file about a contract. An error says which line to change, and how.
    pub(super) fn read(path: &Path, of: Option<&'static Contract>) -> Result<Vec<Part>, String> {
        let name = path.strip_prefix(folder("")).unwrap_or(path);
        let name = name.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("{name}: {error}"))?;
        let parts = Rest::of(&text).parts(&name, of);
        parts.map_err(|(line, why)| format!("{name}:{line}: {why}"))
    }
}

impl Changes {
    /// A text with these changes.
    pub(super) fn apply(&self, text: &str) -> Result<String, Malformed> {
        let mut changed = text.to_owned();
        for (line, [from, to]) in &self.0 {
            changed = match from.as_str() {
                "" => format!("{to}{changed}"),
                from if changed.contains(from) => changed.replace(from, to),
                _ => return malformed(*line, &format!("write a text that is in it:\n{changed}")),
            };
        }
        Ok(changed)
    }
}

const UNKNOWN: &str = "a note is `error`, `warning`, `limitation` or `note`, each with `: words` or without; \
    `because: words`, `holds`, `unnoticed: why`, `hidden: why`, or one of those about fixes that the page lists; \
    an empty line is before the next part";

impl<'t> Rest<'t> {
    fn parts(mut self, file: &str, of: Option<&'static Contract>) -> Result<Vec<Part>, Malformed> {
        let mut parts: Vec<Part> = Vec::new();
        while let Some((line, text)) = self.next_full() {
            let Some(name) = text.strip_prefix("--- ") else {
                return malformed(
                    line,
                    "begin with what is special about the template: `--- a call has no end`",
                );
            };
            if parts.iter().any(|known| known.name == name) {
                return malformed(line, "write another sentence: a part above has this one");
            }
            let source = self.source(line)?;
            let notes = self.notes(line, of)?;
            let is_of_change = |note: &Note| matches!(note, Note::Unnoticed | Note::Hidden);
            let of_change = notes.iter().find(|(_, note)| is_of_change(note));
            if let (Source::Whole(..), Some((line, _))) = (&source, of_change) {
                return malformed(*line, "this note is about a change: begin with `in NAME`");
            }
            parts.push(Part {
                file: file.to_owned(),
                line,
                name: name.to_owned(),
                source,
                notes,
            });
        }
        Ok(parts)
    }

    /// The next line that is neither empty nor a comment.
    fn next_full(&mut self) -> Option<(usize, &'t str)> {
        let is_none = |text: &str| text.is_empty() || text.starts_with('#');
        while self.0.next_if(|(_, text)| is_none(text)).is_some() {}
        self.0.next()
    }

    fn source(&mut self, line: usize) -> Result<Source, Malformed> {
        let (line, text) = self.next_full().unwrap_or((line, ""));
        if let Some(name) = text.strip_prefix("in ") {
            return Ok(Source::Changed(name.to_owned(), self.changes()));
        }
        let mut dialects = Dialect::ALL.into_iter();
        let language = text.strip_prefix("```");
        let Some(dialect) = dialects.find(|one| Some(one.name()) == language) else {
            return malformed(
                line,
                "here is `in sound.jinja`, or a whole template between \"```jinja\" or \"```go\" and \"```\"",
            );
        };
        let mut lines = Vec::new();
        for (_, text) in self.0.by_ref() {
            if text == "```" {
                return Ok(Source::Whole(dialect, lines.join("\n")));
            }
            lines.push(text);
        }
        malformed(line, "end the template with \"```\"")
    }

    fn changes(&mut self) -> Changes {
        let mut changes = Vec::new();
        while let Some((line, _)) = self.0.peek().copied() {
            let [from, to] = ["-", "+"].map(|mark| self.marked(mark));
            if from.is_none() && to.is_none() {
                break;
            }
            changes.push((line, [from, to].map(Option::unwrap_or_default)));
        }
        Changes(changes)
    }

    fn notes(
        &mut self,
        part: usize,
        of: Option<&'static Contract>,
    ) -> Result<Vec<(usize, Note)>, Malformed> {
        let mut notes = Vec::new();
        while let Some((line, text)) = self.0.next_if(|(_, text)| !text.is_empty()) {
            if !text.starts_with('#') {
                notes.push((line, self.note(line, text, of)?));
            }
        }
        if notes.is_empty() {
            return malformed(
                part,
                "below the template is what its card says: `error: words of the finding`",
            );
        }
        Ok(notes)
    }

    fn note(
        &mut self,
        line: usize,
        text: &str,
        of: Option<&'static Contract>,
    ) -> Result<Note, Malformed> {
        let (head, words) = text.split_once(": ").unwrap_or((text, ""));
        let (kind, id) = head.split_once(" of ").unzip();
        let contract = || match id {
            Some(id) => by_id(id).ok_or_else(|| (line, format!("no contract is named {id:?}"))),
            None => of.ok_or_else(|| (line, "name a contract: `error of turns-closed`".to_owned())),
        };
        let kind = kind.unwrap_or(head);
        let words = words.to_owned();
        if let Some(severity) = Severity::named(kind) {
            return Ok(Note::Finds(severity, contract()?, words));
        }
        Ok(match kind {
            "holds" => Note::Holds(contract()?),
            "safe fix" => Note::Fix(contract()?, None, self.changes()),
            "no safe fix" => Note::NoSafeFix(contract()?),
            "same prompt" => Note::SamePrompt,
            _ if words.is_empty() => return malformed(line, UNKNOWN),
            "because" => Note::Because(words),
            "unnoticed" => Note::Unnoticed,
            "hidden" => Note::Hidden,
            "unsafe fix" => Note::Fix(contract()?, Some(words), self.changes()),
            "shows" | "shows only" | "shows no" | "rewords" => Note::Proof(kind.to_owned(), words),
            "asked" => match serde_json::from_str(&words) {
                Ok(messages) => Note::Asked(messages),
                Err(error) => return malformed(line, &format!("write messages as JSON: {error}")),
            },
            "prompt" => Note::Prompt(words.replace("\\n", "\n")),
            "refusal" => Note::Refusal(words),
            _ => return malformed(line, UNKNOWN),
        })
    }
}
