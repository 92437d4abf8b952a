//! How the program is linked.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The tests start the program some eight hundred times. At an address that is chosen when it
    // starts, 70,000 of its words have to be written first: with a fixed one a start takes a
    // quarter less. The program that is released keeps to the system's usual way.
    let is_for_tests = var("PROFILE").is_ok_and(|profile| profile == "debug");
    let is_glibc = var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu");
    if is_for_tests && is_glibc {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
