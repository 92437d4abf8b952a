//! One file of snapshots: what is accepted and recorded of all pairs of a family.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rolecall_core::{Cut, Outcome, TemplateName};

use super::insta_file::contents;
use super::sections::{self, Damage, Section, is_of_reference, key, names, reference_key};
use crate::record::REFERENCE;
use crate::suite::Pair;
use rolecall_core::file::read_own;
use rolecall_core::invocation;
use rolecall_core::problem::{Position, Problem};
use rolecall_core::transcript::{self, InvalidTranscript};

/// Takes the place of a transcript, if the reference was asked and nothing was accepted yet.
const NOTHING_ACCEPTED: &str = "nothing accepted\n␃";

/// What to do with a file that has a damaged part: writing the file would lose that part.
const REPAIR: &str = "repair the file, such as with `git checkout`; or delete it, and accept all its \
                      pairs again";

/// How a transcript, or a text about a template, compares with the accepted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotStatus {
    /// The same, byte for byte.
    Same,
    /// Something else was accepted: this text.
    Changed(String),
    /// Nothing was accepted yet.
    New,
    /// The accepted text is not a transcript.
    Unreadable(Problem),
}

impl SnapshotStatus {
    /// Whether it is the accepted one.
    pub fn is_same(&self) -> bool {
        *self == SnapshotStatus::Same
    }
}

#[derive(Debug)]
pub struct FamilyFile {
    path: PathBuf,
    /// The whole file; empty where there is none.
    file: String,
    /// The offset at which the text begins, after the header.
    begin: usize,
    sections: Vec<Section>,
    /// The first section of each key.
    by_key: HashMap<String, usize>,
    /// Second sections that say something else than the first.
    others: Vec<usize>,
    damage: Vec<Damage>,
    /// Why the file cannot be read, if it cannot.
    unreadable: Option<Problem>,
    /// What was found in it. To compose a file anew takes longer than to read it.
    pub(super) found: OnceLock<FileProblems>,
}

/// Problems with a file, besides the transcripts in it.
#[derive(Debug, Clone, Default)]
pub struct FileProblems {
    /// Sections of pairs that are gone from the suite. Nobody notices them who runs a part of it.
    pub gone: Vec<Problem>,
    /// Everything else.
    pub others: Vec<Problem>,
}

/// What a file has about one pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairText {
    /// The accepted transcript, even if it is not a valid one; none if nothing was accepted.
    pub transcript: Option<String>,
    /// The accepted parse of its answers: lines, each message's beginning with `#` and its index.
    pub answers: String,
    /// What the reference did, as lines.
    pub record: String,
    /// The reference's own transcript, where an engine is listed to differ from it.
    pub reference: Option<String>,
}

impl FileProblems {
    /// All of them, in the order of the file.
    pub fn all(self) -> Vec<Problem> {
        let mut all = self.others;
        all.extend(self.gone);
        all.sort_by_key(|problem| problem.position);
        all
    }
}

impl PairText {
    /// Whether it says nothing, so that it needs no section.
    fn is_empty(&self) -> bool {
        *self == PairText::default()
    }

    /// Adds the sections of the pair to the text of a file.
    pub(super) fn add_to(&self, text: &mut String, pair: &Pair<'_>) {
        if self.is_empty() {
            return;
        }
        let (case, template) = (pair.case.id.name(), pair.template.name.as_str());
        let transcript = self.transcript.as_deref().unwrap_or(NOTHING_ACCEPTED);
        let mut notes = self.answers.clone();
        notes.push_str(&self.record);
        sections::add(text, &key(case, template), transcript, &notes);
        if let Some(reference) = &self.reference {
            sections::add(text, &reference_key(case, template), reference, "");
        }
    }
}

impl FamilyFile {
    /// Reads a file of at most `most` bytes. A missing file has no sections.
    pub(super) fn read(path: PathBuf, most: u64) -> FamilyFile {
        match read_own(&path, most) {
            Ok(Some(bytes)) => FamilyFile::parse(path, bytes),
            Ok(None) => FamilyFile::nothing(path),
            Err(why) => FamilyFile::unreadable(path, why),
        }
    }

