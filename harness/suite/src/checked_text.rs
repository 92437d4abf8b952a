//! Texts about a template, compared with the accepted ones: its report card, and its parsed
//! answers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rolecall_answers::reading::MessageReading;
use rolecall_answers::transcript;
use rolecall_check::card::Card;
use rolecall_check::contract::Finding;
use rolecall_core::{CaseId, Template, TemplateName};

use crate::card_rule::CardRule;
use crate::snapshot::{SnapshotStatus, Snapshots, contents};
use crate::suite::Suite;
use rolecall_core::diff::Diff;
use rolecall_core::file::{is_there, read_text};
use rolecall_core::named;
use rolecall_core::problem::Problem;

/// A text about a template, compared with the accepted one.
#[derive(Debug)]
pub struct CheckedText {
    pub template: String,
    pub kind: TextKind,
    /// The file of the accepted text; of readings the folder with the files that have its lines.
    pub path: PathBuf,
    pub text: String,
    /// How it compares with the accepted one. It is the same if nobody asks.
    pub change: SnapshotStatus,
    /// Of readings, the lines next to the snapshots of each case.
    pub answers: HashMap<CaseId, String>,
    /// Of a report card, the broken contracts that the rule forbids.
    pub forbidden: Vec<Finding>,
    /// The template's sidecar, if the reasons for broken contracts are there. They are in
    /// `rolecall.toml` otherwise.
    pub sidecar: Option<PathBuf>,
}

named! {
    /// The kinds of texts about a template.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TextKind {
        Card = "report card",
        /// Its parsed answers: the transcript of its readings.
        Readings = "transcript of readings",
    }
}

impl TextKind {
    /// The words for several of them.
    pub fn of_many(self) -> &'static str {
        match self {
            TextKind::Card => "report cards",
            TextKind::Readings => "transcripts of readings",
        }
    }
}

/// Compares a report card with the one in a file.
fn status_of_card(path: &Path, text: &str) -> SnapshotStatus {
    if !is_there(path) {
        return SnapshotStatus::New;
    }
    let file = match read_text(path) {
        Ok(file) => file,
        Err(problem) => return SnapshotStatus::Unreadable(problem),
    };
    match contents(&file) {
        Some(accepted) if accepted == text => SnapshotStatus::Same,
        Some(accepted) => SnapshotStatus::Changed(accepted.to_owned()),
        None => {
            let problem = Problem::new(path, "is no accepted report card");
            let help = "delete it, and accept the report card again";
            SnapshotStatus::Unreadable(problem.help(help))
        }
    }
}

/// The answers of a transcript and what is said of each: its verdict, and perhaps the one without its end
/// token. Details are indented below their lines.
fn verdicts_in(text: &str) -> BTreeMap<&str, String> {
    let mut found: BTreeMap<&str, String> = BTreeMap::new();
    let lines = text.lines().filter(|line| !line.starts_with(' '));
    for (name, verdict) in lines.filter_map(|line| line.rsplit_once(": ")) {
        let said = found.entry(name).or_default();
        let join = if said.is_empty() { "" } else { ", " };
        said.push_str(join);
        said.push_str(verdict);
    }
    found
}

/// Texts with the others of their kind that differ in the same way from what was accepted. A text that
/// breaks contracts stands for itself.
pub fn by_change(texts: &[CheckedText]) -> Vec<(&CheckedText, Vec<&CheckedText>)> {
    let mut known: HashMap<(&str, Vec<String>), usize> = HashMap::new();
    let mut groups: Vec<(&CheckedText, Vec<&CheckedText>)> = Vec::new();
    for text in texts {
        let changed = match &text.change {
            _ if !text.forbidden.is_empty() => None,
            SnapshotStatus::New => Some(Vec::new()),
            SnapshotStatus::Changed(_) => text.diff().map(|diff| diff.changed()),
            SnapshotStatus::Same | SnapshotStatus::Unreadable(_) => None,
        };
        let at = changed.map_or(groups.len(), |changed| {
            *known
                .entry((text.kind.name(), changed))
                .or_insert(groups.len())
        });
        match groups.get_mut(at) {
            Some((_, others)) => others.push(text),
            None => groups.push((text, Vec::new())),
        }
    }
    groups
}

impl CheckedText {
    /// Compares a card with the accepted one, and applies the rule. `text` is the card in its
    /// accepted form.
    pub fn of(rule: CardRule, snapshots: &Snapshots, card: &Card, text: String) -> CheckedText {
        let path = snapshots.card(&TemplateName::new(&card.template));
        let change = if rule == CardRule::Off {
            SnapshotStatus::Same
        } else {
            status_of_card(&path, &text)
        };
        let forbidden = card
            .unexplained()
            .filter(|one| rule.forbids(one.severity()));
        CheckedText {
            template: card.template.clone(),
            kind: TextKind::Card,
            path,
            text,
            change,
            answers: HashMap::new(),
            forbidden: forbidden.cloned().collect(),
            sidecar: None,
        }
    }

    /// Compares the transcript of a template's readings with the accepted one, which is in the
    /// files of all families.
    pub fn of_readings(
        snapshots: &Snapshots,
        suite: &Suite,
        template: &Template,
        readings: &[MessageReading],
    ) -> CheckedText {
        let mut text = String::new();
        let mut answers: HashMap<CaseId, String> = HashMap::new();
        for reading in readings {
            let lines = transcript::lines_of(reading);
            transcript::add_named(&mut text, &reading.id.case, lines.lines());
            let of_case = answers.entry(reading.id.case.clone()).or_default();
            of_case.push_str(&lines);
        }
        text.truncate(text.trim_end().len());
        let change = match snapshots.readings(suite, template) {
            Some(accepted) if accepted == text => SnapshotStatus::Same,
            Some(accepted) => SnapshotStatus::Changed(accepted),
            None if text.is_empty() => SnapshotStatus::Same,
            None => SnapshotStatus::New,
        };
        CheckedText {
            template: template.name.to_string(),
            kind: TextKind::Readings,
            change,
            path: snapshots.root().to_path_buf(),
            text,
            answers,
            forbidden: Vec::new(),
            sidecar: None,
        }
    }

    /// What became of parsed answers: what was said of them before and what is said now, and the answers with
    /// these. Nothing is said of an answer that is not there.
    pub fn verdicts(&self) -> BTreeMap<[Option<String>; 2], Vec<String>> {
        let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
        if let SnapshotStatus::Changed(accepted) = &self.change {
            let (before, now) = (verdicts_in(accepted), verdicts_in(&self.text));
            let gone = before.keys().filter(|name| !now.contains_key(*name));
            for name in now.keys().chain(gone) {
                let verdicts = [before.get(name).cloned(), now.get(name).cloned()];
                groups.entry(verdicts).or_default().push((*name).to_owned());
            }
        }
        groups.retain(|[before, now], _| before != now);
        groups
    }

    /// How the text differs from another one that was accepted.
    pub fn diff(&self) -> Option<Diff> {
        match &self.change {
            SnapshotStatus::Changed(accepted) => Some(Diff::new(accepted, &self.text)),
            _ => None,
        }
    }

    /// Whether the text is the accepted one, and the card breaks no contract that it must not.
    pub fn is_as_expected(&self) -> bool {
        self.change.is_same() && self.forbidden.is_empty()
    }
}
