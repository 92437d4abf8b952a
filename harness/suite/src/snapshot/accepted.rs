//! One file of accepted transcripts: those of a template and a family.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rolecall_model::{CaseId, Outcome};

use super::insta_file::contents;
use super::sections::{self, Damage, Section};
use rolecall_base::file::read_own;
use rolecall_base::invocation;
use rolecall_base::problem::{Position, Problem};
use rolecall_base::transcript::{self, InvalidTranscript};

/// How a transcript compares with its accepted snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotStatus {
    /// The same, byte for byte.
    Same,
    /// Something else was accepted: this transcript.
    Changed(String),
    /// Nothing was accepted yet.
    New,
    /// The accepted text is not a transcript.
    Unreadable(Problem),
}

/// The accepted transcripts of a template and a family.
#[derive(Debug)]
pub struct Accepted {
    path: PathBuf,
    /// The whole file; empty where there is none.
    file: String,
    /// The offset at which the text begins, after the header.
    begin: usize,
    sections: Vec<Section>,
    damage: Vec<Damage>,
    /// Why the file cannot be read, if it cannot.
    unreadable: Option<Problem>,
}

impl Accepted {
    /// Reads a file of at most `most` bytes. A missing file has no accepted transcripts.
    pub fn read(path: PathBuf, most: u64) -> Accepted {
        match read_own(&path, most) {
            Ok(Some(bytes)) => Accepted::of(path, &bytes),
            Ok(None) => Accepted::nothing(path),
            Err(why) => Accepted::unreadable(path, why),
        }
    }

    /// Reads the accepted transcripts in the bytes of a file.
    pub fn of(path: PathBuf, bytes: &[u8]) -> Accepted {
        // The standard library's check takes ten times as long.
        let Ok(file) = simdutf8::basic::from_utf8(bytes).map(str::to_owned) else {
            return Accepted::unreadable(path, "the file is not UTF-8");
        };
        let Some(text) = contents(&file) else {
            return Accepted::unreadable(path, "the file has no insta header");
        };
        let (sections, damage) = sections::read(text);
        Accepted {
            begin: text.as_ptr().addr() - file.as_ptr().addr(),
            sections,
            damage,
            file,
            ..Accepted::nothing(path)
        }
    }

    fn nothing(path: PathBuf) -> Accepted {
        Accepted {
            path,
            file: String::new(),
            begin: 0,
            sections: Vec::new(),
            damage: Vec::new(),
            unreadable: None,
        }
    }

