#![doc = include_str!("../README.md")]
//!
//! Given a conversation, does a template in an engine produce exactly the right prompt, or exactly
//! the right refusal? The harness renders every *case* (a named conversation) with every
//! *template*. It turns each *outcome* into a *transcript* in which every byte is visible and
//! compares it with the accepted *snapshot*. The *reference*'s result decides the *verdict*.

#![cfg_attr(test, allow(clippy::disallowed_methods))]

// Files, problems, and texts in which every byte is visible.
pub use rolecall_base::{
    diff, environment, file, fingerprint, folder, invisible, invocation, json, lines, lock, naming,
    owner, problem, transcript, wildcard,
};

// What applications do before and after a template, and the engines behind them.
pub use rolecall_front::{
    engines, fields, front, prepared_case, program as front_program, sanitizing, trace,
};

// Where templates are found.
pub use rolecall_source::{base, source, syntax_error, template_file};

// Engines that are other programs.
pub use rolecall_protocol as protocol;

// What a template can do, and which contracts it breaks.
pub use rolecall_card::{
    beside, capability, card, choice, contract, known_defects, probe, tokenizer,
};

// Models that answer with a given text.
pub use rolecall_puppet as puppet;

// Whether what a model writes is read back as it was meant.
pub use rolecall_readback as readback;

// Cases, templates, and the expected result of each pair.
pub use rolecall_suite::{
    accepting, adding, card_rule, case_file, cause, comparison, conclusion, configuration,
    construct, conversation, coverage, divergence, expectations, export, fix, generation,
    held_base, held_text, initial, layout, marking, masks, mutation, pair_mark, parity, private,
    proof, read_back, readings, record, recorded_answers, recording, records, reference,
    repetition, replay, response_file, run, saved_run, schema, selection, shard, snapshot, suite,
    verdict,
};

// Engines side by side.
pub use rolecall_matrix::{matrix, measurement, read_back as read_back_measurement};

/// The output for people and programs.
pub mod report {
    pub use rolecall_matrix::{report as matrix, site};
    pub use rolecall_report::*;
}

pub mod schemas;

pub mod lint;
