//! Measures an engine: counts its pairs and groups them while they arrive.

use std::collections::BTreeMap;
use std::time::Duration;

use rolecall_core::{Dialect, Outcome, OutcomeKind, Stage};

use super::difference;
use super::results::{ConstructResults, DifferenceGroup, DifferingPair, Measurement, PartResult};
use super::suite_version::SuiteVersion;
use crate::cause::{self, Cause, Groups, cut};
use crate::construct;
use crate::record::Unverified;
use crate::reference::Identity;
use crate::run::{Compared, per_second};
use crate::verdict::Verdict;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_core::transcript;

/// How many digits of a fingerprint a measurement has.
const DIGITS: usize = 12;

/// The most characters of the reason why a template does not load.
const WORDS: usize = 160;

/// The most characters of an outcome for a construct.
const SHOWN: usize = 60;

#[derive(Debug)]
pub struct Measurer {
    measurement: Measurement,
    suite: SuiteVersion,
    /// Pairs by outcome and name of the cause.
    groups: Groups<(OutcomeKind, String), DifferingPair, DifferenceGroup>,
    /// Whether some pair of a template was loaded, by template.
    loaded: BTreeMap<String, bool>,
    without_record: Vec<String>,
    not_asked: Option<(usize, String)>,
}

impl Measurer {
    /// An empty measurement of an engine, over a version of a suite.
    pub fn new(engine: Identity, dialect: Dialect, suite: SuiteVersion) -> Measurer {
        Measurer {
            measurement: Measurement {
                engine,
                dialect,
                reference: suite.reference.clone(),
                pairs_per_second: 0,
                deaths: 0,
                agreement: serde_json::Map::new(),
                templates: BTreeMap::new(),
                families: BTreeMap::new(),
                groups: Vec::new(),
                constructs: None,
                checksum: Fingerprint::of(""),
            },
            suite,
            groups: Groups::default(),
            loaded: BTreeMap::new(),
            without_record: Vec::new(),
            not_asked: None,
        }
    }

    pub fn add(&mut self, compared: &Compared<'_>) {
        let pair = &compared.rendered.pair;
        let outcome = &compared.rendered.outcome;
        let name = &pair.template.name;
        let expected = match &compared.verdict {
            Verdict::Agrees => outcome.kind(),
            Verdict::Differs(difference) => difference.expected.kind(),
            Verdict::Unverified(Unverified::NotAsked) => {
                let why = outcome.text().to_owned();
                self.not_asked.get_or_insert((0, why)).0 += 1;
                return;
            }
            Verdict::Unverified(why) => {
                self.without_record
                    .push(format!("{name} {}: {why}", pair.case.id));
                return;
            }
        };
        let unknown = Fingerprint::of("");
        let version = self.suite.templates.get(name).copied();
        let (source, answers) = version.unwrap_or((unknown, None));
        let template = self.measurement.templates.entry(name.clone());
        let template = template.or_insert_with(|| PartResult::new(source, answers));
        template.add(expected);
        *self.loaded.entry(name.to_string()).or_default() |= outcome.is_of_loaded_template();
        if let Some((message, line)) = refused(outcome).filter(|_| template.refused.is_none()) {
            (template.refused, template.line) = (Some(message), line);
        }
        let family = pair.case.id.family().to_owned();
        let cases = self.suite.families.get(&family).copied().unwrap_or(unknown);
        let family = self.measurement.families.entry(family);
        let family = family.or_insert_with(|| PartResult::new(cases, None));
        family.add(expected);
        if let Verdict::Differs(found) = &compared.verdict {
            let cause = Cause::of_difference(found, outcome).into_name();
            let pair_of = DifferingPair {
                template: name.clone(),
                case: pair.case.id.clone(),
                expected,
                gave: gave(outcome),
            };
            let group = || DifferenceGroup {
                found: outcome.kind(),
                cause: cause.clone(),
                example: difference::example(compared, found),
                pairs: Vec::new(),
            };
            let key = (outcome.kind(), cause.clone());
            self.groups.add(key, cause::size(pair.case), pair_of, group);
        }
    }

