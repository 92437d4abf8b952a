//! The references: the engines whose word is law for a dialect.
//!
//! They are other programs, which `rolecall reference setup` installs. What they gave is
//! kept in records, so that checking against them needs neither of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rolecall_model::{Dialect, Engine};
use serde::{Deserialize, Serialize};

use crate::invocation;
use crate::protocol::ProtocolEngine;
use crate::suite::Pair;

/// A reference, in the versions that the suite is recorded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Its name, which `--against` takes.
    pub name: &'static str,
    /// The dialect for which its word is law.
    pub dialect: Dialect,
    /// Its version.
    pub version: &'static str,
    /// What else decides what it gives, with versions.
    pub components: &'static [(&'static str, &'static str)],
}

/// Hugging Face transformers, the law for Jinja templates.
pub const TRANSFORMERS: Reference = Reference {
    name: "transformers",
    dialect: Dialect::Jinja,
    version: "5.23.0",
    components: &[("jinja2", "3.1.6")],
};

/// Ollama's semantics on Go's own text/template, the law for Go templates. The version
/// is the first Ollama with these semantics.
pub const OLLAMA: Reference = Reference {
    name: "ollama",
    dialect: Dialect::Go,
    version: "0.33",
    components: &[("go", "1.26.6")],
};

/// Which engine, in which versions, gave what is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The engine's name.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// What else it is made of, with versions.
    pub components: BTreeMap<String, String>,
}

/// A reference that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It is not on this machine.
    #[error(
        "the reference {name} is not installed: run `{}` first",
        invocation::set_up_references()
    )]
    NotInstalled {
        /// Its name.
        name: &'static str,
    },
    /// Another version is installed.
    #[error(
        "{found} is installed, the reference is {expected}: run `{}`",
        invocation::set_up_references()
    )]
    OtherVersion {
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
}

impl Reference {
    /// Both references.
    pub const ALL: [Reference; 2] = [TRANSFORMERS, OLLAMA];

    /// The reference for a dialect.
    pub fn of(dialect: Dialect) -> Reference {
        match dialect {
            Dialect::Jinja => TRANSFORMERS,
            Dialect::Go => OLLAMA,
        }
    }

    /// The references for the dialects of some pairs.
    pub fn of_pairs(pairs: &[Pair<'_>]) -> Vec<Reference> {
        let has = |dialect| pairs.iter().any(|pair| pair.template.dialect == dialect);
        let mut references = Reference::ALL.to_vec();
        references.retain(|reference| has(reference.dialect));
        references
    }

    /// A reference by name.
    pub fn by_name(name: &str) -> Option<Reference> {
        Reference::ALL
            .into_iter()
            .find(|reference| reference.name == name)
    }

    /// The program that was installed into a folder, if it was.
    pub fn program(&self, folder: &Path) -> Result<PathBuf, ReferenceError> {
        let program = folder.join(self.name);
        if program.is_file() {
            Ok(program)
        } else {
            Err(ReferenceError::NotInstalled { name: self.name })
        }
    }

    /// Its name and versions.
    pub fn identity(&self) -> Identity {
        Identity {
            engine: self.name.to_owned(),
            version: self.version.to_owned(),
            components: self
                .components
                .iter()
                .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
                .collect(),
        }
    }

    /// Whether a running engine is this reference, in these versions.
    pub fn check(&self, engine: &ProtocolEngine) -> Result<(), ReferenceError> {
        let (found, expected) = (Identity::of(engine), self.identity());
        if found == expected {
            Ok(())
        } else {
            Err(ReferenceError::OtherVersion {
                found: found.to_string(),
                expected: expected.to_string(),
            })
        }
    }
}

/// Its name and version: `transformers 5.23.0`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Identity {
    /// What an engine of this process is.
    pub fn of_own(engine: &dyn Engine) -> Identity {
        Identity {
            engine: engine.name().to_owned(),
            version: engine.version().to_owned(),
            components: BTreeMap::new(),
        }
    }

    /// What an engine says it is.
    pub fn of(engine: &ProtocolEngine) -> Identity {
        Identity {
            engine: engine.name().to_owned(),
            version: engine.version().to_owned(),
            components: engine.components().clone(),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.engine, self.version)?;
        let mut before = " (";
        for (name, version) in &self.components {
            write!(f, "{before}{name} {version}")?;
            before = ", ";
        }
        f.write_str(if self.components.is_empty() { "" } else { ")" })
    }
}
