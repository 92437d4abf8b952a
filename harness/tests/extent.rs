//! How much is tried: a sample that takes seconds, or everything.

/// Whether everything is to be tried: the variable `ROLECALL_EVERYTHING` is set.
pub(crate) fn is_everything() -> bool {
    std::env::var_os("ROLECALL_EVERYTHING").is_some_and(|value| !value.is_empty())
}

/// One of so many items, always the same ones; or all, where everything is to be tried.
pub(crate) fn sample<T>(items: Vec<T>, one_of: usize) -> Vec<T> {
    let step = if is_everything() { 1 } else { one_of };
    items.into_iter().step_by(step).collect()
}
