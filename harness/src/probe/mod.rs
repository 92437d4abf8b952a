//! Probes: small conversations of words that no template knows, and what a template made
//! of them.
//!
//! A template is compiled once, and each probe rendered at most once, however many
//! contracts and capabilities look at it.

pub mod catalogue;
pub mod manner;
pub mod words;

mod prober;

pub use manner::{Arguments, Content, Given, Manner};
pub use prober::{Prober, Seen};

use std::fmt;

use crate::case::Case;

/// A small conversation with a purpose.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Its name: what cards and evidence call it by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    build: fn(Manner) -> Case,
}

impl Probe {
    /// A probe that is built by a function.
    pub const fn new(name: &'static str, about: &'static str, build: fn(Manner) -> Case) -> Probe {
        Probe { name, about, build }
    }

    /// The conversation, put in a manner.
    pub fn case(&self, manner: Manner) -> Case {
        manner.complete((self.build)(manner))
    }
}

impl PartialEq for Probe {
    fn eq(&self, other: &Probe) -> bool {
        self.name == other.name
    }
}

impl Eq for Probe {}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
