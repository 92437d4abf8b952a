//! Applications' work around a template, and the engines in this process. A front prepares the
//! conversation and finishes the prompt.
//!
//! A program needs only this crate and the engines to get the prompts of transformers or Ollama.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod front;

pub mod sanitizing;

pub mod prepared_case;

pub mod engines;

pub mod program;
