//! Pairs that are asked a second time, each of a process that is asked nothing else: where the
//! answer is another one then, what was asked before had spoilt the process.

use rolecall_model::{Engine, Outcome};

use crate::divergence::pair_name;
use crate::engines::Engines;
use crate::fingerprint::Fingerprint;
use crate::protocol::ProtocolEngine;
use crate::run::{Compared, RunError, Runner};
use crate::suite::Pair;
use crate::transcript;
use crate::verdict::Verdict;

/// Pairs that are asked again, at most: each takes a process.
const MOST: usize = 20;

/// The pairs that an engine answered otherwise than the reference.
#[derive(Debug, Default)]
pub struct Repetition<'s> {
    pairs: Vec<(Pair<'s>, Said)>,
}

/// What came of asking again.
#[derive(Debug)]
pub struct Repeated {
    /// Pairs that were asked again.
    pub asked: usize,
    /// Pairs that might have been.
    pub differing: usize,
    /// The names of those that were answered otherwise.
    pub changed: Vec<String>,
}

/// What tells one answer from another. The words of a failure may hold an address.
type Said = (rolecall_model::OutcomeKind, Option<Fingerprint>);

impl<'s> Repetition<'s> {
    /// Adds a pair, if the engine did not do what the reference did.
    pub fn add(&mut self, compared: &Compared<'s>) {
        if !matches!(compared.verdict, Verdict::Differs(_)) {
            return;
        }
        let outcome = &compared.rendered.outcome;
        let said = said(outcome, || compared.observed());
        self.pairs.push((compared.rendered.pair, said));
    }

    /// Asks for some of the pairs again, from the first to the last.
    pub fn ask(
        self,
        engines: &Engines,
        engine: &ProtocolEngine,
        jobs: Option<usize>,
    ) -> Result<Repeated, RunError> {
        let differing = self.pairs.len();
        let step = differing.div_ceil(MOST).max(1);
        let (pairs, before): (Vec<Pair<'s>>, Vec<Said>) =
            self.pairs.into_iter().step_by(step).unzip();
        let anew = engine.anew();
        let chosen: [&dyn Engine; 1] = [&anew];
        let runner = Runner::new(engines, &chosen, jobs)?;
        let mut changed = Vec::new();
        let mut before = before.into_iter();
        runner.render_each(&pairs, |rendered| {
            let outcome = &rendered.outcome;
            let now = said(outcome, || Fingerprint::of(transcript::encode(outcome)));
            // Whoever is gone answers nothing.
            let is_answer = !matches!(outcome, Outcome::NotAsked { .. });
            if before.next().is_some_and(|before| before != now) && is_answer {
                changed.push(pair_name(&rendered.pair));
            }
        });
        Ok(Repeated {
            asked: pairs.len(),
            differing,
            changed,
        })
    }
}

fn said(outcome: &Outcome, fingerprint: impl FnOnce() -> Fingerprint) -> Said {
    let has_text = matches!(outcome, Outcome::Rendered { .. } | Outcome::Raised { .. });
    (outcome.kind(), has_text.then(fingerprint))
}
