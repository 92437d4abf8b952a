//! What somebody works on: the templates and conversations that they name, and the suite around them.
//!
//! [`Workspace::open`] is the way in for every command. It finds the suite around the user's folder,
//! fetches the models that have no files here, reads no more than is asked for, and knows whether
//! something was accepted of what it read.

pub mod stdin;
mod suite_around;

pub mod own_template;
pub mod places;

mod open;

pub mod known;

pub mod revision;
pub mod side;
pub mod without_suite;

pub use open::{Subject, Workspace, is_place};
pub use suite_around::Access;
