//! The target `models`: see `harness/tests/measured/fuzz/targets.rs`.
#![no_main]

#[path = "../../../tests/measured/meter.rs"]
mod meter;
#[path = "../../../tests/measured/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::models(input));
