//! Matches a pattern at one place of a text, with backtracking.
//!
//! A partial match is one that reaches the end of the text before it is decided. `regex` reports
//! it as soon as any way of matching reaches the end, and sometimes a little earlier: this module
//! does the same.

use crate::failure::ParseError;
use crate::pattern::budget::Budget;
use crate::pattern::program::{At, Program, Step};
use crate::pattern::tree::{Assertion, is_word};

/// The place of a text in another.
pub(crate) type Span = (usize, usize);

/// What comes of trying to match at one place.
#[derive(Debug)]
pub(crate) enum Attempt {
    Match {
        end: usize,
        captures: Vec<Option<Span>>,
    },
    /// More text may make a match of it.
    Partial,
    Fail,
}

/// Where an attempt is.
pub(crate) struct Matcher<'p, 't> {
    pub(super) program: &'p Program,
    pub(super) text: &'t [u32],
    /// Whether partial matches count.
    pub(super) partial: bool,
    /// No match may end here.
    forbidden_end: Option<usize>,
    /// Whether it is known that no needed text is at or after the start.
    pub(crate) lacks_needed: bool,
    /// Whether the end of the text was looked at. If not, more text makes no difference.
    pub(crate) saw_end: bool,
    pub(super) captures: Captures,
    pub(super) counters: Vec<Counter>,
    pub(super) ways: Vec<Way>,
    /// Where in `ways` the open lookarounds and atomic groups begin.
    fences: Vec<usize>,
}

#[derive(Clone, Default)]
pub(super) struct Captures {
    spans: Vec<Option<Span>>,
    starts: Vec<usize>,
    /// How often a group that is referred to has captured something else.
    pub(super) changes: usize,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Counter {
    pub(super) count: usize,
    pub(super) start: usize,
    pub(super) changes: usize,
}

/// A way that was not taken yet, or something that has to be undone on the way back.
pub(super) enum Way {
    Branch {
        at: usize,
        step: At,
    },
    /// A greedy run may end earlier: between `low` and `high`.
    Shorter {
        low: usize,
        high: usize,
        step: At,
    },
    /// A lazy run may go on.
    Longer {
        start: usize,
        at: usize,
        step: At,
    },
    /// The other way of a repeat.
    Repeat {
        index: usize,
        counter: Counter,
        at: usize,
        step: At,
    },
    Counter {
        index: usize,
        counter: Counter,
    },
    Start {
        group: usize,
        start: usize,
    },
    Capture {
        group: usize,
        span: Option<Span>,
        changes: usize,
    },
    Captures(Captures),
    Look {
        at: usize,
        positive: bool,
        next: At,
        captures: Captures,
    },
    Atomic {
        captures: Captures,
    },
}

/// Whether a step could match.
pub(super) enum Test {
    No,
    Yes,
    Partial,
}

/// Where matching goes on.
pub(super) enum Go {
    To { at: usize, step: At },
    Back,
    Partial,
}

impl<'p, 't> Matcher<'p, 't> {
    pub(crate) fn new(
        program: &'p Program,
        text: &'t [u32],
        partial: bool,
        forbidden_end: Option<usize>,
    ) -> Self {
        Matcher {
            program,
            text,
            partial,
            forbidden_end,
            lacks_needed: false,
            saw_end: false,
            captures: Captures {
                spans: vec![None; program.groups],
                starts: vec![0; program.groups],
                changes: 0,
            },
            counters: vec![Counter::default(); program.counters],
            ways: Vec::new(),
            fences: Vec::new(),
        }
    }

    /// Tries to match at a place.
    pub(crate) fn attempt(
        &mut self,
        start: usize,
        budget: &mut Budget,
    ) -> Result<Attempt, ParseError> {
        self.saw_end = false;
        self.ways.clear();
        self.fences.clear();
        self.captures.spans.fill(None);
        let (mut at, mut step) = (start, self.program.start);
        loop {
            budget.spend(1)?;
            if matches!(self.program.steps[step], Step::Success) && self.forbidden_end != Some(at) {
                let captures = self.captures.spans.clone();
                return Ok(Attempt::Match { end: at, captures });
            }
            let mut go = self.advance(at, step, budget)?;
            while let Go::Back = go {
                budget.spend(1)?;
                let Some(way) = self.ways.pop() else {
                    return Ok(Attempt::Fail);
                };
                go = self.go_back(way, budget)?;
            }
            match go {
                Go::To {
                    at: next_at,
                    step: next,
                } => (at, step) = (next_at, next),
                Go::Back | Go::Partial => return Ok(Attempt::Partial),
            }
        }
    }

