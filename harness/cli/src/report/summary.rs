//! The summary of a run: one line for each template, and one for all.

use std::io::{self, Write};

use anstyle::Style;
use rolecall_core::OutcomeKind;

use super::columns::{Cell, Columns};
use super::numbers::{counted, percent, thousands};
use super::other_fault::OtherFault;
use super::screen::{self, whose};
use super::style::{self, BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use super::wrapping::wrapped;
use rolecall_answers::comparison::Verdict;
use rolecall_core::invocation;
use rolecall_core::problem::shown;
use rolecall_suite::checked_text::TextKind;
use rolecall_suite::conclusion::{Conclusion, EngineFailure, PairTally, Share};
use rolecall_suite::roundtrip::RoundtripTally;
use rolecall_suite::run::per_second;

/// How many pairs equal their snapshots: `2 changed, 351 same`.
fn snapshots(tally: &PairTally) -> Cell {
    list([
        (tally.changed, BAD, "changed"),
        (tally.new, NOTE, "new"),
        (tally.same, GOOD, "same"),
    ])
}

/// How many pairs agree with the reference: `1 differ, 370 agree`.
fn reference(tally: &PairTally) -> Cell {
    list([
        (tally.differ, BAD, "differ"),
        (tally.unverified, BAD, "unverified"),
        (tally.not_asked, BAD, "not asked"),
        (tally.diverge, NOTE, "diverge"),
        (tally.agree, GOOD, "agree"),
        (tally.outside, QUIET, "unverified"),
    ])
}

/// `7,201 of 9,792 agree (73.53 %)`.
fn words(share: Share) -> String {
    format!(
        "{} of {} agree ({})",
        thousands(share.agree),
        thousands(share.all),
        percent(share.agree, share.all)
    )
}

/// The counts that are not zero, with their words.
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

/// Writes the table. If pairs are not as expected, templates without such pairs are only counted,
/// unless the table is wanted whole.
pub fn write_table(
    out: &mut dyn Write,
    conclusion: &Conclusion<'_>,
    is_whole: bool,
) -> io::Result<()> {
    let Conclusion {
        by_template,
        total,
        has_snapshots,
        ..
    } = conclusion;
    // Columns that no template needs are left out; most runs have no crash, for example.
    let kinds: Vec<OutcomeKind> = OutcomeKind::ALL
        .into_iter()
        .filter(|kind| *kind == OutcomeKind::Rendered || total.count(*kind) > 0)
        .collect();
    let heading = |text: &str| Cell::new(HEADING, text);
    let row = |name: Cell, tally: &PairTally| {
        std::iter::once(name)
            .chain(kinds.iter().map(|kind| match tally.count(*kind) {
                0 => Cell::new(QUIET, "·"),
                count => Cell::new(style::of_outcome(*kind), thousands(count)),
            }))
            .chain((*has_snapshots).then(|| snapshots(tally)))
            .chain([reference(tally)])
            .collect::<Vec<_>>()
    };
    let mut table = Columns::right_aligned(1..=kinds.len());
    table.row(
        std::iter::once(heading("template"))
            .chain(kinds.iter().map(|kind| heading(kind.name())))
            .chain((*has_snapshots).then(|| heading("snapshots")))
            .chain([heading("reference")]),
    );
    let mut others = 0;
    for (name, tally) in by_template {
        if is_whole || total.faults == 0 || tally.faults > 0 {
            table.row(row(Cell::new(PLAIN, name.as_str()), tally));
        } else {
            others += 1;
        }
    }
    if by_template.len() > 1 {
        table.row(row(heading("all"), total));
    }
    table.write(out)?;
    if others > 0 {
        let others = counted(others, "other template", "other templates");
        let text = format!("all pairs of {others} are as expected: --all shows them");
        line(out, &Styled(QUIET, text).to_string())?;
    }
    Ok(())
}

/// Writes what the total hides about an engine that is another program: how many differences come
/// from templates that do not load, and how many agreements are cases that both refuse.
pub fn write_parts(out: &mut dyn Write, conclusion: &Conclusion<'_>) -> io::Result<()> {
    let PairTally {
        prompts, refusals, ..
    } = conclusion.total;
    let mut loaded = 0;
    let mut of_loaded = Share::default();
    for tally in conclusion
        .by_template
        .values()
        .filter(|tally| tally.loaded > 0)
    {
        loaded += 1;
        of_loaded.agree += tally.agree;
        of_loaded.all += tally.judged();
    }
    let all = conclusion.by_template.len();
    // There is nothing to report about an engine that was asked nothing.
    if conclusion.total.judged() == conclusion.total.not_asked {
        return Ok(());
    }
    let of_loaded = if 0 < loaded && loaded < all {
        format!("; of their pairs {}", words(of_loaded))
    } else {
        String::new()
    };
    let text = format!("templates that load: {loaded} of {all}{of_loaded}");
    line(out, &text)?;
    for (what, share) in [("prompts", prompts), ("refusals", refusals)] {
        if share.all > 0 {
            line(out, &format!("{what}: {}", words(share)))?;
        }
    }
    Ok(())
}

/// Writes the last lines: how well answers are parsed, how many pairs of which `origin`, how fast,
/// whether they agree with `reference_names`, and what to do next.
pub fn write_close(
    out: &mut dyn Write,
    conclusion: &Conclusion<'_>,
    origin: &str,
    reference_names: Option<&str>,
) -> io::Result<()> {
    write_roundtrip(out, &conclusion.roundtrip)?;
    let (tally, elapsed) = (&conclusion.total, conclusion.elapsed);
    let per_second = per_second(tally.all(), elapsed);
    let extent = format!(
        "{origin}: {} in {:.2} s ({} pairs/s)",
        Styled(HEADING, counted(tally.all(), "pair", "pairs")),
        elapsed.as_secs_f64(),
        thousands(per_second),
    );
    line(out, &extent)?;
    let whose = whose(origin);
    match reference_names {
        // Nothing was compared, as the last line says.
        None => {}
        Some(_) if tally.judged() == 0 => {
            let what = format!(
                "unverified: the reference's results are not recorded yet; `{}` records them",
                invocation::command("reference update")
            );
            line(out, &format!("{whose}{}", Styled(QUIET, what)))?;
        }
        Some(reference_names) => {
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
            // Nothing disagrees with a record that is not there.
            if tally.agree + tally.differ == 0 && tally.unverified == tally.judged() {
                let none = format!(
                    "{} verified by {reference_names}",
                    Styled(
                        BAD,
                        format!(
                            "none of {}",
                            counted(tally.judged(), "pair is", "pairs are")
                        )
                    )
                );
                line(out, &none)?;
                return write_not_accepted(out, conclusion);
            }
            let agree = format!(
                "{} of {} agree ({})",
                thousands(tally.agree),
                thousands(tally.judged()),
                percent(tally.agree, tally.judged())
            );
            line(
                out,
                &format!(
                    "{whose}{} with {reference_names}{known}{unverified}{not_asked}",
                    Styled(style, agree)
                ),
            )?;
        }
    }
    for fault in &conclusion.engines {
        // The command itself says of every program how it died.
        if let EngineFailure::AnswersNothing(_) = fault.what {
            let what = shown(&OtherFault::of_engine(fault).what);
            line(out, &format!("{} {what}", Styled(BAD, "error")))?;
        }
    }
    write_not_accepted(out, conclusion)?;
    if let Some(what) = not_compared(conclusion) {
        let how = match reference_names {
            None => "; --against transformers or --against ollama asks the reference",
            Some(_) => "",
        };
        let what = Styled(NOTE, format!("not compared: {what}"));
        line(out, &format!("{whose}{what}{how}"))?;
    }
    Ok(())
}

/// The pairs of a run of which nothing says what they should give, with their outcomes, in words:
/// `825 pairs (735 rendered, 90 failed); nothing says what they should be`.
pub(super) fn not_compared(conclusion: &Conclusion<'_>) -> Option<String> {
    let uncompared = conclusion.uncompared.len();
    if uncompared == 0 {
        return None;
    }
    let all = match conclusion.total.all() {
        all if all == uncompared => counted(all, "pair", "pairs"),
        all => format!(
            "{} of {}",
            thousands(uncompared),
            counted(all, "pair", "pairs")
        ),
    };
    let outcomes = conclusion.uncompared_outcomes().into_iter();
    let outcomes: Vec<String> = outcomes
        .map(|(kind, count)| format!("{} {kind}", thousands(count)))
        .collect();
    let outcomes = outcomes.join(", ");
    Some(format!(
        "{all} ({outcomes}); nothing says what they should be"
    ))
}

/// Writes the verdict of something that failed, as the last line.
pub fn write_failure(out: &mut dyn Write, origin: &str, verdict: &str) -> io::Result<()> {
    line(out, &format!("{}{}", whose(origin), Styled(BAD, verdict)))
}

/// Writes the differences from the accepted texts.
fn write_not_accepted(out: &mut dyn Write, conclusion: &Conclusion<'_>) -> io::Result<()> {
    let tally = &conclusion.total;
    let pairs = tally.changed + tally.new;
    let review = invocation::review();
    let of_kind = |kind| {
        let cards = conclusion
            .cards
            .iter()
            .filter(move |checked| checked.kind == kind);
        cards.filter(|checked| !checked.change.is_same()).count()
    };
    let texts = TextKind::ALL.map(|kind| (of_kind(kind), kind.name(), kind.of_many()));
    let all = [(pairs, "pair", "pairs")].into_iter().chain(texts);
    let wrong: Vec<(usize, String)> = all
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| (count, counted(count, one, many)))
        .collect();
    if let [.., (last, _)] = wrong.as_slice() {
        let is = if *last == 1 && wrong.len() == 1 {
            "is"
        } else {
            "are"
        };
        let words: Vec<&str> = wrong.iter().map(|(_, words)| words.as_str()).collect();
        let what = format!("{} {is}", words.join(" and "));
        line(
            out,
            &format!("{} not as accepted: {review}", Styled(BAD, what)),
        )?;
    }
    let forbidden: usize = conclusion
        .cards
        .iter()
        .map(|checked| checked.forbidden.len())
        .sum();
    if forbidden > 0 {
        let count = counted(forbidden, "contract is", "contracts are");
        line(
            out,
            &format!("{} broken and not explained", Styled(BAD, count)),
        )?;
    }
    Ok(())
}

/// Writes how well answers are parsed. Nothing if no template can read any. What the templates do
/// not write is left out: report cards are about that.
fn write_roundtrip(out: &mut dyn Write, tally: &RoundtripTally) -> io::Result<()> {
    if tally.templates == 0 {
        return Ok(());
    }
    let counts = &tally.counts;
    let but_for_white_space = match counts.count(Verdict::ButForWhiteSpace) {
        0 => String::new(),
        count => format!(", {} but for white space", thousands(count)),
    };
    let text = format!(
        "answers of {}: {} read back{but_for_white_space}, {} changed, {} failed",
        counted(tally.templates, "template", "templates"),
        thousands(counts.count(Verdict::ReadBack)),
        thousands(counts.count(Verdict::Changed)),
        thousands(counts.count(Verdict::Failed)),
    );
    line(out, &text)?;
    for fault in OtherFault::of_read_back(tally) {
        let kind = Styled(BAD, fault.kind.name());
        line(out, &format!("{kind} {}", fault.what))?;
    }
    Ok(())
}

/// A line that is wrapped between words to the screen's width.
fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, screen::width(), 2))
}
