//! What a probe is.

use std::fmt;

use rolecall_core::Case;

use super::input_style::InputStyle;

/// A small conversation with a purpose.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Its name: what cards and evidence call it by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    build: fn(InputStyle) -> Case,
}

impl Probe {
    /// A probe that is built by a function.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        build: fn(InputStyle) -> Case,
    ) -> Probe {
        Probe { name, about, build }
    }

    /// The conversation, in an input style.
    pub fn case(&self, input_style: InputStyle) -> Case {
        input_style.complete((self.build)(input_style))
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
