//! The summary of a run: one line a template, and one for all.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::columns::{Cell, Columns};
use super::style::{self, BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::{counted, thousands};
use crate::outcome::OutcomeKind;
use crate::run::{Compared, Timed};
use crate::snapshot::Comparison;
use crate::template::TemplateName;

/// How many pairs are how.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    outcomes: BTreeMap<OutcomeKind, usize>,
    /// As accepted.
    pub same: usize,
    /// Not as accepted.
    pub changed: usize,
    /// Not accepted yet.
    pub new: usize,
    /// Without anything to compare with.
    pub alone: usize,
}

impl Tally {
    /// Counts results.
    pub fn of<'t>(results: impl IntoIterator<Item = &'t Compared<'t>>) -> Tally {
        let mut tally = Tally::default();
        for compared in results {
            tally.add(compared);
        }
        tally
    }

    fn add(&mut self, compared: &Compared<'_>) {
        let kind = compared.rendered.outcome.kind();
        *self.outcomes.entry(kind).or_default() += 1;
        match compared.comparison {
            None => self.alone += 1,
            Some(Comparison::Same) => self.same += 1,
            Some(Comparison::New) => self.new += 1,
            Some(Comparison::Changed(_) | Comparison::Unreadable(_)) => self.changed += 1,
        }
    }

    /// Whether everything that was accepted is still so, and nothing is new.
    pub fn is_as_accepted(&self) -> bool {
        self.changed == 0 && self.new == 0
    }

    fn count(&self, kind: OutcomeKind) -> usize {
        self.outcomes.get(&kind).copied().unwrap_or(0)
    }

    /// What stands in the last column: `2 changed, 351 same`.
    fn snapshots(&self) -> Cell {
        let mut cell = Cell::default();
        for (count, style, word) in [
            (self.changed, BAD, "changed"),
            (self.new, NOTE, "new"),
            (self.same, GOOD, "same"),
            (self.alone, QUIET, "unverified"),
        ] {
            if count > 0 {
                if !cell.is_empty() {
                    cell.push(QUIET, ", ");
                }
                cell.push(style, format!("{} {word}", thousands(count)));
            }
        }
        cell
    }
}

/// Writes the table.
pub fn write_table(out: &mut dyn Write, results: &[Compared<'_>]) -> io::Result<()> {
    let mut by_template: BTreeMap<&TemplateName, Tally> = BTreeMap::new();
    for compared in results {
        let name = &compared.rendered.pair.template.name;
        by_template.entry(name).or_default().add(compared);
    }
    // Columns that no template needs are left out: most runs have no crash.
    let total = Tally::of(results);
    let kinds: Vec<OutcomeKind> = OutcomeKind::ALL
        .into_iter()
        .filter(|kind| *kind == OutcomeKind::Rendered || total.count(*kind) > 0)
        .collect();

    let heading = |text: &str| Cell::new(HEADING, text);
    let row = |name: Cell, tally: &Tally| {
        std::iter::once(name)
            .chain(kinds.iter().map(|kind| match tally.count(*kind) {
                0 => Cell::new(QUIET, "·"),
                count => Cell::new(style::of_outcome(*kind), thousands(count)),
            }))
            .chain([tally.snapshots()])
            .collect::<Vec<_>>()
    };
    let mut table = Columns::right_aligned(1..=kinds.len());
    table.row(
        std::iter::once(heading("template"))
            .chain(kinds.iter().map(|kind| heading(kind.name())))
            .chain([heading("snapshots")]),
    );
    for (name, tally) in &by_template {
        table.row(row(Cell::new(PLAIN, name.as_str()), tally));
    }
    if by_template.len() > 1 {
        table.row(row(heading("all"), &total));
    }
    table.write(out)
}

/// Writes the last line: how many pairs, how fast, and what is to do.
pub fn write_close(out: &mut dyn Write, run: &Timed<Compared<'_>>) -> io::Result<()> {
    let tally = Tally::of(&run.results);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a positive rate
    let per_second = run.per_second().round() as usize;
    writeln!(
        out,
        "{} in {:.2} s ({} pairs/s)",
        Styled(HEADING, counted(run.results.len(), "pair", "pairs")),
        run.elapsed.as_secs_f64(),
        thousands(per_second),
    )?;
    if tally.same > 0 || tally.alone > 0 {
        writeln!(
            out,
            "{}",
            Styled(
                QUIET,
                "verdicts: unverified (no reference has been recorded for these pairs)"
            )
        )?;
    }
    if tally.is_as_accepted() {
        return Ok(());
    }
    let not = counted(tally.changed + tally.new, "pair is", "pairs are");
    writeln!(
        out,
        "{} not as accepted: run `cargo test`, then `cargo insta review` to accept or reject",
        Styled(BAD, not)
    )
}
