//! What is expected of a suite: what was accepted, recorded and explained.

use rolecall_model::Template;

use crate::divergence::Divergences;
use crate::layout::Layout;
use crate::problem::Problem;
use crate::record::Records;
use crate::snapshot::Snapshots;
use crate::verdict::Truth;

/// What was accepted and recorded of a suite.
#[derive(Debug)]
pub struct Baseline {
    /// The accepted transcripts.
    pub snapshots: Snapshots,
    /// What the references did.
    pub records: Records,
    /// What is known to differ from it.
    pub divergences: Divergences,
}

impl Baseline {
    /// Reads what there is of a suite. What is wrong with single records is in
    /// [`Records::problems`].
    pub fn read<'t>(
        layout: &Layout,
        templates: impl IntoIterator<Item = &'t Template>,
    ) -> Result<Baseline, Vec<Problem>> {
        Ok(Baseline {
            snapshots: Snapshots::of(layout),
            records: Records::read(layout, templates),
            divergences: Divergences::read(&layout.divergences())?,
        })
    }

    /// Verdicts by what was recorded.
    pub fn truth(&self) -> Truth<'_> {
        Truth::Records {
            records: &self.records,
            divergences: &self.divergences,
            snapshots: &self.snapshots,
        }
    }
}
