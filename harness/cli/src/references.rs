//! Asks the references, and writes down what they gave.

use std::io;
use std::time::Duration;

use crate::report::progress::Progress;
use rolecall_core::Engine;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::recording::{Recorded, Updates};
use rolecall_suite::run::{Rendered, Runner};
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::Pair;

use crate::failure::{Failure, report_problems, tell};
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
