//! Renders pairs a second time, each in a fresh process. If an answer changes, earlier
//! requests had affected the process.

use rolecall_core::{Engine, Outcome};

use crate::divergence::pair_name;
use crate::run::{Compared, RunError, Runner};
use crate::suite::Pair;
use crate::verdict::Verdict;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::transcript;
use rolecall_front::engines::Engines;
use rolecall_io::protocol::ProtocolEngine;

/// The most pairs that are asked again: each needs a process.
const MOST: usize = 20;

/// The pairs for which an engine differs from the reference.
#[derive(Debug, Default)]
pub struct Repetition<'s> {
    pairs: Vec<(Pair<'s>, AnswerKey)>,
}

/// The result of asking again.
#[derive(Debug)]
pub struct Repeated {
    /// The count of pairs that were asked again.
    pub asked: usize,
    /// The count of pairs that differ from the reference.
    pub differing: usize,
    /// The names of pairs whose answer has changed.
    pub changed: Vec<String>,
}

/// What has to be equal in two answers. The message of a failure may hold an address, so
/// it does not count.
type AnswerKey = (rolecall_core::OutcomeKind, Option<Fingerprint>);

impl<'s> Repetition<'s> {
    /// Adds a pair, if the engine differs from the reference.
    pub fn add(&mut self, compared: &Compared<'s>) {
        if !matches!(compared.verdict, Verdict::Differs(_)) {
            return;
        }
        let outcome = &compared.rendered.outcome;
        let answer_key = answer_key(outcome, || compared.observed());
        self.pairs.push((compared.rendered.pair, answer_key));
    }

    /// Renders some of the pairs again, spread evenly over all.
    pub fn ask(
        self,
        engines: &Engines,
        engine: &ProtocolEngine,
        jobs: Option<usize>,
    ) -> Result<Repeated, RunError> {
        let differing = self.pairs.len();
        let step = differing.div_ceil(MOST).max(1);
        let (pairs, before): (Vec<Pair<'s>>, Vec<AnswerKey>) =
            self.pairs.into_iter().step_by(step).unzip();
        let anew = engine.anew();
        let chosen: [&dyn Engine; 1] = [&anew];
        let runner = Runner::new(engines, &chosen, jobs)?;
        let mut changed = Vec::new();
        let mut before = before.into_iter();
        runner.render_each(&pairs, |rendered| {
            let outcome = &rendered.outcome;
            let now = answer_key(outcome, || Fingerprint::of(transcript::encode(outcome)));
            // `not asked` is not an answer.
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

fn answer_key(outcome: &Outcome, fingerprint: impl FnOnce() -> Fingerprint) -> AnswerKey {
    let has_text = matches!(outcome, Outcome::Rendered { .. } | Outcome::Raised { .. });
    (outcome.kind(), has_text.then(fingerprint))
}