    /// Reads the bytes of a file.
    pub fn parse(path: PathBuf, bytes: Vec<u8>) -> FamilyFile {
        let Ok(file) = String::from_utf8(bytes) else {
            return FamilyFile::unreadable(path, "the file is not UTF-8");
        };
        let Some(text) = contents(&file) else {
            return FamilyFile::unreadable(path, "the file has no insta header");
        };
        let (sections, damage) = sections::read(text);
        let mut by_key = HashMap::with_capacity(sections.len());
        let mut others = Vec::new();
        let says = |section: &Section| {
            let transcript = section.transcript.clone();
            (
                transcript.map(|range| text.cut(range)),
                text.cut(section.notes.clone()),
            )
        };
        for (index, section) in sections.iter().enumerate() {
            let first = *by_key.entry(section.key.clone()).or_insert(index);
            if sections.get(first).map(says) != Some(says(section)) {
                others.push(index);
            }
        }
        FamilyFile {
            begin: text.as_ptr().addr() - file.as_ptr().addr(),
            sections,
            by_key,
            others,
            damage,
            file,
            ..FamilyFile::nothing(path)
        }
    }

    fn nothing(path: PathBuf) -> FamilyFile {
        FamilyFile {
            path,
            file: String::new(),
            begin: 0,
            sections: Vec::new(),
            by_key: HashMap::new(),
            others: Vec::new(),
            damage: Vec::new(),
            unreadable: None,
            found: OnceLock::new(),
        }
    }

