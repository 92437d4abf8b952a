//! Matches a pattern at one place of a text, with backtracking.
//!
//! A partial match is one that reaches the end of the text before it is decided. `regex` reports
//! it as soon as any way of matching reaches the end, and sometimes a little earlier: this module
//! does the same.

use crate::failure::{Limit, ParseError};
use crate::pattern::program::{At, Program, Step};
use crate::pattern::tree::{Assertion, One, is_word};

/// How many steps are left.
#[derive(Clone, Debug)]
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) fn new(steps: u64) -> Budget {
        Budget(steps)
    }

    /// Takes steps away.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), ParseError> {
        self.0 = self.0.checked_sub(steps).ok_or(ParseError::LimitExceeded {
            limit: Limit::Steps,
        })?;
        Ok(())
    }

    /// Takes away what it costs to look at characters in a row.
    pub(crate) fn spend_on_scan(&mut self, characters: usize) -> Result<(), ParseError> {
        self.spend(1 + characters as u64 / 16)
    }
}

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

/// Where an attempt stands.
pub(crate) struct Matcher<'p, 't> {
    program: &'p Program,
    text: &'t [u32],
    /// Whether partial matches count.
    partial: bool,
    /// No match may end here.
    forbidden_end: Option<usize>,
    /// Whether it is known that no needed text is at or behind the start.
    pub(crate) lacks_needed: bool,
    /// Whether the end of the text was looked at. If not, more text makes no difference.
    pub(crate) saw_end: bool,
    captures: Captures,
    counters: Vec<Counter>,
    ways: Vec<Way>,
    /// Where in `ways` the open lookarounds and atomic groups begin.
    fences: Vec<usize>,
}

#[derive(Clone, Default)]
struct Captures {
    spans: Vec<Option<Span>>,
    starts: Vec<usize>,
    /// How often a group that is referred to has captured something else.
    changes: usize,
}

#[derive(Clone, Copy, Default)]
struct Counter {
    count: usize,
    start: usize,
    changes: usize,
}

