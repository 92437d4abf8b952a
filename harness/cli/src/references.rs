//! Asks the references, and writes down what they gave.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::layout::Layout;
use rolecall::problem::Problem;
use rolecall::protocol::ProtocolEngine;
use rolecall::recording::{Update, Updates, keep_transcripts};
use rolecall::report::progress::Progress;
use rolecall::run::{Rendered, Runner};
use rolecall::snapshot::Snapshots;
use rolecall::suite::{Pair, Suite};
use rolecall_model::Engine;

use crate::failure::{Failure, report_problems, tell};

/// What the references gave for some pairs. Nothing of it is written yet.
pub(crate) struct ReferenceResults<'s> {
    /// The new records, by template.
    pub(crate) updates: Vec<Update<'s>>,
    /// The outcomes of pairs with a listed divergence.
    diverged: Vec<Rendered<'s>>,
    pairs: Vec<Pair<'s>>,
    /// How long the references took.
    pub(crate) elapsed: Duration,
}

/// What was written of the references' results.
pub(crate) struct Recorded {
    /// How many records were written.
    pub(crate) records: usize,
    /// The files with transcripts of references that were written or removed.
    pub(crate) transcripts: Vec<PathBuf>,
    /// Files that could not be written.
    pub(crate) problems: Vec<Problem>,
}

/// A runner with references.
pub(crate) fn runner<'e>(
    programs: &'e [ProtocolEngine],
    engines: &'e Engines,
    jobs: Option<usize>,
    progress: &Progress,
) -> Result<Runner<'e>, Failure> {
    let chosen: Vec<&dyn Engine> = programs
        .iter()
        .map(|program| program as &dyn Engine)
        .collect();
    Ok(Runner::new(engines, &chosen, jobs)?.with_progress(progress.step()))
}

/// Asks references for the pairs of their dialects. Pairs of other dialects are left out.
pub(crate) fn ask<'s>(
    programs: &'s [ProtocolEngine],
    (engines, jobs): (&'s Engines, Option<usize>),
    (layout, suite, divergences): (&Layout, &'s Suite, &Divergences),
    pairs: &[Pair<'s>],
) -> Result<ReferenceResults<'s>, Failure> {
    let has_reference = |pair: &&Pair<'s>| {
        let mut programs = programs.iter();
        programs.any(|program| program.dialect() == pair.template.dialect)
    };
    let pairs: Vec<Pair<'s>> = pairs.iter().filter(has_reference).copied().collect();
    let progress = Progress::new(pairs.len(), "asking the references", "pairs");
    let mut updates = Updates::new(layout, suite);
    let mut diverged = Vec::new();
    let runner = runner(programs, engines, jobs, &progress)?;
    let elapsed = runner.render_each(&pairs, |rendered| {
        updates.add(&rendered);
        if divergences.has_seen_any(&rendered.pair) {
            diverged.push(rendered);
        }
    });
    progress.clear();
    Ok(ReferenceResults {
        updates: updates.into_vec(),
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
        let updates = self.updates.iter();
        let broken: Vec<Problem> = updates.filter_map(|one| one.broken.clone()).collect();
        report_problems(&broken)?;
        if !broken.is_empty() {
            tell("nothing is kept of records that cannot be read");
        }
        Ok(())
    }

    /// Writes the records. An error with one file does not stop the others.
    pub(crate) fn write(
        &self,
        layout: &Layout,
        suite: &Suite,
        divergences: &Divergences,
    ) -> Recorded {
        let mut records = 0;
        let mut problems = Vec::new();
        for update in &self.updates {
            match update.write() {
                Ok(is_new) => records += usize::from(is_new),
                Err(problem) => problems.push(problem),
            }
        }
        let snapshots = Snapshots::of(layout);
        let (transcripts, others) =
            keep_transcripts(suite, &snapshots, divergences, &self.pairs, &self.diverged);
        problems.extend(others);
        Recorded {
            records,
            transcripts,
            problems,
        }
    }
}
