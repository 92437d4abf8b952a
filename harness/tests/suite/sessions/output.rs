//! Whole outputs of commands, which insta compares with accepted ones.

use std::fs;
use std::io;
use std::path::Path;

use regex::Regex;
use rolecall_cli::report::difference;
use rolecall_core::diff::Diff;

use crate::review;

/// What is another text on each machine or each time, and what a snapshot has instead.
const CHANGING: [(&str, &str); 2] = [
    (r"\b\d+(\.\d+)? s\b", "[time]"),
    (r"\b[\d,]+ pairs/s\b", "[speed]"),
];

/// What differs from the snapshot of that name next to a session, if something does. insta leaves a
/// pending snapshot then, except in CI.
pub(super) fn difference(
    session: &Path,
    (name, command): (&str, &str),
    said: &str,
) -> io::Result<Option<String>> {
    let mut said = said.replace(env!("CARGO_PKG_VERSION"), "[version]");
    for (pattern, instead) in CHANGING {
        let pattern = Regex::new(pattern).map_err(io::Error::other)?;
        said = pattern.replace_all(&said, instead).into_owned();
    }
    let folder = session.parent().unwrap_or(session);
    let mut settings = review::settings(folder, session);
    settings.set_description(format!("$ {command}"));
    if review::is_accepted(&settings, name, &said) {
        return Ok(None);
    }
    let accepted = fs::read_to_string(folder.join(format!("{name}.snap"))).unwrap_or_default();
    let (_, accepted) = accepted.split_once("\n---\n").unwrap_or_default();
    let mut lines = Vec::new();
    let diff = Diff::new(accepted, &(said.trim_end().to_owned() + "\n"));
    difference::write_hunks(&mut lines, &diff, "    ", usize::MAX)?;
    let lines = String::from_utf8_lossy(&lines);
    Ok(Some(format!(
        "the output is not as in {name}.snap; `cargo insta review` accepts it:\n{}",
        anstream::adapter::strip_str(&lines)
    )))
}
