//! Writes the seeds and the words as files, for a fuzzer that has its own formats: a folder of
//! inputs and a dictionary for each target.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::seeds;
use super::targets::TARGETS;

/// The seeds for a fuzzer of a target: all of them, or every n-th one.
fn inputs(target: &str, one_of: usize) -> Vec<Vec<u8>> {
    let mut inputs = seeds::of(target);
    inputs.extend(seeds::hostile(target));
    inputs.extend(
        seeds::regressions(target)
            .into_iter()
            .map(|(_, input)| input),
    );
    inputs.into_iter().step_by(one_of).collect()
}

fn input_file(folder: &Path, target: &str, number: usize) -> PathBuf {
    folder.join(target).join(format!("seed-{number:04}"))
}

fn dictionary_file(folder: &Path, target: &str) -> PathBuf {
    folder.join(format!("{target}.dict"))
}

/// Writes every n-th input, and all words, below a folder.
pub(super) fn write(folder: &Path, one_of: usize) {
    for (target, _) in TARGETS {
        fs::create_dir_all(folder.join(target)).unwrap();
        for (number, input) in inputs(target, one_of).iter().enumerate() {
            fs::write(input_file(folder, target, number), input).unwrap();
        }
        let mut words = String::new();
        for word in seeds::words(target) {
            words.push('"');
            for byte in word.bytes() {
                write!(words, "\\x{byte:02x}").unwrap();
            }
            words.push_str("\"\n");
        }
        fs::write(dictionary_file(folder, target), words).unwrap();
    }
}

/// Asserts that libFuzzer reads from a folder what was written into it.
pub(super) fn check(folder: &Path, one_of: usize) {
    for (target, _) in TARGETS {
        for (number, input) in inputs(target, one_of).iter().enumerate() {
            let path = input_file(folder, target, number);
            let written = fs::read(&path).ok();
            assert!(
                written.as_ref() == Some(input),
                "{} is not the seed",
                path.display()
            );
        }
        let words = fs::read_to_string(dictionary_file(folder, target)).unwrap();
        let words: Vec<_> = words.lines().map(word).collect();
        assert_eq!(words, seeds::words(target), "{target}");
    }
}

/// A word of a dictionary: each byte as two digits between quotation marks.
fn word(line: &str) -> String {
    let inner = line
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let bytes = inner.unwrap().split("\\x").skip(1).map(|digits| {
        assert_eq!(digits.len(), 2, "{line}");
        u8::from_str_radix(digits, 16).unwrap()
    });
    String::from_utf8(bytes.collect()).unwrap()
}
