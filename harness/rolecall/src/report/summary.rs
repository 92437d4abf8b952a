//! The summary of a run: one line a template, and one for all.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;
use rolecall_model::{OutcomeKind, TemplateName};

use super::columns::{Cell, Columns};
use super::numbers::{counted, percent, thousands};
use super::screen;
use super::style::{self, BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::wrapping::wrapped;
use crate::invocation;
use crate::record::Unverified;
use crate::run::{Compared, per_second};
use crate::snapshot::Comparison;
use crate::verdict::Verdict;

/// How many pairs the engine did as the reference, of how many.
#[derive(Debug, Default, Clone, Copy)]
struct Share {
    agree: usize,
    all: usize,
}

/// How many pairs are how.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    outcomes: BTreeMap<OutcomeKind, usize>,
    /// Pairs in which the engine had loaded the template.
    loaded: usize,
    /// Pairs in which the reference gave a prompt.
    prompts: Share,
    /// Pairs in which the reference gave none.
    refusals: Share,
    /// As accepted.
    pub same: usize,
    /// Not as accepted.
    pub changed: usize,
    /// Not accepted yet.
    pub new: usize,
    /// As the reference did it.
    pub agree: usize,
    /// Otherwise than the reference did it, and nobody has explained that.
    pub differ: usize,
    /// Otherwise than the reference did it, for a reason that is listed.
    pub diverge: usize,
    /// Of the suite, and nobody knows what the reference does.
    pub unverified: usize,
    /// The engine was gone.
    pub not_asked: usize,
    /// From outside the suite, with nothing to compare with.
    pub alone: usize,
}

impl Tally {
    fn add(&mut self, compared: &Compared<'_>) {
        let kind = compared.rendered.outcome.kind();
        *self.outcomes.entry(kind).or_default() += 1;
        self.loaded += usize::from(compared.rendered.outcome.is_of_loaded_template());
        let expected = match &compared.verdict {
            Verdict::Agrees => Some(kind),
            Verdict::Differs(difference) => Some(difference.expected.kind()),
            Verdict::Unverified(_) => None,
        };
        if let Some(expected) = expected {
            let share = match expected {
                OutcomeKind::Rendered => &mut self.prompts,
                _ => &mut self.refusals,
            };
            share.all += 1;
            share.agree += usize::from(compared.verdict == Verdict::Agrees);
        }
        match compared.comparison {
            None => {}
            Some(Comparison::Same) => self.same += 1,
            Some(Comparison::New) => self.new += 1,
            Some(Comparison::Changed(_) | Comparison::Unreadable(_)) => self.changed += 1,
        }
        match &compared.verdict {
            Verdict::Agrees => self.agree += 1,
            Verdict::Differs(_) if compared.verdict.is_unexplained() => self.differ += 1,
            Verdict::Differs(_) => self.diverge += 1,
            Verdict::Unverified(Unverified::NotAsked) => self.not_asked += 1,
            Verdict::Unverified(why) if why.is_expected() => self.alone += 1,
            Verdict::Unverified(_) => self.unverified += 1,
        }
    }

    /// Whether everything that was accepted is still so, and nothing is new.
    pub fn is_as_accepted(&self) -> bool {
        self.changed == 0 && self.new == 0
    }

    /// Whether the reference agrees wherever nobody has explained why not.
    pub fn is_as_the_reference(&self) -> bool {
        self.differ == 0 && self.unverified == 0 && self.not_asked == 0
    }

    fn judged(&self) -> usize {
        self.agree + self.differ + self.diverge + self.unverified + self.not_asked
    }

    fn count(&self, kind: OutcomeKind) -> usize {
        self.outcomes.get(&kind).copied().unwrap_or(0)
    }

    /// How the pairs stand to the snapshots: `2 changed, 351 same`.
    fn snapshots(&self) -> Cell {
        list([
            (self.changed, BAD, "changed"),
            (self.new, NOTE, "new"),
            (self.same, GOOD, "same"),
        ])
    }

    /// How the pairs stand to the reference: `1 differ, 370 agree`.
    fn reference(&self) -> Cell {
        list([
            (self.differ, BAD, "differ"),
            (self.unverified, BAD, "unverified"),
            (self.not_asked, BAD, "not asked"),
            (self.diverge, NOTE, "diverge"),
            (self.agree, GOOD, "agree"),
            (self.alone, QUIET, "unverified"),
        ])
    }
}

impl Share {
    /// `7,201 of 9,792 agree (73.53 %)`.
    fn words(self) -> String {
        format!(
            "{} of {} agree ({})",
            thousands(self.agree),
            thousands(self.all),
            percent(self.agree, self.all)
        )
    }
}

/// Counts that are not zero, with their words.
fn list<const N: usize>(counts: [(usize, Style, &str); N]) -> Cell {
    let mut cell = Cell::default();
    for (count, style, word) in counts {
        if count > 0 {
            if !cell.is_empty() {
                cell.push(QUIET, ", ");
            }
            cell.push(style, format!("{} {word}", thousands(count)));
        }
    }
    cell
}

