//! The outcomes of two sides, counted and grouped by cause.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use rolecall_check::card::Card;
use rolecall_core::{Case, Outcome, OutcomeKind};

use super::cards::CardChange;
use super::meaning::Meaning;
use super::ordinary::{Rank, rank};
use super::relation::Relation;
use super::source_edit::{Blame, SourceEdit};
use crate::cause::{self, Cause, Groups};
use rolecall_core::diff::{Diff, Edit};
use rolecall_core::named;
use rolecall_core::transcript::encode;
use serde::Serialize;

/// The outcomes of two sides for the same cases.
#[derive(Debug)]
pub struct Comparison {
    pub subject: SideKind,
    /// What A and B are called.
    pub sides: [String; 2],
    /// The templates that were set side by side.
    pub pairings: Vec<Pairing>,
    /// Templates that only A has, and those that only B has.
    pub only: [Vec<String>; 2],
    /// Cases in which the sides differ, by cause.
    differences: CasesByCause,
    /// Cases in which both sides fail, by their messages.
    failures: CasesByCause,
    /// Control tokens of A, each with the token that B has for the same thing.
    tokens: Vec<(String, String)>,
    /// All cases, if the caller wants them.
    kept: Option<Vec<KeptCase>>,
}

/// A case with the outcomes of both sides.
#[derive(Debug)]
pub struct KeptCase {
    pub member: Member,
    pub about: Option<String>,
    /// How the outcomes compare.
    pub relation: Relation,
    /// The outcomes of A and B.
    pub outcomes: [Outcome; 2],
}

named! {
    /// The kind of the two sides.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SideKind {
        /// Two templates, or two models with several.
        Templates = "templates",
        /// Two engines with the same templates.
        Engines = "engines",
        /// The same templates with two fronts.
        Fronts = "fronts",
        /// Two runs that were saved.
        Runs = "runs",
    }
}

/// A template of A compared with one of B, or one template twice.
#[derive(Debug, Default)]
pub struct Pairing {
    pub names: [String; 2],
    /// How many cases are how.
    pub tally: CaseTally,
    /// Cases that only A has, and those that only B has.
    pub only: [Vec<String>; 2],
    /// Special tokens that one of the templates uses, and nothing sets.
    pub unset: Vec<&'static str>,
    /// How the report cards differ, if there are any.
    pub card: Option<CardChange>,
}

/// How many cases are how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CaseTally {
    /// Both sides give the same prompt.
    pub same: usize,
    /// Both templates refuse, in the same words.
    pub refuse: usize,
    /// Both sides fail.
    pub fail: usize,
    /// The sides have different outcomes.
    pub differ: usize,
}

/// Cases that have something in common: an edit of the template that makes them differ, or the
/// difference itself where no edit is known.
#[derive(Debug, Clone)]
pub struct CaseGroup {
    /// The edit of the template that makes the difference.
    pub edit: Option<Arc<SourceEdit>>,
    /// The same cases by what the edit does in them, if that is not the same everywhere. The first
    /// are those that are like the case that is shown.
    pub parts: Vec<CaseGroup>,
    /// The cases; the first is the one that is shown. Its conversation is the most ordinary and
    /// the shortest, where the conversations are known.
    pub members: Vec<Member>,
    /// What the first case is about.
    pub about: Option<String>,
    /// The outcomes of A and B for the first case. If another edit changes that case, too, B without
    /// this edit takes the place of A.
    pub outcomes: [Outcome; 2],
    /// Whether that is so.
    pub is_shared: bool,
    /// What differs in the first case.
    pub diff: Diff,
    /// What it means, where A is the base of B.
    pub meaning: Option<Meaning>,
    /// Why it is meant, where it is a known difference from the base.
    pub known: Option<String>,
    /// The edits in the prompt of the first case. Where no edit of the template is known, those of
    /// the other cases are the same, except for numbers.
    pub edits: Vec<Edit>,
    /// How ordinary the first case is.
    rank: Rank,
}

/// A case of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CaseEntry"))]
pub struct Member {
    /// The template's place in the list `templates`, counted from 0.
    #[serde(rename = "template")]
    pub pairing: usize,
    pub case: String,
}

/// Cases by what came of each side and by the cause.
#[derive(Debug, Default)]
struct CasesByCause {
    by_cause: Groups<CauseKey, Member, CaseGroup, Rank>,
    sorted: Vec<CaseGroup>,
}

