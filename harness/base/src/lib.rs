#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod chance;

pub mod environment;

pub mod owner;

pub mod invisible;

pub mod lines;

pub mod problem;

pub mod file;

pub mod folder;

pub mod invocation;

pub mod json;

pub mod rows;

pub mod root;

pub mod fingerprint;

pub mod naming;

pub mod reason;

pub mod wildcard;

pub mod lock;

pub mod wording;

pub mod transcript;

pub mod diff;

pub mod patch;

pub mod window;

pub mod stream;

pub mod smaller;
