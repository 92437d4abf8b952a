//! Positions in the source of a template.

use rolecall_base::lines::{LineColumn, Lines};

/// The position of a byte of the source. Whoever looks up many keeps the [`Lines`].
pub(super) fn position_of(source: &str, at: usize) -> LineColumn {
    Lines::of(source).position(source, at)
}
