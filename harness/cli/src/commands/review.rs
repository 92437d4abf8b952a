//! The command `review`: asks a person about every result that is not as accepted, one question
//! for each cause.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;

use rolecall::accepting::remove_pending;
use rolecall::engines::Engines;
use rolecall::expectations::Expectations;
use rolecall::held_card::CardStatus;
use rolecall::problem::Problem;
use rolecall::report::difference::{self, Extent, FaultGroup, FaultGroups};
use rolecall::report::{held_cards, reviewing as report};
use rolecall::run::Compared;
use rolecall::selection::select;
use rolecall::suite::{Pair, templates_of};
use rolecall_model::CaseId;

use super::accept::{Choice, PairJudge, write_card};
use crate::answers::{Answer, ask};
use crate::args::{AcceptArguments, ReviewArguments};
use crate::failure::{Failure, Status, report_problems};
use crate::{cards, engines, home, inputs};

pub(super) fn execute(arguments: &ReviewArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
    let _lock = home::lock(&layout)?;
    let suite = inputs::load_own(&layout)?;
    report_problems(&suite.problems)?;
    if !suite.problems.is_empty() {
        return Err(Failure::Request(
            "the suite has problems, so nothing is reviewed".to_owned(),
        ));
    }
    let accepting = AcceptArguments {
        filters: arguments.filters.clone(),
        verified: false,
        also: Vec::new(),
        dry_run: false,
        all: false,
        limits: arguments.limits.clone(),
        jobs: arguments.jobs,
    };
    let pairs = select(&suite, &arguments.filters)?;
    let expectations =
        Expectations::read(&layout, templates_of(&pairs)).map_err(Failure::Problems)?;
    report_problems(&expectations.records.problems)?;
    let engines: Engines = arguments.limits.chosen().engines();
    let chosen = engines::configured(&engines, &arguments.limits.chosen())?;
    let judge = PairJudge {
        chosen: &chosen,
        suite: &suite,
        expectations: &expectations,
        engines: &engines,
        arguments: &accepting,
    };
    let mut choice = Choice::default();
    let (open, _) = judge.by_record(&pairs, &mut choice.counts)?;
    let mut review = Review::default();
    review.pairs(&open, (&mut choice, &accepting, &expectations), out)?;
    let mut problems = Vec::new();
    let (files, unreadable) = choice.accepting.files(&suite, &expectations.snapshots);
    problems.extend(unreadable);
    choice.write(&files, &expectations, &mut problems);
    let jobs = arguments.jobs.map(usize::from);
    for card in cards::held(&layout, &suite, &pairs, &engines, jobs)?.sound()? {
        if matches!(card.change, CardStatus::Same) || review.is_over {
            review.left += usize::from(!matches!(card.change, CardStatus::Same));
            continue;
        }
        held_cards::write_change(out, &card, false)?;
        held_cards::write_forbidden(out, &card)?;
        let show = |out: &mut dyn Write| held_cards::write_change(out, &card, true);
        let question = format!("report card of {}?", card.template);
        if review.decide(out, &question, &show)? == Decision::Accepted {
            match write_card(&suite, &expectations, &card) {
                Ok(()) => choice.counts.cards += 1,
                Err(problem) => problems.push(problem),
            }
        } else {
            review.left += 1;
        }
    }
    problems.extend(review.remove_rejected());
    finish(&review, &choice, &problems, out)
}

