//! One file of accepted transcripts: those of a template and a family.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rolecall_model::{CaseId, Outcome};

use super::insta_file::contents;
use super::sections::{self, Damage, Section};
use crate::file::read_own;
use crate::invocation;
use crate::problem::{Position, Problem};
use crate::transcript::{self, InvalidTranscript};

/// How a transcript stands to its accepted snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The same, byte for byte.
    Same,
    /// Something else was accepted: this transcript.
    Changed(String),
    /// Nothing was accepted yet.
    New,
    /// Something was accepted, but it is no transcript.
    Unreadable(Problem),
}

/// The accepted transcripts of a template and a family.
#[derive(Debug)]
pub struct Accepted {
    path: PathBuf,
    /// The whole file; empty where there is none.
    file: String,
    /// The text in it begins here.
    begin: usize,
    sections: Vec<Section>,
    damage: Vec<Damage>,
    /// Why the file cannot be read, if it cannot.
    unreadable: Option<Problem>,
}

impl Accepted {
    /// Reads a file of at most so many bytes. One that is not there has accepted nothing.
    pub fn read(path: PathBuf, most: u64) -> Accepted {
        match read_own(&path, most) {
            Ok(Some(bytes)) => Accepted::of(path, &bytes),
            Ok(None) => Accepted::nothing(path),
            Err(why) => Accepted::unreadable(path, why),
        }
    }

    /// What the bytes of a file have accepted.
    pub fn of(path: PathBuf, bytes: &[u8]) -> Accepted {
        // To check this with the standard library, without a copy, takes ten times as long.
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

    /// Whether there is nothing to read: no file.
    pub fn is_missing(&self) -> bool {
        self.file.is_empty() && self.unreadable.is_none()
    }

    /// Compares what came of a case with what was accepted for it.
    pub fn compare(&self, case: &str, outcome: &Outcome) -> Comparison {
        if let Some(problem) = &self.unreadable {
            return Comparison::Unreadable(problem.clone());
        }
        match self.section(case) {
            Some(section) => self.compare_with(section, outcome),
            None => Comparison::New,
        }
    }

    /// Compares as [`Accepted::compare`] does, where the section of the case is likely to have
    /// this place among the others, and no case has two.
    pub(crate) fn compare_at(&self, place: usize, case: &str, outcome: &Outcome) -> Comparison {
        match self.sections.get(place) {
            Some(section) if section.name == case => self.compare_with(section, outcome),
            _ => self.compare(case, outcome),
        }
    }

    fn compare_with(&self, section: &Section, outcome: &Outcome) -> Comparison {
        let Some(accepted) = self.text(section) else {
            let is_here = |damage: &&Damage| damage.line == section.line;
            let damage = self.damage.iter().find(is_here);
            let message = damage.map_or("no transcript", |damage| &damage.message);
            return Comparison::Unreadable(self.problem(section.line, message));
        };
        if transcript::is_of(accepted, outcome) {
            return Comparison::Same;
        }
        match transcript::decode(accepted) {
            Ok(_) => Comparison::Changed(accepted.to_owned()),
            Err(error) => Comparison::Unreadable(self.no_transcript(section, &error)),
        }
    }

    /// Whether a case was never accepted: there is no section for it. Of a file that cannot
    /// be read nobody knows.
    pub fn lacks(&self, case: &str) -> bool {
        self.unreadable.is_none() && self.section(case).is_none()
    }

    /// The transcript that was accepted for a case, whatever it says.
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

    /// What is wrong with the file besides the transcripts in it: sections that are damaged,
    /// stand twice, are of no case or out of place, and anything that insta does not write.
    /// `cases` are those of the family in their order, `header` is what stands before them.
    pub fn problems(&self, cases: &[&CaseId], header: &str) -> Vec<Problem> {
        if let Some(problem) = &self.unreadable {
            return vec![problem.clone().help(mend())];
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
            .map(|problem| problem.help(mend()))
            .collect()
    }

    /// Whether its sections are those of these cases in their order, and nothing else is in the
    /// file than what insta writes: [`Accepted::problems`] finds none then.
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

    /// The sections that are of no case, stand twice or out of place.
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
                    format!("the section of `{name}` stands twice")
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

    /// Whether the file is as it is written for these contents.
    fn is_as_written(&self, header: &str) -> bool {
        let length = self.contents().len();
        self.file[..self.begin] == *header && self.file[self.begin + length..] == *"\n"
    }

    /// The sections that hold no transcript, though they have an end.
    pub fn undecodable(&self) -> Vec<Problem> {
        let undecodable = |section: &Section| {
            let error = transcript::decode(self.text(section)?).err()?;
            Some(self.no_transcript(section, &error).help(mend()))
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
        let message = format!("`{}` is no transcript: {error}", section.name);
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

/// What helps against everything that is wrong with a file of snapshots.
fn mend() -> String {
    let review = invocation::review();
    format!("{review}; where that shows nothing, delete the file first")
}
