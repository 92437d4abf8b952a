//! The command `review`: asks a person about every result that is not as accepted, one question
//! for each cause.

pub mod report;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use crate::commands::accept::report as accepting_report;
use crate::report::difference::{self, Extent};
use crate::report::{checked_texts, thousands};
use rolecall_core::problem::Problem;
use rolecall_core::{CaseId, TemplateName};
use rolecall_suite::accepting::Choice;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::conclusion::{Fault, FaultGroup, FaultGroups};
use rolecall_suite::expectations::Expectations;
use rolecall_suite::run::Compared;
use rolecall_suite::selection::select;
use rolecall_suite::suite::templates_of;

use super::accept::{AcceptedSuite, PairJudge, is_of_readings, remove_settled, same_cards};
use crate::args::ReviewArguments;

use crate::failure::{Failure, Status, report_problems};
use crate::interactive::{Answer, ask};
use crate::session::Session;
use crate::{home, inputs};

pub(crate) fn execute(arguments: &ReviewArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    home::tell_suite(&layout);
    let _lock = home::lock(&layout)?;
    let suite = inputs::load_sound(&layout, "the suite has problems, so nothing is reviewed")?;
    let pairs = select(&suite, &arguments.filters)?;
    let known = inputs::known(&layout, &suite, templates_of(&pairs))?;
    let session = Session::new(&arguments.limits, arguments.jobs);
    let chosen = session.configured()?;
    let judge = PairJudge {
        session: &session,
        chosen: &chosen,
        suite: &suite,
        is_verified: false,
    };
    let mut review = Review {
        accepted: AcceptedSuite::new(&known, &pairs, &session),
        choice: Choice::default(),
        answers: Answers::default(),
        problems: Vec::new(),
    };
    let open = judge
        .by_record(&pairs, &known.expectations, &mut review.choice.counts)?
        .open;
    review.pairs(&open, out)?;
    review.untidy(out)?;
    let same = review.texts(out)?;
    // Also after `q`: what somebody has decided before that is kept.
    review.write();
    review.remove_settled(same);
    review.finish(out)
}

/// What is reviewed, and what was decided so far.
struct Review<'s> {
    accepted: AcceptedSuite<'s>,
    choice: Choice<'s>,
    answers: Answers,
    problems: Vec<Problem>,
}

impl<'s> Review<'s> {
    /// Writes what was accepted since.
    fn write(&mut self) {
        let known = self.accepted.known;
        let snapshots = &known.expectations.snapshots;
        let files = (self.choice).files(known.suite, snapshots, &mut self.problems);
        self.choice.write(&files, snapshots, &mut self.problems);
    }

    /// Writes the accepted pairs, and asks about files with something else that is wrong.
    fn untidy(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        let known = self.accepted.known;
        let snapshots = &known.expectations.snapshots;
        let files = (self.choice).files(known.suite, snapshots, &mut self.problems);
        let untidy = self.accepted.other_untidy(&files, &mut self.problems);
        self.choice.write(&files, snapshots, &mut self.problems);
        for one in &untidy {
            if self.answers.is_over {
                self.answers.left += 1;
                continue;
            }
            let show = |out: &mut dyn Write| {
                accepting_report::write_untidy(out, std::slice::from_ref(one))
            };
            show(out)?;
            let question = "write this file again, with what was accepted?";
            if self.answers.decide(out, question, 1, &show)? == Decision::Accepted {
                let problems = &mut self.problems;
                self.choice.write_tidy(one, snapshots, problems);
            } else {
                self.answers.left += 1;
            }
        }
        Ok(())
    }

    /// Asks about the texts on templates. Returns the files of those that are as accepted.
    fn texts(&mut self, out: &mut dyn Write) -> Result<Vec<PathBuf>, Failure> {
        let checked = self.accepted.texts(out)?;
        let counts = &mut self.choice.counts;
        self.accepted
            .tidy_cards(&checked, counts, &mut self.problems);
        let same = same_cards(&checked).collect();
        let changed = checked.into_iter().filter(|card| !card.change.is_same());
        let changed: Vec<CheckedText> = changed.collect();
        let count = changed.len();
        for (at, card) in changed.into_iter().enumerate() {
            if self.answers.is_over {
                self.answers.left += 1;
                continue;
            }
            checked_texts::write_change(out, &card, false)?;
            checked_texts::write_forbidden(out, &card)?;
            let show = |out: &mut dyn Write| checked_texts::write_change(out, &card, true);
            let question = format!("{} of {}?", card.kind.name(), card.template);
            let decision = self.answers.decide(out, &question, count - at, &show)?;
            self.decide_text(decision, card);
        }
        Ok(same)
    }

    fn decide_text(&mut self, decision: Decision, card: CheckedText) {
        let is_settled = match decision {
            Decision::Accepted if is_of_readings(&card) => {
                let suite = self.accepted.known.suite;
                self.choice.add_readings(suite, std::slice::from_ref(&card));
                true
            }
            Decision::Accepted => {
                let counts = &mut self.choice.counts;
                self.accepted.write_card(&card, counts, &mut self.problems)
            }
            Decision::Rejected => {
                self.answers.rejected.insert(card.path);
                false
            }
            Decision::Open => false,
        };
        self.answers.left += usize::from(!is_settled);
    }

