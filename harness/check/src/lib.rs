#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice, clippy::indexing_slicing))]

pub mod tokenizer;

pub mod published;

pub mod probe;

pub mod nearest;

pub mod capability;

mod deciding;

pub mod contract;

pub mod conversations;

pub mod roundtrip;

pub mod choice;

pub mod served;

pub mod fingerprint;

pub mod card;

pub mod reach;

pub mod side_by_side;

pub mod known_defects;

pub mod fix;

#[cfg(feature = "tokens")]
pub mod tokens;
