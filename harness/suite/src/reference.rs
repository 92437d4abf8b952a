//! The references: the engines whose output counts as correct for a dialect.
//!
//! They are other programs, which `rolecall reference setup` installs. Records keep their
//! outcomes, so that checking against them does not need the programs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use rolecall_core::{Dialect, Engine, Template};
use rolecall_front::front::Front;
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

/// vLLM, the reference of its front.
const VLLM: Reference = Reference {
    name: "vllm",
    dialect: Dialect::Jinja,
    version: "0.33.0",
    components: &[("jinja2", "3.1.6"), ("transformers", "5.20.2")],
};

/// SGLang, the reference of its front.
const SGLANG: Reference = Reference {
    name: "sglang",
    dialect: Dialect::Jinja,
    version: "0.5.23",
    components: &[("jinja2", "3.1.6"), ("transformers", "5.19.0")],
};

/// mlx-lm, the reference of its front.
const MLX_LM: Reference = Reference {
    name: "mlx-lm",
    dialect: Dialect::Jinja,
    version: "0.32.2",
    components: &[("jinja2", "3.1.6"), ("transformers", "5.24.0")],
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
    /// The references of the dialects.
    pub const ALL: [Reference; 2] = [TRANSFORMERS, OLLAMA];

    /// The references of fronts that are served.
    pub const SERVED: [Reference; 3] = [VLLM, SGLANG, MLX_LM];

    pub fn of(dialect: Dialect) -> Reference {
        match dialect {
            Dialect::Jinja => TRANSFORMERS,
            Dialect::Go => OLLAMA,
        }
    }

    /// The reference of a template's users: that of its front, if the front has one.
    pub fn of_template(template: &Template) -> Reference {
        Reference::of_front(Front::of(template)).unwrap_or(Reference::of(template.dialect))
    }

    /// The reference of a front that is served.
    pub fn of_front(front: Front) -> Option<Reference> {
        let mut served = Reference::SERVED.into_iter();
        served.find(|reference| reference.name == front.name())
    }

    pub fn of_pairs(pairs: &[Pair<'_>]) -> Vec<Reference> {
        let is_of = |reference: &Reference| {
            let mut pairs = pairs.iter();
            pairs.any(|pair| Reference::of_template(pair.template).name == reference.name)
        };
        Reference::known().filter(is_of).collect()
    }

    pub fn by_name(name: &str) -> Option<Reference> {
        Reference::known().find(|reference| reference.name == name)
    }

    fn known() -> impl Iterator<Item = Reference> {
        Reference::ALL.into_iter().chain(Reference::SERVED)
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
