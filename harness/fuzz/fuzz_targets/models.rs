//! The target `models`: see `harness/tests/fuzz/targets.rs`.
#![no_main]

#[path = "../../tests/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::models(input));
