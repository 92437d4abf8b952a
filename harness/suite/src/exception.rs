//! Known exceptions: what is not as it should be, with the reason.
//!
//! `snapshots/divergences.json` and `differs` in `rolecall.toml` list them. An exception that no longer
//! applies fails, just as one that nobody has listed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rolecall_core::document::{self, Document};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json::Node;
use rolecall_core::problem::{Position, Problem};
use rolecall_core::root::text_if_there;
use rolecall_core::wildcard::{InvalidWildcard, Wildcard};
use serde_json::Value;

/// The known exceptions of a file.
#[derive(Debug, Default)]
pub struct Exceptions {
    pub path: PathBuf,
    /// All of them, in the order of the file.
    pub entries: Vec<Exception>,
}

#[derive(Debug, Clone)]
pub struct Exception {
    /// What it belongs to: an engine. Empty for differences from a base.
    pub of: String,
    /// What it is about, as it is written: a contract, or a pattern over names.
    pub place: String,
    /// Why it is so, and why that is left so.
    pub reason: String,
    pub issue: Option<String>,
    /// What was observed at the review: the fingerprint of the engine's transcript, by pair.
    pub observed: BTreeMap<String, Fingerprint>,
    pub position: Position,
    pub(crate) pattern: Wildcard,
}

impl Exceptions {
    /// Reads a file; without it the list is empty. `entry` reads an entry after the schema's problems
    /// with it were reported.
    pub(crate) fn read(
        path: &Path,
        schema: &Value,
        mut entry: impl FnMut(&mut Document<'_>, &Node<'_>) -> Vec<Exception>,
    ) -> Result<Exceptions, Vec<Problem>> {
        let Some(text) = text_if_there(path).map_err(|problem| vec![problem])? else {
            return Ok(Exceptions::default());
        };
        let entries = document::read(path, &text, schema, "the list", |document, root| {
            let entries = root.items().iter();
            entries.flat_map(|one| entry(document, one)).collect()
        })?;
        let path = path.to_path_buf();
        Ok(Exceptions { path, entries })
    }

    /// The first one of an engine that is about a name.
    pub fn find(&self, of: &str, name: &str) -> Option<&Exception> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.of == of && entry.covers(name))
    }
}

impl Exception {
    /// An exception without an owner or an observation.
    ///
    /// # Errors
    ///
    /// The place is not a pattern.
    pub fn new(
        place: &str,
        reason: String,
        position: Position,
    ) -> Result<Exception, InvalidWildcard> {
        Ok(Exception {
            pattern: Wildcard::new(place)?,
            of: String::new(),
            place: place.to_owned(),
            reason,
            issue: None,
            observed: BTreeMap::new(),
            position,
        })
    }

    /// Whether it is about something of this name.
    pub fn covers(&self, name: &str) -> bool {
        self.pattern.is_match(name)
    }
}
