//! Verdicts: an engine's outcome against what the reference did.

use rolecall_model::{Engine, Outcome};

use crate::divergence::{Divergences, Listed};
use crate::fingerprint::Fingerprint;
use crate::record::{Answer, Records, Unverified};
use crate::snapshot::Snapshots;
use crate::suite::Pair;
use crate::transcript;

/// An engine's outcome against what the reference did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same.
    Agrees,
    /// Not the same.
    Differs(Box<Difference>),
    /// Nobody knows.
    Unverified(Unverified),
}

/// How an outcome differs from the reference's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What the reference did, as records keep it.
    pub expected: Answer,
    /// The reference's transcript, where it is known in whole.
    pub transcript: Option<String>,
    /// Whether that is known.
    pub listed: Listed,
}

/// Where verdicts come from.
#[derive(Clone, Copy, Default)]
pub enum Truth<'t> {
    /// From nowhere: every pair is unverified.
    #[default]
    Unknown,
    /// From what was recorded.
    Records {
        /// What the reference did.
        records: &'t Records,
        /// What is known to differ from it.
        divergences: &'t Divergences,
        /// Where transcripts of the reference may be found.
        snapshots: &'t Snapshots,
    },
    /// From engines that are asked for each pair, the first of a dialect for its pairs.
    Engines {
        /// The engines.
        engines: &'t [&'t dyn Engine],
        /// What is known to differ from them.
        divergences: &'t Divergences,
    },
}

impl Verdict {
    /// The word for it in files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs(_) => "differs",
            Verdict::Unverified(_) => "unverified",
        }
    }

    /// Whether it differs and nobody has explained that.
    pub fn is_unexplained(&self) -> bool {
        match self {
            Verdict::Agrees | Verdict::Unverified(_) => false,
            Verdict::Differs(difference) => !matches!(difference.listed, Listed::Known { .. }),
        }
    }
}

/// Judges an outcome by a record. `input` is the fingerprint of the pair's case.
pub fn by_record(
    (records, divergences, snapshots): (&Records, &Divergences, &Snapshots),
    engine: &str,
    pair: &Pair<'_>,
    input: Fingerprint,
    outcome: &Outcome,
) -> Verdict {
    if matches!(outcome, Outcome::NotAsked { .. }) {
        return Verdict::Unverified(Unverified::NotAsked);
    }
    let answer = match records.answer(pair, input) {
        Ok(answer) => answer,
        Err(why) => return Verdict::Unverified(why),
    };
    if answer.agrees(outcome) {
        return Verdict::Agrees;
    }
    Verdict::Differs(Box::new(Difference {
        transcript: snapshots.reference(pair, answer),
        listed: listed(divergences, engine, pair, outcome),
        expected: answer.clone(),
    }))
}

/// Judges an outcome by what another engine did just now.
pub fn by_outcome(
    divergences: &Divergences,
    engine: &str,
    pair: &Pair<'_>,
    expected: &Outcome,
    outcome: &Outcome,
) -> Verdict {
    if matches!(outcome, Outcome::NotAsked { .. }) {
        return Verdict::Unverified(Unverified::NotAsked);
    }
    let Some(answer) = Answer::of(expected) else {
        let why = expected.text().to_owned();
        return Verdict::Unverified(match expected {
            Outcome::NotAsked { .. } => Unverified::ReferenceNotAsked(why),
            _ => Unverified::Crashed(why),
        });
    };
    if answer.agrees(outcome) {
        return Verdict::Agrees;
    }
    Verdict::Differs(Box::new(Difference {
        transcript: Some(transcript::encode(expected)),
        listed: listed(divergences, engine, pair, outcome),
        expected: answer,
    }))
}

fn listed(divergences: &Divergences, engine: &str, pair: &Pair<'_>, outcome: &Outcome) -> Listed {
    // The transcript is needed only where something is listed.
    if divergences.about(engine, pair).is_none() {
        return Listed::No;
    }
    let observed = Fingerprint::of(transcript::encode(outcome));
    divergences.listed(engine, pair, observed)
}
