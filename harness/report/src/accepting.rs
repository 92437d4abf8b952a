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

/// How many pairs are accepted.
#[derive(Debug, Clone, Copy, Default)]
pub struct AcceptedPairs {
    /// Accepted pairs that had another snapshot before.
    pub changed: usize,
    /// Accepted pairs that had no snapshot before.
    pub new: usize,
    /// Accepted pairs that the reference confirms.
    pub confirmed: usize,
}

impl AcceptedPairs {
    /// One pair.
    pub fn of(compared: &Compared<'_>, is_confirmed: bool) -> AcceptedPairs {
        let is_new = matches!(compared.comparison, Some(SnapshotStatus::New));
        AcceptedPairs {
            changed: usize::from(!is_new),
            new: usize::from(is_new),
            confirmed: usize::from(is_confirmed),
        }
    }

    /// Adds others.
    pub fn add(&mut self, others: AcceptedPairs) {
        self.changed += others.changed;
        self.new += others.new;
        self.confirmed += others.confirmed;
    }
}

/// The files of a command, and how many of them could be written.
#[derive(Debug, Clone, Copy)]
pub struct AcceptedFiles<'f> {
    /// All files.
    pub files: &'f [AcceptedFile],
    /// How many were written.
    pub written: usize,
}

/// How many pairs and cards are accepted, and why others are not.
#[derive(Debug, Default)]
pub struct AcceptedCounts {
    /// The accepted pairs whose files were written.
    pub accepted: AcceptedPairs,
    /// Pairs whose files could not be written.
    pub failed: usize,
    /// Accepted report cards.
    pub cards: usize,
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
    /// Takes back the pairs of a file that could not be written.
    pub fn take_back(&mut self, pairs: AcceptedPairs) {
        self.accepted.changed -= pairs.changed;
        self.accepted.new -= pairs.new;
        self.accepted.confirmed -= pairs.confirmed;
        self.failed += pairs.changed + pairs.new;
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
    files: AcceptedFiles<'_>,
    references: &[Reference],
    is_dry: bool,
) -> io::Result<()> {
    for file in files.files.iter().filter(|file| !file.orphans.is_empty()) {
        let count = counted(file.orphans.len(), "section", "sections");
        writeln!(
            out,
            "{}: {count} without a case left out: {}",
            file.path.display(),
            file.orphans.join(", ")
        )?;
    }
    if counts.same > 0 {
        let same = format!("{} unchanged", thousands(counts.same));
        writeln!(out, "{}", Styled(QUIET, same))?;
    }
    write_left(out, counts)?;
    let AcceptedPairs {
        changed,
        new,
        confirmed,
    } = counts.accepted;
    let accepted = changed + new;
    let verb = if is_dry { "would accept" } else { "accepted" };
    if counts.cards > 0 {
        let cards = counted(counts.cards, "report card", "report cards");
        writeln!(out, "{}", Styled(GOOD, format!("{verb} {cards}")))?;
    }
    if accepted > 0 {
        writeln!(
            out,
            "{} in {}: {} changed, {} new",
            Styled(
                GOOD,
                format!("{verb} {}", counted(accepted, "snapshot", "snapshots"))
            ),
            counted(files.written, "file", "files"),
            thousands(changed),
            thousands(new),
        )?;
        let style = if confirmed == accepted { GOOD } else { BAD };
        let whom = format!("{} of {}", thousands(confirmed), thousands(accepted));
        let names: Vec<_> = references.iter().map(Reference::to_string).collect();
        let law = names.join(" and ");
        writeln!(out, "{} confirmed by {law}", Styled(style, whom))?;
    } else if counts.cards == 0 && counts.failed == 0 {
        writeln!(out, "nothing to accept")?;
    }
    if screen::is_quiet() {
        write_sum(out, counts, references, verb)?;
    }
    Ok(())
}

/// Writes everything in one line: what is accepted, who confirms it, and what is left.
fn write_sum(
    out: &mut dyn Write,
    counts: &AcceptedCounts,
    references: &[Reference],
    verb: &str,
) -> io::Result<()> {
    let AcceptedPairs {
        changed,
        new,
        confirmed,
    } = counts.accepted;
    let accepted = changed + new;
    let mut parts = Vec::new();
    if accepted > 0 {
        parts.push(counted(accepted, "snapshot", "snapshots"));
    }
    if counts.cards > 0 {
        parts.push(counted(counts.cards, "report card", "report cards"));
    }
    let mut line = if parts.is_empty() {
        "nothing to accept".to_owned()
    } else {
        format!("{verb} {}", parts.join(" and "))
    };
    if accepted > 0 {
        let names: Vec<_> = references.iter().map(Reference::to_string).collect();
        line = format!(
            "{line}; {} of {} confirmed by {}",
            thousands(confirmed),
            thousands(accepted),
            names.join(" and ")
        );
    }
    let left = counts.failed + counts.broken + counts.refuted + counts.unknown;
    if left > 0 {
        let left = counted(left, "pair", "pairs");
        line = format!("{line}; {}", Styled(BAD, format!("{left} left")));
    }
    writeln!(out, "{line}")
}

/// Writes which pairs were not accepted, and why.
fn write_left(out: &mut dyn Write, counts: &AcceptedCounts) -> io::Result<()> {
    if counts.failed > 0 {
        let count = counted(counts.failed, "pair", "pairs");
        let left = Styled(BAD, format!("{count} left"));
        writeln!(out, "{left}: their files cannot be written")?;
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
