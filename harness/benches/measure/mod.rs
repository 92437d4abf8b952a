//! How the benchmarks measure.

use std::time::{Duration, Instant};

/// Runs of each measurement; the fastest counts.
const RUNS: usize = 20;

/// The fastest run of each. They take turns, so that whatever else the machine does
/// meets them alike.
pub(crate) fn fastest<const N: usize>(mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut fastest = [Duration::MAX; N];
    for _ in 0..RUNS {
        for (run, fastest) in runs.iter_mut().zip(&mut fastest) {
            let start = Instant::now();
            run();
            *fastest = start.elapsed().min(*fastest);
        }
    }
    fastest
}

/// Prints what took how long, and how that stands to the base.
pub(crate) fn row(what: &str, took: Duration, base: Duration) {
    let ratio = took.as_secs_f64() / base.as_secs_f64();
    println!("{what:24} {:>8.3} s {ratio:>6.2} ×", took.as_secs_f64());
}
