//! The expectations of a suite: accepted snapshots, reference records and divergences.

use rolecall_core::Template;

use crate::divergence::{self, Divergences};
use crate::layout::Layout;
use crate::records::Records;
use crate::snapshot::Snapshots;
use crate::verdict::Truth;
use rolecall_core::problem::Problem;

/// The accepted snapshots, reference records and divergences of a suite.
#[derive(Debug)]
pub struct Expectations {
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
        let snapshots = Snapshots::of(layout);
        Ok(Expectations {
            records: Records::read(layout, &snapshots, templates),
            snapshots,
            divergences: divergence::read(&layout.divergences())?,
        })
    }

    /// Lets the records of the references give the verdicts, so that no reference is asked.
    pub fn truth(&self) -> Truth<'_> {
        Truth::Records {
            records: &self.records,
            divergences: &self.divergences,
            snapshots: &self.snapshots,
        }
    }
}