    /// The end of the text is reached where a character is needed.
    pub(super) fn end(&mut self) -> Go {
        self.saw_end = true;
        if self.partial { Go::Partial } else { Go::Back }
    }

    fn advance(&mut self, at: usize, step: At, budget: &mut Budget) -> Result<Go, ParseError> {
        let program = self.program;
        Ok(match &program.steps[step] {
            Step::One {
                one,
                backwards: true,
                next,
            } => match at.checked_sub(1) {
                Some(before) if one.matches(self.text[before]) => Go::To {
                    at: before,
                    step: *next,
                },
                _ => Go::Back,
            },
            Step::One {
                one,
                backwards: false,
                next,
            } => match self.text.get(at) {
                None => self.end(),
                Some(&code) if one.matches(code) => Go::To {
                    at: at + 1,
                    step: *next,
                },
                Some(_) => Go::Back,
            },
            Step::Text {
                text,
                backwards: true,
                next,
            } => match at.checked_sub(text.len()) {
                Some(before) if self.text[before..at] == **text => Go::To {
                    at: before,
                    step: *next,
                },
                _ => Go::Back,
            },
            Step::Text {
                text,
                backwards: false,
                next,
            } => match self.starts_with(text, at) {
                Test::No => Go::Back,
                Test::Yes => Go::To {
                    at: at + text.len(),
                    step: *next,
                },
                Test::Partial => Go::Partial,
            },
            Step::Assertion { assertion, next } => {
                if self.holds(*assertion, at) {
                    Go::To { at, step: *next }
                } else {
                    Go::Back
                }
            }
            Step::Branch { first, second } => {
                self.ways.push(Way::Branch { at, step: *second });
                Go::To { at, step: *first }
            }
            Step::Reference { group, next } => self.reference(*group, at, *next, budget)?,
            // A match may not end here.
            Step::Success => Go::Back,
            other => self.go_through(other, at, step, budget)?,
        })
    }

    /// Goes into what has other steps inside, or out of it.
    fn go_through(
        &mut self,
        passed: &Step,
        at: usize,
        step: At,
        budget: &mut Budget,
    ) -> Result<Go, ParseError> {
        Ok(match passed {
            Step::GroupStart { group, next } => {
                let start = std::mem::replace(&mut self.captures.starts[*group], at);
                self.ways.push(Way::Start {
                    group: *group,
                    start,
                });
                Go::To { at, step: *next }
            }
            Step::GroupEnd { group, next } => {
                self.capture(*group, at);
                Go::To { at, step: *next }
            }
            Step::Run {
                lazy: false,
                one,
                most,
                next,
            } => self.run(one, *most, at, *next, step, budget)?,
            Step::Run {
                lazy: true,
                most,
                next,
                ..
            } => {
                if *most > 0 {
                    self.ways.push(Way::Longer {
                        start: at,
                        at,
                        step,
                    });
                }
                Go::To { at, step: *next }
            }
            Step::Repeat(repeat) => self.enter_repeat(*repeat, at),
            Step::RepeatEnd(repeat) => self.repeat_again(*repeat, at),
            Step::Look {
                positive,
                body,
                next,
            } => {
                self.fences.push(self.ways.len());
                let captures = self.captures.clone();
                self.ways.push(Way::Look {
                    at,
                    positive: *positive,
                    next: *next,
                    captures,
                });
                Go::To { at, step: *body }
            }
            Step::LookEnd { positive, next } => self.look_end(*positive, *next),
            Step::Atomic { body } => {
                self.fences.push(self.ways.len());
                self.ways.push(Way::Atomic {
                    captures: self.captures.clone(),
                });
                Go::To { at, step: *body }
            }
            Step::AtomicEnd { next } => {
                let fence = self.fences.pop().unwrap_or(0);
                let first = self.ways.drain(fence..).next();
                if let Some(Way::Atomic { captures }) = first {
                    self.ways.push(Way::Captures(captures));
                }
                Go::To { at, step: *next }
            }
            _ => Go::Back,
        })
    }

