//! The command `accept`: makes current results the expected ones.

use std::io::Write;

use rolecall::accepting::{Accepting, is_open};
use rolecall::engines::Engines;
use rolecall::expectations::Expectations;
use rolecall::reference::Reference;
use rolecall::report::accepting::{self as report, AcceptedCounts};
use rolecall::report::difference::{self, Extent, FaultGroups};
use rolecall::report::progress::Progress;
use rolecall::run::{Acceptance, Compared, Expected, Runner};
use rolecall::selection::select;
use rolecall::suite::{Pair, Suite, templates_of};
use rolecall::verdict::{Truth, Verdict};
use rolecall_model::{Engine, OutcomeKind};

use crate::args::{AcceptArguments, AlsoAccepted};
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::{engines, home, inputs};

pub(super) fn execute(arguments: &AcceptArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    // From reading what was accepted before to the last file that is written.
    let _lock = if arguments.dry_run {
        None
    } else {
        Some(home::lock(&layout)?)
    };
    let suite = inputs::load_own(&layout)?;
    report_problems(&suite.problems)?;
    if !suite.problems.is_empty() {
        return Err(Failure::Request(
            "the suite has problems, so nothing is accepted".to_owned(),
        ));
    }
    let pairs = select(&suite, &arguments.filters)?;
    let expectations =
        Expectations::read(&layout, templates_of(&pairs)).map_err(Failure::Problems)?;
    report_problems(&expectations.records.problems)?;

    let engines = arguments.limits.chosen().engines();
    let chosen = engines::configured(&engines, &arguments.limits.chosen())?;
    let asker = PairJudge {
        chosen: &chosen,
        suite: &suite,
        expectations: &expectations,
        engines: &engines,
        arguments,
    };
    let mut counts = AcceptedCounts::default();
    let (mut open, unknown) = asker.by_record(&pairs, &mut counts)?;
    if !unknown.is_empty() {
        open.extend(asker.by_reference(&unknown)?);
    }
    let mut accepting = Accepting::default();
    let mut groups = FaultGroups::default();
    for compared in &open {
        let is_confirmed = is_confirmed(compared);
        if !is_confirmed && !is_result(compared, &arguments.also) {
            counts.broken += 1;
        } else if is_confirmed || !arguments.verified {
            accepting.add(compared);
            groups.add(compared);
            counts.accept(compared, is_confirmed);
        } else if matches!(compared.verdict, Verdict::Unverified(_)) {
            counts.unknown += 1;
        } else {
            counts.refuted += 1;
        }
    }
    let extent = if arguments.all {
        Extent::WHOLE
    } else {
        Extent::SHORT
    };
    difference::write(out, &groups.sorted(), extent)?;
    let (files, mut problems) = accepting.files(&suite, &expectations.snapshots);
    if !arguments.dry_run {
        for file in &files {
            problems.extend(file.write(&expectations.snapshots).err());
        }
    }
    report_problems(&problems)?;
    let references = Reference::of_pairs(&pairs);
    report::write(out, &counts, &files, &references, arguments.dry_run)?;
    Ok(if !problems.is_empty() {
        Status::BadInput
    } else if counts.has_left() {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

/// Renders pairs and gets their verdicts.
struct PairJudge<'s> {
    chosen: &'s [ChosenEngine<'s>],
    suite: &'s Suite,
    expectations: &'s Expectations,
    engines: &'s Engines,
    arguments: &'s AcceptArguments,
}

impl<'s> PairJudge<'s> {
    fn runner(&self) -> Result<Runner<'s>, Failure> {
        let jobs = self.arguments.jobs.map(usize::from);
        let chosen: Vec<&dyn Engine> = self.chosen.iter().map(ChosenEngine::engine).collect();
        Ok(Runner::new(self.engines, &chosen, jobs)?)
    }

    fn expected<'x>(&'x self, truth: Truth<'x>) -> Expected<'x> {
        Expected {
            accepted: Some(Acceptance {
                suite: self.suite,
                snapshots: &self.expectations.snapshots,
            }),
            truth,
            needs_differences_only: true,
        }
    }

    /// The outcomes of the pairs that differ from their snapshots, with verdicts from the records.
    /// If the user wants verified results and the records have none, only the pairs.
    fn by_record(
        &self,
        pairs: &[Pair<'s>],
        counts: &mut AcceptedCounts,
    ) -> Result<(Vec<Compared<'s>>, Vec<Pair<'s>>), Failure> {
        let mut open = Vec::new();
        let mut unknown = Vec::new();
        let expected = self.expected(self.expectations.truth());
        self.runner()?.compare_each(pairs, &expected, |compared| {
            let is_unknown = matches!(compared.verdict, Verdict::Unverified(_));
            if !is_open(&compared) {
                counts.same += 1;
            } else if self.arguments.verified && is_unknown {
                unknown.push(compared.rendered.pair);
            } else {
                open.push(compared);
            }
        });
        Ok((open, unknown))
    }

    /// The outcomes of pairs, with verdicts from the installed references.
    fn by_reference(&self, pairs: &[Pair<'s>]) -> Result<Vec<Compared<'s>>, Failure> {
        let limits = self.arguments.limits.chosen();
        let mut programs = Vec::new();
        for reference in Reference::of_pairs(pairs) {
            match engines::reference_program(&reference, &limits.program) {
                Ok(program) => programs.push(program),
                Err(failure) => tell(&failure.to_string()),
            }
        }
        let references: Vec<&dyn Engine> = programs.iter().map(|one| one as &dyn Engine).collect();
        let progress = Progress::new(pairs.len(), "asking the references", "pairs");
        let runner = self.runner()?.with_progress(progress.step());
        let expected = self.expected(Truth::Engines {
            engines: &references,
            divergences: &self.expectations.divergences,
        });
        let mut open = Vec::new();
        runner.compare_each(pairs, &expected, |compared| open.push(compared));
        progress.clear();
        Ok(open)
    }
}

/// Whether an outcome says what the template does, or the user accepts it all the same.
fn is_result(compared: &Compared<'_>, also: &[AlsoAccepted]) -> bool {
    match compared.rendered.outcome.kind() {
        OutcomeKind::Rendered | OutcomeKind::Raised | OutcomeKind::Failed => true,
        OutcomeKind::Crashed => also.contains(&AlsoAccepted::Crashed),
        OutcomeKind::Exceeded => also.contains(&AlsoAccepted::Exceeded),
        OutcomeKind::NotAsked => false,
    }
}

/// Whether the reference confirms a result, or a divergence explains the difference.
fn is_confirmed(compared: &Compared<'_>) -> bool {
    matches!(compared.verdict, Verdict::Agrees | Verdict::Differs(_))
        && !compared.verdict.is_unexplained()
}