type CauseKey = (Option<Arc<SourceEdit>>, [OutcomeKind; 2], Cause);

impl CaseTally {
    /// How many cases there are.
    pub fn count(&self) -> usize {
        self.same + self.refuse + self.fail + self.differ
    }

    /// Adds the counts of other cases.
    pub fn add(&mut self, other: CaseTally) {
        self.same += other.same;
        self.refuse += other.refuse;
        self.fail += other.fail;
        self.differ += other.differ;
    }
}

impl Pairing {
    /// Whether anything differs.
    fn differs(&self, subject: SideKind) -> bool {
        let is_card_other = self.card.as_ref().is_some_and(|card| !card.is_empty());
        // A template lacks the cases of other dialects, which is not a difference. A saved
        // run that lacks cases differs.
        let is_incomplete =
            subject == SideKind::Runs && self.only.iter().any(|cases| !cases.is_empty());
        self.tally.differ > 0 || is_card_other || is_incomplete
    }
}

impl Comparison {
    /// An empty comparison of two sides.
    pub fn new(subject: SideKind, sides: [String; 2]) -> Comparison {
        Comparison {
            subject,
            sides,
            pairings: Vec::new(),
            only: [Vec::new(), Vec::new()],
            differences: CasesByCause::default(),
            failures: CasesByCause::default(),
            tokens: Vec::new(),
            kept: None,
        }
    }

    /// Keeps every added case, not only one for each cause.
    #[must_use]
    pub fn keeping(self, keeps: bool) -> Comparison {
        Comparison {
            kept: keeps.then(Vec::new),
            ..self
        }
    }

    /// Takes control tokens of B for those of A: prompts that differ only by them are the same.
    #[must_use]
    pub fn with_tokens(self, tokens: Vec<(String, String)>) -> Comparison {
        Comparison { tokens, ..self }
    }

    /// The outcome of B with the tokens of A.
    pub(super) fn in_tokens_of_a(&self, mut outcome: Outcome) -> Outcome {
        if let Outcome::Rendered { text } = &mut outcome {
            for (of_a, of_b) in &self.tokens {
                *text = text.replace(of_b, of_a);
            }
        }
        outcome
    }

    /// Adds the report cards of the last two templates: what differs between them.
    pub fn add_cards(&mut self, cards: &[Card]) {
        if let ([one, other], Some(pairing)) = (cards, self.pairings.last_mut()) {
            pairing.card = Some(CardChange::between(one, other));
        }
    }

    /// Adds a case with the outcomes of A and B to the last pairing. `case` is none for saved
    /// runs, which have only its name.
    pub fn add(&mut self, name: &str, case: Option<&Case>, outcomes: [Outcome; 2]) {
        let [a, b] = outcomes;
        let outcomes = [a, self.in_tokens_of_a(b)];
        self.add_blamed(name, case, &outcomes, None);
    }

    /// The same, with the edit that makes the difference. B has the tokens of A.
    pub(super) fn add_blamed(
        &mut self,
        name: &str,
        case: Option<&Case>,
        outcomes: &[Outcome; 2],
        blame: Option<&Blame>,
    ) {
        let index = self.pairings.len().saturating_sub(1);
        let Some(Pairing { tally, .. }) = self.pairings.last_mut() else {
            return;
        };
        let [a, b] = outcomes;
        let relation = Relation::of(a, b);
        let member = Member {
            pairing: index,
            case: name.to_owned(),
        };
        if let Some(kept) = &mut self.kept {
            kept.push(KeptCase {
                member: member.clone(),
                about: case.and_then(|case| case.about.clone()),
                relation,
                outcomes: outcomes.clone(),
            });
        }
        match relation {
            Relation::SamePrompt => tally.same += 1,
            Relation::SameRefusal => tally.refuse += 1,
            Relation::BothFail => {
                tally.fail += 1;
                self.failures.add(member, case, outcomes, None);
            }
            Relation::Differ => {
                tally.differ += 1;
                self.differences.add(member, case, outcomes, blame);
            }
        }
    }

