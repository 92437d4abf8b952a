//! Snapshots: accepted transcripts, one insta file a pair.
//!
//! `snapshots/<template>/<family>/<case>.snap` is an insta file: a header between two
//! `---` lines, then the transcript. It is read here without insta's own comparison,
//! which trims and folds line endings; a transcript is compared byte by byte.
//! `snapshots/<template>/card.snap` is the template's report card, as a test of the suite
//! accepted it.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rolecall_model::{Outcome, Template};
use walkdir::WalkDir;

use crate::file::{MOST_TEXT, is_draft, read_text, write_below};
use crate::problem::Problem;
use crate::record::{Answer, Records};
use crate::reference::Reference;
use crate::suite::{Layout, Pair, Suite};
use crate::transcript;

/// The folder of accepted transcripts.
#[derive(Debug, Clone)]
pub struct Snapshots {
    root: PathBuf,
}

/// How a transcript stands to its accepted snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The same, byte for byte.
    Same,
    /// Something else was accepted: this transcript.
    Changed(String),
    /// Nothing was accepted yet.
    New,
    /// There is a file, but no transcript in it.
    Unreadable(String),
}

impl Snapshots {
    /// The snapshots of a suite.
    pub fn of(layout: &Layout) -> Snapshots {
        Snapshots {
            root: layout.snapshots(),
        }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a pair's snapshot.
    pub fn folder(&self, pair: &Pair<'_>) -> PathBuf {
        self.root
            .join(pair.template.name.as_str())
            .join(pair.case.id.family())
    }

    /// The file of a pair's snapshot.
    pub fn file(&self, pair: &Pair<'_>) -> PathBuf {
        self.folder(pair)
            .join(format!("{}.snap", pair.case.id.name()))
    }

    /// The file with the reference's own transcript, which a divergence has.
    pub fn reference_file(&self, pair: &Pair<'_>) -> PathBuf {
        self.folder(pair)
            .join(format!("{}.reference.snap", pair.case.id.name()))
    }

    /// The folder of a template's snapshots.
    pub fn folder_of(&self, template: &Template) -> PathBuf {
        self.root.join(template.name.as_str())
    }

    /// The file of a template's report card.
    pub fn card(&self, template: &Template) -> PathBuf {
        self.folder_of(template).join("card.snap")
    }

    /// The text of a pair's file, as insta writes it for the test that compares pairs.
    pub fn text(pair: &Pair<'_>, transcript: &str) -> String {
        let family = pair.case.id.family();
        let input = format!("cases/conversations/{family}.json");
        written(CONFORMANCE, &input, transcript)
    }

    /// The text of a card's file, as insta writes it for the test of the cards.
    pub fn card_text(template: &Template, card: &str) -> String {
        let name = template.path.file_name().unwrap_or_default();
        let input = format!("cases/templates/{}", name.to_string_lossy());
        written(CARDS, &input, card)
    }

    /// The reference's transcript, if it is known in whole: from its words, from the
    /// accepted snapshot where that agrees with it, or from the file of a divergence.
    pub fn reference(&self, pair: &Pair<'_>, answer: &Answer) -> Option<String> {
        if let Some(outcome) = answer.outcome() {
            return Some(transcript::encode(&outcome));
        }
        [self.file(pair), self.reference_file(pair)]
            .iter()
            .find_map(|path| agreeing(path, answer))
    }

    /// Whether the file of a divergence holds what the reference did, in its words.
    pub fn is_of_reference(&self, pair: &Pair<'_>, answer: &Answer) -> bool {
        let path = self.reference_file(pair);
        let is_of = |outcome: Outcome| {
            let known = answer.outcome().unwrap_or_else(|| outcome.clone());
            known == outcome && is_text(&path, &reference_text(pair, &outcome))
        };
        agreeing(&path, answer)
            .and_then(|transcript| transcript::decode(&transcript).ok())
            .is_some_and(is_of)
    }

    /// Keeps the reference's own transcript beside the snapshot.
    pub fn write_reference(&self, pair: &Pair<'_>, outcome: &Outcome) -> Result<(), Problem> {
        write_below(
            &self.root,
            &self.reference_file(pair),
            reference_text(pair, outcome),
        )
    }

    /// Compares a transcript with what was accepted.
    pub fn compare(&self, pair: &Pair<'_>, transcript: &str) -> Comparison {
        // A longer one can only be another one; that far it is shown what it says.
        let most = MOST_TEXT.max(transcript.len() as u64 + (64 << 10));
        match read_own(&self.file(pair), most) {
            Ok(Some(bytes)) => Comparison::of(&bytes, transcript),
            Ok(None) => Comparison::New,
            Err(why) => Comparison::Unreadable(why),
        }
    }

    /// Whether a report card is the accepted one, byte for byte.
    pub fn has_card(&self, template: &Template, card: &str) -> bool {
        read_text(&self.card(template)).is_ok_and(|file| is_card(&file, card))
    }

    /// Files below the snapshot folder that belong to no pair of the suite, and reviews
    /// that are still pending. Sorted by path. `has_diverged` says which pairs have the
    /// reference's transcript beside their own.
    pub fn survey(&self, suite: &Suite, has_diverged: impl Fn(&Pair<'_>) -> bool) -> Survey {
        let mut expected: BTreeSet<PathBuf> = BTreeSet::new();
        for pair in suite.pairs() {
            expected.insert(self.file(&pair));
            if has_diverged(&pair) {
                expected.insert(self.reference_file(&pair));
            }
        }
        for template in &suite.templates {
            expected.insert(Records::file(&self.root, &template.name));
            expected.insert(self.card(template));
        }
        let mut survey = Survey::default();
        for entry in WalkDir::new(&self.root).sort_by_file_name() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(&self.root);
                    let message = format!("cannot be looked at: {error}");
                    survey.strange.push(Problem::new(path, message));
                    continue;
                }
            };
            let kind = entry.file_type();
            let path = entry.into_path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if kind.is_dir() {
                if expected.contains(&path) {
                    let problem = Problem::new(&path, "a folder, where a file is expected");
                    survey.strange.push(problem);
                }
            } else if !kind.is_file() {
                let message = "neither a file nor a folder: nothing else is read or written here";
                let problem = Problem::new(&path, message).help("remove it");
                survey.strange.push(problem);
            } else if is_draft(&name) {
                let message = "left over from a command that was interrupted";
                let problem = Problem::new(&path, message).help("delete it");
                survey.strange.push(problem);
            } else if name.ends_with(".snap.new") {
                survey.pending.push(path);
            } else if (name.ends_with(".snap") || name == "reference.json")
                && !expected.contains(&path)
            {
                survey.orphans.push(path);
            }
        }
        survey
    }
}

