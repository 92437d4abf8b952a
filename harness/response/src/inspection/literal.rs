//! The literal part of a delimiter: the tag in it, without what may vary.

use crate::inspection::sample::text_of;
use crate::pattern::tree::{One, Tree};

/// How many ways through the alternatives of a pattern are looked at.
const MOST_WAYS: usize = 16;

/// A way through the alternatives of a pattern: its characters. None represents what may vary.
type Way = Vec<Option<u32>>;

/// For each way through the alternatives of a pattern the longest text that is in it.
pub(super) fn literals(tree: &Tree) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for way in ways(tree) {
        let runs = way.split(Option::is_none);
        let texts = runs.map(|run| text_of(&run.iter().copied().flatten().collect::<Vec<_>>()));
        let texts: Vec<String> = texts.collect();
        // The first of the longest: the tag of an opener comes before what it captures.
        let longest = texts
            .into_iter()
            .rev()
            .max_by_key(|text| text.trim().chars().count());
        let longest = longest.filter(|text| !text.trim().is_empty() && !found.contains(text));
        found.extend(longest);
    }
    found
}

fn ways(tree: &Tree) -> Vec<Way> {
    match tree {
        Tree::One(One::Character {
            code,
            positive: true,
        }) => vec![vec![Some(*code)]],
        Tree::Text(text) => vec![text.iter().copied().map(Some).collect()],
        Tree::Group(_, body) | Tree::Atomic(body) => ways(body),
        Tree::Branch(branches) => branches.iter().flat_map(ways).take(MOST_WAYS).collect(),
        Tree::Sequence(items) => items.iter().fold(vec![Vec::new()], |before, item| {
            let next = ways(item);
            let both = before
                .iter()
                .flat_map(|one| next.iter().map(|other| [&one[..], other].concat()));
            both.take(MOST_WAYS).collect()
        }),
        _ => vec![vec![None]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::search::Pattern;

    #[test]
    fn the_tag_in_a_delimiter_is_found() {
        for (pattern, expected) in [
            (r"</tool_call>\s*", &["</tool_call>"][..]),
            (r"\n?<tool_call>\s*\{", &["<tool_call>"]),
            (r"<\|im_end\|>.*", &["<|im_end|>"]),
            (r"<function=(?P<name>[^\n\]>]*)>(?=\n)", &["<function="]),
            (
                r"(?:\n</think>|</think>\n)\n*",
                &["\n</think>", "</think>\n"],
            ),
            (r"</(?:s|end)>\s*", &["</s>", "</end>"]),
            (r"<a>|<b>x?", &["<a>", "<b>"]),
            (r"(?:<c>)?\)", &[")"]),
            (r"\s*", &[]),
        ] {
            let pattern = Pattern::new(pattern).expect("a pattern");
            assert_eq!(literals(pattern.tree()), expected, "{:?}", pattern.tree());
        }
    }
}
