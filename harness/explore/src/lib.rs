#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

pub mod coverage;

pub mod masks;

pub mod marking;

mod effect;

pub mod generation;

pub mod mutation;