fn finish(
    review: &Review,
    choice: &Choice<'_>,
    problems: &[Problem],
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    report_problems(problems)?;
    let left = review.left + choice.counts.broken;
    let accepted = choice.counts.accepted;
    report::write(
        out,
        accepted.changed + accepted.new,
        choice.counts.cards,
        left,
        review.questions,
    )?;
    Ok(if !problems.is_empty() {
        Status::BadInput
    } else if left > 0 {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

/// The answers so far.
#[derive(Default)]
struct Review {
    /// How many questions were answered.
    questions: usize,
    /// Results and cards that are still not as accepted.
    left: usize,
    /// Everything from here on is accepted.
    accepts_all: bool,
    /// The person has had enough.
    is_over: bool,
    /// Snapshot files with a result that was rejected.
    rejected: BTreeSet<PathBuf>,
    /// Snapshot files with a result that is still to be decided.
    kept: BTreeSet<PathBuf>,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Accepted,
    Rejected,
    Open,
}

impl Review {
    /// Asks about the pairs, cause by cause.
    fn pairs<'s>(
        &mut self,
        open: &[Compared<'s>],
        (choice, arguments, expectations): (&mut Choice<'s>, &AcceptArguments, &Expectations),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut groups = FaultGroups::default();
        let mut by_name: HashMap<(&str, &CaseId), &Compared<'s>> = HashMap::new();
        for compared in open {
            let pair = &compared.rendered.pair;
            groups.add(compared);
            by_name.insert((pair.template.name.as_str(), &pair.case.id), compared);
        }
        let groups = groups.sorted();
        for (at, group) in groups.iter().enumerate() {
            if self.is_over {
                self.left += group.pairs.len();
                let members = group.pairs.iter();
                let files = members.map(|member| file(expectations, &member.pair));
                self.kept.extend(files);
                continue;
            }
            let one = std::slice::from_ref(group);
            if !self.accepts_all {
                report::write_place(out, at + 1, groups.len(), group.pairs.len())?;
                difference::write(out, one, Extent::SHORT)?;
            }
            let show = |out: &mut dyn Write| difference::write(out, one, Extent::WHOLE);
            let decision = self.decide(out, &question(group), &show)?;
            for member in &group.pairs {
                let pair = &member.pair;
                let name = (pair.template.name.as_str(), &pair.case.id);
                let file = file(expectations, pair);
                match (decision, by_name.get(&name)) {
                    (Decision::Accepted, Some(compared)) => {
                        choice.add(compared, arguments, expectations);
                    }
                    (Decision::Rejected, _) => drop(self.rejected.insert(file)),
                    _ => drop(self.kept.insert(file)),
                }
            }
            if decision != Decision::Accepted {
                self.left += group.pairs.len();
            }
        }
        Ok(())
    }

    /// Removes what insta has left for review of what was rejected. A file with a result that is
    /// still to be decided stays.
    fn remove_rejected(&self) -> Vec<Problem> {
        let rejected = self.rejected.difference(&self.kept);
        let removed = rejected.map(|file| remove_pending(file));
        removed.filter_map(Result::err).collect()
    }

    /// Asks one question.
    fn decide(
        &mut self,
        out: &mut dyn Write,
        question: &str,
        show: &dyn Fn(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<Decision, Failure> {
        if self.accepts_all {
            return Ok(Decision::Accepted);
        }
        loop {
            out.flush()?;
            match ask(question)? {
                Answer::Whole => show(out)?,
                Answer::Accept => {
                    self.questions += 1;
                    return Ok(Decision::Accepted);
                }
                Answer::AcceptAll => {
                    self.questions += 1;
                    self.accepts_all = true;
                    return Ok(Decision::Accepted);
                }
                Answer::Reject => {
                    self.questions += 1;
                    return Ok(Decision::Rejected);
                }
                Answer::Skip => {
                    self.questions += 1;
                    return Ok(Decision::Open);
                }
                Answer::Quit => {
                    self.is_over = true;
                    return Ok(Decision::Open);
                }
            }
        }
    }
}

/// The snapshot file with a pair.
fn file(expectations: &Expectations, pair: &Pair<'_>) -> PathBuf {
    let snapshots = &expectations.snapshots;
    let accepted = snapshots.accepted(&pair.template.name, pair.case.id.family());
    accepted.path().to_path_buf()
}

fn question(group: &FaultGroup<'_>) -> String {
    match group.pairs.len() {
        1 => "this pair?".to_owned(),
        count => format!("these {count} pairs?"),
    }
}
