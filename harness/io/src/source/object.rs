//! JSON files of other programs. A few keys of an object are read, as Python and Go read them, and
//! problems have a place.

use std::path::Path;

use rolecall_core::json::{self, Node, NodeKind};
use rolecall_core::problem::{Location, Position, Problem};

/// A JSON file that is being read.
pub(super) struct JsonFile<'t> {
    pub path: &'t Path,
    pub text: &'t str,
}

impl JsonFile<'_> {
    pub(super) fn problem(&self, at: &Node<'_>, message: impl Into<String>) -> Problem {
        Problem::new(self.path, message).at(self.place(at.range.start))
    }

    pub(super) fn place(&self, offset: usize) -> Location {
        Position::of(self.text, offset).into()
    }
}

pub(super) fn string<'a>(object: &'a Node<'_>, key: &str) -> Option<&'a str> {
    object.entry(key)?.text()
}

/// Reads a file that holds one object.
pub(super) fn read_object<T>(
    path: &Path,
    text: &str,
    take_apart: impl FnOnce(&JsonFile<'_>, &Node<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let root = json::parse(path, text)?;
    let document = JsonFile { path, text };
    match root.kind {
        NodeKind::Object(_) => take_apart(&document, &root),
        _ => Err(document.problem(&root, "not an object")),
    }
}
