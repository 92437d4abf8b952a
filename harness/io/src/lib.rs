#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

pub mod outcome_json;
pub mod settings;
pub mod template_file;

pub mod source;

pub mod syntax_error;

pub mod base;
pub mod context;

pub mod protocol;

pub mod git;

#[cfg(feature = "fetch")]
pub mod http;

pub mod remote;
