#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod measurement;

pub mod read_back;

pub mod matrix;

pub mod report;

pub mod site;