    fn unreadable(path: PathBuf, why: impl Into<String>) -> Accepted {
        Accepted {
            unreadable: Some(Problem::new(&path, why)),
            ..Accepted::nothing(path)
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is no file.
    pub fn is_missing(&self) -> bool {
        self.file.is_empty() && self.unreadable.is_none()
    }

    /// Compares the outcome of a case with its accepted transcript.
    pub fn compare(&self, case: &str, outcome: &Outcome) -> SnapshotStatus {
        if let Some(problem) = &self.unreadable {
            return SnapshotStatus::Unreadable(problem.clone());
        }
        match self.section(case) {
            Some(section) => self.compare_with(section, outcome),
            None => SnapshotStatus::New,
        }
    }

    /// Compares as [`Accepted::compare`] does, and looks for the section at this index first.
    /// No case may have two sections.
    pub(crate) fn compare_at(&self, place: usize, case: &str, outcome: &Outcome) -> SnapshotStatus {
        match self.sections.get(place) {
            Some(section) if section.name == case => self.compare_with(section, outcome),
            _ => self.compare(case, outcome),
        }
    }

    fn compare_with(&self, section: &Section, outcome: &Outcome) -> SnapshotStatus {
        let Some(accepted) = self.text(section) else {
            let is_here = |damage: &&Damage| damage.line == section.line;
            let damage = self.damage.iter().find(is_here);
            let message = damage.map_or("no transcript", |damage| &damage.message);
            return SnapshotStatus::Unreadable(self.problem(section.line, message));
        };
        if transcript::is_of(accepted, outcome) {
            return SnapshotStatus::Same;
        }
        match transcript::decode(accepted) {
            Ok(_) => SnapshotStatus::Changed(accepted.to_owned()),
            Err(error) => SnapshotStatus::Unreadable(self.no_transcript(section, &error)),
        }
    }

    /// Whether a case was never accepted: a readable file has no section for it.
    pub fn lacks(&self, case: &str) -> bool {
        self.unreadable.is_none() && self.section(case).is_none()
    }

    /// The accepted text for a case, even if it is not a valid transcript.
    pub fn transcript(&self, case: &str) -> Option<&str> {
        self.text(self.section(case)?)
    }

    /// The names of cases with the transcripts that were accepted for them, as they stand in
    /// the file.
    pub fn transcripts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections
            .iter()
            .filter_map(|section| Some((section.name.as_str(), self.text(section)?)))
    }

    /// Problems with the file besides the transcripts in it: sections that are damaged,
    /// duplicate, without a case or out of order, and anything that insta does not write.
    /// `cases` are those of the family in their order, `header` is the expected header.
    pub fn problems(&self, cases: &[&CaseId], header: &str) -> Vec<Problem> {
        if let Some(problem) = &self.unreadable {
            return vec![problem.clone().help(invocation::review())];
        }
        if self.is_missing() {
            return Vec::new();
        }
        let mut problems: Vec<Problem> = self
            .damage
            .iter()
            .map(|damage| self.problem(damage.line, &damage.message))
            .collect();
        let mut left = cases.iter();
        let mut is_next = |section: &Section| left.any(|id| id.name() == section.name);
        if !self.sections.iter().all(&mut is_next) {
            problems.extend(self.misplaced(cases));
        }
        if problems.is_empty() && !self.is_as_written(header) {
            let message = "not as insta writes it: someone has edited it";
            problems.push(Problem::new(&self.path, message));
        }
        problems
            .into_iter()
            .map(|problem| problem.help(invocation::review()))
            .collect()
    }

    /// Whether the file has exactly the sections of these cases, in order, as insta writes
    /// them. Then [`Accepted::problems`] finds none.
    pub(crate) fn has_exactly<'n>(
        &self,
        mut names: impl Iterator<Item = &'n str>,
        header: &str,
    ) -> bool {
        let mut sections = self.sections.iter();
        !self.is_missing()
            && self.unreadable.is_none()
            && self.damage.is_empty()
            && sections.all(|section| names.next() == Some(section.name.as_str()))
            && names.next().is_none()
            && self.is_as_written(header)
    }

    /// The sections that have no case, are duplicate or out of order.
    fn misplaced(&self, cases: &[&CaseId]) -> Vec<Problem> {
        let order: HashMap<&str, usize> = cases
            .iter()
            .enumerate()
            .map(|(index, id)| (id.name(), index))
            .collect();
        let mut seen = HashSet::new();
        let mut last = None;
        let mut problems = Vec::new();
        for section in &self.sections {
            let name = section.name.as_str();
            let message = match order.get(name) {
                None => format!("an orphan: the suite has no case `{name}` for this"),
                Some(_) if !seen.insert(name) => {
                    format!("the section of `{name}` occurs twice")
                }
                Some(place) if Some(place) < last => {
                    format!("the section of `{name}` is out of place")
                }
                Some(place) => {
                    last = Some(place);
                    continue;
                }
            };
            problems.push(self.problem(section.line, &message));
        }
        problems
    }

    /// Whether the file is as insta writes these contents.
    fn is_as_written(&self, header: &str) -> bool {
        let length = self.contents().len();
        self.file[..self.begin] == *header && self.file[self.begin + length..] == *"\n"
    }

    /// The sections that are complete but hold no valid transcript.
    pub fn undecodable(&self) -> Vec<Problem> {
        let undecodable = |section: &Section| {
            let error = transcript::decode(self.text(section)?).err()?;
            Some(
                self.no_transcript(section, &error)
                    .help(invocation::review()),
            )
        };
        self.sections.iter().filter_map(undecodable).collect()
    }

    fn contents(&self) -> &str {
        contents(&self.file).unwrap_or_default()
    }

    fn section(&self, case: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == case)
    }

    fn text(&self, section: &Section) -> Option<&str> {
        let range = section.transcript.clone()?;
        self.file[self.begin..].get(range)
    }

    fn no_transcript(&self, section: &Section, error: &InvalidTranscript) -> Problem {
        let line = section.line + error.line().unwrap_or(1) - 1;
        let message = format!("`{}` is not a transcript: {error}", section.name);
        self.problem(line, &message)
    }

    /// A problem in a line of the text.
    fn problem(&self, line: usize, message: &str) -> Problem {
        let header = self.file[..self.begin].matches('\n').count();
        Problem::new(&self.path, message).at(Position {
            line: header + line,
            column: 1,
        })
    }
}
