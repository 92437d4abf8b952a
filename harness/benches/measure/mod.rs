//! How the benchmarks measure.

use std::time::{Duration, Instant};

const RUNS: usize = 40;

/// How long something took.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    pub(crate) fastest: Duration,
    /// Compared with the first of those that it took turns with: the median of its rounds.
    ratio: f64,
}

/// Prints how many measured things there are. Without any, every figure would be that of nothing.
pub(crate) fn count(number: usize, what: &str) {
    assert!(number > 0, "there are no {what}");
    println!("{number} {what}");
}

/// How long each takes. They take turns, and each is compared with what the first took in the same
/// round: whatever else the machine does then meets both alike.
pub(crate) fn in_turns<const N: usize>(mut runs: [&mut dyn FnMut(); N]) -> [Took; N] {
    let rounds: Vec<[Duration; N]> = (0..RUNS)
        .map(|_| {
            runs.each_mut().map(|run| {
                let start = Instant::now();
                run();
                start.elapsed()
            })
        })
        .collect();
    std::array::from_fn(|i| {
        let ratio = |round: &[Duration; N]| round[i].as_secs_f64() / round[0].as_secs_f64();
        let mut ratios: Vec<f64> = rounds.iter().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        Took {
            fastest: rounds
                .iter()
                .map(|round| round[i])
                .min()
                .unwrap_or_default(),
            ratio: ratios[RUNS / 2],
        }
    })
}

/// Prints how long something took, and how that compares with the first.
pub(crate) fn row(what: &str, took: Took) {
    let Took { fastest, ratio } = took;
    println!("{what:24} {:>8.3} s {ratio:>6.2} ×", fastest.as_secs_f64());
}
