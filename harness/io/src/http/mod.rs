//! HTTP as Rolecall asks hubs of models and model servers: one answer at a time, limited in size
//! and time, or the reason why there is none.
//!
//! Fetching models and asking servers share this client. It follows no redirects by itself,
//! sends a token to one server only, and keeps its time limits.

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
