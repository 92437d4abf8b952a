//! Fuzzing: templates, files and answers of engines that nobody wrote on purpose, made by
//! changing what the suite has. Nothing may crash, hang, grow without end or contradict
//! itself; `targets` says what that means for each kind of input.
//!
//! `cargo test` tries a few thousand inputs, the same ones every time. For longer:
//!
//! - `ROLECALL_FUZZ_SECONDS=600 cargo test --release --test fuzz`, new inputs every time,
//! - `scripts/fuzz`, which is guided by what the inputs reach in the code.
//!
//! What was found once lies in `data/fuzz/<target>/` and is tried first.

// The helpers of a test may panic as the test itself does.
#![allow(clippy::unwrap_used)]

mod mutations;
mod seeds;
mod targets;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use seeds::package;
use targets::{TARGETS, Target};

/// Inputs for each target in `cargo test`.
const FEW: u32 = 1500;

/// Inputs between two looks at the clock, where there is a time to fill.
const ROUND: u32 = 200;

fn fuzz(target: &str) {
    let (_, run) = TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    for (path, input) in regressions(target) {
        let result = std::panic::catch_unwind(|| run(&input));
        assert!(result.is_ok(), "{} fails again", path.display());
    }
    let mut seeds = seeds::of(target);
    assert!(!seeds.is_empty());
    let seconds = std::env::var("ROLECALL_FUZZ_SECONDS");
    if seconds.is_ok() {
        seeds.extend(seeds::hostile(target));
    }
    for seed in &seeds {
        run(seed);
    }
    let inputs = mutations::inputs(seeds, seeds::words(target));
    match seconds {
        Err(_) => {
            let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            try_inputs(target, *run, &inputs, FEW, rng);
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

/// The figures of a long run, for `--nocapture`.
#[allow(clippy::print_stderr)]
fn say(message: &str) {
    eprintln!("{message}");
}

/// A seed that is another one every time.
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
            "{target}: {reason}\ninput: {:?}\nIt is in {}; once it is mended, keep it in harness/tests/data/fuzz/{target}/.",
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

/// What was found once.
fn regressions(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = package().join("tests/data/fuzz").join(target);
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let input = fs::read(&path).unwrap();
            (path, input)
        })
        .collect()
}

#[test]
fn jinja_templates() {
    fuzz("jinja");
}

#[test]
fn go_templates() {
    fuzz("go");
}

#[test]
fn files_of_the_suite() {
    fuzz("cases");
}

#[test]
fn transcripts() {
    fuzz("transcripts");
}

#[test]
fn files_of_models() {
    fuzz("models");
}

#[test]
fn lines_of_the_protocol() {
    fuzz("protocol");
}

/// Writes the seeds and the words for a fuzzer that keeps its own: a folder and a
/// dictionary for each target, below the folder that `ROLECALL_FUZZ_SEEDS` names.
#[test]
#[ignore = "scripts/fuzz calls it"]
fn write_seeds() {
    let Ok(folder) = std::env::var("ROLECALL_FUZZ_SEEDS") else {
        return;
    };
    let folder = PathBuf::from(folder);
    for (target, _) in TARGETS {
        let inputs = folder.join(target);
        fs::create_dir_all(&inputs).unwrap();
        let found = regressions(target).into_iter().map(|(_, input)| input);
        let seeds = seeds::of(target).into_iter().chain(seeds::hostile(target));
        for (number, input) in seeds.chain(found).enumerate() {
            fs::write(inputs.join(format!("seed-{number:04}")), input).unwrap();
        }
        let mut words = String::new();
        for word in seeds::words(target) {
            words.push('"');
            for byte in word.bytes() {
                write!(words, "\\x{byte:02x}").unwrap();
            }
            words.push_str("\"\n");
        }
        fs::write(folder.join(format!("{target}.dict")), words).unwrap();
    }
}
