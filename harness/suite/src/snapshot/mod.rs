//! Snapshots: accepted transcripts and what confirms them, one insta file for each family.
//!
//! `snapshots/<family>.snap` has one section for each pair of the family: `sections` says how it is
//! written. A transcript is compared byte by byte. `cards/<template>.snap` is a template's report
//! card. `reference.json` says of each template which reference was asked about it, and with what.

mod insta_file;
mod sections;

mod family_file;

mod survey;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_answers::transcript as readings;
use rolecall_core::{Outcome, Template, TemplateName};

use crate::layout::Layout;
use crate::record::{RecordedAnswer, in_order};
use crate::suite::{Pair, Suite};
use rolecall_core::file::{read_text, write_below};
use rolecall_core::problem::Problem;
use rolecall_core::transcript;

pub use family_file::{FamilyFile, FileProblems, PairText, SnapshotStatus};
pub use insta_file::contents;
pub use survey::Survey;

/// The folder of accepted transcripts. Each file is read once.
#[derive(Debug, Clone)]
pub struct Snapshots {
    root: PathBuf,
    /// Whether they belong to a suite of one's own, which no insta test checks.
    are_own: bool,
    read: Arc<Mutex<HashMap<String, Arc<FamilyFile>>>>,
}

/// The largest file of snapshots that is read: a family may have thousands of pairs, and a
/// prompt megabytes.
const MOST: u64 = 256 << 20;

/// The folder of the accepted report cards.
pub const CARDS: &str = "cards";

impl Snapshots {
    pub fn of(layout: &Layout) -> Snapshots {
        Snapshots {
            root: layout.snapshots(),
            are_own: layout.configuration().is_some(),
            read: Arc::default(),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn file(&self, family: &str) -> PathBuf {
        self.root.join(format!("{family}.snap"))
    }

    /// The file of a template's report card.
    pub fn card(&self, template: &TemplateName) -> PathBuf {
        self.root.join(CARDS).join(format!("{template}.snap"))
    }

    /// The families that have a file, sorted.
    pub fn families(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        let family = |name: std::ffi::OsString| Some(name.to_str()?.strip_suffix(".snap")?.into());
        let mut families: Vec<String> = names.filter_map(family).collect();
        families.sort();
        families
    }

    /// What is accepted and recorded of a family, as it was when it was first asked for or last
    /// written.
    pub fn family(&self, family: &str) -> Arc<FamilyFile> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = known.get(family) {
            return Arc::clone(file);
        }
        drop(known);
        // Threads that ask for other files do not wait for this one.
        let file = Arc::new(FamilyFile::read(self.file(family), MOST));
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(family.to_owned()).or_insert(file))
    }

    /// What is accepted and recorded of the family of a pair.
    pub fn family_of(&self, pair: &Pair<'_>) -> Arc<FamilyFile> {
        self.family(pair.case.id.family())
    }

    /// Compares the outcome of a pair with its accepted transcript.
    pub fn compare(&self, pair: &Pair<'_>, outcome: &Outcome) -> SnapshotStatus {
        self.family_of(pair).compare(pair, outcome)
    }

    /// Problems with the file of a family, besides the transcripts in it.
    pub fn problems(&self, suite: &Suite, family: &str) -> FileProblems {
        let file = self.family(family);
        let found = file
            .found
            .get_or_init(|| self.problems_of(suite, family, &file));
        found.clone()
    }

    /// Problems with the file of a family, if it were this one.
    pub fn problems_of(&self, suite: &Suite, family: &str, file: &FamilyFile) -> FileProblems {
        file.problems(&suite.pairs_by_case(family), || {
            self.written(suite, family, |pair| {
                let mut text = file.pair(pair);
                text.record = in_order(text.record);
                text
            })
        })
    }

    /// The text of a family's file that says this about each of its pairs.
    pub fn written(
        &self,
        suite: &Suite,
        family: &str,
        says: impl FnMut(&Pair<'_>) -> PairText,
    ) -> String {
        format!("{}{}\n", self.header(family), text(suite, family, says))
    }

    /// Writes the file of a family, whole or not at all. Returns whether anything has changed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, family: &str, text: &str) -> Result<bool, Problem> {
        let path = self.file(family);
        if read_text(&path).is_ok_and(|old| old == *text) {
            return Ok(false);
        }
        write_below(&self.root, &path, text)?;
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(family);
        Ok(true)
    }

    fn header(&self, family: &str) -> String {
        if self.are_own {
            insta_file::OWN_HEADER.to_owned()
        } else {
            insta_file::header(&format!("cases/conversations/{family}.json"))
        }
    }

    /// The reference's whole transcript of a pair, if it is known: from the record's message, from
    /// the accepted snapshot if it agrees, or from the one that is kept for a divergence.
    pub fn reference(&self, pair: &Pair<'_>, answer: &RecordedAnswer) -> Option<String> {
        if let Some(outcome) = answer.outcome() {
            return Some(transcript::encode(outcome));
        }
        let file = self.family_of(pair);
        let agrees =
            |text: &&str| transcript::decode(text).is_ok_and(|outcome| answer.agrees(&outcome));
        let known = [file.transcript(pair), file.reference(pair)];
        let mut known = known.into_iter().flatten();
        known.find(agrees).map(str::to_owned)
    }

    /// The transcript of a template's readings that was accepted. `None` if none was.
    pub(crate) fn readings(&self, suite: &Suite, template: &Template) -> Option<String> {
        let mut text = String::new();
        for pair in suite.pairs_among(template, &suite.cases) {
            let file = self.family_of(&pair);
            readings::add_named(&mut text, &pair.case.id, file.answers(&pair));
        }
        text.truncate(text.trim_end().len());
        (!text.is_empty()).then_some(text)
    }

    /// The file with a text about a template.
    pub fn written_text(&self, template: &Template, text: &str) -> String {
        if self.are_own {
            return format!("{}{text}\n", insta_file::OWN_HEADER);
        }
        let name = template.path.file_name().unwrap_or_default();
        let input = format!("cases/templates/{}", name.to_string_lossy());
        insta_file::written(&input, text)
    }
}

/// The text of a family's snapshots that say this about each of its pairs.
pub fn text(suite: &Suite, family: &str, mut says: impl FnMut(&Pair<'_>) -> PairText) -> String {
    let mut text = String::new();
    for pair in suite.pairs_by_case(family) {
        says(&pair).add_to(&mut text, &pair);
    }
    text
}
