//! Fuzzing: templates, files and answers of engines that nobody wrote on purpose. The tests make
//! them by changing the suite's own. No input may cause a crash, a hang, unlimited growth or a
//! contradiction; `targets` says what that means for each kind of input.
//!
//! `cargo test` tries some hundred inputs, always the same ones. For longer runs:
//!
//! - `ROLECALL_FUZZ_SECONDS=600 cargo test --release --test measured fuzz`, new inputs every time,
//! - `scripts/fuzz`, which is guided by what the inputs reach in the code.
//!
//! `data/fuzz/<target>/` has the inputs that once showed a defect. They are tried first, besides
//! the obvious ones: an empty input, and bytes that are not text.

mod export;
mod mutations;
mod seeds;
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::seeds::{fuzz_data, package};
use self::targets::{CASE_KINDS, MODEL_KINDS, TARGETS, Target};
use crate::extent::{is_everything, sample};
use crate::meter::shared;
use crate::scratch;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use rolecall_core::guard::on_large_stack;

/// The number of inputs for each target: for a whole run, and for a sample.
const MANY: u32 = 3000;
const FEW: u32 = 80;

/// The number of inputs between two looks at the clock, in a run with a time limit.
const ROUND: u32 = 200;

fn fuzz(target: &str) {
    let (_, run) = TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    for (path, input) in seeds::regressions(target) {
        let result = std::panic::catch_unwind(|| run(&input));
        assert!(result.is_ok(), "{} fails again", path.display());
    }
    let mut seeds = seeds::of(target);
    assert!(!seeds.is_empty());
    let seconds = std::env::var("ROLECALL_FUZZ_SECONDS");
    if seconds.is_ok() {
        seeds.extend(seeds::hostile(target));
    }
    // A run with a time limit wants all of them.
    let one_of = if seconds.is_ok() { 1 } else { 4 };
    for seed in sample(seeds.iter().collect(), one_of) {
        run(seed);
    }
    let inputs = mutations::inputs(seeds, seeds::words(target));
    match seconds {
        Err(_) => {
            let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            let count = if is_everything() { MANY } else { FEW };
            try_inputs(target, *run, &inputs, count, rng);
        }
        Ok(seconds) => {
            let time = Duration::from_secs(seconds.parse().expect("a number of seconds"));
            let begin = Instant::now();
            let mut tried = 0;
            while begin.elapsed() < time {
                let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &rand_seed());
                try_inputs(target, *run, &inputs, ROUND, rng);
                tried += ROUND;
            }
            say(&format!(
                "{target}: {tried} inputs in {:?}",
                begin.elapsed()
            ));
        }
    }
}

/// The figures of a long run, which `--nocapture` shows.
#[allow(clippy::print_stderr)]
fn say(message: &str) {
    eprintln!("{message}");
}

fn rand_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    seed[..16].copy_from_slice(&now.as_nanos().to_le_bytes());
    seed
}

fn try_inputs(target: &str, run: Target, inputs: &mutations::Inputs, count: u32, rng: TestRng) {
    let config = Config {
        cases: count,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(inputs, |input| {
        std::panic::catch_unwind(|| run(&input))
            .map_err(|panic| TestCaseError::fail(words(panic.as_ref())))
    });
    if let Err(TestError::Fail(reason, input)) = result {
        let file = std::env::temp_dir().join(format!("rolecall-{target}-{}", std::process::id()));
        fs::write(&file, &input).unwrap();
        panic!(
            "{target}: {reason}\ninput: {:?}\nIt is in {}; once it is fixed, keep it in \
             harness/tests/data/fuzz/{target}/.",
            String::from_utf8_lossy(&input),
            file.display()
        );
    }
    result.unwrap();
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic").to_owned()
}

macro_rules! tests {
    ($($test:ident: $target:literal,)*) => {
        $(#[test]
        fn $test() {
            let _shared = shared();
            on_large_stack(|| fuzz($target));
        })*

        const TESTED: &[&str] = &[$($target),*];
    };
}

tests! {
    jinja_templates: "jinja",
    go_templates: "go",
    files_of_the_suite: "cases",
    transcripts: "transcripts",
    files_of_models: "models",
    lines_of_the_protocol: "protocol",
}

/// Every target has a test, a folder of first inputs, and a program for the fuzzer.
#[test]
fn every_target_is_tried_everywhere() {
    let _shared = shared();
    let targets = TARGETS.map(|(name, _)| name.to_owned()).into();
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        entries.map(|entry| stem(entry.unwrap().path())).collect()
    };
    let tested = TESTED.iter().map(|name| (*name).to_owned());
    assert_eq!(tested.collect::<BTreeSet<_>>(), targets);
    assert_eq!(names(&fuzz_data()), targets);
    assert_eq!(names(&package().join("tools/fuzz/fuzz_targets")), targets);
}

/// The seeds include every kind of file whole: fuzzing does not get far with inputs that cannot be
/// parsed.
#[test]
fn every_kind_of_file_is_a_seed() {
    let _shared = shared();
    let is_whole = |target: &str, seed: &[u8]| {
        target != "cases" || serde_json::from_slice::<serde_json::Value>(seed).is_ok()
    };
    for (target, kinds) in [("cases", &CASE_KINDS[..]), ("models", &MODEL_KINDS[..])] {
        let seeds = seeds::of(target);
        for (number, kind) in kinds.iter().enumerate() {
            let mut seeds = seeds.iter().filter_map(|seed| seed.split_first());
            let is_there =
                seeds.any(|(first, rest)| usize::from(*first) == number && is_whole(target, rest));
            assert!(is_there, "no seed of {target} is a whole {kind}");
        }
    }
}

/// Inputs are changed seeds: a few are unchanged, most of them visibly changed.
#[test]
fn inputs_are_changed_seeds() {
    let _shared = shared();
    let seed = b"The quick brown fox jumps over the lazy dog.".to_vec();
    let inputs = mutations::inputs(vec![seed.clone()], vec!["{{".to_owned()]);
    let mut runner = TestRunner::deterministic();
    let mut input = || inputs.new_tree(&mut runner).unwrap().current();
    let made: BTreeSet<Vec<u8>> = (0..300).map(|_| input()).collect();
    assert!(made.contains(&seed));
    assert!(made.len() > 200, "{} inputs", made.len());
    assert!(
        made.iter()
            .any(|input| input.windows(2).any(|word| word == b"{{"))
    );
    assert!(made.iter().any(|input| input.len() < seed.len()));
}

#[test]
fn seeds_are_written_as_a_fuzzer_reads_them() {
    let _shared = shared();
    let folder = scratch::folder();
    let one_of = if is_everything() { 1 } else { 16 };
    export::write(folder.path(), one_of);
    export::check(folder.path(), one_of);
}

/// Writes the seeds and the words for a fuzzer with its own formats, below the folder that
/// `ROLECALL_FUZZ_SEEDS` names.
#[test]
#[ignore = "scripts/fuzz calls it"]
fn write_seeds() {
    let folder = std::env::var("ROLECALL_FUZZ_SEEDS").expect("ROLECALL_FUZZ_SEEDS names a folder");
    export::write(Path::new(&folder), 1);
    export::check(Path::new(&folder), 1);
}
