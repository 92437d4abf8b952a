//! The outcomes of two sides, counted, and gathered by what they differ in.

use std::collections::HashMap;

use rolecall_model::Outcome;

use super::cards::CardChange;
use super::cause;
use super::relation::Relation;
use crate::diff::{Diff, Edit};
use crate::transcript::encode;

/// What two sides make of the same cases.
#[derive(Debug)]
pub struct Comparison {
    /// What the sides are.
    pub subject: Subject,
    /// What A and B are called.
    pub sides: [String; 2],
    /// The templates that were set side by side.
    pub pairings: Vec<Pairing>,
    /// Templates that only A, and that only B has.
    pub alone: [Vec<String>; 2],
    /// Cases in which the sides differ, by what they differ in.
    differences: Groups,
    /// Cases in which both sides fail, by their words.
    failures: Groups,
    /// All cases, where somebody wants to look at each.
    kept: Option<Vec<Kept>>,
}

/// A case with what both sides made of it.
#[derive(Debug)]
pub struct Kept {
    /// The case, and whose.
    pub member: Member,
    /// What the case is about.
    pub about: Option<String>,
    /// How the outcomes stand to each other.
    pub relation: Relation,
    /// What A and B made of it.
    pub outcomes: [Outcome; 2],
}

/// What two sides are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Two templates, or two models with several.
    Templates,
    /// Two engines with the same templates.
    Engines,
    /// The same templates behind two fronts.
    Fronts,
    /// Two runs that were saved.
    Runs,
}

/// A template of A beside one of B, or one template twice.
#[derive(Debug, Default)]
pub struct Pairing {
    /// The names of the templates.
    pub names: [String; 2],
    /// How many cases are how.
    pub tally: Tally,
    /// Cases that only A, and that only B has.
    pub only: [Vec<String>; 2],
    /// Special tokens that one of the templates speaks of, and that nothing sets.
    pub unset: Vec<&'static str>,
    /// How the report cards differ, where there are some.
    pub card: Option<CardChange>,
}

/// How many cases are how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Both sides give the same prompt.
    pub same: usize,
    /// Both templates refuse, in the same words.
    pub refuse: usize,
    /// Both sides fail.
    pub fail: usize,
    /// The sides have another outcome each.
    pub differ: usize,
}

/// Cases that have something in common.
#[derive(Debug)]
pub struct Group {
    /// The cases; the first is the one that is shown.
    pub members: Vec<Member>,
    /// What the first case is about.
    pub about: Option<String>,
    /// What A and B made of the first case.
    pub outcomes: [Outcome; 2],
    /// What differs in the first case.
    pub diff: Diff,
    /// The words that came and went in the prompt of each case.
    pub edits: Vec<Edit>,
}

/// A case of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Which of [`Comparison::pairings`].
    pub pairing: usize,
    /// The case.
    pub case: String,
}

#[derive(Debug, Default)]
struct Groups {
    groups: Vec<Group>,
    known: HashMap<String, usize>,
}

impl Subject {
    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Templates => "templates",
            Subject::Engines => "engines",
            Subject::Fronts => "fronts",
            Subject::Runs => "runs",
        }
    }
}

impl Tally {
    /// How many cases there are.
    pub fn count(&self) -> usize {
        self.same + self.refuse + self.fail + self.differ
    }

    /// Adds the counts of other cases.
    pub fn add(&mut self, other: Tally) {
        self.same += other.same;
        self.refuse += other.refuse;
        self.fail += other.fail;
        self.differ += other.differ;
    }
}

impl Pairing {
    /// Whether anything differs.
    fn differs(&self, subject: Subject) -> bool {
        let is_card_other = self.card.as_ref().is_some_and(|card| !card.is_empty());
        // A template cannot have cases that are not for its dialect; a run that was saved has
        // lost them, or gained them.
        let is_incomplete =
            subject == Subject::Runs && self.only.iter().any(|cases| !cases.is_empty());
        self.tally.differ > 0 || is_card_other || is_incomplete
    }
}

impl Comparison {
    /// Nothing yet, of two sides.
    pub fn new(subject: Subject, sides: [String; 2]) -> Comparison {
        Comparison {
            subject,
            sides,
            pairings: Vec::new(),
            alone: [Vec::new(), Vec::new()],
            differences: Groups::default(),
            failures: Groups::default(),
            kept: None,
        }
    }

    /// Keeps every case that is added, not only the first of those that differ alike.
    #[must_use]
    pub fn keeping(self, keeps: bool) -> Comparison {
        Comparison {
            kept: keeps.then(Vec::new),
            ..self
        }
    }