    /// Goes back to a way that was left out, or undoes something.
    fn go_back(&mut self, way: Way, budget: &mut Budget) -> Result<Go, ParseError> {
        Ok(match way {
            Way::Branch { at, step } => Go::To { at, step },
            Way::Shorter { low, high, step } => self.shorter(low, high, step, budget)?,
            Way::Longer { start, at, step } => self.longer(start, at, step, budget)?,
            Way::Repeat {
                index,
                counter,
                at,
                step,
            } => {
                self.counters[index] = counter;
                Go::To { at, step }
            }
            Way::Counter { index, counter } => {
                self.counters[index] = counter;
                Go::Back
            }
            Way::Start { group, start } => {
                self.captures.starts[group] = start;
                Go::Back
            }
            Way::Capture {
                group,
                span,
                changes,
            } => {
                self.captures.spans[group] = span;
                self.captures.changes = changes;
                Go::Back
            }
            Way::Captures(captures) => {
                self.captures = captures;
                Go::Back
            }
            Way::Atomic { captures } => {
                self.fences.pop();
                self.captures = captures;
                Go::Back
            }
            Way::Look {
                at,
                positive,
                next,
                captures,
            } => {
                self.fences.pop();
                self.captures = captures;
                if positive {
                    Go::Back
                } else {
                    Go::To { at, step: next }
                }
            }
        })
    }

    /// Whether the text goes on with another, as far as it goes.
    fn starts_with(&mut self, text: &[u32], at: usize) -> Test {
        let rest = self.text.get(at..).unwrap_or_default();
        let length = rest.len().min(text.len());
        if rest[..length] != text[..length] {
            return Test::No;
        }
        if length == text.len() {
            return Test::Yes;
        }
        self.saw_end = true;
        if self.partial {
            Test::Partial
        } else {
            Test::No
        }
    }

    /// Whether an assertion holds at a place.
    pub(crate) fn holds(&mut self, assertion: Assertion, at: usize) -> bool {
        let newline = u32::from('\n');
        let length = self.text.len();
        let is_at_end = at >= length;
        match assertion {
            Assertion::StartOfText => at == 0,
            Assertion::StartOfLine => at == 0 || self.text[at - 1] == newline,
            Assertion::EndOfText => {
                self.saw_end |= is_at_end;
                is_at_end
            }
            Assertion::EndOfLastLine => {
                let holds = is_at_end || at + 1 == length && self.text[at] == newline;
                self.saw_end |= holds;
                holds
            }
            Assertion::EndOfLine => {
                self.saw_end |= is_at_end;
                is_at_end || self.text[at] == newline
            }
            Assertion::WordBoundary | Assertion::NoWordBoundary => {
                self.saw_end |= is_at_end;
                let before = at > 0 && is_word(self.text[at - 1]);
                let after = self.text.get(at).is_some_and(|code| is_word(*code));
                (before != after) == (assertion == Assertion::WordBoundary)
            }
        }
    }

    /// Whether a step could match, as far as it can be seen without entering it.
    pub(super) fn test(&mut self, step: At, at: usize) -> Test {
        let program = self.program;
        let as_test = |holds| if holds { Test::Yes } else { Test::No };
        match &program.steps[program.tests[step]] {
            Step::One {
                one,
                backwards: true,
                ..
            } => as_test(at > 0 && one.matches(self.text[at - 1])),
            Step::One {
                one,
                backwards: false,
                ..
            } => match self.text.get(at) {
                Some(&code) => as_test(one.matches(code)),
                None => match self.end() {
                    Go::Partial => Test::Partial,
                    _ => Test::No,
                },
            },
            Step::Text {
                text,
                backwards: false,
                ..
            } => self.starts_with(text, at),
            Step::Assertion { assertion, .. } => as_test(self.holds(*assertion, at)),
            _ => Test::Yes,
        }
    }

    fn capture(&mut self, group: usize, at: usize) {
        let span = Some((self.captures.starts[group], at));
        let changes = self.captures.changes;
        let before = std::mem::replace(&mut self.captures.spans[group], span);
        if self.program.referenced[group] && before != span {
            self.captures.changes += 1;
        }
        self.ways.push(Way::Capture {
            group,
            span: before,
            changes,
        });
    }

    fn look_end(&mut self, positive: bool, next: At) -> Go {
        let fence = self.fences.pop().unwrap_or(0);
        let Some(Way::Look { at, captures, .. }) = self.ways.drain(fence..).next() else {
            return Go::Back;
        };
        if positive {
            self.ways.push(Way::Captures(captures));
            Go::To { at, step: next }
        } else {
            self.captures = captures;
            Go::Back
        }
    }

    fn reference(
        &mut self,
        group: usize,
        at: usize,
        next: At,
        budget: &mut Budget,
    ) -> Result<Go, ParseError> {
        let Some((start, end)) = self.captures.spans[group] else {
            return Ok(Go::Back);
        };
        budget.spend_on_scan(end - start)?;
        let text = self.text;
        Ok(match self.starts_with(&text[start..end], at) {
            Test::No => Go::Back,
            Test::Yes => Go::To {
                at: at + (end - start),
                step: next,
            },
            Test::Partial => Go::Partial,
        })
    }
}
