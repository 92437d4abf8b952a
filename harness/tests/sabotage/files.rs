//! The kinds of files in a suite.

use std::fmt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Template,
    Sidecar,
    Case,
    Tool,
    Schema,
    Snapshot,
    ReferenceSnapshot,
    Card,
    Record,
    Readings,
    ReadBackRecord,
    Divergences,
    Parity,
}

impl Kind {
    /// The kind of a file, by its path below the suite's root. Every file has one.
    pub(crate) fn of(path: &Path) -> Option<Kind> {
        let text = path.to_str()?;
        let name = path.file_name()?.to_str()?;
        let is = |beginning: &str, end: &str| text.starts_with(beginning) && name.ends_with(end);
        Some(match () {
            () if is("cases/templates/", ".json") => Kind::Sidecar,
            () if is("cases/templates/", "") => Kind::Template,
            () if is("cases/conversations/", ".json") => Kind::Case,
            () if is("cases/tools/", ".json") => Kind::Tool,
            () if is("cases/schema/", ".schema.json") => Kind::Schema,
            () if text == "snapshots/divergences.json" => Kind::Divergences,
            () if text == "snapshots/parity.json" => Kind::Parity,
            () if is("snapshots/", ".reference.snap") => Kind::ReferenceSnapshot,
            () if is("snapshots/", "_card.snap") => Kind::Card,
            () if is("snapshots/", "_readings.snap") => Kind::Readings,
            () if is("snapshots/", ".snap") => Kind::Snapshot,
            () if name == "reference.json" => Kind::Record,
            () if name == "read-back.json" => Kind::ReadBackRecord,
            () => return None,
        })
    }

    /// Whether people write it.
    pub(crate) fn is_written_by_people(self) -> bool {
        matches!(
            self,
            Kind::Sidecar | Kind::Case | Kind::Tool | Kind::Divergences | Kind::Parity
        )
    }

    /// The places of texts for people in it; `*` means any key or element.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Kind::Sidecar => &["about", "origin", "unreached.*.*"],
            Kind::Case => &["about", "cases.*.about"],
            Kind::Divergences => &["*.reason", "*.issue"],
            Kind::Parity => &["*.reason"],
            _ => &[],
        }
    }

    /// The places of globs over templates and cases in it.
    pub(crate) fn globs(self) -> &'static [&'static str] {
        match self {
            Kind::Divergences => &["*.template", "*.case"],
            Kind::Parity => &["*.cases.*"],
            _ => &[],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Template => "templates",
            Kind::Sidecar => "sidecars",
            Kind::Case => "cases",
            Kind::Tool => "tools",
            Kind::Schema => "schemas",
            Kind::Snapshot => "snapshots",
            Kind::ReferenceSnapshot => "reference snapshots",
            Kind::Card => "cards",
            Kind::Record => "records",
            Kind::Readings => "readings",
            Kind::ReadBackRecord => "read-back records",
            Kind::Divergences => "divergences",
            Kind::Parity => "parity",
        })
    }
}

/// The files of a suite, relative to its root.
pub(crate) fn files(root: &Path) -> Vec<(PathBuf, Kind)> {
    WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.path().strip_prefix(root).unwrap().to_path_buf())
        .map(|path| {
            let kind =
                Kind::of(&path).unwrap_or_else(|| panic!("{} is of no kind", path.display()));
            (path, kind)
        })
        .collect()
}
