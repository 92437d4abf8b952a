#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

pub mod front;

pub mod sanitizing;

pub mod prepared_case;

pub mod engines;

pub mod fields;
pub mod trace;

pub mod program;

pub mod embed;
