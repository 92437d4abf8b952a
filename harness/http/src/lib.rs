#![doc = include_str!("../README.md")]
//!
//! Fetching models and asking servers share this client. It follows no redirects by itself,
//! sends a token to one server only, and keeps its time limits.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod tls;

mod address;

mod no_answer;

mod answer;

mod client;

pub use ureq::http::HeaderMap;

pub use address::{Address, without_password};
pub use answer::Answer;
pub use client::{Client, Request, Settings, repeatedly};
pub use no_answer::NoAnswer;
