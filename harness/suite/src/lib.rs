#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

pub mod builtin;

pub mod adding;
pub mod card_rule;
pub mod case_file;
pub mod conversation;
pub mod exception;
pub mod private;

pub mod configuration;

pub mod schema;

pub mod layout;

pub mod initial;

pub mod suite;

pub mod pair_mark;

pub mod untested;

pub mod selection;

pub mod construct;

pub mod reference;

pub mod record;

pub mod divergence;

pub mod snapshot;

pub mod records;

pub mod verdict;

pub mod cause;

pub mod expectations;

pub mod opened;

pub mod run;

pub mod failure;

pub mod own_conversations;

pub mod checked_text;

pub mod response_file;

pub mod roundtrip;

pub mod proof;

pub mod saved_run;

pub mod comparison;

pub mod checked_base;

pub mod conclusion;

pub mod accepting;

pub mod recording;

pub mod front_records;

pub mod workspace;

pub mod export;

pub mod measurement;

pub mod lint;
