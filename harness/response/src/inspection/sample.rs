//! Short texts that a pattern matches.

use crate::pattern::tree::{Class, One, RepeatKind, Tree};

/// How many samples there are at most. The first ones stay.
const MOST: usize = 32;

/// The longest sample, in characters. Counts in counts would make endless ones.
const LONGEST: usize = 4_000;

/// What represents a set of characters, if it is in it.
const FAVOURITES: [char; 16] = [
    'a', '1', ' ', '\n', 'x', 'A', '_', '"', '\'', '<', '{', '[', '}', ']', '-', '.',
];

/// Texts that a pattern matches, with each of its alternatives in at least one of them. What looks
/// around is not understood, so a text may still be none: only a search shows it.
pub(super) fn samples(tree: &Tree) -> Vec<Vec<u32>> {
    let mut found = raw_samples(tree);
    let mut distinct: Vec<Vec<u32>> = Vec::new();
    for sample in found.drain(..) {
        if !distinct.contains(&sample) {
            distinct.push(sample);
        }
    }
    distinct
}

fn raw_samples(tree: &Tree) -> Vec<Vec<u32>> {
    match tree {
        Tree::One(one) => vec![vec![character(one)]],
        Tree::Text(text) => vec![text.clone()],
        Tree::Look {
            behind: false,
            positive: true,
            body,
        } => limited([vec![Vec::new()], samples(body)].concat()),
        Tree::Look { .. } | Tree::Assertion(_) | Tree::Reference(_) => vec![Vec::new()],
        Tree::Group(_, body) | Tree::Atomic(body) => samples(body),
        Tree::Branch(branches) => limited(branches.iter().flat_map(samples)),
        Tree::Sequence(items) => sequence(items),
        Tree::Repeat {
            kind,
            least,
            most,
            body,
        } => {
            // What takes all the rest of a text takes nothing if nothing is there.
            let takes_rest = **body == Tree::One(One::Any) && *kind == RepeatKind::Greedy;
            repeat(*least, *most, body, takes_rest)
        }
    }
}

/// Samples of items in a row: the first sample of all of them, and each other sample of an item
/// between the first ones of the others.
fn sequence(items: &[Tree]) -> Vec<Vec<u32>> {
    let all: Vec<Vec<Vec<u32>>> = items.iter().map(samples).collect();
    let with = |changed: usize, other: usize| -> Vec<u32> {
        let texts = all.iter().enumerate();
        let texts =
            texts.filter_map(|(at, samples)| samples.get(if at == changed { other } else { 0 }));
        texts.flatten().copied().collect()
    };
    let first = std::iter::once((0, 0));
    let others = all.iter().enumerate();
    let others =
        others.flat_map(|(changed, samples)| (1..samples.len()).map(move |other| (changed, other)));
    let found = first
        .chain(others)
        .map(|(changed, other)| with(changed, other));
    limited(found.take(4 * MOST))
}

/// Samples of a repeat: a pass through each way of its body, then none, then more.
fn repeat(least: u32, most: Option<u32>, body: &Tree, takes_rest: bool) -> Vec<Vec<u32>> {
    let passes = samples(body);
    let Some(first) = passes.first() else {
        return Vec::new();
    };
    let usual = usize::try_from(least.clamp(1, 64)).unwrap_or(1);
    let mut found = vec![first.repeat(usual)];
    found.extend(
        passes
            .iter()
            .skip(1)
            .map(|other| [first.repeat(usual - 1), other.clone()].concat()),
    );
    if least == 0 {
        // White space is usually not there.
        let is_space = takes_rest || first.iter().all(|code| is_space(*code));
        found.insert(if is_space { 0 } else { found.len() }, Vec::new());
    }
    if most.is_none_or(|most| most > least.max(1)) {
        found.push(first.repeat(usual + 1));
    }
    limited(found)
}

/// The first of some samples.
fn limited(found: impl IntoIterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
    let short = found.into_iter().filter(|sample| sample.len() <= LONGEST);
    short.take(MOST).collect()
}

/// A character that matches, an ordinary one if possible.
fn character(one: &One) -> u32 {
    if let One::Character {
        code,
        positive: true,
    } = one
    {
        return *code;
    }
    // White space in a pattern is about line breaks.
    if matches!(
        one,
        One::Class {
            class: Class::Space,
            positive: true
        }
    ) {
        return u32::from('\n');
    }
    let known = FAVOURITES.map(u32::from);
    let mut all = known.into_iter().chain(0x21..0x3000);
    all.find(|code| one.matches(*code)).unwrap_or(0xE000)
}

/// Whether a character is white space.
pub(super) fn is_space(code: u32) -> bool {
    let space = One::Class {
        class: Class::Space,
        positive: true,
    };
    space.matches(code)
}

/// The text of code points. Those of patterns come from texts, so none is a surrogate.
pub(super) fn text_of(codes: &[u32]) -> String {
    codes
        .iter()
        .filter_map(|code| char::from_u32(*code))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::search::Pattern;

    fn of(pattern: &str) -> Vec<String> {
        let pattern = Pattern::new(pattern).expect("a pattern");
        samples(pattern.tree())
            .iter()
            .map(|it| text_of(it))
            .collect()
    }

    #[test]
    fn each_alternative_is_in_a_sample() {
        assert_eq!(of(r"<e>\s*"), ["<e>", "<e>\n", "<e>\n\n"]);
        assert_eq!(of(r"<e>\s*|$"), ["<e>", "<e>\n", "<e>\n\n", ""]);
        assert_eq!(of(r"\)(?:\]<e>)?"), [")]<e>", ")"]);
        assert_eq!(of("<(?:a|bc)d>"), ["<ad>", "<bcd>"]);
        assert_eq!(of(r"\w+x{2}"), ["axx", "aaxx"]);
        assert_eq!(of(r"\}(?=<e>|\Z)"), ["}", "}<e>"]);
        assert_eq!(of(r"[^<\n]"), ["a"]);
    }
}
