//! The places of a template that a render reaches.
//!
//! A [`Site`] is a place that can be reached, in one branch or in several: a condition can be true
//! and it can be false. An engine that can tell gives the sites of a template in a fixed order, and
//! the [`Hits`] of each render in the same order. A [`Recorder`] counts for an engine while it
//! renders.
//!
//! Plain text has no site of its own. It is reached with the branch or the loop around it.

use std::ops::Range;

/// A place of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The kind of place.
    pub kind: SiteKind,
    /// Where it is in the template's source, in bytes.
    pub span: Range<usize>,
    /// Whether a condition that is a literal keeps every render away from it.
    pub is_unreachable: bool,
    /// Whether it is a loop that always has an iteration, because a condition around it asks for
    /// what it goes through.
    pub is_never_empty: bool,
}

impl Site {
    /// Whether it is certain that no render takes one of its branches.
    pub fn is_unreachable_in(&self, branch: Branch) -> bool {
        self.is_unreachable || self.is_never_empty && branch == Branch::Empty
    }
}

named! {
    /// The kind of a place decides which branches it has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SiteKind {
        /// A print, an assignment, a block, or another tag that does something.
        Statement = "statement",
        /// The condition of an `if`, a Go `with`, or the filter of a loop.
        Condition = "condition",
        /// An operand of `and` or `or`.
        Operand = "operand",
        /// A loop, by its iterations.
        Loop = "loop",
        /// The body of a macro, of a call block or of a named Go template.
        Macro = "macro",
    }
}

impl SiteKind {
    /// The branches of a place of this kind.
    pub fn branches(self) -> &'static [Branch] {
        match self {
            SiteKind::Statement | SiteKind::Macro => &[Branch::Reached],
            SiteKind::Condition | SiteKind::Operand => &[Branch::True, Branch::False],
            SiteKind::Loop => &[Branch::Empty, Branch::Once, Branch::Several],
        }
    }
}

named! {
    /// One outcome that a place can have: coverage counts each of them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Branch {
        /// It is executed.
        Reached = "reached",
        /// The condition or the operand is true.
        True = "true",
        /// The condition or the operand is false.
        False = "false",
        /// The loop ends without an iteration.
        Empty = "empty",
        /// The loop ends after one iteration.
        Once = "once",
        /// The loop begins a second iteration.
        Several = "several",
    }
}

written_as_text! {
    Branch = "a branch", Branch::named;
}

impl Branch {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The branches of a template's sites that one or several renders have taken.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Hits(Vec<u8>);

impl Hits {
    /// No hits, for so many sites.
    pub fn none(sites: usize) -> Hits {
        Hits(vec![0; sites])
    }

    /// Whether a site was reached in a branch.
    pub fn has(&self, site: usize, branch: Branch) -> bool {
        self.0
            .get(site)
            .is_some_and(|bits| bits & branch.bit() != 0)
    }

    /// Whether a site was reached at all.
    pub fn has_any(&self, site: usize) -> bool {
        self.0.get(site).is_some_and(|bits| *bits != 0)
    }

    /// Adds the hits of another render of the same template.
    pub fn merge(&mut self, other: &Hits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (bits, others) in self.0.iter_mut().zip(&other.0) {
            *bits |= others;
        }
    }

    fn add(&mut self, site: usize, branch: Branch) {
        if let Some(bits) = self.0.get_mut(site) {
            *bits |= branch.bit();
        }
    }
}

/// Counts the hits of one render. The engine reports what it does, and names sites by their index.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    hits: Hits,
    /// The loops that have begun, each with the number of its iterations until now.
    loops: Vec<(usize, usize)>,
}

impl Recorder {
    /// For a template with so many sites.
    pub fn new(sites: usize) -> Recorder {
        Recorder {
            hits: Hits::none(sites),
            loops: Vec::new(),
        }
    }

    /// A statement or a macro's body begins.
    pub fn reach(&mut self, site: usize) {
        self.hits.add(site, Branch::Reached);
    }

