//! Runs: repeats of a single character.

use crate::failure::ParseError;
use crate::pattern::budget::Budget;
use crate::pattern::find::{find, run_length};
use crate::pattern::matcher::{Go, Matcher, Test, Way};
use crate::pattern::program::{At, Step};
use crate::pattern::tree::One;

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

impl Matcher<'_, '_> {
    /// A greedy run takes as many characters as it can.
    pub(super) fn run(
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

    pub(super) fn shorter(
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
    pub(super) fn longer(
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
            } => self.next_character(one, wanted, limit, at),
            Step::Text {
                text,
                backwards: false,
                ..
            } => self.next_text(one, text, limit, at),
            _ => self.next_possible(one, *next, limit, at),
        };
        let (end, passed) = reach;
        budget.spend_on_scan(passed)?;
        Ok(match end {
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
    fn next_character(&self, one: &One, wanted: &One, limit: usize, start: usize) -> Reach {
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
    fn next_text(&self, one: &One, text: &[u32], limit: usize, start: usize) -> Reach {
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
    fn next_possible(&mut self, one: &One, next: At, limit: usize, start: usize) -> Reach {
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
}
