//! Every case against a few templates, one line a case.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use rolecall_core::CaseId;

use crate::report::columns::{Cell, Columns};
use crate::report::style::{BAD, HEADING, NOTE, PLAIN, QUIET};
use crate::report::{screen, style};
use rolecall_suite::record::Unverified;
use rolecall_suite::run::Compared;
use rolecall_suite::snapshot::SnapshotStatus;
use rolecall_suite::verdict::Verdict;

/// How many templates fit side by side on an ordinary terminal.
pub const MOST_TEMPLATES: usize = 4;

/// How many cases people read before the verdict below them.
pub const MOST_CASES: usize = 60;

/// The outcomes of each case for each template, family by family.
#[derive(Debug, Default)]
pub struct Grid<'s> {
    names: Vec<&'s str>,
    /// The cases, in the order of their first pair.
    ids: Vec<&'s CaseId>,
    seen: HashSet<&'s CaseId>,
    cells: HashMap<(&'s str, &'s CaseId), Cell>,
}

impl<'s> Grid<'s> {
    pub fn add(&mut self, compared: &Compared<'s>) {
        let pair = compared.rendered.pair;
        let name = pair.template.name.as_str();
        if !self.names.contains(&name) {
            self.names.push(name);
        }
        if self.seen.insert(&pair.case.id) {
            self.ids.push(&pair.case.id);
        }
        self.cells.insert((name, &pair.case.id), cell(compared));
    }

    /// Writes the grid. Templates that do not fit next to each other go into further grids.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (index, names) in self.chunks(screen::width()).iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            self.columns(names).write(out)?;
        }
        Ok(())
    }

    /// The templates in groups that fit side by side.
    fn chunks(&self, width: usize) -> Vec<&[&'s str]> {
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        let first = widest(&mut self.ids.iter().map(|id| id.name().len() + 2));
        let mut chunks = Vec::new();
        let mut rest = self.names.as_slice();
        while !rest.is_empty() {
            let mut used = first;
            let fitting = rest.iter().take(MOST_TEMPLATES).take_while(|name| {
                let mut cells = self.cells.iter().filter(|((known, _), _)| known == *name);
                used +=
                    2 + widest(&mut cells.by_ref().map(|(_, cell)| cell.width())).max(name.len());
                used <= width
            });
            // A name may be wider than the screen. Without at least one template for each chunk, the
            // loop would not end.
            let (chunk, others) = rest.split_at(fitting.count().max(1));
            chunks.push(chunk);
            rest = others;
        }
        chunks
    }

    fn columns(&self, names: &[&'s str]) -> Columns {
        let is_there = |id: &&'s CaseId| {
            let mut names = names.iter();
            names.any(|name| self.cells.contains_key(&(*name, *id)))
        };
        let mut ids: Vec<&'s CaseId> = self.ids.iter().copied().filter(is_there).collect();
        // Cases that the first template lacks are at the end of the list.
        ids.sort_by(|a, b| a.family().cmp(b.family()));
        let mut columns = Columns::default();
        let mut family = "";
        for id in ids {
            if id.family() != family {
                family = id.family();
                columns.row(
                    std::iter::once(Cell::new(HEADING, family))
                        .chain(names.iter().map(|name| Cell::new(QUIET, *name))),
                );
            }
            let name = Cell::new(PLAIN, format!("  {}", id.name()));
            let cells = names
                .iter()
                .map(|name| self.cells.get(&(*name, id)).cloned().unwrap_or_default());
            columns.row(std::iter::once(name).chain(cells));
        }
        columns
    }
}

fn cell(result: &Compared<'_>) -> Cell {
    let kind = result.rendered.outcome.kind();
    let mut cell = Cell::new(style::named(style::of_outcome(kind)), kind.name());
    match result.comparison {
        None | Some(SnapshotStatus::Same) => {}
        Some(SnapshotStatus::New) => cell.push(NOTE, " new"),
        Some(SnapshotStatus::Changed(_) | SnapshotStatus::Unreadable(_)) => {
            cell.push(BAD, " changed");
        }
    }
    match &result.verdict {
        // The outcome already says that the engine was not asked.
        Verdict::Agrees | Verdict::Unverified(Unverified::NotAsked) => {}
        Verdict::Unverified(why) if why.is_expected() => {}
        Verdict::Unverified(_) => cell.push(BAD, " unverified"),
        Verdict::Differs(_) if result.verdict.is_unexplained() => cell.push(BAD, " differs"),
        Verdict::Differs(_) => cell.push(NOTE, " diverges"),
    }
    cell
}
