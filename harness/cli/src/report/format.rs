//! The formats of results. A format's module writes cards or outcomes in it; comparisons have a
//! folder with a file for each format.

use clap::ValueEnum;

/// A format of results. Each command supports some of them. The help of `--format` says what each is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Human,
    /// One JSON object
    Json,
    /// One JSON object a line
    Jsonl,
    /// XML as JUnit has it, for CI servers
    Junit,
    /// Annotations for GitHub
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// For the comment on a pull request
    Markdown,
    /// Lines and branches as LCOV has them, for editors and CI
    Lcov,
}