impl Comparison {
    /// Compares a transcript with the bytes of a file that was accepted.
    pub fn of(file: &[u8], transcript: &str) -> Comparison {
        let Ok(text) = std::str::from_utf8(file) else {
            return Comparison::Unreadable("the file is not UTF-8".to_owned());
        };
        match contents(text) {
            Some(accepted) if accepted == transcript => Comparison::Same,
            Some(accepted) => match transcript::decode(accepted) {
                Ok(_) => Comparison::Changed(accepted.to_owned()),
                Err(error) => Comparison::Unreadable(error.to_string()),
            },
            None => Comparison::Unreadable("the file has no insta header".to_owned()),
        }
    }
}

/// The tests of the suite that accept snapshots: insta names them in the headers.
const CONFORMANCE: &str = "harness/tests/suite/conformance.rs";
const CARDS: &str = "harness/tests/suite/cards.rs";

/// What insta writes: which test it was, which input, the text, and a line break.
fn written(source: &str, input: &str, text: &str) -> String {
    format!("---\nsource: {source}\ninput_file: {input}\n---\n{text}\n")
}

/// Whether a file holds a report card as it is accepted.
pub fn is_card(file: &str, card: &str) -> bool {
    contents(file) == Some(card)
}

/// Whether a file is as insta writes it, whatever was accepted: `written` gives the text of
/// the file for its contents.
pub fn is_as_written(file: &[u8], written: impl Fn(&str) -> String) -> bool {
    std::str::from_utf8(file)
        .ok()
        .and_then(contents)
        .is_some_and(|contents| written(contents).as_bytes() == file)
}

/// What stands beside the snapshot of a divergence.
fn reference_text(pair: &Pair<'_>, outcome: &Outcome) -> String {
    let header = format!("reference: {}", Reference::of(pair.template.dialect).name);
    format!("---\n{header}\n---\n{}\n", transcript::encode(outcome))
}

/// Whether a file holds a text and nothing else.
fn is_text(path: &Path, text: &str) -> bool {
    read_text(path).is_ok_and(|found| found == text)
}

/// The transcript in a file, if it agrees with what the reference did.
fn agreeing(path: &Path, answer: &Answer) -> Option<String> {
    let text = read_text(path).ok()?;
    let transcript = contents(&text)?;
    let outcome = transcript::decode(transcript).ok()?;
    answer.agrees(&outcome).then(|| transcript.to_owned())
}

/// Reads a file of the snapshots, if it is there: a regular one, of at most so many bytes,
/// or why it cannot be read.
///
/// There are thousands of them, so this takes as few system calls as there can be: what a
/// link leads to is not asked for, and a read that leaves room free has reached the end.
fn read_own(path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    // Opening a pipe would wait for someone to write to it.
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Err("a link, where a file is expected".to_owned());
    }
    if kind.is_dir() {
        return Err("a folder, where a file is expected".to_owned());
    }
    if !kind.is_file() {
        return Err("not a regular file".to_owned());
    }
    let size = metadata.len();
    if size > most {
        return Err(format!("too large: {size} bytes"));
    }
    let read = || {
        let mut file = std::fs::File::open(path)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX) + 1];
        let read = file.read(&mut bytes)?;
        let is_end = read < bytes.len();
        bytes.truncate(read);
        if !is_end {
            file.take(most).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    read()
        .map(Some)
        .map_err(|error: io::Error| format!("cannot be read: {error}"))
}

/// What stands in the snapshot folder besides the accepted transcripts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Snapshots and records whose template, case or divergence is gone.
    pub orphans: Vec<PathBuf>,
    /// What does not belong into the folder: links, pipes, files that were never finished.
    pub strange: Vec<Problem>,
    /// `.snap.new` files that wait for `cargo insta review`.
    pub pending: Vec<PathBuf>,
}

/// The contents of an insta file. insta ends it with a line break of its own.
pub fn contents(text: &str) -> Option<&str> {
    let (_, contents) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    Some(contents.strip_suffix('\n').unwrap_or(contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_not_part_of_a_snapshot() {
        let file = "---\nsource: x\nexpression: y\n---\nrendered\na␊\n---␊\n␃\n";
        assert_eq!(contents(file), Some("rendered\na␊\n---␊\n␃"));
        assert_eq!(contents("rendered\n␃\n"), None);
        assert_eq!(
            contents("---\r\nsource: x\r\n---\r\nrendered\r\n␃\r\n"),
            None
        );
    }
}
