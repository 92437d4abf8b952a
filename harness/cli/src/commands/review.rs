//! The command `review`: asks a person about every result that is not as accepted, one question
//! for each cause.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use crate::report::accepting as accepting_report;
use crate::report::checked_texts;
use crate::report::difference::{self, Extent, FaultGroup, FaultGroups};
use crate::report::reviewing as report;
use crate::report::thousands;
use rolecall_core::problem::Problem;
use rolecall_core::{CaseId, TemplateName};
use rolecall_front::engines::Engines;
use rolecall_suite::conclusion::Fault;
use rolecall_suite::expectations::Expectations;
use rolecall_suite::run::Compared;
use rolecall_suite::selection::select;
use rolecall_suite::suite::templates_of;

use super::accept::{
    Choice, PairJudge, is_of_readings, other_untidy, remove_settled, same_cards, sound_suite,
    texts, tidy_cards, write_card, write_tidy,
};
use crate::args::{AcceptArguments, ReviewArguments};
use crate::failure::{Failure, Status, report_problems};
use crate::interactive::{Answer, ask};
use crate::{engines, home};

pub(super) fn execute(arguments: &ReviewArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
    let _lock = home::lock(&layout)?;
    let suite = sound_suite(&layout, "reviewed")?;
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
        engines: &engines,
        arguments: &accepting,
    };
    let mut choice = Choice::default();
    let judged = judge.by_record(&pairs, &expectations, &mut choice.counts)?;
    let open = judged.open;
    let mut review = Review::default();
    review.pairs(&open, (&mut choice, &accepting, &expectations), out)?;
    let mut problems = Vec::new();
    let files = choice.files(&suite, &expectations, &mut problems);
    let untidy = other_untidy(&files, (&suite, &expectations), &pairs, &mut problems);
    choice.write(&files, &expectations, &mut problems);
    for one in &untidy {
        if review.is_over {
            review.left += 1;
            continue;
        }
        accepting_report::write_untidy(out, std::slice::from_ref(one))?;
        let show =
            |out: &mut dyn Write| accepting_report::write_untidy(out, std::slice::from_ref(one));
        let question = "write this file again, with what was accepted?";
        if review.decide(out, question, 1, &show)? != Decision::Accepted {
            review.left += 1;
        } else if write_tidy(one, &expectations, &mut problems) {
            choice.counts.tidied += 1;
        }
    }
    let jobs = arguments.jobs.map(usize::from);
    let known = (&layout, &expectations);
    let checked = texts(known, &suite, &pairs, (&engines, jobs), out)?;
    choice.counts.tidied += tidy_cards(&checked, &suite, &expectations, &mut problems);
    let same: Vec<PathBuf> = same_cards(&checked).collect();
    let mut cards_left = checked.iter().filter(|card| !card.change.is_same()).count();
    for card in checked {
        if card.change.is_same() || review.is_over {
            review.left += usize::from(!card.change.is_same());
            continue;
        }
        checked_texts::write_change(out, &card, false)?;
        checked_texts::write_forbidden(out, &card)?;
        let show = |out: &mut dyn Write| checked_texts::write_change(out, &card, true);
        let question = format!("{} of {}?", card.kind.name(), card.template);
        match review.decide(out, &question, cards_left, &show)? {
            Decision::Accepted if is_of_readings(&card) => {
                choice.add_readings(&suite, std::slice::from_ref(&card));
            }
            Decision::Accepted => match write_card(&suite, &expectations, &card) {
                Ok(()) => choice.counts.add_text(card.kind),
                Err(problem) => {
                    problems.push(problem);
                    review.left += 1;
                }
            },
            Decision::Rejected => {
                review.left += 1;
                review.rejected.insert(card.path);
            }
            Decision::Open => review.left += 1,
        }
        cards_left -= 1;
    }
    let files = choice.files(&suite, &expectations, &mut problems);
    choice.write(&files, &expectations, &mut problems);
    // What insta has left for review goes with what was rejected, and where nothing is left to
    // decide.
    let mut settled = choice.settled(&pairs, &suite, &expectations);
    settled.extend(same);
    settled.extend(std::mem::take(&mut review.rejected));
    settled.retain(|file| !review.kept.contains(file));
    choice.counts.removed = remove_settled(&settled, &mut problems);
    finish(&review, &choice, &problems, out)
}