    /// Sorts the groups after all cases were added: what ordinary conversations lose comes first
    /// where the edits of a template are known, and then the largest.
    #[must_use]
    pub fn sorted(mut self) -> Comparison {
        for gathered in [&mut self.differences, &mut self.failures] {
            let groups = std::mem::take(&mut gathered.by_cause).sorted();
            let groups = groups.map(|(group, members)| CaseGroup { members, ..group });
            gathered.sorted = gather(groups.collect());
        }
        self
    }

    /// Changes the groups, each with all cases in which the difference is the same, and gathers them
    /// again.
    pub(super) fn judge(&mut self, judge: impl FnMut(&mut CaseGroup)) {
        let groups = std::mem::take(&mut self.differences.sorted).into_iter();
        let mut parts: Vec<CaseGroup> = groups.flat_map(CaseGroup::into_parts).collect();
        parts.iter_mut().for_each(judge);
        self.differences.sorted = gather(parts);
    }

    /// Cases in which the sides differ, by what they differ in, where they were
    /// [sorted](Comparison::sorted).
    pub fn differences(&self) -> &[CaseGroup] {
        &self.differences.sorted
    }

    /// Cases in which both sides fail, by their words, where they were
    /// [sorted](Comparison::sorted).
    pub fn failures(&self) -> &[CaseGroup] {
        &self.failures.sorted
    }

    /// All cases in the order in which they were added, where they were kept.
    pub fn kept(&self) -> &[KeptCase] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// How many cases are how, of all templates.
    pub fn tally(&self) -> CaseTally {
        let mut total = CaseTally::default();
        self.pairings
            .iter()
            .for_each(|pairing| total.add(pairing.tally));
        total
    }

    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        let mut pairings = self.pairings.iter();
        self.only.iter().any(|names| !names.is_empty())
            || pairings.any(|pairing| pairing.differs(self.subject))
    }

    /// Whether both sides fail in every case, so that nothing could be compared.
    pub fn all_fail(&self) -> bool {
        let tally = self.tally();
        tally.fail == tally.count()
    }

    /// Whether there is only one template on each side.
    pub fn is_single(&self) -> bool {
        self.pairings.len() == 1 && self.only.iter().all(Vec::is_empty)
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

impl CasesByCause {
    fn add(
        &mut self,
        member: Member,
        case: Option<&Case>,
        outcomes: &[Outcome; 2],
        blame: Option<&Blame>,
    ) {
        let [a, b] = outcomes;
        let without = blame.and_then(|blame| blame.without.as_ref());
        let sides = [without.unwrap_or(a), b];
        let edits = cause::edits(sides);
        let edit = blame.map(|blame| Arc::clone(&blame.edit));
        let key = (
            edit.clone(),
            sides.map(Outcome::kind),
            Cause::of(sides, &edits),
        );
        let rank = rank(case);
        let group = || CaseGroup {
            edit,
            parts: Vec::new(),
            members: Vec::new(),
            meaning: None,
            known: None,
            about: case.and_then(|case| case.about.clone()),
            diff: match Relation::of(sides[0], sides[1]) {
                Relation::BothFail => Diff::of_sides("", ""),
                _ => Diff::of_sides(&encode(sides[0]), &encode(sides[1])),
            },
            outcomes: sides.map(Clone::clone),
            is_shared: without.is_some(),
            edits,
            rank,
        };
        self.by_cause.add(key, rank, member, group);
    }
}

/// The cases of a group in which the sides have outcomes of the same kinds.
#[derive(Debug, Clone, Copy)]
pub struct GroupKind<'g> {
    pub count: usize,
    /// The first of the cases.
    pub member: &'g Member,
    /// The outcomes of that case.
    pub outcomes: &'g [Outcome; 2],
}

