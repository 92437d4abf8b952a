//! Measurements: what an engine did with the whole suite, as it is kept.
//!
//! `snapshots/engines/<engine>@<version>.json` says of one engine in one version which templates
//! it loads, and of each pair that it does otherwise than the reference what came of it, gathered
//! by what differs, with the smallest example of each. Everything that tables and pages tell of an
//! engine is made of this file, so that nothing has to be run to look at it. The SHA-256 of what
//! the engine was asked are in it, too: what has changed since is told as such.

mod asked;

mod kept;

mod difference;
mod text;

mod measuring;

mod comparison;

pub use asked::{Asked, Staleness};
pub use comparison::{Changes, Standing};
pub use kept::{
    Constructs, Differing, Example, Found, Group, Measurement, OfFamily, OfTemplate, Refused,
    Share, Totals,
};
pub use measuring::{Measuring, NotMeasured};
pub use text::{file_name, folder, problems, read, read_all};
