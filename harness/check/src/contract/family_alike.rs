use std::collections::BTreeSet;

use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::spelling::spelt;
use crate::nearest::{self, Skeleton};
use crate::published::{Part, Parts};

/// A mistake changes what follows one kind of texts, or what comes before one, or between two kinds and two.
const MOST_KINDS: usize = 2;

/// A template with this likeness, in thousandths, may differ in more than what comes before or after one kind.
const LIKE: usize = 600;

/// One with this likeness is the same template, wherever they differ.
const ALL_BUT_ONE: usize = 950;

/// So many places are named: one mistake shows in all conversations.
const MOST_PLACES: usize = 3;

/// A longer text is shown by the prompt only, in bytes.
const LONGEST: usize = 60;

pub(super) static CONTRACT: Contract = Contract {
    id: "family-alike",
    meaning: "a template that is nearly a published one gives its prompts everywhere",
    guards_against: "a mistake in a copy of a published template, which nothing in the copy shows",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("family_alike.md"),
    judge: |tally, prober, _| {
        let own = Skeleton::of(prober);
        let index = prober.index().unwrap_or(nearest::builtin());
        let Some((published, _)) = own.nearest_in(index, prober.dialect(), None) else {
            return tally.skip("no published template is near to it");
        };
        tally.holds();
        if !is_nearly(own.parts(), &published.parts) {
            return;
        }
        let (mut told, name) = (BTreeSet::new(), &published.name);
        let elsewhere = match differing(own.parts(), &published.parts).len() {
            0 | 1 => "elsewhere both give the same prompts".to_owned(),
            places => format!("they differ in {places} places"),
        };
        for (_, one) in own.own_parts() {
            let is_new = !published.parts.has(one.part) && one.part.sides()[1] != nearest::REFUSED;
            if !is_new || told.len() >= MOST_PLACES || !told.insert(one.part.sides()) {
                continue;
            }
            if let Some((seen, at)) = own.shown(prober, one.part) {
                let text = seen.text().unwrap_or_default().cut(at.clone());
                let own = if text.len() > LONGEST {
                    "this text".to_owned()
                } else {
                    spelt(text)
                };
                let place = nearest::place(one.part.sides());
                let what =
                    format!("{own} is {place}, and `{name}` has another text there: {elsewhere}");
                tally.broken(Evidence::one(what, &seen).at(Some(at).filter(|at| !at.is_empty())));
            }
        }
        if told.is_empty() {
            let mut only = published
                .parts
                .iter()
                .filter(|part| !own.parts().has(*part));
            let place = only.next().map(|part| nearest::place(part.sides()));
            let place = place.unwrap_or_default();
            let what = format!("`{name}` has one more text {place}: {elsewhere}");
            tally.broken(Evidence::of_source(what));
        }
    },
};

/// The places in which two templates differ, also that at which one refuses a conversation.
fn differing(own: &Parts, published: &Parts) -> BTreeSet<[u32; 2]> {
    let all = [(own, published), (published, own)].into_iter();
    let only = all.flat_map(|(some, others)| some.iter().filter(|part| !others.has(*part)));
    only.map(Part::sides).collect()
}

/// Whether a template differs from a published one in so few places that it is probably meant to be the same.
/// Of 161 published templates five are another one with so small a change, and of 63 that were new to the index
/// seven, measured in November 2026.
fn is_nearly(own: &Parts, published: &Parts) -> bool {
    let only = |some: &Parts, others: &Parts| -> Vec<[u32; 2]> {
        let only = some.iter().filter(|part| !others.has(*part));
        only.map(Part::sides).collect()
    };
    let both = [only(own, published), only(published, own)];
    let all = || both.iter().flatten().copied();
    // A template that takes other conversations is another one. One may be refused because of the mistake.
    let is_refused = |[_, after]: &[u32; 2]| *after == nearest::REFUSED;
    if all().filter(is_refused).count() > 1 {
        return false;
    }
    let differing: BTreeSet<[u32; 2]> = all().filter(|sides| !is_refused(sides)).collect();
    let side = |which: usize| -> BTreeSet<u32> {
        differing
            .iter()
            .filter_map(|sides| sides.get(which))
            .copied()
            .collect()
    };
    let (before, after) = (side(0), side(1));
    // A copy often has another default system message, which stands before questions, too.
    if before.iter().all(|kind| *kind == nearest::NOTHING) {
        return after.len() == 1 && !after.contains(&nearest::QUESTION);
    }
    let is_around = |kinds: &[u32]| {
        let mut all = differing.iter();
        all.all(|sides| sides.iter().any(|side| kinds.contains(side)))
    };
    let kinds = || nearest::NOTHING + 1..nearest::REFUSED;
    let is_replaced = || {
        let [own, published] = both
            .each_ref()
            .map(|some| some.iter().collect::<BTreeSet<_>>());
        own == published && kinds().any(|one| kinds().any(|other| is_around(&[one, other])))
    };
    let likeness = own.likeness(published);
    before.len() == 1
        || after.len() == 1
        || before.len().max(after.len()) <= MOST_KINDS
        || likeness >= ALL_BUT_ONE
        || likeness >= LIKE
            && (kinds().any(|kind| is_around(&[kind]))
                || is_around(&nearest::OF_CALLS)
                || is_replaced())
}
