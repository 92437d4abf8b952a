//! A suite with what was accepted and recorded of it.

use std::collections::BTreeSet;

use super::open::Workspace;
use crate::expectations::Expectations;
use crate::failure::Failure;
use crate::front_records::FrontRecords;
use crate::layout::Layout;
use crate::pair_mark::{self, PairNames};
use crate::suite::{Pair, Suite, templates_of};
use crate::verdict::Truth;
use rolecall_core::Template;
use rolecall_front::front::Front;

/// A suite, with what was accepted and recorded of the templates of some pairs.
pub struct KnownSuite<'s> {
    /// The suite's files.
    pub layout: &'s Layout,
    /// Its templates and cases.
    pub suite: &'s Suite,
    /// The pairs that belong to the suite. Without it all of them.
    pub belonging: Option<PairNames<'s>>,
    /// The snapshots and records.
    pub expectations: Expectations,
}

impl<'s> KnownSuite<'s> {
    /// Reads what was accepted and recorded of some templates. Damaged records are in
    /// [`Records::problems`](crate::records::Records::problems).
    pub fn read<'t>(
        layout: &'s Layout,
        suite: &'s Suite,
        templates: impl IntoIterator<Item = &'t Template>,
    ) -> Result<KnownSuite<'s>, Failure> {
        Ok(KnownSuite {
            layout,
            suite,
            belonging: None,
            expectations: Expectations::read(layout, templates).map_err(Failure::Problems)?,
        })
    }

    /// The suite that some pairs of a workspace belong to. `around` is the whole suite around it, if the
    /// pairs are not the suite's own. None if no pair belongs to a suite.
    pub fn of(
        workspace: &'s Workspace,
        around: Option<&'s Suite>,
        pairs: &[Pair<'s>],
    ) -> Result<Option<KnownSuite<'s>>, Failure> {
        let (layout, suite) = (&workspace.layout, &workspace.suite);
        let Some(around) = around else {
            return KnownSuite::read(layout, suite, templates_of(pairs)).map(Some);
        };
        let belonging = pair_mark::shared(pairs, around);
        if belonging.is_empty() {
            return Ok(None);
        }
        let own = pairs.iter().filter(|pair| belonging.contains(&pair.key()));
        let own: Vec<Pair<'_>> = own.copied().collect();
        let known = KnownSuite::read(layout, around, templates_of(&own))?;
        Ok(Some(KnownSuite {
            belonging: Some(belonging),
            ..known
        }))
    }

    /// Takes the records of a served front in the place of the others. Returns why pairs are left out of
    /// which our front is known to make something else, and removes these.
    pub fn use_front(
        &mut self,
        front: Front,
        pairs: &mut Vec<Pair<'_>>,
    ) -> Result<BTreeSet<String>, Failure> {
        let read = FrontRecords::read(self.layout, front);
        let Some(read) = read.map_err(|problem| Failure::Problems(vec![problem]))? else {
            if self.layout.is_checkout() {
                let why = format!(
                    "nothing is recorded of what {front} makes of the suite\n  compare with a program, as \
                     in --against transformers"
                );
                return Err(Failure::Request(why));
            }
            return Ok(BTreeSet::new());
        };
        let left = pairs.extract_if(.., |pair| read.reason(pair).is_some());
        let reasons = left.filter_map(|pair| read.reason(&pair).map(str::to_owned));
        let reasons = reasons.collect();
        let known = &mut self.expectations.records;
        let problems = std::mem::take(&mut known.problems);
        *known = read.records(self.suite, known);
        // A damaged record of the suite stays a problem, although this front's records take its place.
        known.problems = problems;
        Ok(reasons)
    }

    /// The pairs that belong to the suite.
    pub fn pairs<'p>(&self, pairs: &[Pair<'p>]) -> Vec<Pair<'p>> {
        let belongs = |pair: &&Pair<'_>| {
            let belonging = self.belonging.as_ref();
            belonging.is_none_or(|all| all.contains(&pair.key()))
        };
        pairs.iter().filter(belongs).copied().collect()
    }

    /// Verdicts by the records.
    pub fn truth(&self) -> Truth<'_> {
        self.expectations.truth()
    }
}
