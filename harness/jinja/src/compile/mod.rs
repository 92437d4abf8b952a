//! What happens to a template before it runs: its text is prepared, and its syntax tree
//! gets Python's semantics.

pub(crate) mod inputs;
mod nodes;
pub(crate) mod preparation;

mod names;
mod properties;
mod scopes;

mod expressions;

pub(crate) mod tree;
