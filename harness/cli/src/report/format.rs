//! The formats of results. A format's module writes cards or outcomes in it; comparisons have a
//! folder with a file for each format.

use std::fmt;

/// A format of results. Each command supports some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text for a person.
    Human,
    Json,
    /// One JSON object on a line.
    Jsonl,
    /// XML as JUnit has it.
    Junit,
    /// Annotations for GitHub.
    Github,
    Sarif,
    /// Markdown for GitHub.
    Markdown,
    /// LCOV's lines.
    Lcov,
}

impl Format {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Jsonl => "jsonl",
            Format::Junit => "junit",
            Format::Github => "github",
            Format::Sarif => "sarif",
            Format::Markdown => "markdown",
            Format::Lcov => "lcov",
        }
    }

    /// What the format is, or who reads it, in the words of `--help`.
    pub fn about(self) -> &'static str {
        match self {
            Format::Human => "For a person",
            Format::Json => "One JSON object",
            Format::Jsonl => "One JSON object a line",
            Format::Junit => "XML as JUnit has it, for CI servers",
            Format::Github => "Annotations for GitHub",
            Format::Sarif => "SARIF 2.1.0, for code scanning",
            Format::Markdown => "For the comment on a pull request",
            Format::Lcov => "Lines and branches as LCOV has them, for editors and CI",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