    /// Adds a case with what A and B made of it, to the last pairing.
    pub fn add(&mut self, case: &str, about: Option<&str>, outcomes: [Outcome; 2]) {
        let Some(index) = self.pairings.len().checked_sub(1) else {
            return;
        };
        let [a, b] = &outcomes;
        let relation = Relation::of(a, b);
        let tally = &mut self.pairings[index].tally;
        let member = Member {
            pairing: index,
            case: case.to_owned(),
        };
        if let Some(kept) = &mut self.kept {
            kept.push(Kept {
                member: member.clone(),
                about: about.map(str::to_owned),
                relation,
                outcomes: outcomes.clone(),
            });
        }
        match relation {
            Relation::SamePrompt => tally.same += 1,
            Relation::SameRefusal => tally.refuse += 1,
            Relation::BothFail => {
                tally.fail += 1;
                let why = cause::of_failures(&outcomes);
                let group = Group::new(about, outcomes, Diff::of_sides("", ""), Vec::new());
                self.failures.add(why, member, group);
            }
            Relation::Differ => {
                tally.differ += 1;
                let diff = Diff::of_sides(&encode(a), &encode(b));
                let edits = cause::edits_of(&outcomes);
                let why = cause::of(&outcomes, &edits, &diff);
                let group = Group::new(about, outcomes, diff, edits);
                self.differences.add(why, member, group);
            }
        }
    }

    /// Nothing more is added: those groups come first that have most cases.
    #[must_use]
    pub fn sorted(mut self) -> Comparison {
        for groups in [&mut self.differences, &mut self.failures] {
            let groups = &mut groups.groups;
            groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        }
        self
    }

    /// Cases in which the sides differ, by what they differ in.
    pub fn differences(&self) -> &[Group] {
        &self.differences.groups
    }

    /// Cases in which both sides fail, by their words.
    pub fn failures(&self) -> &[Group] {
        &self.failures.groups
    }

    /// All cases in the order in which they were added, where they were kept.
    pub fn kept(&self) -> &[Kept] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// How many cases are how, of all templates.
    pub fn tally(&self) -> Tally {
        let mut total = Tally::default();
        self.pairings
            .iter()
            .for_each(|pairing| total.add(pairing.tally));
        total
    }

    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        let mut pairings = self.pairings.iter();
        self.alone.iter().any(|names| !names.is_empty())
            || pairings.any(|pairing| pairing.differs(self.subject))
    }

    /// Whether both sides fail in every case, so that nothing could be compared.
    pub fn all_fail(&self) -> bool {
        let tally = self.tally();
        tally.fail == tally.count()
    }

    /// Whether there is only one template on each side.
    pub fn is_single(&self) -> bool {
        self.pairings.len() == 1 && self.alone.iter().all(Vec::is_empty)
    }

    /// The name of a pairing: that of its templates, or both where they have two.
    pub fn name_of(&self, pairing: &Pairing) -> String {
        let [a, b] = &pairing.names;
        if a == b {
            a.clone()
        } else {
            format!("{a} and {b}")
        }
    }
}

impl Group {
    /// A group without cases.
    fn new(about: Option<&str>, outcomes: [Outcome; 2], diff: Diff, edits: Vec<Edit>) -> Group {
        Group {
            members: Vec::new(),
            about: about.map(str::to_owned),
            outcomes,
            diff,
            edits,
        }
    }
}

impl Groups {
    /// Adds a case to the group of its cause, which is the given one where there is none yet.
    fn add(&mut self, cause: String, member: Member, group: Group) {
        let index = *self.known.entry(cause).or_insert_with(|| {
            self.groups.push(group);
            self.groups.len() - 1
        });
        self.groups[index].members.push(member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_model::Stage;

    fn rendered(text: &str) -> Outcome {
        Outcome::Rendered { text: text.into() }
    }

    fn failed(message: &str) -> Outcome {
        Outcome::Failed {
            stage: Stage::Render,
            message: message.into(),
            line: Some(1),
        }
    }

    fn comparison(cases: &[[Outcome; 2]]) -> Comparison {
        let mut comparison = Comparison::new(Subject::Templates, ["a".to_owned(), "b".to_owned()]);
        comparison.pairings.push(Pairing::default());
        for (number, outcomes) in cases.iter().enumerate() {
            comparison.add(&format!("f/{number}"), None, outcomes.clone());
        }
        comparison.sorted()
    }

    #[test]
    fn cases_are_counted_and_gathered_by_their_cause() {
        let comparison = comparison(&[
            [rendered("a"), rendered("a")],
            [failed("no b"), failed("no a")],
            [rendered("a"), failed("no b")],
            [rendered("one x"), rendered("one y")],
            [rendered("another x"), rendered("another y")],
            [rendered("b"), failed("no b")],
            [rendered("c"), failed("no b")],
        ]);
        let tally = comparison.tally();
        assert_eq!((tally.same, tally.fail, tally.differ), (1, 1, 5));
        assert!(comparison.differs() && !comparison.all_fail());
        let sizes = |groups: &[Group]| -> Vec<usize> {
            groups.iter().map(|group| group.members.len()).collect()
        };
        assert_eq!(sizes(comparison.differences()), [3, 1, 1]);
        assert_eq!(sizes(comparison.failures()), [1]);
    }

    #[test]
    fn where_both_always_fail_nothing_was_compared() {
        let failed = comparison(&[[failed("no a"), failed("no a")]]);
        assert!(failed.all_fail() && !failed.differs());
        let mut run = comparison(&[[rendered("a"), rendered("a")]]);
        assert!(!run.all_fail() && !run.differs());
        run.pairings[0].only[1].push("f/new".to_owned());
        assert!(!run.differs());
        run.subject = Subject::Runs;
        assert!(run.differs());
    }
}