/// The summary of a run.
#[derive(Debug, Default)]
pub struct Summary {
    by_template: BTreeMap<TemplateName, Tally>,
    total: Tally,
    /// How many pairs there were.
    count: usize,
    has_snapshots: bool,
}

impl Summary {
    /// Adds a pair.
    pub fn add(&mut self, compared: &Compared<'_>) {
        let name = &compared.rendered.pair.template.name;
        self.by_template
            .entry(name.clone())
            .or_default()
            .add(compared);
        self.total.add(compared);
        self.count += 1;
        self.has_snapshots |= compared.comparison.is_some();
    }

    /// The pairs of all templates.
    pub fn total(&self) -> &Tally {
        &self.total
    }
}

/// Writes the table.
pub fn write_table(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let Summary {
        by_template,
        total,
        has_snapshots,
        ..
    } = summary;
    // Columns that no template needs are left out: most runs have no crash.
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
            .chain((*has_snapshots).then(|| tally.snapshots()))
            .chain([tally.reference()])
            .collect::<Vec<_>>()
    };
    let mut table = Columns::right_aligned(1..=kinds.len());
    table.row(
        std::iter::once(heading("template"))
            .chain(kinds.iter().map(|kind| heading(kind.name())))
            .chain((*has_snapshots).then(|| heading("snapshots")))
            .chain([heading("reference")]),
    );
    for (name, tally) in by_template {
        table.row(row(Cell::new(PLAIN, name.as_str()), tally));
    }
    if by_template.len() > 1 {
        table.row(row(heading("all"), total));
    }
    table.write(out)
}

/// Writes what one figure for all hides, of an engine that is another program: how much of
/// the disagreement is that templates do not load, and of the agreement that nothing comes of
/// what the reference refuses, too.
pub fn write_parts(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let Tally {
        prompts, refusals, ..
    } = summary.total;
    let mut loaded = 0;
    let mut of_loaded = Share::default();
    for tally in summary
        .by_template
        .values()
        .filter(|tally| tally.loaded > 0)
    {
        loaded += 1;
        of_loaded.agree += tally.agree;
        of_loaded.all += tally.judged();
    }
    let all = summary.by_template.len();
    // Of an engine that was asked nothing there is nothing to tell.
    if summary.total.judged() == summary.total.not_asked {
        return Ok(());
    }
    let of_loaded = if 0 < loaded && loaded < all {
        format!("; of their pairs {}", of_loaded.words())
    } else {
        String::new()
    };
    let text = format!("templates that load: {loaded} of {all}{of_loaded}");
    line(out, &text)?;
    for (what, share) in [("prompts", prompts), ("refusals", refusals)] {
        if share.all > 0 {
            line(out, &format!("{what}: {}", share.words()))?;
        }
    }
    Ok(())
}

/// Writes the last lines: how many pairs, how fast, whether they agree with `law`, and
/// what is to do.
pub fn write_close(
    out: &mut dyn Write,
    summary: &Summary,
    elapsed: Duration,
    law: Option<&str>,
) -> io::Result<()> {
    let tally = &summary.total;
    let per_second = per_second(summary.count, elapsed);
    writeln!(
        out,
        "{} in {:.2} s ({} pairs/s)",
        Styled(HEADING, counted(summary.count, "pair", "pairs")),
        elapsed.as_secs_f64(),
        thousands(per_second),
    )?;
    match law {
        None => {
            let what = "unverified: these pairs are not of the suite; --against transformers or \
                        --against ollama asks the reference";
            line(out, &Styled(QUIET, what).to_string())?;
        }
        Some(_) if tally.judged() == 0 => {
            let what = format!(
                "unverified: the reference was never asked about these templates; `{}` asks it",
                invocation::command("reference update")
            );
            line(out, &Styled(QUIET, what).to_string())?;
        }
        Some(law) => {
            let style = if tally.is_as_the_reference() {
                GOOD
            } else {
                BAD
            };
            let known = match tally.diverge {
                0 => String::new(),
                count => format!(
                    "; {}",
                    counted(count, "known divergence", "known divergences")
                ),
            };
            let unverified = match tally.unverified {
                0 => String::new(),
                count => format!("; {} unverified", thousands(count)),
            };
            let not_asked = match tally.not_asked {
                0 => String::new(),
                count => format!("; {} not asked", thousands(count)),
            };
            let agree = format!(
                "{} of {} agree ({})",
                thousands(tally.agree),
                thousands(tally.judged()),
                percent(tally.agree, tally.judged())
            );
            line(
                out,
                &format!(
                    "{} with {law}{known}{unverified}{not_asked}",
                    Styled(style, agree)
                ),
            )?;
        }
    }
    if tally.is_as_accepted() {
        return Ok(());
    }
    let not = counted(tally.changed + tally.new, "pair is", "pairs are");
    let review = invocation::review();
    line(
        out,
        &format!("{} not as accepted: {review}", Styled(BAD, not)),
    )
}

/// A line that breaks between words where the screen ends.
fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::width(), 2))
}
