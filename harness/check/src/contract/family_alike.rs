use std::collections::BTreeSet;

use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::spelling::spelt;
use crate::nearest::{self, Skeleton};
use crate::probe::catalogue::{IMAGE, TWO_PARTS};
use crate::published::{Part, Parts};

/// A mistake changes what follows one kind of texts, or what comes before one, or between two kinds and two. Of
/// 151 published templates seven are another one with so small a change, measured in November 2026.
const MOST_KINDS: usize = 2;

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
        let mut told = BTreeSet::new();
        for (about, one) in own.own_parts() {
            // What becomes of parts of content is judged elsewhere: many templates take none.
            let is_of_texts = about != TWO_PARTS.about && about != IMAGE.about;
            if !is_of_texts || published.parts.has(one.part) || !told.insert(one.place()) {
                continue;
            }
            if let Some((seen, at)) = own.shown(prober, one.part) {
                let text = seen.text().unwrap_or_default().cut(at.clone());
                let own = if text.len() > LONGEST {
                    "this text".to_owned()
                } else {
                    spelt(text)
                };
                let what = format!(
                    "{own} is {}, and `{}` has another text there: elsewhere both give the same prompts",
                    one.place(),
                    published.name
                );
                tally.broken(Evidence::one(what, &seen).at(Some(at).filter(|at| !at.is_empty())));
            }
        }
    },
};

/// Whether a template differs from a published one in so few places that it is probably meant to be the same.
/// Differences at the beginning of a prompt do not count: a copy often has another default system message.
fn is_nearly(own: &Parts, published: &Parts) -> bool {
    let without = |some: &Parts, others: &Parts| {
        let only = some.iter().filter(|part| !others.has(*part));
        only.collect::<Vec<Part>>()
    };
    let mut differing = without(own, published);
    differing.extend(without(published, own));
    let sides = || differing.iter().map(|part| nearest::sides(*part));
    let before: BTreeSet<u32> = sides().map(|[before, _]| before).collect();
    let after: BTreeSet<u32> = sides().map(|[_, after]| after).collect();
    let [beginning, _] = nearest::sides(Part::between("", "", ""));
    let is_little = match (before.len(), after.len()) {
        (..=1, _) | (_, ..=1) => true,
        (before, after) => before.max(after) <= MOST_KINDS,
    };
    is_little && before.iter().any(|kind| *kind != beginning)
}
