//! Rolecall's engines as a C library: see `include/rolecall.h`, which cbindgen generates of this
//! crate.
//!
//! The functions check their arguments, call `rolecall_front::embed`, and hand out what it returns. A
//! panic does not cross the boundary.

#![cfg_attr(test, allow(clippy::disallowed_methods))]
// The names are those that C programs see.
#![allow(non_camel_case_types)]

mod text;

pub mod result;

mod limits;

pub mod interface;
