//! The kinds of files in a suite.

use std::fmt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// A kind of file, or of what is in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Template,
    Sidecar,
    Case,
    Tool,
    Schema,
    /// The file of a family, and in it the accepted transcripts.
    Snapshot,
    /// The reference's own transcripts there, for listed divergences.
    ReferenceSnapshot,
    /// What the reference did, there.
    Record,
    /// Parsed answers, there.
    Readings,
    /// What the reference reads back, there.
    RoundtripRecord,
    Card,
    /// What the references were asked with.
    Asked,
    Divergences,
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
            () if text == "snapshots/reference.json" => Kind::Asked,
            () if is("snapshots/cards/", ".snap") => Kind::Card,
            () if is("snapshots/", ".snap") => Kind::Snapshot,
            () => return None,
        })
    }

    /// The kind of what is at a place of a file.
    pub(crate) fn at(self, text: &[u8], at: usize) -> Kind {
        if self != Kind::Snapshot {
            return self;
        }
        let line = |at: usize| {
            let begin = text[..at].iter().rposition(|byte| *byte == b'\n');
            let line = &text[begin.map_or(0, |begin| begin + 1)..];
            line.split(|byte| *byte == b'\n').next().unwrap()
        };
        let heading = b"\n=== ";
        let heading = text[..at]
            .windows(heading.len())
            .rposition(|part| part == heading);
        let is_of_reference = |heading: usize| {
            let heading = String::from_utf8_lossy(line(heading + 1));
            heading.contains(", reference: ")
        };
        match line(at) {
            line if line.starts_with(b"reference #") => Kind::RoundtripRecord,
            line if line.starts_with(b"reference ") => Kind::Record,
            line if line.starts_with(b"#") => Kind::Readings,
            _ if heading.is_some_and(is_of_reference) => Kind::ReferenceSnapshot,
            _ => Kind::Snapshot,
        }
    }

    /// Whether it is in the file of a family.
    pub(crate) fn is_in_family(self) -> bool {
        matches!(
            self,
            Kind::Snapshot
                | Kind::ReferenceSnapshot
                | Kind::Record
                | Kind::Readings
                | Kind::RoundtripRecord
        )
    }

    pub(crate) fn is_written_by_people(self) -> bool {
        matches!(
            self,
            Kind::Sidecar | Kind::Case | Kind::Tool | Kind::Divergences
        )
    }

    /// The places of texts for people in it; `*` means any key or element.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Kind::Sidecar => &["about", "origin", "unreached.*.*"],
            Kind::Case => &["about", "cases.*.about"],
            Kind::Divergences => &["*.reason", "*.issue"],
            _ => &[],
        }
    }

    /// The places of globs over templates and cases in it.
    pub(crate) fn globs(self) -> &'static [&'static str] {
        match self {
            Kind::Divergences => &["*.template", "*.case"],
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
            Kind::RoundtripRecord => "roundtrip records",
            Kind::Asked => "what references were asked",
            Kind::Divergences => "divergences",
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
