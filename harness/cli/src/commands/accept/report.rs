//! The report of `accept`: which results it accepts, and which it leaves as they were.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::report::difference::say;
use crate::report::numbers::{counted, thousands};
use crate::report::screen;
use crate::report::text::{data, text, written};
use crate::report::wrapping::paragraph;
use minijinja::context;

use rolecall_core::invocation;
use rolecall_core::problem::{Problem, shown_path};
use rolecall_suite::accepting::{AcceptedCounts, AcceptedFile};
use rolecall_suite::checked_text::TextKind;
use rolecall_suite::reference::Reference;

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
        texts => texts(counts).collect::<Vec<_>>(),
        references => references.join(" and "),
        is_unchanged => counts.changed_nothing(),
        is_quiet => screen::is_quiet(),
        is_dry,
    })
}

/// How many texts about templates are accepted, in words. Kinds without one are left out.
fn texts(accepted: &AcceptedCounts) -> impl Iterator<Item = String> {
    let counts = [
        (accepted.cards, TextKind::Card),
        (accepted.readings, TextKind::Readings),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, kind)| counted(count, kind.name(), kind.of_many()))
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
