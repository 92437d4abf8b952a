//! How the program is linked.

use std::env::var;
use std::path::Path;

/// Where this file is in the packages that it belongs to: the command's, and the checkout's.
const PLACES: [&str; 2] = ["build.rs", "harness/cli/build.rs"];

fn main() {
    // A name of no file would be a change each time, and link the program and all its tests again.
    let here = PLACES.into_iter().find(|place| Path::new(place).is_file());
    println!("cargo::rerun-if-changed={}", here.unwrap_or("Cargo.toml"));
    // The tests start the program two thousand times. At an address that is chosen when it
    // starts, 70,000 of its words have to be written first: with a fixed one a start takes a
    // quarter less. The program that is released keeps to the system's usual way.
    let is_for_tests = var("PROFILE").is_ok_and(|profile| profile == "debug");
    let is_glibc = var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu");
    if is_for_tests && is_glibc {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
