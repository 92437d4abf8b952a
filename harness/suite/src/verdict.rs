//! Verdicts: compare an engine's outcome with the reference's.

use rolecall_core::{Engine, Outcome};

use crate::divergence::{Divergences, Listed};
use crate::record::{RecordedAnswer, Unverified};
use crate::records::Records;
use crate::snapshot::Snapshots;
use crate::suite::Pair;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::transcript;

/// A pair with an engine's outcome.
#[derive(Debug)]
pub struct Rendered<'s> {
    pub pair: Pair<'s>,
    pub engine: &'s str,
    pub outcome: Outcome,
}

/// The result of comparing an engine's outcome with the reference's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    Differs(Box<Difference>),
    /// The reference's outcome is unknown.
    Unverified(Unverified),
}

/// How an outcome differs from the reference's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The reference's outcome, as records keep it.
    pub expected: RecordedAnswer,
    /// The reference's whole transcript, if it is known.
    pub transcript: Option<String>,
    /// Whether the difference is listed as a divergence.
    pub listed: Listed,
}

/// Where verdicts come from.
#[derive(Clone, Copy, Default)]
pub enum Truth<'t> {
    /// From nowhere: every pair is unverified.
    #[default]
    Unknown,
    Records {
        records: &'t Records,
        /// The listed differences from the references.
        divergences: &'t Divergences,
        /// Where transcripts of the reference may be found.
        snapshots: &'t Snapshots,
    },
    /// From engines that render each pair. The first engine of a dialect renders its
    /// pairs.
    Engines {
        engines: &'t [&'t dyn Engine],
        /// The listed differences from them.
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

    /// Whether it differs without a listed reason.
    pub fn is_unexplained(&self) -> bool {
        match self {
            Verdict::Agrees | Verdict::Unverified(_) => false,
            Verdict::Differs(difference) => !matches!(difference.listed, Listed::Known { .. }),
        }
    }
}

/// Judges an outcome by a record. `input` makes the fingerprint of the pair's case.
pub(crate) fn by_record(
    records: &Records,
    divergences: &Divergences,
    snapshots: &Snapshots,
    rendered: &Rendered<'_>,
    input: impl FnOnce() -> Fingerprint,
) -> Verdict {
    match records.answer(&rendered.pair, input) {
        Err(why) => Verdict::Unverified(why),
        Ok(answer) if answer.agrees(&rendered.outcome) => Verdict::Agrees,
        Ok(answer) => Verdict::Differs(Box::new(Difference {
            transcript: snapshots.reference(&rendered.pair, answer),
            listed: listed(divergences, rendered),
            expected: answer.clone(),
        })),
    }
}

/// Judges the outcome of another engine by the accepted transcript. Nothing if there is none.
pub(crate) fn by_accepted(
    snapshots: &Snapshots,
    divergences: &Divergences,
    rendered: &Rendered<'_>,
) -> Option<Verdict> {
    let accepted = snapshots.family_of(&rendered.pair);
    let accepted = transcript::decode(accepted.transcript(&rendered.pair)?).ok()?;
    Some(by_outcome(divergences, rendered, &accepted))
}

/// Judges an outcome by another engine's outcome.
pub(crate) fn by_outcome(
    divergences: &Divergences,
    rendered: &Rendered<'_>,
    expected: &Outcome,
) -> Verdict {
    if expected.agrees(&rendered.outcome) {
        return Verdict::Agrees;
    }
    let Some(answer) = RecordedAnswer::of(expected) else {
        let why = expected.text().to_owned();
        return Verdict::Unverified(match expected {
            Outcome::NotAsked { .. } => Unverified::ReferenceNotAsked(why),
            _ => Unverified::Crashed(why),
        });
    };
    Verdict::Differs(Box::new(Difference {
        transcript: Some(transcript::encode(expected)),
        listed: listed(divergences, rendered),
        expected: answer,
    }))
}

fn listed(divergences: &Divergences, rendered: &Rendered<'_>) -> Listed {
    let (engine, pair) = (rendered.engine, &rendered.pair);
    // The transcript is needed only for a listed pair.
    if divergences.about(engine, pair).is_none() {
        return Listed::No;
    }
    let observed = Fingerprint::of(transcript::encode(&rendered.outcome));
    divergences.listed(engine, pair, observed)
}