    /// A condition or an operand is true or false.
    pub fn decide(&mut self, site: usize, truth: bool) {
        let branch = if truth { Branch::True } else { Branch::False };
        self.hits.add(site, branch);
    }

    /// A loop begins. It is the innermost one until it ends.
    pub fn begin_loop(&mut self, site: usize) {
        self.loops.push((site, 0));
    }

    /// An iteration of a loop begins.
    pub fn iteration(&mut self, site: usize) {
        self.leave_inner(site);
        if let Some((_, iterations)) = self.loops.last_mut() {
            *iterations += 1;
            if *iterations > 1 {
                self.hits.add(site, Branch::Several);
            }
        }
    }

    /// All iterations of a loop are over, and its `else` begins.
    pub fn begin_else(&mut self, site: usize) {
        self.leave_inner(site);
        self.settle();
    }

    /// The innermost loop ends, and the number of its iterations counts.
    pub fn end_loop(&mut self, site: usize) {
        self.leave_inner(site);
        self.settle();
        self.loops.pop();
    }

    /// The hits of the render. A loop in which the render failed has no end.
    pub fn into_hits(self) -> Hits {
        self.hits
    }

    /// Ends the loops within a loop that were left from their `else`, where nothing reports it.
    fn leave_inner(&mut self, site: usize) {
        while let Some((innermost, _)) = self.loops.last()
            && *innermost != site
        {
            self.settle();
            self.loops.pop();
        }
    }

    /// Counts the iterations of the innermost loop as all of its iterations.
    fn settle(&mut self) {
        match self.loops.last() {
            Some((site, 0)) => self.hits.add(*site, Branch::Empty),
            Some((site, 1)) => self.hits.add(*site, Branch::Once),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branches(hits: &Hits, site: usize) -> Vec<&'static str> {
        let hit = Branch::ALL
            .into_iter()
            .filter(|branch| hits.has(site, *branch));
        hit.map(Branch::name).collect()
    }

    #[test]
    fn a_loop_is_counted_by_its_iterations() {
        for (iterations, expected) in [(0, "empty"), (1, "once"), (2, "several"), (5, "several")] {
            let mut recorder = Recorder::new(1);
            recorder.begin_loop(0);
            for _ in 0..iterations {
                recorder.iteration(0);
            }
            recorder.end_loop(0);
            assert_eq!(
                branches(&recorder.into_hits(), 0),
                [expected],
                "{iterations}"
            );
        }
    }

    #[test]
    fn a_loop_that_a_failure_ends_is_not_counted_as_ended() {
        let mut recorder = Recorder::new(1);
        recorder.begin_loop(0);
        recorder.iteration(0);
        assert!(!recorder.into_hits().has_any(0));
    }

    #[test]
    fn a_loop_that_is_left_from_its_else_ends_with_the_next_turn_around_it() {
        let mut recorder = Recorder::new(2);
        recorder.begin_loop(0);
        recorder.iteration(0);
        recorder.begin_loop(1);
        recorder.begin_else(1);
        recorder.iteration(0);
        recorder.begin_loop(1);
        recorder.iteration(1);
        recorder.end_loop(1);
        recorder.end_loop(0);
        let hits = recorder.into_hits();
        assert_eq!(branches(&hits, 0), ["several"]);
        assert_eq!(branches(&hits, 1), ["empty", "once"]);
    }

    #[test]
    fn a_loop_within_itself_has_iterations_of_its_own() {
        // A macro with a loop calls itself within the loop.
        let mut recorder = Recorder::new(1);
        recorder.begin_loop(0);
        recorder.iteration(0);
        recorder.begin_loop(0);
        recorder.end_loop(0);
        recorder.end_loop(0);
        assert_eq!(branches(&recorder.into_hits(), 0), ["empty", "once"]);
    }

    #[test]
    fn hits_of_several_renders_add_up() {
        let mut all = Hits::default();
        for truth in [true, false] {
            let mut recorder = Recorder::new(2);
            recorder.decide(1, truth);
            all.merge(&recorder.into_hits());
        }
        assert_eq!(branches(&all, 1), ["true", "false"]);
        assert!(!all.has_any(0));
    }
}
