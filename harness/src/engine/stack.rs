//! The stack that loading and rendering need.

/// A stack on which every template that keeps within the limits can be parsed and rendered,
/// and what it made be dropped, in an unoptimised build too. Memory is taken as it is used.
pub(crate) const STACK: usize = 256 << 20;

/// How much of it is enough: the rest is for those who call.
const NEEDED: usize = STACK - (4 << 20);

/// Runs a closure on a stack that is large enough, whatever thread calls.
pub(super) fn on_large<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(NEEDED, STACK, run)
}
