//! Measurements: an engine's results over the whole suite, and their files.
//!
//! `snapshots/engines/<engine>@<version>.json` belongs to one version of an engine. It says which
//! templates the engine loads, and lists the pairs in which it differs from the reference, grouped
//! by cause, with the smallest example of each group. Tables and pages read only this file, so that
//! nothing has to run when somebody looks at them. The file also has the SHA-256 of the suite's
//! parts, so that reports can say what has changed since the measurement.

pub mod kept;

mod suite_version;

mod results;

mod difference;

mod measurer;

mod comparison;

pub mod roundtrip;

pub mod matrix;

pub use crate::conclusion::Share;
use crate::layout::Layout;
pub use comparison::Changes;
pub use kept::{file_name, folder};
pub use measurer::Measurer;
pub use results::{
    ConstructResults, DifferenceGroup, DifferingPair, Example, Measurement, PartResult,
};
use rolecall_core::problem::Problem;
pub use suite_version::SuiteVersion;

/// All measurements over a suite, by name, and the problems with the files that cannot be read.
pub fn read_all(layout: &Layout) -> (Vec<Measurement>, Vec<Problem>) {
    kept::all(layout)
}

/// The problems with the files of a suite's measurements. A measurement that is out of date is
/// none.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    kept::problems::<Measurement>(layout)
}
