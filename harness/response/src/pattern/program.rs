//! A pattern as a graph of steps, with what helps to search for it.

use crate::failure::PatternError;
use crate::pattern::start::{UNLIMITED, checked_first, first, narrowest, needed, required};
use crate::pattern::tree::{Assertion, One, Reference, RepeatKind, Tree};

/// A pattern with more steps is not compiled: counts in counts would multiply without end.
const MOST_STEPS: usize = 50_000;

/// The place of a step.
pub(crate) type At = usize;

#[derive(Debug)]
pub(crate) enum Step {
    One {
        one: One,
        backwards: bool,
        next: At,
    },
    Text {
        text: Vec<u32>,
        backwards: bool,
        next: At,
    },
    Assertion {
        assertion: Assertion,
        next: At,
    },
    Branch {
        first: At,
        second: At,
    },
    GroupStart {
        group: usize,
        next: At,
    },
    GroupEnd {
        group: usize,
        next: At,
    },
    /// A repeat of a single character, from none to `most`.
    Run {
        lazy: bool,
        one: One,
        most: usize,
        next: At,
    },
    /// Comes to a repeat of anything.
    Repeat(Repeat),
    /// One pass through the body is done.
    RepeatEnd(Repeat),
    Look {
        positive: bool,
        body: At,
        next: At,
    },
    LookEnd {
        positive: bool,
        next: At,
    },
    Atomic {
        body: At,
    },
    AtomicEnd {
        next: At,
    },
    Reference {
        group: usize,
        next: At,
    },
    Success,
}

/// A repeat from none to `most`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub(crate) lazy: bool,
    pub(crate) index: usize,
    pub(crate) most: usize,
    pub(crate) body: At,
    pub(crate) tail: At,
}

/// A text that every match has in it.
#[derive(Debug)]
pub(crate) struct Required {
    pub(crate) text: Vec<u32>,
    /// How far after the start of a match it begins at most, if that is known.
    pub(crate) offset: Option<usize>,
}

/// What a match must have at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartTest {
    /// One of the characters in [`Program::first`].
    First,
    Step(At),
}

#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) start: At,
    /// The step that can be tested before a step is entered: itself, or what groups begin with.
    pub(crate) tests: Vec<At>,
    pub(crate) groups: usize,
    /// How many repeats have a counter.
    pub(crate) counters: usize,
    /// Whether a group's capture is looked at while matching.
    pub(crate) referenced: Vec<bool>,
    /// The text that `regex` looks for first. Where it looks can be seen in partial matches.
    pub(crate) required: Option<Required>,
    /// Whether it matters for a partial match at which place a search begins, because a jump to the
    /// required text may leave out a place from which the end of the text can be seen.
    pub(crate) looks_twice: bool,
    /// How many characters a match has at least.
    pub(crate) narrowest: usize,
    /// Texts one of which lies at or after the start of every match. Empty if none is known.
    pub(crate) needed: Vec<Vec<u32>>,
    /// What each match begins with, if it begins with a character.
    pub(crate) first: Option<Vec<One>>,
    /// Whether a run at the start is left behind as a whole where it fails.
    pub(crate) skips_run: bool,
    /// What `regex` looks for before it tries to match, after lookarounds at the start.
    pub(crate) start_test: Option<StartTest>,
}

pub(crate) fn compile(tree: &Tree, groups: usize) -> Result<Program, PatternError> {
    let mut builder = Builder {
        steps: vec![Step::Success],
        counters: 0,
        referenced: vec![false; groups],
    };
    let start = builder.build(tree, 0, false)?;
    let tests = (0..builder.steps.len())
        .map(|at| test_of(&builder.steps, at))
        .collect();
    let (width, text) = required(tree);
    let required = text.map(|text| Required {
        text: text.to_vec(),
        offset: (width < UNLIMITED)
            .then(|| usize::try_from(width).ok())
            .flatten(),
    });
    // Where `regex` looks for a text first, it looks for that and for no other.
    let needed = match &required {
        Some(required) => vec![required.text.clone()],
        None => needed(tree).unwrap_or_default(),
    };
    let checked = checked_first(tree);
    let start_test = start_test(&builder.steps, start, checked.is_some())
        .filter(|test| !is_required(&builder.steps, *test, required.as_ref()));
    let has_offset = required
        .as_ref()
        .is_some_and(|required| required.offset.is_some());
    Ok(Program {
        looks_twice: start_test.is_some() && has_offset && builder.steps.iter().any(sees_far),
        start_test,
        start,
        skips_run: checked.is_none(),
        tests,
        groups,
        counters: builder.counters,
        referenced: builder.referenced,
        required,
        narrowest: narrowest(tree),
        needed,
        first: checked.or_else(|| first(tree)),
        steps: builder.steps,
    })
}

/// Whether a step may see the end of the text from a place that no match can start at.
fn sees_far(step: &Step) -> bool {
    matches!(
        step,
        Step::Look { .. } | Step::Run { lazy: true, .. } | Step::Repeat(Repeat { lazy: true, .. })
    )
}

struct Builder {
    steps: Vec<Step>,
    counters: usize,
    referenced: Vec<bool>,
}

