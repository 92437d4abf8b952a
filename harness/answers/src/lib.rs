#![doc = include_str!("../README.md")]
//!
//! A chat template writes the answers of earlier turns into the prompt, so it says how the model
//! writes an answer. A response template says how such an answer is read. Here the two meet: the
//! chat template writes an assistant's message, an [`AnswerReader`] reads it, and the message that
//! comes back is compared with the one that was meant.
//!
//! The modules are listed in the order in which they build on each other.
//!
//! [`AnswerReader`]: rolecall_core::AnswerReader

#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

pub mod reader;

pub mod meaning;

pub mod control_tokens;

pub mod ending;

pub mod turn_ends;

pub mod written;

mod traced;

pub mod mask;

pub mod masker;

pub mod comparison;

pub mod reading;

pub mod transcript;

pub mod cause;

pub mod reduction;

pub mod draft;

pub mod mock_model;
