//! Simplifies the tree of a pattern, in the steps in which `regex` does it.
//!
//! What a partial match finds depends on these steps: on what is a string of several characters,
//! and on what branches have in common.

use crate::pattern::tree::{One, Tree};

pub(crate) fn simplify(tree: Tree) -> Tree {
    packed(optimised(tree, false))
}

/// Flattens sequences and branches, and moves out of branches what they have in common.
/// Backwards, that is their end.
fn optimised(tree: Tree, backwards: bool) -> Tree {
    let inner = |body: Box<Tree>| Box::new(optimised(*body, backwards));
    match tree {
        Tree::One(one) => Tree::One(one.simplified()),
        Tree::Sequence(items) => {
            let mut flat = Vec::new();
            for item in items {
                match optimised(item, backwards) {
                    Tree::Sequence(inner) => flat.extend(inner),
                    item => flat.push(item),
                }
            }
            Tree::sequence(flat)
        }
        Tree::Branch(branches) => branch(branches, backwards),
        Tree::Group(number, body) => Tree::Group(number, inner(body)),
        Tree::Atomic(body) => {
            let body = inner(body);
            if body.is_empty() {
                *body
            } else {
                Tree::Atomic(body)
            }
        }
        Tree::Look {
            behind,
            positive,
            body,
        } => {
            let body = optimised(*body, behind);
            if positive && body.is_empty() {
                body
            } else {
                Tree::Look {
                    behind,
                    positive,
                    body: Box::new(body),
                }
            }
        }
        Tree::Repeat {
            kind,
            least,
            most,
            body,
        } => Tree::Repeat {
            kind,
            least,
            most,
            body: inner(body),
        },
        plain @ (Tree::Text(_) | Tree::Assertion(_) | Tree::Reference(_)) => plain,
    }
}

fn branch(branches: Vec<Tree>, backwards: bool) -> Tree {
    let mut flat = Vec::new();
    for branch in branches {
        match optimised(branch, backwards) {
            Tree::Branch(inner) => flat.extend(inner),
            branch => flat.push(branch),
        }
    }
    let mut rows: Vec<Vec<Tree>> = flat
        .into_iter()
        .map(|branch| match branch {
            Tree::Sequence(items) => items,
            item => vec![item],
        })
        .collect();
    let common = common_length(&rows, backwards);
    let mut shared = Vec::new();
    for row in &mut rows {
        shared = if backwards {
            row.split_off(row.len() - common)
        } else {
            row.drain(..common).collect()
        };
    }
    let mut left = with_sets(rows.into_iter().map(Tree::sequence));
    let rest = if left.len() > 1 {
        vec![Tree::Branch(left)]
    } else {
        std::mem::take(&mut left)
    };
    Tree::sequence(if backwards {
        [rest, shared].concat()
    } else {
        [shared, rest].concat()
    })
}

/// How many items the branches have in common.
fn common_length(rows: &[Vec<Tree>], backwards: bool) -> usize {
    let Some((first, others)) = rows.split_first() else {
        return 0;
    };
    let item = |row: &'_ [Tree], at: usize| -> Option<Tree> {
        let place = if backwards {
            row.len().checked_sub(at + 1)?
        } else {
            at
        };
        row.get(place).cloned()
    };
    (0..first.len())
        .take_while(|&at| {
            let own = item(first, at);
            own.as_ref().is_some_and(can_move) && others.iter().all(|row| item(row, at) == own)
        })
        .count()
}

/// Whether something may be moved out of branches.
fn can_move(tree: &Tree) -> bool {
    match tree {
        Tree::One(_) | Tree::Text(_) | Tree::Assertion(_) | Tree::Reference(_) => true,
        Tree::Sequence(_) | Tree::Group(..) | Tree::Repeat { .. } => false,
        Tree::Branch(branches) => branches.iter().all(can_move),
        Tree::Atomic(body) | Tree::Look { body, .. } => can_move(body),
    }
}

/// Makes one set of branches that are next to each other and are single characters.
fn with_sets(branches: impl Iterator<Item = Tree>) -> Vec<Tree> {
    let mut out = Vec::new();
    let mut members: Vec<One> = Vec::new();
    let flush = |members: &mut Vec<One>, out: &mut Vec<Tree>| {
        let items = std::mem::take(members);
        if !items.is_empty() {
            out.push(Tree::One(match <[One; 1]>::try_from(items) {
                Ok([only]) => only,
                Err(items) => One::Set {
                    items,
                    positive: true,
                }
                .simplified(),
            }));
        }
    };
    for branch in branches {
        match branch {
            Tree::One(one @ (One::Character { .. } | One::Class { .. } | One::Set { .. })) => {
                if !members.contains(&one) {
                    members.push(one);
                }
            }
            other => {
                flush(&mut members, &mut out);
                out.push(other);
            }
        }
    }
    flush(&mut members, &mut out);
    out
}

/// Makes strings of characters in a row.
fn packed(tree: Tree) -> Tree {
    let inner = |body: Box<Tree>| Box::new(packed(*body));
    match tree {
        Tree::Sequence(items) => {
            let mut out = Vec::new();
            let mut text = Vec::new();
            let flush = |text: &mut Vec<u32>, out: &mut Vec<Tree>| match text.as_slice() {
                [] => {}
                [only] => {
                    out.push(Tree::character(*only));
                    text.clear();
                }
                _ => out.push(Tree::Text(std::mem::take(text))),
            };
            for item in items {
                match item {
                    Tree::One(One::Character {
                        code,
                        positive: true,
                    }) => text.push(code),
                    other => {
                        flush(&mut text, &mut out);
                        out.push(packed(other));
                    }
                }
            }
            flush(&mut text, &mut out);
            Tree::sequence(out)
        }
        Tree::Branch(branches) => Tree::Branch(branches.into_iter().map(packed).collect()),
        Tree::Group(number, body) => Tree::Group(number, inner(body)),
        Tree::Atomic(body) => Tree::Atomic(inner(body)),
        Tree::Look {
            behind,
            positive,
            body,
        } => Tree::Look {
            behind,
            positive,
            body: inner(body),
        },
        Tree::Repeat {
            kind,
            least,
            most,
            body,
        } => Tree::Repeat {
            kind,
            least,
            most,
            body: inner(body),
        },
        plain @ (Tree::One(_) | Tree::Text(_) | Tree::Assertion(_) | Tree::Reference(_)) => plain,
    }
}
