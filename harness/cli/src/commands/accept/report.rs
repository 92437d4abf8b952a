//! The report of `accept`: which results it accepts, and which it leaves as they were.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::report::difference::say;
use crate::report::numbers::{counted, thousands};
use crate::report::screen;
use crate::report::text::{data, text, written};
use crate::report::wrapping::paragraph;
use minijinja::context;
use serde::Serialize;

use rolecall_core::invocation;
use rolecall_core::problem::{Problem, shown_path};
use rolecall_suite::accepting::AcceptedFile;
use rolecall_suite::checked_text::TextKind;
use rolecall_suite::reference::Reference;
use rolecall_suite::run::Compared;
use rolecall_suite::snapshot::SnapshotStatus;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AcceptedPairs {
    /// Accepted pairs that had another snapshot before.
    pub changed: usize,
    /// Accepted pairs that had no snapshot before.
    pub new: usize,
    /// Accepted pairs that the reference confirms.
    pub confirmed: usize,
}

impl AcceptedPairs {
    pub fn of(compared: &Compared<'_>, is_confirmed: bool) -> AcceptedPairs {
        let is_new = matches!(compared.comparison, Some(SnapshotStatus::New));
        AcceptedPairs {
            changed: usize::from(!is_new),
            new: usize::from(is_new),
            confirmed: usize::from(is_confirmed),
        }
    }

    pub fn add(&mut self, others: AcceptedPairs) {
        self.changed += others.changed;
        self.new += others.new;
        self.confirmed += others.confirmed;
    }
}

/// How many pairs and cards are accepted, and why others are not.
#[derive(Debug, Default, Serialize)]
pub struct AcceptedCounts {
    /// The accepted pairs whose files were written.
    pub accepted: AcceptedPairs,
    /// Pairs whose files could not be written.
    pub failed: usize,
    pub cards: usize,
    pub readings: usize,
    /// Files that were written as they should be, with the transcripts that they had.
    pub tidied: usize,
    /// Files that waited for review, and were removed because nothing is left to decide.
    pub removed: usize,
    /// Pairs that equal their snapshot.
    pub same: usize,
    /// Pairs that are not accepted, because the reference gives another result.
    pub refuted: usize,
    /// Pairs that are not accepted, because the reference's result is not known.
    pub unknown: usize,
    /// Pairs that are not accepted, because the engine crashed, exceeded a limit or was not asked.
    pub broken: usize,
    /// Pairs that are not accepted, because their template cannot be read.
    pub unreadable: usize,
}

impl AcceptedCounts {
    /// Counts an accepted text about a template.
    pub fn add_text(&mut self, kind: TextKind) {
        *self.text(kind) += 1;
    }

    fn text(&mut self, kind: TextKind) -> &mut usize {
        match kind {
            TextKind::Card => &mut self.cards,
            TextKind::Readings => &mut self.readings,
        }
    }

    /// How many texts about templates are accepted, in words. Kinds without one are left out.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        let counts = [
            (self.cards, TextKind::Card),
            (self.readings, TextKind::Readings),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, kind)| counted(count, kind.name(), kind.of_many()))
    }

    /// Takes back the pairs of a file that could not be written.
    pub fn take_back(&mut self, pairs: AcceptedPairs) {
        self.accepted.changed -= pairs.changed;
        self.accepted.new -= pairs.new;
        self.accepted.confirmed -= pairs.confirmed;
        self.failed += pairs.changed + pairs.new;
    }

    /// Whether nothing was written or removed, or would have been.
    fn changed_nothing(&self) -> bool {
        let AcceptedPairs { changed, new, .. } = self.accepted;
        let texts = self.cards + self.readings;
        changed + new + self.failed + texts + self.tidied + self.removed == 0
    }

    /// Whether some pairs differ from their snapshots and were not accepted.
    pub fn has_left(&self) -> bool {
        self.refuted + self.unknown + self.broken + self.unreadable > 0
    }
}

/// Writes which files were written, or would be.
pub fn write(
    out: &mut dyn Write,
    counts: &AcceptedCounts,
    files: &[AcceptedFile],
    written_files: usize,
    references: &[Reference],
    is_dry: bool,
) -> io::Result<()> {
    let references: Vec<_> = references.iter().map(Reference::to_string).collect();
    let with_orphans = files.iter().filter(|file| !file.orphans.is_empty());
    let with_orphans = with_orphans.map(|file| {
        context! { path => file.path.display().to_string(), orphans => file.orphans.clone() }
    });
    text!(out, include_str!("report.txt"), {
        counts => data(counts),
        order => written(|out| write_order(out, counts))?,
        files => with_orphans.collect::<Vec<_>>(),
        written => written_files,
        texts => counts.texts().collect::<Vec<_>>(),
        references => references.join(" and "),
        is_unchanged => counts.changed_nothing(),
        is_quiet => screen::is_quiet(),
        is_dry,
    })
}

/// Writes which files were removed, or would be, because nothing in the suite has them.
pub fn write_orphans(out: &mut dyn Write, files: &[PathBuf], is_dry: bool) -> io::Result<()> {
    const MOST: usize = 5;
    let verb = if is_dry { "would remove" } else { "removed" };
    for path in files.iter().take(MOST) {
        let path = shown_path(path);
        writeln!(out, "{verb} {path}: nothing in the suite has it")?;
    }
    if files.len() > MOST {
        writeln!(out, "{verb} {} more", thousands(files.len() - MOST))?;
    }
    Ok(())
}

/// Writes how to measure the engines again that were measured before this.
pub fn write_engines(out: &mut dyn Write) -> io::Result<()> {
    if screen::is_quiet() {
        return Ok(());
    }
    let what = "the tables of other engines are older now; to measure them again:";
    let how = "scripts/measure-engines && UPDATE=1 scripts/runners/run";
    say(out, what, how)
}

/// Writes what became of the results for which a reference was asked.
pub fn write_asked(
    out: &mut dyn Write,
    asked: usize,
    is_recorded: bool,
    is_dry: bool,
) -> io::Result<()> {
    if asked == 0 {
        return Ok(());
    }
    let pairs = counted(asked, "pair", "pairs");
    let update = invocation::command("reference update");
    let text = match (is_recorded, is_dry) {
        (true, false) => format!("recorded the reference's results for {pairs}"),
        (true, true) => format!("would record the reference's results for {pairs}"),
        (false, _) => format!(
            "asked the reference about {pairs}, and recorded nothing: `{update}` records its results"
        ),
    };
    paragraph(out, &text, 2)
}

/// Writes how many files were put in order.
pub fn write_order(out: &mut dyn Write, counts: &AcceptedCounts) -> io::Result<()> {
    text!(out, include_str!("order.txt"), { counts => data(counts) })
}

/// Writes what is wrong with files whose transcripts are as accepted.
pub fn write_untidy(out: &mut dyn Write, untidy: &[AcceptedFile]) -> io::Result<()> {
    for problem in untidy.iter().flat_map(|one| &one.problems) {
        let problem = Problem {
            help: None,
            ..problem.clone()
        };
        paragraph(out, &problem.to_string(), 2)?;
    }
    Ok(())
}
