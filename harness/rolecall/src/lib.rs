//! Rolecall: a conformance test harness for LLM chat templates.
//!
//! Given a conversation, does a template, in an engine, give exactly the prompt
//! that it should give, or exactly the same refusal? The harness renders every
//! *case* (a named conversation) across every *template*, turns each *outcome*
//! into a *transcript* in which every byte is visible, compares it with the
//! accepted *snapshot*, and gives a *verdict* by what the *reference* did.
//!
//! The modules are listed in the order in which data flows; each one uses only
//! those above it.

pub mod invisible;

pub mod problem;

pub mod file;
pub mod folder;

pub mod invocation;

pub mod json;
mod root;

pub mod naming;
pub mod wildcard;

// For whom it is rendered.
pub mod front;

// What people write, and where they have it.
pub mod case_file;
pub mod template_file;

pub mod fingerprint;

pub mod source;

// What a model makes of a prompt.
pub mod tokenizer;

// A suite of one's own, and where every suite has its files.
pub mod configuration;

pub mod initial;

pub mod schema;

pub mod layout;

pub mod suite;

pub mod selection;

pub mod shard;

pub mod construct;

// What renders it.
pub mod engines;
pub mod protocol;

mod program;

mod wording;

// What came of it, and what should have.
pub mod transcript;

pub mod diff;
pub mod reference;

mod window;

pub mod record;

pub mod divergence;
pub mod snapshot;

pub mod verdict;

mod cause;

pub mod baseline;

// What a template can do, and which contracts it breaks.
pub mod probe;

pub mod syntax_error;

pub mod capability;

pub mod contract;

pub mod card;

pub mod known;

// A whole suite at once.
mod opened;
mod stream;

pub mod run;

pub mod repetition;

pub mod measurement;

pub mod matrix;

pub mod accepting;
// What two sides make of the same cases.
pub mod saved_run;

pub mod replay;

pub mod comparison;

pub mod parity;
pub mod recording;

// The suite for those who do not run Rust.
pub mod export;

pub mod report;

pub mod lint;
