#![doc = include_str!("../README.md")]
//!
//! `gguf` writes the format, `pieces` cuts texts into tokens, and `puppet` makes the model of both.

pub mod gguf;

pub mod pieces;

pub mod puppet;
