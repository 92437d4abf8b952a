//! The report of `add`: the new case, and what in it may be private.

use std::io::{self, Write};
use std::path::Path;

use crate::report::style::{GOOD, Styled};
use crate::report::text::text;
use crate::report::wrapping::paragraph;
use rolecall_core::invocation;
use rolecall_suite::private::{LOOKED_FOR, NOT_LOOKED_FOR, PrivateText};

/// Writes what in the conversation may be private.
pub fn write_private(out: &mut dyn Write, found: &[PrivateText]) -> io::Result<()> {
    let found = found
        .iter()
        .map(|one| format!("{}: {}", one.kind, beginning(&one.text)));
    text!(out, include_str!("private.txt"), {
        found => found.collect::<Vec<_>>(),
        looked_for => LOOKED_FOR,
        not_looked_for => NOT_LOOKED_FOR,
    })
}

/// The beginning of a text, on one line: enough to find it in the conversation.
fn beginning(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    let shown: String = line.chars().take(MOST).collect();
    if shown == text { shown } else { shown + "…" }
}

/// Writes that nothing was written, and what to do.
pub fn write_withheld(out: &mut dyn Write, is_private: bool) -> io::Result<()> {
    let text = if is_private {
        "nothing was written: `--redact` replaces what may be private, `--keep-private` keeps it"
    } else {
        "nothing was written, because of --dry-run"
    };
    paragraph(out, text, 2)
}

/// Writes where the case is now, and what comes next.
pub fn write_added(out: &mut dyn Write, file: &Path, family: &str, name: &str) -> io::Result<()> {
    let added = Styled(GOOD, format!("added {family}/{name}"));
    paragraph(out, &format!("{added} to {}", file.display()), 2)?;
    let filter = invocation::word(&format!("*:{family}/{name}"));
    let run = invocation::command(&format!("run {filter}"));
    let accept = invocation::command(&format!("accept {filter} --verified"));
    let text = format!("now: `{run}` shows the prompts, `{accept}` accepts them");
    paragraph(out, &text, 2)
}
