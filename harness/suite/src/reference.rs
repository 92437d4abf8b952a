//! The references: the engines whose output counts as correct for a dialect.
//!
//! They are other programs, which `rolecall reference setup` installs. Records keep their
//! outcomes, so that checking against them does not need the programs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rolecall_core::{Dialect, Engine};
use serde::{Deserialize, Serialize};

use crate::suite::Pair;
use rolecall_core::invocation;
use rolecall_io::protocol::ProtocolEngine;

/// A reference, in the versions that the suite is recorded with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Its name, which `--against` takes.
    pub name: &'static str,
    /// The dialect for which its output counts as correct.
    pub dialect: Dialect,
    pub version: &'static str,
    /// The components that also decide its output, with versions.
    pub components: &'static [(&'static str, &'static str)],
}

/// Hugging Face transformers, the reference for Jinja templates.
pub(crate) const TRANSFORMERS: Reference = Reference {
    name: "transformers",
    dialect: Dialect::Jinja,
    version: rolecall_response::TRANSFORMERS,
    components: &[("jinja2", "3.1.6")],
};

/// Ollama's semantics on Go's own text/template, the reference for Go templates. The
/// version is the first Ollama with these semantics.
pub const OLLAMA: Reference = Reference {
    name: "ollama",
    dialect: Dialect::Go,
    version: "0.33",
    components: &[("go", "1.26.6")],
};

/// The engine and the versions that gave the recorded outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The engine's name.
    pub engine: String,
    pub version: String,
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
    NotInstalled { name: &'static str },
    /// Another version is installed.
    #[error(
        "{found} is installed, the reference is {expected}: run `{}`",
        invocation::set_up_references()
    )]
    OtherVersion { found: String, expected: String },
}

impl Reference {
    pub const ALL: [Reference; 2] = [TRANSFORMERS, OLLAMA];

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

    pub fn by_name(name: &str) -> Option<Reference> {
        Reference::ALL
            .into_iter()
            .find(|reference| reference.name == name)
    }

    /// The program of the reference in a folder, if it is installed there.
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

/// Its name and version: `transformers 5.24.0`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Identity {
    /// The identity that an engine reports.
    pub fn of(engine: &dyn Engine) -> Identity {
        Identity {
            engine: engine.name().to_owned(),
            version: engine.version().to_owned(),
            components: engine.components(),
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