    fn unreadable(path: PathBuf, why: impl Into<String>) -> FamilyFile {
        FamilyFile {
            unreadable: Some(Problem::new(&path, why).help(REPAIR)),
            ..FamilyFile::nothing(path)
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_missing(&self) -> bool {
        self.file.is_empty() && self.unreadable.is_none()
    }

    /// Compares the outcome of a pair with its accepted transcript.
    pub fn compare(&self, pair: &Pair<'_>, outcome: &Outcome) -> SnapshotStatus {
        if let Some(problem) = &self.unreadable {
            return SnapshotStatus::Unreadable(problem.clone());
        }
        let Some(section) = self.section(pair) else {
            return SnapshotStatus::New;
        };
        // Nobody knows which of two was accepted.
        if let Some(other) = self.others().find(|other| other.key == section.key) {
            return SnapshotStatus::Unreadable(self.second(other));
        }
        let Some(accepted) = self.text(section) else {
            let is_here = |damage: &&Damage| damage.line == section.line;
            let damage = self.damage.iter().find(is_here);
            let message = damage.map_or("no transcript", |damage| &damage.message);
            return SnapshotStatus::Unreadable(self.problem(section.line, message));
        };
        if transcript::is_of(accepted, outcome) {
            return SnapshotStatus::Same;
        }
        if is_nothing(accepted) {
            return SnapshotStatus::New;
        }
        match transcript::decode(accepted) {
            Ok(_) => SnapshotStatus::Changed(accepted.to_owned()),
            Err(error) => SnapshotStatus::Unreadable(self.no_transcript(section, &error)),
        }
    }

    /// Second sections of a pair that say something else than the first.
    fn others(&self) -> impl Iterator<Item = &Section> {
        self.others
            .iter()
            .filter_map(|index| self.sections.get(*index))
    }

    fn second(&self, other: &Section) -> Problem {
        let key = &other.key;
        let message = format!("a second section of `{key}`, which says something else");
        self.problem(other.line, &message).help(REPAIR)
    }

    /// Whether a pair was never accepted: a readable file has no transcript for it.
    pub fn lacks(&self, pair: &Pair<'_>) -> bool {
        let accepted = self.section(pair).map(|section| self.text(section));
        self.unreadable.is_none() && accepted.is_none_or(|text| text.is_some_and(is_nothing))
    }

    /// The accepted text for a pair, even if it is not a valid transcript.
    pub fn transcript(&self, pair: &Pair<'_>) -> Option<&str> {
        self.text(self.section(pair)?)
            .filter(|text| !is_nothing(text))
    }

    /// The reference's own transcript of a pair, where an engine is listed to differ from it.
    pub fn reference(&self, pair: &Pair<'_>) -> Option<&str> {
        let key = reference_key(pair.case.id.name(), pair.template.name.as_str());
        self.text(self.sections.get(*self.by_key.get(&key)?)?)
    }

    /// What of the file would be lost if it were written anew: what cannot be read, and a second
    /// section of a pair that says something else. The help says how to go on.
    pub fn unreadable_part(&self) -> Option<Problem> {
        self.unreadable_parts().into_iter().next()
    }

    fn unreadable_parts(&self) -> Vec<Problem> {
        if let Some(problem) = &self.unreadable {
            return vec![problem.clone()];
        }
        let damage = self.damage.iter();
        let damage = damage.map(|damage| self.problem(damage.line, &damage.message).help(REPAIR));
        damage
            .chain(self.others().map(|other| self.second(other)))
            .collect()
    }

    /// What the file has about a pair.
    pub fn pair(&self, pair: &Pair<'_>) -> PairText {
        let reference = self.reference(pair).map(str::to_owned);
        let Some(section) = self.section(pair) else {
            return PairText {
                reference,
                ..PairText::default()
            };
        };
        let accepted = self.text(section).unwrap_or(NOTHING_ACCEPTED);
        let (mut answers, mut record) = (String::new(), String::new());
        for line in self.notes(section).lines() {
            let is_record = line.starts_with(REFERENCE);
            let part = if is_record { &mut record } else { &mut answers };
            part.extend([line, "\n"]);
        }
        PairText {
            transcript: (!is_nothing(accepted)).then(|| accepted.to_owned()),
            answers,
            record,
            reference,
        }
    }

    /// The accepted parse of the answers of a pair.
    pub(crate) fn answers<'f>(&'f self, pair: &Pair<'_>) -> impl Iterator<Item = &'f str> {
        let section = self.section(pair);
        let notes = section.map_or("", |section| self.notes(section));
        notes.lines().filter(|line| !line.starts_with(REFERENCE))
    }

    /// The pairs in the file, each once: the names of the case and the template, with the lines that
    /// say what the reference did, each with its number in the file.
    pub(crate) fn records(
        &self,
    ) -> impl Iterator<Item = (&str, &str, impl Iterator<Item = (usize, &str)>)> {
        let header = self.file.cut(..self.begin).matches('\n').count();
        let sections = self.sections.iter().enumerate();
        let of_pairs = sections.filter(|(index, section)| {
            !is_of_reference(&section.key) && self.by_key.get(&section.key) == Some(index)
        });
        of_pairs.map(move |(_, section)| {
            let (case, template) = names(&section.key);
            let numbers = header + section.first_note..;
            let lines = numbers.zip(self.notes(section).lines());
            let lines =
                lines.filter_map(|(number, line)| Some((number, line.strip_prefix(REFERENCE)?)));
            (case, template, lines)
        })
    }

    /// The pairs in the file that are not among these: the name of a case that has no pair left, or
    /// `case, template`.
    pub(crate) fn orphans(&self, pairs: &[Pair<'_>]) -> Vec<String> {
        let known: HashSet<String> = pairs.iter().map(key_of).collect();
        let cases: HashSet<&str> = pairs.iter().map(|pair| pair.case.id.name()).collect();
        let mut orphans = Vec::new();
        for section in &self.sections {
            let (case, template) = names(&section.key);
            if !cases.contains(case) {
                orphans.push(case.to_owned());
            } else if !known.contains(&key(case, template)) {
                orphans.push(key(case, template));
            }
        }
        orphans.dedup();
        orphans
    }

    /// Problems with the file besides the transcripts in it: sections that are damaged, duplicate,
    /// without a pair or out of order, answers of a template that nothing parses, and anything that
    /// insta does not write. `pairs` are those of the family in their order in the file; `written`
    /// is the file as it would be written anew.
    pub(super) fn problems(
        &self,
        pairs: &[Pair<'_>],
        written: impl FnOnce() -> String,
    ) -> FileProblems {
        let mut found = FileProblems::default();
        if self.is_missing() {
            return found;
        }
        found.others = self.unreadable_parts();
        if self.unreadable.is_some() {
            return found;
        }
        let written = written();
        // Nearly all files are as they would be written. Then no section can be out of place.
        if found.others.is_empty() && self.file == written {
            found.others = self.stray_answers(pairs).collect();
            return found;
        }
        self.find_misplaced(pairs, &mut found);
        found.others.extend(self.stray_answers(pairs));
        if found.others.is_empty() && found.gone.is_empty() {
            let lines = self.file.split('\n').zip(written.split('\n'));
            let same = lines.take_while(|(old, new)| old == new).count();
            let place = Position {
                line: same.min(self.file.lines().count().saturating_sub(1)) + 1,
                column: 1,
            };
            let message = "not as insta writes it: someone has edited it";
            let problem = Problem::new(&self.path, message).at(place);
            found.others.push(problem.help(invocation::review()));
        }
        found
    }

    /// The parsed answers of templates that have no response template.
    fn stray_answers(&self, pairs: &[Pair<'_>]) -> impl Iterator<Item = Problem> {
        let without = pairs
            .iter()
            .filter(|pair| pair.template.response_template.is_none());
        without.filter_map(|pair| {
            self.answers(pair).next()?;
            let template = &pair.template.name;
            let message = format!("answers of `{template}`, which has no response template");
            let line = self.section(pair)?.line;
            Some(self.problem(line, &message).help(invocation::review()))
        })
    }

    /// Finds the sections that have no pair, occur twice or are out of place.
    fn find_misplaced(&self, pairs: &[Pair<'_>], found: &mut FileProblems) {
        let mut order: HashMap<String, usize> = HashMap::with_capacity(2 * pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let (case, template) = (pair.case.id.name(), pair.template.name.as_str());
            // The section with the reference's own transcript follows that of its pair.
            order.insert(key(case, template), 2 * index);
            order.insert(reference_key(case, template), 2 * index + 1);
        }
        let mut seen = HashSet::new();
        let mut last = None;
        for section in &self.sections {
            let key = section.key.as_str();
            let message = match order.get(key) {
                None => {
                    let (case, template) = names(key);
                    format!("an orphan: the suite has no pair of `{case}` and `{template}`")
                }
                Some(_) if !seen.insert(key) => {
                    // Reported already.
                    if self.others().any(|other| other == section) {
                        continue;
                    }
                    format!("the section of `{key}` occurs twice")
                }
                Some(place) if Some(place) < last => {
                    format!("the section of `{key}` is out of place")
                }
                Some(place) => {
                    last = Some(place);
                    continue;
                }
            };
            let problem = self.problem(section.line, &message);
            let problem = problem.help(invocation::review());
            if order.contains_key(key) {
                found.others.push(problem);
            } else {
                found.gone.push(problem);
            }
        }
    }

    /// The sections that are complete but hold no valid transcript, unless the place is reported as
    /// damaged anyway.
    pub fn undecodable(&self) -> Vec<Problem> {
        let undecodable = |section: &Section| {
            let accepted = self.text(section).filter(|text| !is_nothing(text))?;
            let error = transcript::decode(accepted).err()?;
            Some(self.no_transcript(section, &error))
        };
        let mut problems: Vec<Problem> = self.sections.iter().filter_map(undecodable).collect();
        let damaged = self.unreadable_parts();
        let is_new = |problem: &Problem| damaged.iter().all(|one| one.position != problem.position);
        problems.retain(is_new);
        let help = match damaged.first() {
            Some(_) => REPAIR,
            None => invocation::review(),
        };
        problems.into_iter().map(|one| one.help(help)).collect()
    }

    /// Whether the file has exactly this text.
    pub(crate) fn is_text(&self, text: &str) -> bool {
        self.file == text
    }

    /// Whether the file has anything about a template.
    pub fn knows(&self, template: &TemplateName) -> bool {
        let is_of = |section: &Section| names(&section.key).1 == template.as_str();
        self.sections.iter().any(is_of)
    }

    fn section(&self, pair: &Pair<'_>) -> Option<&Section> {
        self.sections.get(*self.by_key.get(&key_of(pair))?)
    }

    fn text(&self, section: &Section) -> Option<&str> {
        let range = section.transcript.clone()?;
        self.file.cut(self.begin..).get(range)
    }

    fn notes(&self, section: &Section) -> &str {
        let notes = self.file.cut(self.begin..).get(section.notes.clone());
        notes.unwrap_or_default()
    }

    fn no_transcript(&self, section: &Section, error: &InvalidTranscript) -> Problem {
        let line = section.line + error.line().unwrap_or(1) - 1;
        let message = format!("`{}` is not a transcript: {error}", section.key);
        self.problem(line, &message)
    }

    /// A problem in a line of the text.
    fn problem(&self, line: usize, message: &str) -> Problem {
        let header = self.file.cut(..self.begin).matches('\n').count();
        Problem::new(&self.path, message).at(Position {
            line: header + line,
            column: 1,
        })
    }
}

fn key_of(pair: &Pair<'_>) -> String {
    key(pair.case.id.name(), pair.template.name.as_str())
}

/// Whether a section says that nothing was accepted.
fn is_nothing(accepted: &str) -> bool {
    accepted == NOTHING_ACCEPTED
}
