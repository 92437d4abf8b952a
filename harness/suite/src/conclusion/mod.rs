//! The conclusion of a run: the counts of results, and what fails it.
//!
//! `run`, `reference verify` and `cargo test` pass or fail by it; reports only show it.

mod fault;

mod tally;

mod failures;

mod place;

mod groups;

use std::collections::BTreeMap;
use std::time::Duration;

use rolecall_core::{Deaths, Engine, OutcomeKind, TemplateName};

use crate::checked_base::CheckedBase;
use crate::checked_text::CheckedText;
use crate::divergence::{Divergences, pair_name};
use crate::roundtrip::RoundtripTally;
use crate::run::{Compared, RunInfo};
use crate::suite::Pair;
use crate::verdict::Verdict;
use rolecall_core::problem::Problem;

pub use failures::Failures;
pub use fault::Fault;
pub use groups::{FaultGroup, FaultGroups, GroupedPair, NewResult};
pub use tally::{PairTally, Share};

/// The results of a run. Pairs are added one by one, and the run itself at the end.
#[derive(Debug, Default)]
pub struct Conclusion<'s> {
    pub by_template: BTreeMap<TemplateName, PairTally>,
    pub total: PairTally,
    /// Whether the pairs were compared with snapshots.
    pub has_snapshots: bool,
    /// The pairs without an expectation.
    pub uncompared: Vec<Uncompared<'s>>,
    /// What engines did that shows in no outcome.
    pub engines: Vec<EngineFault>,
    /// Failures that nobody expects.
    pub failures: Failures<'s>,
    /// The names of listed divergences that now agree with the reference.
    pub gone: Vec<String>,
    /// Problems with the files of snapshots, besides the transcripts in them.
    pub problems: Vec<Problem>,
    /// Report cards and transcripts of readings that are not as the suite demands.
    pub cards: Vec<CheckedText>,
    /// Templates that deviate from their bases.
    pub bases: Vec<CheckedBase>,
    /// The parsed answers of the templates.
    pub roundtrip: RoundtripTally,
    pub elapsed: Duration,
}

/// What an engine did that shows in no outcome.
#[derive(Debug)]
pub struct EngineFault {
    pub engine: String,
    pub what: EngineFailure,
}

/// How an engine fails without a trace in any outcome.
#[derive(Debug)]
pub enum EngineFailure {
    /// It died, and answered when it was asked again.
    Died(Deaths),
    /// No pair reached it, and it answers nothing; the text says why.
    AnswersNothing(String),
}

/// A pair that was rendered, and compared with nothing.
#[derive(Debug)]
pub struct Uncompared<'s> {
    pub pair: Pair<'s>,
    pub kind: OutcomeKind,
    /// The message, if there is no prompt.
    pub message: Option<String>,
}

impl<'s> Conclusion<'s> {
    /// Adds a pair. Those of a template come one after the other.
    pub fn add(&mut self, compared: &Compared<'s>, divergences: &Divergences) {
        let rendered = &compared.rendered;
        let name = rendered.pair.template.name.clone();
        self.by_template.entry(name).or_default().add(compared);
        self.total.add(compared);
        self.has_snapshots |= compared.comparison.is_some();
        self.failures.add(compared);
        // A pair with a fault is listed by its cause.
        if compared.is_uncompared() && Fault::of(compared).is_none() {
            let outcome = &rendered.outcome;
            let kind = outcome.kind();
            self.uncompared.push(Uncompared {
                pair: rendered.pair,
                kind,
                message: (kind != OutcomeKind::Rendered).then(|| outcome.text().to_owned()),
            });
        }
        // A divergence that is left in the list would excuse the next difference of this pair.
        if compared.verdict == Verdict::Agrees
            && divergences.has_seen(rendered.engine, &rendered.pair)
        {
            let name = format!("{} {}", rendered.engine, pair_name(&rendered.pair));
            self.gone.push(name);
        }
    }

    /// The names of the templates that could not be read.
    pub fn unread(&self) -> impl Iterator<Item = &'s TemplateName> {
        self.failures.unread().map(|template| &template.name)
    }

    /// How many of the pairs that were compared with nothing have an outcome of each kind.
    pub fn uncompared_outcomes(&self) -> BTreeMap<OutcomeKind, usize> {
        let mut outcomes = BTreeMap::new();
        for uncompared in &self.uncompared {
            *outcomes.entry(uncompared.kind).or_default() += 1;
        }
        outcomes
    }

    /// Adds what an engine did that shows in no outcome. Call it when it was asked everything.
    pub fn add_engine(&mut self, engine: &dyn Engine) {
        let deaths = engine.deaths();
        let what = match engine.answers() {
            Ok(()) if deaths.count == 0 => return,
            Ok(()) => EngineFailure::Died(deaths),
            Err(why) => EngineFailure::AnswersNothing(why),
        };
        self.engines.push(EngineFault {
            engine: engine.name().to_owned(),
            what,
        });
    }

    /// Adds the duration and the problems of the run.
    pub fn finish(&mut self, ran: RunInfo) {
        self.elapsed = ran.elapsed;
        self.problems = ran.problems;
    }

    /// Whether the run passes: each pair agrees with its snapshot and the reference, or differs
    /// for a listed reason; every divergence still exists; every file of snapshots can be read;
    /// every template could be read; every report card is as the suite demands; every template is as
    /// its base; answers are read as the reference reads them; no engine died; and not every pair
    /// failed.
    pub fn passes(&self) -> bool {
        self.total.faults == 0
            && self.gone.is_empty()
            && self.problems.is_empty()
            && self.cards.is_empty()
            && self.bases.is_empty()
            && self.engines.is_empty()
            && self.roundtrip.passes()
            && self.failures.are_none()
    }
}
