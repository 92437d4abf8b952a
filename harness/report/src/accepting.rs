//! The report of `accept`: which results it accepts, and which it leaves as they were.

use std::io::{self, Write};

use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, QUIET, Styled};
use super::wrapping::wrapped;
use rolecall_base::invocation;
use rolecall_suite::accepting::AcceptedFile;
use rolecall_suite::reference::Reference;
use rolecall_suite::run::Compared;
use rolecall_suite::snapshot::SnapshotStatus;

/// How many pairs are accepted, and why others are not.
#[derive(Debug, Default)]
pub struct AcceptedCounts {
    /// Accepted pairs that had another snapshot before.
    pub changed: usize,
    /// Accepted pairs that had no snapshot before.
    pub new: usize,
    /// Accepted pairs that the reference confirms.
    pub confirmed: usize,
    /// Pairs that equal their snapshot.
    pub same: usize,
    /// Pairs that are not accepted, because the reference gives another result.
    pub refuted: usize,
    /// Pairs that are not accepted, because the reference's result is not known.
    pub unknown: usize,
    /// Pairs that are not accepted, because the engine crashed, exceeded a limit or was not asked.
    pub broken: usize,
}

impl AcceptedCounts {
    /// Adds a pair that is accepted.
    pub fn accept(&mut self, compared: &Compared<'_>, is_confirmed: bool) {
        match compared.comparison {
            Some(SnapshotStatus::New) => self.new += 1,
            _ => self.changed += 1,
        }
        self.confirmed += usize::from(is_confirmed);
    }

    /// Whether some pairs differ from their snapshots and were not accepted.
    pub fn has_left(&self) -> bool {
        self.refuted + self.unknown + self.broken > 0
    }
}

/// Writes what was written, or would be.
pub fn write(
    out: &mut dyn Write,
    counts: &AcceptedCounts,
    files: &[AcceptedFile],
    references: &[Reference],
    is_dry: bool,
) -> io::Result<()> {
    for file in files.iter().filter(|file| !file.orphans.is_empty()) {
        let count = counted(file.orphans.len(), "section", "sections");
        writeln!(
            out,
            "{}: {count} without a case left out: {}",
            file.path.display(),
            file.orphans.join(", ")
        )?;
    }
    let accepted = counts.changed + counts.new;
    if accepted > 0 {
        let verb = if is_dry { "would accept" } else { "accepted" };
        writeln!(
            out,
            "{} in {}: {} changed, {} new",
            Styled(
                GOOD,
                format!("{verb} {}", counted(accepted, "snapshot", "snapshots"))
            ),
            counted(files.len(), "file", "files"),
            thousands(counts.changed),
            thousands(counts.new),
        )?;
        let style = if counts.confirmed == accepted {
            GOOD
        } else {
            BAD
        };
        let whom = format!("{} of {}", thousands(counts.confirmed), thousands(accepted));
        let names: Vec<_> = references.iter().map(Reference::to_string).collect();
        let law = names.join(" and ");
        writeln!(out, "{} confirmed by {law}", Styled(style, whom))?;
    } else {
        writeln!(out, "nothing to accept")?;
    }
    if counts.same > 0 {
        let same = format!("{} unchanged", thousands(counts.same));
        writeln!(out, "{}", Styled(QUIET, same))?;
    }
    if counts.broken > 0 {
        let count = counted(counts.broken, "pair", "pairs");
        let left = Styled(BAD, format!("{count} left"));
        writeln!(out, "{left}: the engine gave no result")?;
        let help = "  it crashed, exceeded a limit or was not asked; `--also crashed` and \
                    `--also exceeded` accept the first two";
        writeln!(out, "{}", wrapped(help, screen::width(), 4))?;
    }
    if counts.refuted > 0 {
        let count = counted(counts.refuted, "pair", "pairs");
        let left = Styled(BAD, format!("{count} left"));
        writeln!(out, "{left}: the reference gives another result")?;
    }
    if counts.unknown > 0 {
        let count = counted(counts.unknown, "pair", "pairs");
        let left = Styled(BAD, format!("{count} left"));
        writeln!(out, "{left}: the reference's result is not known")?;
        let help = format!(
            "  `{}` installs the references; to accept without them, name the pairs",
            invocation::set_up_references()
        );
        writeln!(out, "{}", wrapped(&help, screen::width(), 4))?;
    }
    Ok(())
}