    /// Removes what insta has left for review of what was rejected, and where nothing is left to
    /// decide.
    fn remove_settled(&mut self, same: Vec<PathBuf>) {
        let AcceptedSuite { known, pairs, .. } = self.accepted;
        let snapshots = &known.expectations.snapshots;
        let mut settled = self.choice.settled(known.suite, snapshots, pairs);
        settled.extend(same);
        settled.extend(std::mem::take(&mut self.answers.rejected));
        // A file has many pairs. It stays as long as one of them is undecided.
        settled.retain(|file| !self.answers.kept.contains(file));
        self.choice.counts.removed = remove_settled(&settled, &mut self.problems);
    }

    fn finish(&self, out: &mut dyn Write) -> Result<Status, Failure> {
        report_problems(&self.problems)?;
        let counts = &self.choice.counts;
        accepting_report::write_order(out, counts)?;
        let left = self.answers.left + counts.broken + counts.failed;
        let Answers {
            unread, questions, ..
        } = self.answers;
        report::write(out, counts, left, unread, questions)?;
        Ok(Status::of(self.problems.is_empty(), left == 0))
    }

    /// Asks about the pairs, cause by cause.
    fn pairs(&mut self, open: &[Compared<'s>], out: &mut dyn Write) -> Result<(), Failure> {
        let expectations = &self.accepted.known.expectations;
        let groups = FaultGroups::of(&self.accepted.session.engines);
        let mut groups = groups.for_decisions(new_templates(open, expectations));
        let mut by_name: HashMap<(&str, &CaseId), &Compared<'s>> = HashMap::new();
        for compared in open {
            let pair = &compared.rendered.pair;
            groups.add(compared);
            by_name.insert((pair.template.name.as_str(), &pair.case.id), compared);
        }
        let groups = groups.sorted();
        let mut left: usize = groups.iter().map(|group| group.pairs.len()).sum();
        for (at, group) in groups.iter().enumerate() {
            let count = groups.len();
            let decision = self.answers.of_group(group, at + 1, count, left, out)?;
            for member in &group.pairs {
                let pair = &member.pair;
                let name = (pair.template.name.as_str(), &pair.case.id);
                let file = expectations.snapshots.file(pair.case.id.family());
                match (decision, by_name.get(&name)) {
                    (Decision::Accepted, Some(compared)) => {
                        let snapshots = &expectations.snapshots;
                        self.choice.add(compared, false, &[], snapshots);
                    }
                    // `cargo insta review` removes a pending file that is rejected, too.
                    (Decision::Rejected, _) => drop(self.answers.rejected.insert(file)),
                    _ => drop(self.answers.kept.insert(file)),
                }
            }
            left -= group.pairs.len();
            if decision != Decision::Accepted {
                self.answers.left += group.pairs.len();
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Answers {
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
    /// Edits that were decided on, each with whether it is as it should be.
    decided: HashMap<String, bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Accepted,
    Rejected,
    Open,
}

impl Answers {
    /// Decides on the pairs of a cause: asks, unless an answer before implies it. `at` is the
    /// number of the cause among `count`, and `left` the count of pairs that are left to decide.
    fn of_group(
        &mut self,
        group: &FaultGroup<'_>,
        at: usize,
        count: usize,
        left: usize,
        out: &mut dyn Write,
    ) -> Result<Decision, Failure> {
        let decision = if self.is_over {
            Decision::Open
        } else if self.accepts_all {
            self.unread += group.pairs.len();
            Decision::Accepted
        } else if let Some(decision) = self.implied(group) {
            let is_accepted = decision == Decision::Accepted;
            report::write_implied(out, group.pairs.len(), is_accepted)?;
            decision
        } else {
            let one = std::slice::from_ref(group);
            report::write_place(out, at, count, group.pairs.len())?;
            difference::write(out, one, Extent::SHORT)?;
            let is_whole = Cell::new(false);
            let show = |out: &mut dyn Write| {
                is_whole.set(true);
                difference::write(out, one, Extent::WHOLE)
            };
            let decision = self.decide(out, &question(group), left, &show)?;
            // Whoever has asked for the whole with `w` has seen everything.
            if decision == Decision::Accepted && !is_whole.get() {
                self.unread += difference::unread(group, Extent::SHORT);
            }
            decision
        };
        self.learn(group, decision);
        Ok(decision)
    }

    fn learn(&mut self, group: &FaultGroup<'_>, decision: Decision) {
        let edits = group.edits.iter();
        let open: Vec<&String> = edits
            .filter(|edit| !self.decided.contains_key(*edit))
            .collect();
        let is_right = match (decision, open.len()) {
            (Decision::Accepted, _) => true,
            // Of several, nobody knows which is wrong.
            (Decision::Rejected, 1) => false,
            _ => return,
        };
        let known = open.into_iter().map(|edit| (edit.clone(), is_right));
        self.decided.extend(known.collect::<Vec<_>>());
    }

    /// The decision about a group whose edits were all decided on before, each in a group of its own
    /// or with others. One edit that is wrong makes a prompt wrong.
    fn implied(&self, group: &FaultGroup<'_>) -> Option<Decision> {
        let known = group.edits.iter();
        let known: Vec<Option<bool>> = known.map(|edit| self.decided.get(edit).copied()).collect();
        if known.contains(&Some(false)) {
            return Some(Decision::Rejected);
        }
        let are_accepted = !known.is_empty() && known.iter().all(Option::is_some);
        are_accepted.then_some(Decision::Accepted)
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
            // The question goes to standard error, and has to come after what it is about.
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

/// The templates without any accepted result.
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

fn question(group: &FaultGroup<'_>) -> String {
    let what = match group.fault {
        Fault::New => "new ",
        _ => "",
    };
    match group.pairs.as_slice() {
        [_] => format!("this {what}pair?"),
        many => format!("these {} {what}pairs?", thousands(many.len())),
    }
}