fn finish(
    review: &Review,
    choice: &Choice<'_>,
    problems: &[Problem],
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    report_problems(problems)?;
    accepting_report::write_order(out, &choice.counts)?;
    let left = review.left + choice.counts.broken + choice.counts.failed;
    report::write(out, &choice.counts, (left, review.unread), review.questions)?;
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
    /// Results that were accepted although they were not shown whole.
    unread: usize,
    /// Everything from here on is accepted.
    accepts_all: bool,
    /// The person has had enough.
    is_over: bool,
    /// The files of snapshots and report cards with something that was rejected.
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
        let mut groups = FaultGroups::for_decisions(new_templates(open, expectations));
        let mut by_name: HashMap<(&str, &CaseId), &Compared<'s>> = HashMap::new();
        for compared in open {
            let pair = &compared.rendered.pair;
            groups.add(compared);
            by_name.insert((pair.template.name.as_str(), &pair.case.id), compared);
        }
        let groups = groups.sorted();
        // Edits that were decided on, each with whether it is as it should be.
        let mut decided: HashMap<&str, bool> = HashMap::new();
        let mut left: usize = groups.iter().map(|group| group.pairs.len()).sum();
        for (at, group) in groups.iter().enumerate() {
            let decision = if self.is_over {
                Decision::Open
            } else if self.accepts_all {
                self.unread += group.pairs.len();
                Decision::Accepted
            } else if let Some(decision) = implied(group, &decided) {
                let is_accepted = decision == Decision::Accepted;
                report::write_implied(out, group.pairs.len(), is_accepted)?;
                decision
            } else {
                let one = std::slice::from_ref(group);
                report::write_place(out, at + 1, groups.len(), group.pairs.len())?;
                difference::write(out, one, Extent::SHORT)?;
                let is_whole = Cell::new(false);
                let show = |out: &mut dyn Write| {
                    is_whole.set(true);
                    difference::write(out, one, Extent::WHOLE)
                };
                let decision = self.decide(out, &question(group), left, &show)?;
                if decision == Decision::Accepted && !is_whole.get() {
                    self.unread += group.unread(Extent::SHORT);
                }
                decision
            };
            let edits = group.edits().iter().map(String::as_str);
            let open: Vec<&str> = edits.filter(|edit| !decided.contains_key(edit)).collect();
            match (decision, open.as_slice()) {
                (Decision::Accepted, open) => decided.extend(open.iter().map(|edit| (*edit, true))),
                // Of several, nobody knows which is wrong.
                (Decision::Rejected, [one]) => drop(decided.insert(*one, false)),
                _ => {}
            }
            for member in &group.pairs {
                let pair = &member.pair;
                let name = (pair.template.name.as_str(), &pair.case.id);
                let file = expectations.snapshots.file(pair.case.id.family());
                match (decision, by_name.get(&name)) {
                    (Decision::Accepted, Some(compared)) => {
                        choice.add(compared, arguments, expectations);
                    }
                    (Decision::Rejected, _) => drop(self.rejected.insert(file)),
                    _ => drop(self.kept.insert(file)),
                }
            }
            left -= group.pairs.len();
            if decision != Decision::Accepted {
                self.left += group.pairs.len();
            }
        }
        Ok(())
    }

    /// Asks one question. `left` is the count of what is left to decide, this included.
    fn decide(
        &mut self,
        out: &mut dyn Write,
        question: &str,
        left: usize,
        show: &dyn Fn(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<Decision, Failure> {
        if self.accepts_all {
            self.unread += 1;
            return Ok(Decision::Accepted);
        }
        loop {
            out.flush()?;
            match ask(question, left)? {
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

/// The templates of which nothing was accepted yet.
fn new_templates<'s>(
    open: &[Compared<'s>],
    expectations: &Expectations,
) -> HashSet<&'s TemplateName> {
    let pairs = open.iter().map(|compared| compared.rendered.pair);
    let mut names: HashSet<_> = pairs.map(|pair| &pair.template.name).collect();
    let snapshots = &expectations.snapshots;
    names.retain(|name| {
        let mut families = snapshots.families().into_iter();
        !families.any(|family| snapshots.family(&family).knows(name))
    });
    names
}

/// The decision about a group whose edits were all decided on before, each in a group of its own or
/// with others. One edit that is wrong makes a prompt wrong.
fn implied(group: &FaultGroup<'_>, decided: &HashMap<&str, bool>) -> Option<Decision> {
    let known = group.edits().iter();
    let known: Vec<Option<bool>> = known
        .map(|edit| decided.get(edit.as_str()).copied())
        .collect();
    if known.contains(&Some(false)) {
        return Some(Decision::Rejected);
    }
    let are_accepted = !known.is_empty() && known.iter().all(Option::is_some);
    are_accepted.then_some(Decision::Accepted)
}

fn question(group: &FaultGroup<'_>) -> String {
    let what = match group.fault() {
        Fault::New => "new ",
        _ => "",
    };
    match group.pairs.as_slice() {
        [_] => format!("this {what}pair?"),
        many => format!("these {} {what}pairs?", thousands(many.len())),
    }
}
