//! Measurements: an engine's results over the whole suite, and their files.
//!
//! `snapshots/engines/<engine>@<version>.json` belongs to one version of an engine. It says which
//! templates the engine loads, and lists the pairs in which it differs from the reference, grouped
//! by cause, with the smallest example of each group. Tables and pages read only this file, so that
//! nothing has to run when somebody looks at them. The file also has the SHA-256 of the suite's
//! parts, so that reports can say what has changed since the measurement.

mod suite_version;

mod results;

mod kept;

mod difference;

mod measurer;

mod comparison;

pub mod matrix;

pub use crate::conclusion::Share;
pub use comparison::Changes;
pub use kept::{file_name, problems, read_all};
pub use measurer::Measurer;
pub use results::{
    ConstructResults, DifferenceGroup, DifferingPair, Example, Measurement, PartResult,
};
pub use suite_version::SuiteVersion;
