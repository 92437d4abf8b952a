//! Repeats of more than a single character.

use crate::pattern::matcher::{Counter, Go, Matcher, Test, Way};
use crate::pattern::program::Repeat;

impl Matcher<'_, '_> {
    pub(super) fn enter_repeat(&mut self, repeat: Repeat, at: usize) -> Go {
        let counter = Counter {
            count: 0,
            start: at,
            changes: self.captures.changes,
        };
        let before = std::mem::replace(&mut self.counters[repeat.index], counter);
        self.ways.push(Way::Counter {
            index: repeat.index,
            counter: before,
        });
        let try_body = match self.test_body(repeat, repeat.most > 0, at) {
            Test::Partial => return Go::Partial,
            Test::Yes => true,
            Test::No => false,
        };
        self.choose(repeat, try_body, counter, at)
    }

    /// After a pass through the body of a repeat.
    pub(super) fn repeat_again(&mut self, repeat: Repeat, at: usize) -> Go {
        let before = self.counters[repeat.index];
        let changed = before.changes != self.captures.changes || before.start != at;
        let count = before.count + 1;
        self.counters[repeat.index].count = count;
        self.ways.push(Way::Counter {
            index: repeat.index,
            counter: before,
        });
        let try_body = match self.test_body(repeat, changed && count < repeat.most, at) {
            // At the end of the text, `regex` does not wait for one more pass of a greedy repeat.
            Test::Partial if !repeat.lazy && at == self.text.len() => false,
            Test::Partial => return Go::Partial,
            Test::Yes => true,
            Test::No => false,
        };
        let counter = Counter {
            count,
            start: at,
            changes: self.captures.changes,
        };
        self.choose(repeat, try_body, counter, at)
    }

    fn test_body(&mut self, repeat: Repeat, may_enter: bool, at: usize) -> Test {
        if may_enter {
            self.test(repeat.body, at)
        } else {
            Test::No
        }
    }

    /// Goes into the body of a repeat or after it, and remembers the other way.
    fn choose(&mut self, repeat: Repeat, try_body: bool, counter: Counter, at: usize) -> Go {
        let Repeat {
            lazy,
            index,
            body,
            tail,
            ..
        } = repeat;
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
        let into = |step, counter| Way::Repeat {
            index,
            counter,
            at,
            step,
        };
        match (try_body, try_tail) {
            (false, false) => return Go::Back,
            (true, true) if lazy => self.ways.push(into(body, into_body)),
            (true, true) => self.ways.push(into(tail, counter)),
            (true, false) | (false, true) => {}
        }
        if try_tail && (lazy || !try_body) {
            return Go::To { at, step: tail };
        }
        self.counters[index] = into_body;
        Go::To { at, step: body }
    }
}