impl Builder {
    fn add(&mut self, step: Step) -> Result<At, PatternError> {
        if self.steps.len() >= MOST_STEPS {
            let message = "a pattern of this size is not supported".to_owned();
            return Err(PatternError {
                at: 0,
                unsupported: true,
                message,
            });
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    /// Adds the steps of a tree before `next`, and returns the first.
    fn build(&mut self, tree: &Tree, next: At, backwards: bool) -> Result<At, PatternError> {
        match tree {
            Tree::One(one) => self.add(Step::One {
                one: one.clone(),
                backwards,
                next,
            }),
            Tree::Text(text) => self.add(Step::Text {
                text: text.clone(),
                backwards,
                next,
            }),
            Tree::Assertion(assertion) => self.add(Step::Assertion {
                assertion: *assertion,
                next,
            }),
            Tree::Sequence(items) if backwards => items
                .iter()
                .try_fold(next, |next, item| self.build(item, next, true)),
            Tree::Sequence(items) => items
                .iter()
                .rev()
                .try_fold(next, |next, item| self.build(item, next, false)),
            Tree::Branch(branches) => {
                let mut second = None;
                for branch in branches.iter().rev() {
                    let first = self.build(branch, next, backwards)?;
                    second = Some(match second {
                        None => first,
                        Some(second) => self.add(Step::Branch { first, second })?,
                    });
                }
                Ok(second.unwrap_or(next))
            }
            Tree::Group(number, body) => {
                let group = number - 1;
                let end = self.add(Step::GroupEnd { group, next })?;
                let body = self.build(body, end, backwards)?;
                self.add(Step::GroupStart { group, next: body })
            }
            Tree::Atomic(body) => {
                let end = self.add(Step::AtomicEnd { next })?;
                let body = self.build(body, end, backwards)?;
                self.add(Step::Atomic { body })
            }
            Tree::Look {
                behind,
                positive,
                body,
            } => {
                let end = self.add(Step::LookEnd {
                    positive: *positive,
                    next,
                })?;
                let body = self.build(body, end, *behind)?;
                self.add(Step::Look {
                    positive: *positive,
                    body,
                    next,
                })
            }
            Tree::Repeat {
                kind: RepeatKind::Possessive,
                least,
                most,
                body,
            } => {
                let end = self.add(Step::AtomicEnd { next })?;
                let body = self.repeat(false, *least, *most, body, end)?;
                self.add(Step::Atomic { body })
            }
            Tree::Repeat {
                kind,
                least,
                most,
                body,
            } => self.repeat(*kind == RepeatKind::Lazy, *least, *most, body, next),
            Tree::Reference(Reference::Number(number)) => {
                self.referenced[number - 1] = true;
                self.add(Step::Reference {
                    group: number - 1,
                    next,
                })
            }
            Tree::Reference(Reference::Name(..)) => Ok(next),
        }
    }

    /// A repeat is its body as often as it is demanded, and then a repeat from none.
    fn repeat(
        &mut self,
        lazy: bool,
        least: u32,
        most: Option<u32>,
        body: &Tree,
        next: At,
    ) -> Result<At, PatternError> {
        let more = most.map_or(usize::MAX, |most| (most - least) as usize);
        let mut start = if let Tree::One(one) = body {
            self.add(Step::Run {
                lazy,
                one: one.clone(),
                most: more,
                next,
            })?
        } else {
            let index = self.counters;
            self.counters += 1;
            let end = self.add(Step::Success)?;
            let inner = self.build(body, end, false)?;
            let repeat = Repeat {
                lazy,
                index,
                most: more,
                body: inner,
                tail: next,
            };
            self.steps[end] = Step::RepeatEnd(repeat);
            self.add(Step::Repeat(repeat))?
        };
        for _ in 0..least {
            start = self.build(body, start, false)?;
        }
        Ok(start)
    }
}

fn test_of(steps: &[Step], mut at: At) -> At {
    while let Step::GroupStart { next, .. } | Step::GroupEnd { next, .. } = &steps[at] {
        at = *next;
    }
    at
}

/// The test of the first step that is no group and no lookaround, if it has one.
fn start_test(steps: &[Step], start: At, checked: bool) -> Option<StartTest> {
    if checked {
        return Some(match &steps[start] {
            Step::Assertion {
                assertion: Assertion::StartOfText | Assertion::EndOfText,
                ..
            } => StartTest::Step(start),
            _ => StartTest::First,
        });
    }
    let mut at = start;
    loop {
        match &steps[at] {
            Step::GroupStart { next, .. }
            | Step::GroupEnd { next, .. }
            | Step::Look { next, .. } => {
                at = *next;
            }
            Step::Assertion {
                assertion: Assertion::WordBoundary | Assertion::NoWordBoundary,
                next,
            } if matches!(steps[*next], Step::Text { .. }) => {
                return Some(StartTest::Step(*next));
            }
            Step::One { .. } | Step::Text { .. } | Step::Assertion { .. } => {
                return Some(StartTest::Step(at));
            }
            _ => return None,
        }
    }
}

/// Whether a test asks for the required text. Then `regex` leaves it out.
fn is_required(steps: &[Step], test: StartTest, required: Option<&Required>) -> bool {
    let StartTest::Step(at) = test else {
        return false;
    };
    required.is_some_and(|required| match &steps[at] {
        Step::Text { text, .. } => *text == required.text,
        // `regex` does not see here that a character is negated.
        Step::One {
            one: One::Character { code, .. },
            ..
        } => required.text == [*code],
        _ => false,
    })
}
