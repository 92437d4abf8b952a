//! The command `accept`: makes current results the expected ones.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use rolecall::accepting::{AcceptedFile, Accepting, is_open};
use rolecall::engines::Engines;
use rolecall::expectations::Expectations;
use rolecall::file::write_below;
use rolecall::held_card::{CardStatus, HeldCard};
use rolecall::problem::Problem;
use rolecall::reference::Reference;
use rolecall::report::accepting::{self as report, AcceptedCounts, AcceptedFiles, AcceptedPairs};
use rolecall::report::difference::{self, Extent, FaultGroups};
use rolecall::report::held_cards;
use rolecall::report::progress::Progress;
use rolecall::run::{Acceptance, Compared, Expected, Runner};
use rolecall::selection::select;
use rolecall::suite::{Pair, Suite, templates_of};
use rolecall::verdict::{Truth, Verdict};
use rolecall_model::{Engine, OutcomeKind, TemplateName};

use crate::args::{AcceptArguments, AlsoAccepted};
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::{cards, engines, home, inputs};

pub(super) fn execute(arguments: &AcceptArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
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
    let mut choice = Choice::default();
    let (mut open, unknown) = asker.by_record(&pairs, &mut choice.counts)?;
    if !unknown.is_empty() {
        open.extend(asker.by_reference(&unknown)?);
    }
    for compared in &open {
        choice.add(compared, arguments, &expectations);
    }
    let extent = if arguments.all {
        Extent::WHOLE
    } else {
        Extent::SHORT
    };
    let groups = std::mem::take(&mut choice.groups).sorted();
    difference::write(out, &groups, extent)?;
    let jobs = arguments.jobs.map(usize::from);
    let mut held = cards::held(&layout, &suite, &pairs, &engines, jobs)?.sound()?;
    // The card of a template whose prompts nobody confirms is not confirmed either.
    held.retain(|card| !choice.left.contains(&card.template));
    for card in &held {
        held_cards::write_change(out, card, arguments.all)?;
        held_cards::write_forbidden(out, card)?;
    }
    let (files, mut problems) = choice.accepting.files(&suite, &expectations.snapshots);
    let written = if arguments.dry_run {
        files.len()
    } else {
        choice.write(&files, &expectations, &mut problems)
    };
    for card in &held {
        if matches!(card.change, CardStatus::Same) {
            continue;
        }
        let result = if arguments.dry_run {
            Ok(())
        } else {
            write_card(&suite, &expectations, card)
        };
        match result {
            Ok(()) => choice.counts.cards += 1,
            Err(problem) => problems.push(problem),
        }
    }
    report_problems(&problems)?;
    let references = Reference::of_pairs(&pairs);
    let files = AcceptedFiles {
        files: &files,
        written,
    };
    report::write(out, &choice.counts, files, &references, arguments.dry_run)?;
    Ok(if !problems.is_empty() {
        Status::BadInput
    } else if choice.counts.has_left() {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

/// Which results are accepted, and which are left.
#[derive(Default)]
pub(super) struct Choice<'s> {
    pub(super) accepting: Accepting<'s>,
    groups: FaultGroups<'s>,
    pub(super) counts: AcceptedCounts,
    /// Templates with pairs that are not accepted.
    left: HashSet<String>,
    /// The accepted pairs of each file.
    by_file: HashMap<PathBuf, AcceptedPairs>,
}

impl<'s> Choice<'s> {
    pub(super) fn add(
        &mut self,
        compared: &Compared<'s>,
        arguments: &AcceptArguments,
        expectations: &Expectations,
    ) {
        let is_confirmed = is_confirmed(compared);
        let pair = &compared.rendered.pair;
        let left = if !is_confirmed && !is_result(compared, &arguments.also) {
            &mut self.counts.broken
        } else if is_confirmed || !arguments.verified {
            self.accepting.add(compared);
            self.groups.add(compared);
            let one = AcceptedPairs::of(compared, is_confirmed);
            let snapshots = &expectations.snapshots;
            let file = snapshots.file(&pair.template.name, pair.case.id.family());
            self.by_file.entry(file).or_default().add(one);
            self.counts.accepted.add(one);
            return;
        } else if matches!(compared.verdict, Verdict::Unverified(_)) {
            &mut self.counts.unknown
        } else {
            &mut self.counts.refuted
        };
        *left += 1;
        self.left.insert(pair.template.name.to_string());
    }

    /// Writes files, and takes back what is in a file that cannot be written. Returns how many were
    /// written.
    pub(super) fn write(
        &mut self,
        files: &[AcceptedFile],
        expectations: &Expectations,
        problems: &mut Vec<Problem>,
    ) -> usize {
        let mut written = 0;
        for file in files {
            match file.write(&expectations.snapshots) {
                Ok(_) => written += 1,
                Err(problem) => {
                    problems.push(problem);
                    let pairs = self.by_file.get(&file.path).copied().unwrap_or_default();
                    self.counts.take_back(pairs);
                }
            }
        }
        written
    }
}

/// Writes a report card as the accepted one.
pub(super) fn write_card(
    suite: &Suite,
    expectations: &Expectations,
    card: &HeldCard,
) -> Result<(), Problem> {
    let name = TemplateName::new(&card.template);
    let Some(template) = suite.template(&name) else {
        return Ok(());
    };
    let snapshots = &expectations.snapshots;
    let text = snapshots.written_card(template, &card.text);
    write_below(snapshots.root(), &card.path, &text)
}

/// Renders pairs and gets their verdicts.
pub(super) struct PairJudge<'s> {
    pub(super) chosen: &'s [ChosenEngine<'s>],
    pub(super) suite: &'s Suite,
    pub(super) expectations: &'s Expectations,
    pub(super) engines: &'s Engines,
    pub(super) arguments: &'s AcceptArguments,
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
    pub(super) fn by_record(
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
