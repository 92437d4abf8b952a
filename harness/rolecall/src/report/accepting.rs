//! What is accepted, and what is left as it was.

use std::io::{self, Write};

use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, QUIET, Styled};
use super::wrapping::wrapped;
use crate::accepting::AcceptedFile;
use crate::invocation;
use crate::reference::Reference;
use crate::run::Compared;
use crate::snapshot::Comparison;

/// How many pairs are accepted, and why others are not.
#[derive(Debug, Default)]
pub struct Counts {
    /// Of which something else was accepted before.
    pub changed: usize,
    /// Of which nothing was accepted before.
    pub new: usize,
    /// Of these, those that the reference confirms.
    pub confirmed: usize,
    /// That are as they were accepted.
    pub same: usize,
    /// Not accepted, because the reference does them otherwise.
    pub refuted: usize,
    /// Not accepted, because nobody knows what the reference does.
    pub unknown: usize,
}

impl Counts {
    /// Adds a pair that is accepted.
    pub fn accept(&mut self, compared: &Compared<'_>, is_confirmed: bool) {
        match compared.comparison {
            Some(Comparison::New) => self.new += 1,
            _ => self.changed += 1,
        }
        self.confirmed += usize::from(is_confirmed);
    }

    /// Whether some pairs are not as accepted, and stay so.
    pub fn has_left(&self) -> bool {
        self.refuted + self.unknown > 0
    }
}

/// Writes what was or would be written.
pub fn write(
    out: &mut dyn Write,
    counts: &Counts,
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
        let same = format!("{} as accepted before", thousands(counts.same));
        writeln!(out, "{}", Styled(QUIET, same))?;
    }
    if counts.refuted > 0 {
        let count = counted(counts.refuted, "pair", "pairs");
        let left = Styled(BAD, format!("{count} left"));
        writeln!(out, "{left}: the reference does not do the same")?;
    }
    if counts.unknown > 0 {
        let count = counted(counts.unknown, "pair", "pairs");
        let left = Styled(BAD, format!("{count} left"));
        writeln!(out, "{left}: nobody knows what the reference does")?;
        let help = format!(
            "  `{}` installs the references; to accept without them, name the pairs",
            invocation::set_up_references()
        );
        writeln!(out, "{}", wrapped(&help, screen::width(), 4))?;
    }
    Ok(())
}
