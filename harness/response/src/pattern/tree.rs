//! A pattern as a tree.

use crate::characters::{DIGIT, SPACE, WORD, is_in};

/// What a pattern consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    One(One),
    /// Several characters in a row.
    Text(Vec<u32>),
    Assertion(Assertion),
    Sequence(Vec<Tree>),
    Branch(Vec<Tree>),
    /// A group that captures, by its number from 1.
    Group(usize, Box<Tree>),
    Atomic(Box<Tree>),
    Look {
        behind: bool,
        positive: bool,
        body: Box<Tree>,
    },
    Repeat {
        kind: RepeatKind,
        least: u32,
        most: Option<u32>,
        body: Box<Tree>,
    },
    Reference(Reference),
}

/// What matches a single character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum One {
    Character {
        code: u32,
        positive: bool,
    },
    Any,
    /// Any character but a newline.
    InLine,
    Class {
        class: Class,
        positive: bool,
    },
    Range {
        first: u32,
        last: u32,
        positive: bool,
    },
    Set {
        items: Vec<One>,
        positive: bool,
    },
}

/// A class of characters that has an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Word,
    Space,
    Digit,
}

/// What looks at a place without a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assertion {
    StartOfText,
    EndOfText,
    /// The end, or before a newline at the end.
    EndOfLastLine,
    StartOfLine,
    EndOfLine,
    WordBoundary,
    NoWordBoundary,
}

/// How often a repeat tries first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepeatKind {
    Greedy,
    Lazy,
    Possessive,
}

/// A reference to what a group captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Number(usize),
    /// Until the whole pattern is read: a name and its place.
    Name(String, usize),
}

impl Class {
    fn has(self, code: u32) -> bool {
        // Nearly all characters are in ASCII, where the tables say the same.
        if let Some(character) = u8::try_from(code).ok().filter(u8::is_ascii) {
            return match self {
                Class::Word => character.is_ascii_alphanumeric() || character == b'_',
                Class::Space => matches!(character, b' ' | 9..=13),
                Class::Digit => character.is_ascii_digit(),
            };
        }
        let table = match self {
            Class::Word => WORD,
            Class::Space => SPACE,
            Class::Digit => DIGIT,
        };
        is_in(code, table)
    }
}

/// Whether a code point is of `\w`.
pub(crate) fn is_word(code: u32) -> bool {
    Class::Word.has(code)
}

impl One {
    /// Whether it matches a character.
    pub(crate) fn matches(&self, code: u32) -> bool {
        match self {
            One::Character {
                code: own,
                positive,
            } => (*own == code) == *positive,
            One::Any => true,
            One::InLine => code != u32::from('\n'),
            One::Class { class, positive } => class.has(code) == *positive,
            One::Range {
                first,
                last,
                positive,
            } => (*first..=*last).contains(&code) == *positive,
            One::Set { items, positive } => {
                items.iter().any(|item| item.matches(code)) == *positive
            }
        }
    }

    /// What matches the other characters.
    pub(crate) fn negated(self) -> One {
        match self {
            One::Character { code, positive } => One::Character {
                code,
                positive: !positive,
            },
            One::Class { class, positive } => One::Class {
                class,
                positive: !positive,
            },
            One::Range {
                first,
                last,
                positive,
            } => One::Range {
                first,
                last,
                positive: !positive,
            },
            One::Set { items, positive } => One::Set {
                items,
                positive: !positive,
            },
            other @ (One::Any | One::InLine) => other,
        }
    }

    /// The simplest form. As in `regex`, a set that has a class and its opposite is any character,
    /// even where the set is negated.
    pub(crate) fn simplified(self) -> One {
        let One::Set { items, positive } = self else {
            return self;
        };
        let mut members = Vec::new();
        for item in items {
            match item.simplified() {
                One::Set {
                    items,
                    positive: true,
                } => members.extend(items),
                One::Any => return One::Any,
                item => members.push(item),
            }
        }
        let has_opposite = members.iter().any(|member| {
            matches!(member, One::Class { .. }) && members.contains(&member.clone().negated())
        });
        if has_opposite {
            return One::Any;
        }
        if members.len() == 1
            && let Some(member) = members.pop()
        {
            return if positive { member } else { member.negated() };
        }
        One::Set {
            items: members,
            positive,
        }
    }
}

impl Tree {
    /// An item or a sequence of several.
    pub(crate) fn sequence(mut items: Vec<Tree>) -> Tree {
        match items.pop() {
            Some(only) if items.is_empty() => only,
            Some(last) => {
                items.push(last);
                Tree::Sequence(items)
            }
            None => Tree::Sequence(items),
        }
    }

    pub(crate) fn character(code: u32) -> Tree {
        Tree::One(One::Character {
            code,
            positive: true,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Tree::Sequence(items) | Tree::Branch(items) => items.iter().all(Tree::is_empty),
            Tree::Atomic(body) | Tree::Repeat { body, .. } => body.is_empty(),
            Tree::Look { positive, body, .. } => *positive && body.is_empty(),
            Tree::One(_)
            | Tree::Text(_)
            | Tree::Assertion(_)
            | Tree::Group(..)
            | Tree::Reference(_) => false,
        }
    }

    /// Calls a function for each part, from the outside.
    pub(crate) fn visit<E>(
        &mut self,
        act: &mut impl FnMut(&mut Tree) -> Result<(), E>,
    ) -> Result<(), E> {
        act(self)?;
        match self {
            Tree::Sequence(items) | Tree::Branch(items) => {
                items.iter_mut().try_for_each(|item| item.visit(act))
            }
            Tree::Group(_, body)
            | Tree::Atomic(body)
            | Tree::Look { body, .. }
            | Tree::Repeat { body, .. } => body.visit(act),
            Tree::One(_) | Tree::Text(_) | Tree::Assertion(_) | Tree::Reference(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_tables_in_ascii_too() {
        for code in 0..0x80 {
            for (class, table) in [
                (Class::Word, WORD),
                (Class::Space, SPACE),
                (Class::Digit, DIGIT),
            ] {
                assert_eq!(class.has(code), is_in(code, table), "{code} in {class:?}");
            }
        }
    }
}
