//! No progress bar: a program for WebAssembly has no terminal.

/// A bar that nobody sees.
#[derive(Debug)]
pub struct Progress;

impl Progress {
    pub fn new(_: usize, _: &str, _: &'static str) -> Progress {
        Progress
    }

    pub fn step(&self) -> impl Fn() + Send + Sync + 'static {
        || {}
    }

    pub fn slow_step(&self) -> impl Fn() + Send + Sync + 'static {
        || {}
    }

    pub fn hidden() -> Progress {
        Progress
    }

    pub fn of_slow(_: bool, _: usize, _: &str, _: &'static str) -> Progress {
        Progress
    }

    pub fn clear(&self) {}
}
