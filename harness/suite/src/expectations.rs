//! The expectations of a suite: accepted snapshots, reference records and divergences.

use std::collections::HashSet;

use rolecall_core::Template;

use crate::divergence::{self, Divergences};
use crate::layout::Layout;
use crate::records::Records;
use crate::snapshot::Snapshots;
use crate::suite::{Pair, templates_of};
use crate::verdict::Truth;
use rolecall_core::problem::Problem;

/// The accepted snapshots, reference records and divergences of a suite.
#[derive(Debug)]
pub struct Expectations {
    /// The accepted transcripts.
    pub snapshots: Snapshots,
    pub records: Records,
    /// The listed differences from the references.
    pub divergences: Divergences,
}

impl Expectations {
    /// Reads the expectations of a suite. Problems with single records are in
    /// [`Records::problems`].
    pub fn read<'t>(
        layout: &Layout,
        templates: impl IntoIterator<Item = &'t Template>,
    ) -> Result<Expectations, Vec<Problem>> {
        Expectations::read_some(layout, templates, |_| true)
    }

    /// Reads what is expected of some pairs, and nothing of other families.
    pub fn of_pairs(layout: &Layout, pairs: &[Pair<'_>]) -> Result<Expectations, Vec<Problem>> {
        let families: HashSet<&str> = pairs.iter().map(|pair| pair.case.id.family()).collect();
        let is_asked_for = |family: &str| families.contains(family);
        Expectations::read_some(layout, templates_of(pairs), is_asked_for)
    }

    fn read_some<'t>(
        layout: &Layout,
        templates: impl IntoIterator<Item = &'t Template>,
        is_asked_for: impl Fn(&str) -> bool,
    ) -> Result<Expectations, Vec<Problem>> {
        let snapshots = Snapshots::of(layout);
        Ok(Expectations {
            records: Records::read_some(layout, &snapshots, templates, is_asked_for),
            snapshots,
            divergences: divergence::read(&layout.divergences())?,
        })
    }

    /// Verdicts by the records.
    pub fn truth(&self) -> Truth<'_> {
        Truth::Records {
            records: &self.records,
            divergences: &self.divergences,
            snapshots: &self.snapshots,
        }
    }
}