/// A way that was not taken yet, or something that has to be undone on the way back.
enum Way {
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
enum Test {
    No,
    Yes,
    Partial,
}

/// Where a lazy run stops, and how many characters were looked at.
type Reach = (Stop, usize);

enum Stop {
    /// What follows could match here.
    Found(usize),
    /// The run cannot go on.
    Blocked,
    /// The text ends first.
    End,
    /// What follows reaches the end of the text.
    Partial,
}

/// Where matching goes on.
enum Go {
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
    fn end(&mut self) -> Go {
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
            Step::Repeat {
                lazy,
                index,
                most,
                body,
                tail,
            } => {
                let counter = Counter {
                    count: 0,
                    start: at,
                    changes: self.captures.changes,
                };
                let before = std::mem::replace(&mut self.counters[*index], counter);
                self.ways.push(Way::Counter {
                    index: *index,
                    counter: before,
                });
                let try_body = if *most > 0 {
                    self.test(*body, at)
                } else {
                    Test::No
                };
                if matches!(try_body, Test::Partial) {
                    return Ok(Go::Partial);
                }
                self.choose(*lazy, *index, try_body, *body, *tail, at, counter)
            }
            Step::RepeatEnd {
                lazy,
                index,
                most,
                body,
                tail,
            } => self.repeat_again(*lazy, *index, *most, *body, *tail, at),
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
            Step::Reference { group, next } => self.reference(*group, at, *next, budget)?,
            // A match may not end here.
            Step::Success => Go::Back,
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
    fn test(&mut self, step: At, at: usize) -> Test {
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

    /// A greedy run takes as many characters as it can.
    fn run(
        &mut self,
        one: &One,
        most: usize,
        at: usize,
        next: At,
        step: At,
        budget: &mut Budget,
    ) -> Result<Go, ParseError> {
        let high = at + run_length(one, &self.text[at..], most);
        budget.spend_on_scan(high - at)?;
        if high == self.text.len() && high - at < most {
            self.saw_end = true;
            if self.partial {
                return Ok(Go::Partial);
            }
        }
        if high > at {
            self.ways.push(Way::Shorter {
                low: at,
                high,
                step,
            });
        }
        Ok(Go::To {
            at: high,
            step: next,
        })
    }

    fn shorter(
        &mut self,
        low: usize,
        high: usize,
        step: At,
        budget: &mut Budget,
    ) -> Result<Go, ParseError> {
        let Step::Run { next, .. } = self.program.steps[step] else {
            return Ok(Go::Back);
        };
        for at in (low..high).rev() {
            budget.spend(1)?;
            match self.test(next, at) {
                Test::No => {}
                Test::Partial => return Ok(Go::Partial),
                Test::Yes => {
                    if at > low {
                        self.ways.push(Way::Shorter {
                            low,
                            high: at,
                            step,
                        });
                    }
                    return Ok(Go::To { at, step: next });
                }
            }
        }
        Ok(Go::Back)
    }

    /// A lazy run takes more characters until what follows could match.
    fn longer(
        &mut self,
        start: usize,
        at: usize,
        step: At,
        budget: &mut Budget,
    ) -> Result<Go, ParseError> {
        let program = self.program;
        let Step::Run {
            one, most, next, ..
        } = &program.steps[step]
        else {
            return Ok(Go::Back);
        };
        let most = (self.text.len() - start).min(*most);
        let limit = start + most;
        let reach = match &program.steps[program.tests[*next]] {
            Step::One {
                one: wanted @ One::Character { .. },
                backwards: false,
                ..
            } => self.to_character(one, wanted, limit, at),
            Step::Text {
                text,
                backwards: false,
                ..
            } => self.to_text(one, text, limit, at),
            _ => self.to_step(one, *next, limit, at),
        };
        let (stop, passed) = reach;
        budget.spend_on_scan(passed)?;
        Ok(match stop {
            Stop::End => self.end(),
            Stop::Partial => Go::Partial,
            Stop::Blocked => Go::Back,
            Stop::Found(found) => {
                if found < limit {
                    self.ways.push(Way::Longer {
                        start,
                        at: found,
                        step,
                    });
                }
                Go::To {
                    at: found,
                    step: *next,
                }
            }
        })
    }

    /// The next place in front of a character. `regex` sees the end of the text one character early,
    /// whether the run gets there or not.
    fn to_character(&mut self, one: &One, wanted: &One, limit: usize, start: usize) -> Reach {
        let last = self.text.len().saturating_sub(1);
        let mut at = start;
        loop {
            if at >= last {
                return (Stop::End, at - start);
            }
            if at >= limit || !one.matches(self.text[at]) {
                return (Stop::Blocked, at - start);
            }
            at += 1;
            if wanted.matches(self.text[at]) {
                return (Stop::Found(at), at - start);
            }
        }
    }

    /// The next place in front of a text. `regex` takes it for a partial match if the text is not
    /// found at all, whether the run gets to the end or not.
    fn to_text(&mut self, one: &One, text: &[u32], limit: usize, start: usize) -> Reach {
        if self.lacks_needed && self.program.needed.iter().any(|needed| needed == text) {
            return (Stop::End, 0);
        }
        let from = start + 1;
        let end = (limit + text.len()).min(self.text.len());
        let rest = self.text.get(from..end).unwrap_or_default();
        let Some(skipped) = find(text, rest) else {
            return (Stop::End, rest.len());
        };
        let found = from + skipped;
        let is_reached = *one == One::Any
            || self.text[start..found]
                .iter()
                .all(|code| one.matches(*code));
        let stop = if is_reached {
            Stop::Found(found)
        } else {
            Stop::Blocked
        };
        (stop, skipped)
    }

    /// The next place where another step could match.
    fn to_step(&mut self, one: &One, next: At, limit: usize, start: usize) -> Reach {
        let mut at = start;
        loop {
            match self.text.get(at) {
                None => return (Stop::End, at - start),
                Some(&code) if !one.matches(code) => return (Stop::Blocked, at - start),
                Some(_) => at += 1,
            }
            match self.test(next, at) {
                Test::Partial => return (Stop::Partial, at - start),
                Test::Yes => return (Stop::Found(at), at - start),
                Test::No if at == limit => return (Stop::Blocked, at - start),
                Test::No => {}
            }
        }
    }

    /// Goes into the body of a repeat or behind it, and remembers the other way.
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one step")]
    fn choose(
        &mut self,
        lazy: bool,
        index: usize,
        body_test: Test,
        body: At,
        tail: At,
        at: usize,
        counter: Counter,
    ) -> Go {
        let try_body = matches!(body_test, Test::Yes);
        let try_tail = match self.test(tail, at) {
            Test::Partial => return Go::Partial,
            Test::Yes => true,
            Test::No => false,
        };
        let into_body = Counter {
            start: at,
            changes: self.captures.changes,
            ..self.counters[index]
        };
        let (first, second) = match (try_body, try_tail) {
            (false, false) => return Go::Back,
            (true, false) => (body, None),
            (false, true) => (tail, None),
            (true, true) if lazy => (tail, Some((body, into_body))),
            (true, true) => (body, Some((tail, counter))),
        };
        if let Some((step, counter)) = second {
            self.ways.push(Way::Repeat {
                index,
                counter,
                at,
                step,
            });
        }
        if first == body && try_body {
            self.counters[index] = into_body;
        }
        Go::To { at, step: first }
    }

    /// After a pass through the body of a repeat.
    fn repeat_again(
        &mut self,
        lazy: bool,
        index: usize,
        most: usize,
        body: At,
        tail: At,
        at: usize,
    ) -> Go {
        let before = self.counters[index];
        let changed = before.changes != self.captures.changes || before.start != at;
        let count = before.count + 1;
        self.counters[index].count = count;
        self.ways.push(Way::Counter {
            index,
            counter: before,
        });
        let body_test = if changed && count < most {
            self.test(body, at)
        } else {
            Test::No
        };
        let body_test = match body_test {
            // At the end of the text, `regex` does not wait for one more pass of a greedy repeat.
            Test::Partial if !lazy && at == self.text.len() => Test::No,
            Test::Partial => return Go::Partial,
            test => test,
        };
        let counter = Counter {
            count,
            start: at,
            changes: self.captures.changes,
        };
        self.choose(lazy, index, body_test, body, tail, at, counter)
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

/// How many characters of a text match in a row.
pub(crate) fn run_length(one: &One, text: &[u32], most: usize) -> usize {
    if *one == One::Any {
        return text.len().min(most);
    }
    text.iter()
        .take(most)
        .take_while(|code| one.matches(**code))
        .count()
}

/// The first place of a text in another.
pub(crate) fn find(wanted: &[u32], text: &[u32]) -> Option<usize> {
    let (&first, rest) = wanted.split_first()?;
    let mut from = 0;
    while let Some(at) = find_one(first, text.get(from..)?) {
        let at = from + at;
        if text.get(at + 1..at + wanted.len()) == Some(rest) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// The first place of a character. It looks at many characters at a time.
fn find_one(wanted: u32, text: &[u32]) -> Option<usize> {
    const WIDTH: usize = 32;
    let mut from = 0;
    for chunk in text.chunks_exact(WIDTH) {
        if chunk
            .iter()
            .fold(false, |found, code| found | (*code == wanted))
        {
            break;
        }
        from += WIDTH;
    }
    text[from..]
        .iter()
        .position(|code| *code == wanted)
        .map(|at| from + at)
}
