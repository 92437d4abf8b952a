//! What can be said about the matches of a pattern, before it is compiled.

use crate::pattern::tree::{One, Tree};

/// `regex` counts widths up to here.
pub(crate) const UNLIMITED: u64 = u32::MAX as u64;

pub(crate) fn widest(tree: &Tree) -> u64 {
    match tree {
        Tree::One(_) => 1,
        Tree::Text(text) => text.len() as u64,
        Tree::Assertion(_) | Tree::Look { .. } => 0,
        Tree::Sequence(items) => items.iter().map(widest).fold(0, u64::saturating_add),
        Tree::Branch(branches) => branches.iter().map(widest).max().unwrap_or(0),
        Tree::Group(_, body) | Tree::Atomic(body) => widest(body),
        Tree::Repeat { most: None, .. } | Tree::Reference(_) => UNLIMITED,
        Tree::Repeat {
            most: Some(most),
            body,
            ..
        } => widest(body).saturating_mul(u64::from(*most)),
    }
}

pub(crate) fn narrowest(tree: &Tree) -> usize {
    match tree {
        Tree::One(_) => 1,
        Tree::Text(text) => text.len(),
        Tree::Assertion(_) | Tree::Look { .. } | Tree::Reference(_) => 0,
        Tree::Sequence(items) => items.iter().map(narrowest).fold(0, usize::saturating_add),
        Tree::Branch(branches) => branches.iter().map(narrowest).min().unwrap_or(0),
        Tree::Group(_, body) | Tree::Atomic(body) => narrowest(body),
        Tree::Repeat { least, body, .. } => narrowest(body).saturating_mul(*least as usize),
    }
}

/// The first text that is in every match, and the greatest width before it.
pub(crate) fn required(tree: &Tree) -> (u64, Option<&[u32]>) {
    match tree {
        Tree::One(One::Character {
            code,
            positive: true,
        }) => (0, Some(std::slice::from_ref(code))),
        Tree::Text(text) => (0, Some(text)),
        Tree::Sequence(items) => {
            let mut offset: u64 = 0;
            for item in items {
                let (width, text) = required(item);
                offset = offset.saturating_add(width);
                if text.is_some() {
                    return (offset, text);
                }
            }
            (offset, None)
        }
        Tree::Group(_, body) | Tree::Atomic(body) => required(body),
        Tree::Repeat {
            least, most, body, ..
        } => {
            if *least > 0
                && let (offset, Some(text)) = required(body)
            {
                return (offset, Some(text));
            }
            let times = most.map_or(UNLIMITED, u64::from);
            (widest(body).saturating_mul(times).min(UNLIMITED), None)
        }
        other => (widest(other), None),
    }
}

/// Texts one of which is at or after the start of every match, also inside of a lookahead. The
/// shortest of them is as long as can be.
pub(crate) fn needed(tree: &Tree) -> Option<Vec<Vec<u32>>> {
    /// More would take longer to look for than they save.
    const MOST: usize = 8;
    match tree {
        Tree::One(One::Character {
            code,
            positive: true,
        }) => Some(vec![vec![*code]]),
        Tree::Text(text) => Some(vec![text.clone()]),
        Tree::Sequence(items) => {
            let shortest = |texts: &Vec<Vec<u32>>| texts.iter().map(Vec::len).min();
            items.iter().filter_map(needed).max_by_key(shortest)
        }
        Tree::Branch(branches) => {
            let all: Option<Vec<_>> = branches.iter().map(needed).collect();
            all.map(|texts| texts.concat())
                .filter(|texts| texts.len() <= MOST)
        }
        Tree::Group(_, body)
        | Tree::Atomic(body)
        | Tree::Look {
            behind: false,
            positive: true,
            body,
        } => needed(body),
        Tree::Repeat { least, body, .. } if *least > 0 => needed(body),
        _ => None,
    }
}

/// The characters that `regex` looks for before it tries to match. It does so only where a pattern
/// begins with a choice, and where it knows all of them. This can be seen in partial matches.
pub(crate) fn checked_first(tree: &Tree) -> Option<Vec<One>> {
    if begins_plainly(tree) {
        return None;
    }
    let mut members = Vec::new();
    if may_be_first(tree, &mut members)? || members.is_empty() {
        return None;
    }
    if members.iter().any(|one| {
        matches!(
            one,
            One::Character {
                positive: false,
                ..
            }
        )
    }) {
        return None;
    }
    let set = One::Set {
        items: members.clone(),
        positive: true,
    };
    (set.simplified() != One::Any).then_some(members)
}

fn begins_plainly(tree: &Tree) -> bool {
    match tree {
        Tree::One(One::Range { .. }) => false,
        Tree::One(_) | Tree::Text(_) => true,
        Tree::Sequence(items) => items.first().is_some_and(begins_plainly),
        Tree::Group(_, body) | Tree::Atomic(body) => begins_plainly(body),
        _ => false,
    }
}

/// Collects what may be the first character, and returns whether something after may be. `None` if
/// `regex` does not know it.
fn may_be_first(tree: &Tree, members: &mut Vec<One>) -> Option<bool> {
    match tree {
        Tree::One(One::Any | One::InLine | One::Range { .. }) | Tree::Reference(_) => None,
        Tree::One(one) => {
            members.push(one.clone());
            Some(false)
        }
        Tree::Text(text) => {
            members.extend(text.first().map(|code| One::Character {
                code: *code,
                positive: true,
            }));
            Some(false)
        }
        Tree::Sequence(items) => {
            for item in items {
                if !may_be_first(item, members)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Tree::Branch(branches) => {
            let mut more = branches.is_empty();
            for branch in branches {
                more |= may_be_first(branch, members)?;
            }
            Some(more)
        }
        Tree::Group(_, body)
        | Tree::Atomic(body)
        | Tree::Look {
            behind: false,
            positive: true,
            body,
        } => may_be_first(body, members),
        Tree::Repeat { least, body, .. } => {
            let more = may_be_first(body, members)?;
            Some(more || *least == 0)
        }
        Tree::Assertion(_) | Tree::Look { .. } => Some(true),
    }
}

/// What a match begins with, if it begins with a character and looks at nothing before it.
pub(crate) fn first(tree: &Tree) -> Option<Vec<One>> {
    match tree {
        Tree::One(one) => Some(vec![one.clone()]),
        Tree::Text(text) => text.first().map(|code| {
            vec![One::Character {
                code: *code,
                positive: true,
            }]
        }),
        Tree::Sequence(items) => items.first().and_then(first),
        Tree::Branch(branches) => {
            let all: Option<Vec<_>> = branches.iter().map(first).collect();
            all.map(|ones| ones.concat())
        }
        Tree::Group(_, body) | Tree::Atomic(body) => first(body),
        Tree::Repeat { least, body, .. } if *least > 0 => first(body),
        _ => None,
    }
}
