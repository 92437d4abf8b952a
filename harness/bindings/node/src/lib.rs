//! Rolecall's engines for Node. `index.js` is the interface that people use; this crate is the part
//! of it that is not JavaScript.
//!
//! All structured values cross as JSON texts. JSON keeps what a template sees, and `JSON.stringify`
//! with one text is faster than a call into Rust for each value.

pub mod reply;

mod card;

pub mod native;
