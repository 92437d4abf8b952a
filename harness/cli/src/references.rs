//! Asks the references, and writes down what they gave.

use std::io;
use std::time::Duration;

use crate::report::progress::Progress;
use rolecall_core::{Engine, OutcomeKind};
use rolecall_front::front::Front;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::front_records::{self, FrontRecords};
use rolecall_suite::layout::Layout;
use rolecall_suite::recording::{Recorded, Updates};
use rolecall_suite::records::Records;
use rolecall_suite::reference::{Identity, Reference};
use rolecall_suite::run::{Rendered, Runner};
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};

use crate::failure::{Failure, report_problems, tell};
use crate::home;
use crate::session::Session;

/// What the references gave for some pairs. Nothing of it is written yet.
pub(crate) struct ReferenceResults<'s> {
    /// The new records.
    pub(crate) updates: Updates<'s>,
    /// The outcomes of pairs with a listed divergence.
    diverged: Vec<Rendered<'s>>,
    pairs: Vec<Pair<'s>>,
    /// How long the references took.
    pub(crate) elapsed: Duration,
}

pub(crate) fn engines(programs: &[ProtocolEngine]) -> Vec<&dyn Engine> {
    let programs = programs.iter();
    programs.map(|program| program as &dyn Engine).collect()
}

/// Asks references for the pairs of their dialects. Pairs of other dialects are left out.
pub(crate) fn ask<'s>(
    programs: &'s [ProtocolEngine],
    session: &'s Session,
    mut updates: Updates<'s>,
    divergences: &Divergences,
    pairs: &[Pair<'s>],
) -> Result<ReferenceResults<'s>, Failure> {
    let has_reference = |pair: &&Pair<'s>| {
        let mut programs = programs.iter();
        programs.any(|program| program.dialect() == pair.template.dialect)
    };
    let pairs: Vec<Pair<'s>> = pairs.iter().filter(has_reference).copied().collect();
    let progress = Progress::new(pairs.len(), "asking the references", "pairs");
    let mut diverged = Vec::new();
    let runner = Runner::new(&session.engines, &engines(programs), session.jobs)?;
    let runner = runner.with_progress(progress.step());
    let elapsed = runner.render_each(&pairs, |rendered| {
        updates.add(&rendered);
        if divergences.has_seen_any(&rendered.pair) {
            diverged.push(rendered);
        }
    });
    progress.clear();
    Ok(ReferenceResults {
        updates,
        diverged,
        pairs,
        elapsed,
    })
}

/// What the application of a front makes of the suite now, and what is recorded of it.
pub(crate) struct FrontResults {
    pub(crate) now: FrontRecords,
    pub(crate) recorded: Option<FrontRecords>,
    /// Its name and versions.
    pub(crate) application: Identity,
    pub(crate) count: usize,
    pub(crate) elapsed: Duration,
}

/// Asks the application of a front for the whole suite. `own` has the records of the templates' own
/// fronts. None if the application is not set up.
pub(crate) fn ask_front(
    front: Front,
    layout: &Layout,
    session: &Session,
    own: &Records,
) -> Result<Option<FrontResults>, Failure> {
    let Some(reference) = Reference::of_front(front) else {
        return Ok(None);
    };
    if reference
        .program(&home::references_folder(layout)?)
        .is_err()
    {
        return Ok(None);
    }
    let programs = [crate::engines::reference_program(
        &reference,
        &session.limits.program,
    )?];
    let mut suite = Suite::load_layout(layout);
    suite.use_front(front);
    let pairs = front_records::pairs(&suite);
    let progress = Progress::new(pairs.len(), &format!("asking {front}"), "pairs");
    let runner = Runner::new(&session.engines, &engines(&programs), session.jobs)?;
    let mut results = Vec::new();
    let runner = runner.with_progress(progress.step());
    let elapsed = runner.render_each(&pairs, |rendered| results.push(rendered));
    progress.clear();
    let died = |one: &&Rendered<'_>| {
        matches!(
            one.outcome.kind(),
            OutcomeKind::Crashed | OutcomeKind::NotAsked
        )
    };
    // The records of a front are one file for the whole suite: a crash would stand in it as an answer.
    if let Some(died) = results.iter().find(died) {
        let why = format!("{reference} gave no answer: {}", died.outcome.text());
        return Err(Failure::Request(why));
    }
    let recorded = FrontRecords::read(layout, front).map_err(|one| Failure::Problems(vec![one]))?;
    Ok(Some(FrontResults {
        now: FrontRecords::of(&results, own, recorded.as_ref()),
        recorded,
        application: Identity::of(&programs[0]),
        count: pairs.len(),
        elapsed,
    }))
}

impl ReferenceResults<'_> {
    /// How many pairs were asked.
    pub(crate) fn count(&self) -> usize {
        self.pairs.len()
    }

    /// Reports old records that cannot be read.
    pub(crate) fn report_broken(&self) -> io::Result<()> {
        let broken = self.updates.broken();
        report_problems(broken)?;
        if !broken.is_empty() {
            tell("nothing is kept of records that cannot be read");
        }
        Ok(())
    }

    /// Writes the records. An error with one file does not stop the others.
    pub(crate) fn write(&self, snapshots: &Snapshots, divergences: &Divergences) -> Recorded {
        self.updates.write(snapshots, divergences, &self.diverged)
    }
}