impl CaseGroup {
    /// The cases by the kinds of their outcomes: first those that are like the case that is shown,
    /// then the most frequent.
    pub fn kinds(&self) -> Vec<GroupKind<'_>> {
        let kinds = |outcomes: &[Outcome; 2]| outcomes.each_ref().map(Outcome::kind);
        let mut found: Vec<GroupKind<'_>> = Vec::new();
        for part in self.each_part() {
            let (outcomes, count) = (&part.outcomes, part.members.len());
            let mut known = found.iter_mut();
            match known.find(|known| kinds(known.outcomes) == kinds(outcomes)) {
                Some(known) => known.count += count,
                None => found.extend(part.members.first().map(|member| GroupKind {
                    count,
                    member,
                    outcomes,
                })),
            }
        }
        if let Some(others) = found.get_mut(1..) {
            others.sort_by_key(|kind| Reverse(kind.count));
        }
        found
    }

    /// Its parts; without any, the group itself.
    pub(super) fn each_part(&self) -> &[CaseGroup] {
        match self.parts.as_slice() {
            [] => std::slice::from_ref(self),
            parts => parts,
        }
    }

    /// The same groups.
    fn into_parts(self) -> Vec<CaseGroup> {
        if self.parts.is_empty() {
            vec![self]
        } else {
            self.parts
        }
    }

    /// Whether A gives a prompt and B does not.
    pub(super) fn is_lost(&self) -> bool {
        let [a, b] = self.outcomes.each_ref().map(Outcome::kind);
        a == OutcomeKind::Rendered && b != OutcomeKind::Rendered
    }

    fn breaks(&self) -> bool {
        matches!(self.meaning, Some(Meaning::Breaks(_)))
    }

    /// One group of all parts, with the worst of them as its example: what is lost in the most
    /// ordinary conversation.
    fn of(mut parts: Vec<CaseGroup>) -> Option<CaseGroup> {
        parts.sort_by_key(|part| {
            let (ordinary, is_special, size) = part.rank;
            let is_better = (!part.is_lost(), !part.breaks());
            (ordinary, is_special, is_better, size)
        });
        let worst = parts.first()?.clone();
        if parts.len() == 1 {
            return Some(worst);
        }
        let ids = |is_so: fn(&Meaning) -> bool| -> Vec<&'static str> {
            let meanings = parts.iter().filter_map(|part| part.meaning.as_ref());
            let ids = meanings
                .filter(|one| is_so(one))
                .flat_map(Meaning::contracts);
            ids.copied().collect::<BTreeSet<_>>().into_iter().collect()
        };
        let broken = ids(|meaning| matches!(meaning, Meaning::Breaks(_)));
        let is_fix = |part: &CaseGroup| matches!(part.meaning, Some(Meaning::Fixes(_)));
        let meaning = worst.meaning.is_some().then(|| {
            if !broken.is_empty() {
                Meaning::Breaks(broken)
            } else if parts.iter().all(is_fix) {
                Meaning::Fixes(ids(|_| true))
            } else {
                Meaning::Differs
            }
        });
        let members = parts.iter().flat_map(|part| part.members.clone());
        Some(CaseGroup {
            members: members.collect(),
            meaning,
            parts,
            ..worst
        })
    }
}

/// Gathers the groups of each edit. Two are left apart: differences that are known, and what an edit
/// fixes that breaks nothing.
fn gather(parts: Vec<CaseGroup>) -> Vec<CaseGroup> {
    let breaking: Vec<Arc<SourceEdit>> = parts
        .iter()
        .filter(|part| part.breaks() && part.known.is_none())
        .filter_map(|part| part.edit.clone())
        .collect();
    let key = |part: &CaseGroup| {
        let edit = part.edit.clone()?;
        let is_fix = matches!(part.meaning, Some(Meaning::Fixes(_)));
        Some((
            part.known.is_some(),
            is_fix && !breaking.contains(&edit),
            edit,
        ))
    };
    let mut gathered: Vec<(Option<_>, Vec<CaseGroup>)> = Vec::new();
    for part in parts {
        let key = key(&part);
        let known = gathered
            .iter_mut()
            .find(|(other, _)| key.is_some() && *other == key);
        match known {
            Some((_, parts)) => parts.push(part),
            None => gathered.push((key, vec![part])),
        }
    }
    let groups = gathered.into_iter();
    let mut groups: Vec<_> = groups
        .filter_map(|(_, parts)| CaseGroup::of(parts))
        .collect();
    groups.sort_by_key(|group| {
        let ordinary = group.edit.as_ref().map(|_| group.rank.0);
        // The words of the meanings sort as reports need them: `breaks`, `differs`, `mends`.
        let meaning = group.meaning.as_ref().map(Meaning::name);
        (meaning, ordinary, Reverse(group.members.len()))
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::Stage;

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
        let mut comparison = Comparison::new(SideKind::Templates, ["a".to_owned(), "b".to_owned()]);
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
        let sizes = |groups: &[CaseGroup]| -> Vec<usize> {
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
        run.subject = SideKind::Runs;
        assert!(run.differs());
    }
}