    /// Adds the outcomes of the table of constructs, in the order of its rows, for each time that the
    /// engine was asked. A construct is right if it is right every time.
    pub fn add_constructs(&mut self, table: &construct::ConstructTable, rounds: &[Vec<Outcome>]) {
        let mut differ = BTreeMap::new();
        for outcomes in rounds {
            for (row, outcome) in table.rows.iter().zip(outcomes) {
                if !row.expected.agrees(outcome) {
                    differ
                        .entry(row.id().to_owned())
                        .or_insert_with(|| found(outcome));
                }
            }
        }
        let sha256 = self.suite.constructs;
        self.measurement.constructs = sha256.map(|sha256| ConstructResults {
            sha256,
            all: table.rows.len(),
            differ,
        });
    }

    /// Says in how many requests the engine died.
    pub fn set_deaths(&mut self, count: usize) {
        self.measurement.deaths = count;
    }

    /// The finished measurement. `pairs` and `elapsed` give the speed, unless there are none.
    ///
    /// # Errors
    ///
    /// The run gave the engine up, or some pairs have no reference result. A measurement covers the
    /// whole suite or does not exist.
    pub fn finish(mut self, pairs: usize, elapsed: Duration) -> Result<Measurement, String> {
        if let Some((count, why)) = self.not_asked {
            return Err(format!(
                "{} was given up, and {count} pairs were not asked: {why}\n  a measurement needs \
                 the whole suite; `rolecall run --engine` shows how far the engine gets",
                self.measurement.engine
            ));
        }
        if let Some(first) = self.without_record.first() {
            return Err(format!(
                "{} pairs have no record of the reference's result; the first is {first}\n  run \
                 `{}`, then measure again",
                self.without_record.len(),
                invocation::command("reference update")
            ));
        }
        for (name, template) in &mut self.measurement.templates {
            // A crash at one case is no refusal of a template that another case shows to be loaded.
            if self.loaded.get(name.as_str()) == Some(&true) {
                (template.refused, template.line) = (None, None);
            }
        }
        self.measurement.groups = self
            .groups
            .sorted()
            .map(|(group, pairs)| DifferenceGroup { pairs, ..group })
            .collect();
        if pairs > 0 {
            self.measurement.pairs_per_second = two_digits(per_second(pairs, elapsed));
        }
        self.measurement.settle();
        Ok(self.measurement)
    }
}

/// The reason why a template does not load, if the outcome has it.
fn refused(outcome: &Outcome) -> Option<(String, Option<usize>)> {
    let (message, line) = match outcome {
        Outcome::Failed {
            stage: Stage::Parse,
            message,
            line,
        } => (message, *line),
        Outcome::Crashed { message } => (message, None),
        _ => return None,
    };
    let first = message.trim().lines().next().unwrap_or_default();
    Some((cut(first, WORDS), line))
}

/// The first digits of the fingerprint of a prompt or of a message. None for failures, because
/// their messages may differ on another machine.
fn gave(outcome: &Outcome) -> Option<String> {
    let has_text = matches!(outcome, Outcome::Rendered { .. } | Outcome::Raised { .. });
    let digits = || {
        Fingerprint::of(outcome.text())
            .to_string()
            .get(..DIGITS)
            .map(str::to_owned)
    };
    has_text.then(digits).flatten()
}

/// The outcome for a construct in the form that a measurement has.
fn found(outcome: &Outcome) -> (OutcomeKind, String) {
    let shown = match outcome {
        Outcome::Failed { message, .. } | Outcome::Crashed { message } => {
            cut(&cause::error(message), SHOWN)
        }
        Outcome::Exceeded { limit } => limit.to_string(),
        _ => {
            let mut shown = String::new();
            transcript::encode_text(outcome.text(), &mut shown);
            let cut = cut(&shown, SHOWN);
            if cut == shown {
                cut
            } else {
                format!("{cut} {}", gave(outcome).unwrap_or_default())
            }
        }
    };
    (outcome.kind(), shown)
}

/// A figure in two digits: further digits change from run to run.
fn two_digits(figure: usize) -> usize {
    let mut unit = 1;
    while figure / unit >= 100 {
        unit *= 10;
    }
    figure / unit * unit
}
