//! What happens to a template before it runs: its text becomes a syntax tree, which gets
//! Python's semantics.

mod nodes;
mod size;

pub(crate) mod grammar;
pub(crate) mod inputs;
pub(crate) mod preparation;

mod names;
mod properties;
mod scopes;

mod expressions;

pub(crate) mod tree;
