//! How much the tests try: a sample that takes seconds, or everything.

/// Whether to try everything: the variable `ROLECALL_EVERYTHING` is set.
pub(crate) fn is_everything() -> bool {
    std::env::var_os("ROLECALL_EVERYTHING").is_some_and(|value| !value.is_empty())
}

/// Every n-th item, always the same ones, or all items if the tests try everything.
pub(crate) fn sample<T>(items: Vec<T>, one_of: usize) -> Vec<T> {
    let step = if is_everything() { 1 } else { one_of };
    items.into_iter().step_by(step).collect()
}
