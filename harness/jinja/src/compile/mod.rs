//! Compiles a template: its text becomes a syntax tree, and the tree gets Python's semantics.

mod lines;
mod nodes;
mod size;

mod properties;

pub(crate) mod bindings;
pub(crate) mod content_loops;
pub(crate) mod grammar;
pub(crate) mod inputs;
pub(crate) mod literals;
pub(crate) mod pitfalls;
pub(crate) mod unknown;
pub(crate) mod words;

mod iterations;
mod scopes;

mod sites;

pub(crate) mod mutation;
pub(crate) mod outline;

pub(crate) mod lower;
