//! Measuring an engine: its pairs are counted and gathered while they come.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use rolecall_model::{Dialect, Outcome, OutcomeKind, Stage};

use super::asked::Asked;
use super::difference::{self, cut};
use super::kept::{Constructs, Differing, Found, Group, Measurement, Refused};
use crate::cause;
use crate::construct::{self, Construct};
use crate::fingerprint::Fingerprint;
use crate::invocation;
use crate::record::{Answer, Unverified};
use crate::reference::Identity;
use crate::run::{Compared, per_second};
use crate::transcript;
use crate::verdict::Verdict;

/// How many digits of a fingerprint are kept of what an engine gave.
const DIGITS: usize = 12;

/// The most characters that are kept of why a template does not load.
const WORDS: usize = 160;

/// The most characters that are kept of what came of a construct.
const SHOWN: usize = 60;

/// A measurement in the making.
#[derive(Debug)]
pub struct Measuring {
    measurement: Measurement,
    groups: HashMap<(OutcomeKind, String), (usize, usize)>,
    /// Templates of which some pair was loaded.
    loaded: BTreeMap<String, bool>,
    without_record: Vec<String>,
    not_asked: Option<(usize, String)>,
}

/// Why an engine was not measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotMeasured {
    /// The reference's word is missing.
    #[error(
        "{count} pairs have no record of what the reference does, {first} is the first: {why}\n  \
         run `{}`, then measure again",
        invocation::command("reference update")
    )]
    WithoutRecord {
        /// How many there are.
        count: usize,
        /// The first of them.
        first: String,
        /// Why.
        why: String,
    },
    /// The engine was given up.
    #[error(
        "{engine} was given up, and {count} pairs were not asked: {why}\n  what is measured is the \
         whole suite or nothing; `rolecall run --engine` shows how far it comes"
    )]
    NotAsked {
        /// The engine.
        engine: String,
        /// How many pairs are left.
        count: usize,
        /// Why it was given up.
        why: String,
    },
}

impl Measuring {
    /// Nothing yet of an engine, that is asked some parts of a suite.
    pub fn new(engine: Identity, dialect: Dialect, asked: Asked) -> Measuring {
        Measuring {
            measurement: Measurement {
                engine,
                dialect,
                pairs_per_second: 0,
                asked,
                templates: BTreeMap::new(),
                families: BTreeMap::new(),
                groups: Vec::new(),
                constructs: None,
            },
            groups: HashMap::new(),
            loaded: BTreeMap::new(),
            without_record: Vec::new(),
            not_asked: None,
        }
    }

    /// Adds a pair.
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
        let template = self.measurement.templates.entry(name.clone()).or_default();
        template.totals.add(expected);
        *self.loaded.entry(name.to_string()).or_default() |= outcome.is_of_loaded_template();
        if let Some(refused) = refused(outcome) {
            template.refused.get_or_insert(refused);
        }
        let family = pair.case.id.family().to_owned();
        let family = self.measurement.families.entry(family).or_default();
        family.totals.add(expected);
        if let Verdict::Differs(found) = &compared.verdict {
            let cause = difference::cause(found, outcome);
            let size = cause::size(pair.case);
            let groups = &mut self.measurement.groups;
            let (at, smallest) = self
                .groups
                .entry((outcome.kind(), cause.clone()))
                .or_insert_with(|| {
                    groups.push(Group {
                        found: outcome.kind(),
                        cause,
                        example: difference::example(compared, found),
                        pairs: Vec::new(),
                    });
                    (groups.len() - 1, size)
                });
            let group = &mut groups[*at];
            if size < *smallest {
                *smallest = size;
                group.example = difference::example(compared, found);
            }
            group.pairs.push(Differing {
                template: name.clone(),
                case: pair.case.id.clone(),
                expected,
                gave: gave(outcome),
            });
        }
    }

    /// Adds what came of the table of constructs, in the order of its rows.
    pub fn add_constructs(&mut self, table: &construct::Constructs, outcomes: &[Outcome]) {
        let differs = |(row, outcome): (&Construct, &Outcome)| {
            let agrees = Answer::of(&row.expected).is_some_and(|answer| answer.agrees(outcome));
            (!agrees).then(|| (row.id().to_owned(), found(outcome)))
        };
        self.measurement.constructs = Some(Constructs {
            all: table.rows.len(),
            differ: table
                .rows
                .iter()
                .zip(outcomes)
                .filter_map(differs)
                .collect(),
        });
    }

    /// The measurement, after so many pairs in some time. It is of the whole suite, or none.
    ///
    /// # Errors
    ///
    /// The engine was given up, or there are pairs of which nobody knows what is right.
    pub fn finish(mut self, pairs: usize, elapsed: Duration) -> Result<Measurement, NotMeasured> {
        if let Some((count, why)) = self.not_asked {
            return Err(NotMeasured::NotAsked {
                engine: self.measurement.engine.to_string(),
                count,
                why,
            });
        }
        if let Some(first) = self.without_record.first() {
            let (first, why) = first.split_once(": ").unwrap_or((first, ""));
            return Err(NotMeasured::WithoutRecord {
                count: self.without_record.len(),
                first: first.to_owned(),
                why: why.to_owned(),
            });
        }
        for (name, template) in &mut self.measurement.templates {
            if self.loaded.get(name.as_str()) == Some(&true) {
                template.refused = None;
            }
        }
        self.measurement.pairs_per_second = two_digits(per_second(pairs, elapsed));
        self.measurement.settle();
        Ok(self.measurement)
    }
}

/// Why a template does not load, if an outcome may tell.
fn refused(outcome: &Outcome) -> Option<Refused> {
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
    Some(Refused {
        message: cut(first, WORDS),
        line,
    })
}

/// The first digits of the fingerprint of a prompt or of a message; nothing of failures, whose
/// words may be others on another machine.
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

/// What is kept of what came of a construct.
fn found(outcome: &Outcome) -> Found {
    let shown = match outcome {
        Outcome::Failed { message, .. } | Outcome::Crashed { message } => {
            cut(&difference::error(message), SHOWN)
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
    Found {
        outcome: outcome.kind(),
        shown,
    }
}

/// A figure in its first two digits: more are different in the next run.
fn two_digits(figure: usize) -> usize {
    let mut unit = 1;
    while figure / unit >= 100 {
        unit *= 10;
    }
    figure / unit * unit
}
