use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::nearest::{self, OwnPart, Skeleton};
use crate::probe::catalogue::{IMAGE, TWO_PARTS};
use crate::published::Published;

/// The least likeness of the other templates of the family, in thousandths.
const FAMILY: usize = 250;

/// So many others have to agree with the nearest one.
const OTHERS: usize = 2;

/// A template with more parts of its own is another member of the family, and no copy with a mistake.
const MOST_FOREIGN: usize = 10;

pub(super) static CONTRACT: Contract = Contract {
    id: "family-alike",
    meaning: "where all published templates of the family give the same text, the template gives it, too",
    guards_against: "a mistake in a copy of a published template, which nothing in the copy shows",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("family_alike.md"),
    judge: |tally, prober, _| {
        let own = Skeleton::of(prober);
        let index = prober.index().unwrap_or(nearest::builtin());
        let near = index.near(own.parts(), prober.dialect(), FAMILY);
        let near: Vec<&Published> = near.into_iter().map(|(_, one)| one).collect();
        // What is near enough to be named on the card is a family.
        let is_named = own.nearest(index, prober.dialect(), None).is_some();
        let Some((nearest, others)) = near
            .split_first()
            .filter(|(_, others)| is_named && others.len() >= OTHERS)
        else {
            return tally.skip("too few published templates are known that are near to it");
        };
        tally.holds();
        for (part, agreeing) in foreign(&own, nearest, others) {
            if let Some((seen, at)) = own.shown(prober, part.part) {
                let what = format!(
                    "{} is another text than in {} published templates of its family, such as `{}`",
                    part.place(),
                    agreeing + 1,
                    nearest.name
                );
                tally.broken(Evidence::one(what, &seen).at(Some(at).filter(|at| !at.is_empty())));
            }
        }
    },
};

/// The parts that no template of the family has, where the nearest one and others agree on another one.
/// Each comes with how many others agree.
fn foreign<'s>(
    own: &'s Skeleton,
    nearest: &Published,
    others: &[&Published],
) -> Vec<(&'s OwnPart, usize)> {
    let has = |one: &OwnPart| {
        nearest.parts.has(one.part) || others.iter().any(|it| it.parts.has(one.part))
    };
    // What becomes of parts of content is judged elsewhere: many templates take none.
    let is_of_texts = |about: &str| about != TWO_PARTS.about && about != IMAGE.about;
    let foreign = own.own_parts();
    let foreign = foreign.filter(|(about, one)| is_of_texts(about) && !has(one));
    let foreign: Vec<&OwnPart> = foreign.map(|(_, one)| one).collect();
    let lost = nearest.parts.iter().filter(|part| !own.parts().has(*part));
    let lost: Vec<_> = lost.collect();
    if foreign.len() > MOST_FOREIGN || lost.len() > MOST_FOREIGN {
        return Vec::new();
    }
    let agreed = |one: &&'s OwnPart| {
        let is_place_known = nearest.parts.iter().any(|part| part.has_place_of(one.part));
        // Where a text is lost, what was around it comes together.
        let instead = lost.iter().filter(|part| {
            if is_place_known {
                part.has_place_of(one.part)
            } else {
                part.touches(one.part)
            }
        });
        let agreeing = instead.map(|part| others.iter().filter(|it| it.parts.has(*part)).count());
        agreeing.max().filter(|count| *count >= OTHERS)
    };
    let all = foreign.into_iter();
    all.filter_map(|one| Some((one, agreed(&one)?))).collect()
}
