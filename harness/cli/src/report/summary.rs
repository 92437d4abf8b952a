//! The summary of a run: one line for each template, and one for all.

use std::io::{self, Write};

use anstyle::Style;
use minijinja::{Value, context};
use rolecall_core::{OutcomeKind, TemplateName};

use super::diagnostic::Diagnostic;
use super::numbers::{counted, percent, thousands};
use super::screen::whose;
use super::style::{self, BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::text::text;
use super::wrapping::paragraph;
use rolecall_answers::comparison::Verdict;
use rolecall_core::invocation;
use rolecall_core::problem::shown;
use rolecall_suite::checked_text::TextKind;
use rolecall_suite::conclusion::{Conclusion, EngineFailure, PairTally, Share};
use rolecall_suite::run::per_second;

/// How many pairs equal their snapshots: `2 changed, 351 same`.
fn snapshots(tally: &PairTally) -> String {
    list([
        (tally.changed, BAD, "changed"),
        (tally.new, NOTE, "new"),
        (tally.same, GOOD, "same"),
    ])
}

/// How many pairs agree with the reference: `1 differ, 370 agree`.
fn reference(tally: &PairTally) -> String {
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
fn list<const N: usize>(counts: [(usize, Style, &str); N]) -> String {
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, style, word)| {
        Styled(style, format!("{} {word}", thousands(count))).to_string()
    });
    counts
        .collect::<Vec<_>>()
        .join(&Styled(QUIET, ", ").to_string())
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
    let kinds = OutcomeKind::ALL.into_iter();
    let is_needed = |kind: &OutcomeKind| *kind == OutcomeKind::Rendered || total.count(*kind) > 0;
    let kinds: Vec<OutcomeKind> = kinds.filter(is_needed).collect();
    let row = |name: String, tally: &PairTally| {
        let outcomes = kinds.iter().map(|kind| {
            context! { count => tally.count(*kind), style => style::of_outcome(*kind) }
        });
        let (snapshots, reference) = (snapshots(tally), reference(tally));
        context! { name, outcomes => outcomes.collect::<Value>(), snapshots, reference }
    };
    let is_shown = |tally: &PairTally| is_whole || total.faults == 0 || tally.faults > 0;
    let shown = by_template.iter().filter(|(_, tally)| is_shown(tally));
    let rows = shown.map(|(name, tally)| row(name.to_string(), tally));
    let all = (by_template.len() > 1).then(|| row(Styled(HEADING, "all").to_string(), total));
    let names = kinds.iter().map(|kind| kind.name());
    let names = ["template"].into_iter().chain(names);
    let names = names
        .chain(has_snapshots.then_some("snapshots"))
        .chain(["reference"]);
    text!(out, include_str!("summary_table.txt"), {
        right => (1..=kinds.len()).collect::<Vec<_>>(),
        names => names.collect::<Vec<_>>(),
        rows => rows.chain(all).collect::<Value>(),
        has_snapshots => *has_snapshots,
        others => by_template.values().filter(|tally| !is_shown(tally)).count(),
    })
}

/// Writes what the total hides about an engine that is another program: how many differences come
/// from templates that do not load, and how many agreements are cases that both refuse.
pub fn write_parts(out: &mut dyn Write, conclusion: &Conclusion<'_>) -> io::Result<()> {
    let total = &conclusion.total;
    let tallies = conclusion.by_template.values();
    let tallies: Vec<_> = tallies.filter(|tally| tally.loaded > 0).collect();
    let of_loaded = Share {
        agree: tallies.iter().map(|tally| tally.agree).sum(),
        all: tallies.iter().map(|tally| tally.judged()).sum(),
    };
    // There is nothing to report about an engine that was asked nothing.
    if total.judged() == total.not_asked {
        return Ok(());
    }
    let shares = [("prompts", total.prompts), ("refusals", total.refusals)].into_iter();
    let shares = shares.filter(|(_, share)| share.all > 0);
    text!(out, include_str!("parts.txt"), {
        loaded => tallies.len(),
        all => conclusion.by_template.len(),
        of_loaded => words(of_loaded),
        shares => shares.map(|(what, share)| vec![what.to_owned(), words(share)]).collect::<Vec<_>>(),
    })
}

/// Writes the last lines: how well answers are parsed, how many pairs of which `origin`, how fast,
/// whether they agree with `reference_names`, and what to do next.
pub fn write_close(
    out: &mut dyn Write,
    conclusion: &Conclusion<'_>,
    origin: &str,
    reference_names: Option<&str>,
) -> io::Result<()> {
    let (tally, elapsed) = (&conclusion.total, conclusion.elapsed);
    let read = |verdict| conclusion.roundtrip.counts.count(verdict);
    let faults = Diagnostic::of_read_back(&conclusion.roundtrip).into_iter();
    // The command itself says of every program how it died.
    let engines = conclusion.engines.iter();
    let engines = engines.filter(|fault| matches!(fault.what, EngineFailure::AnswersNothing(_)));
    let wrong = not_accepted(conclusion);
    let cards = conclusion.cards.iter();
    text!(out, include_str!("summary.txt"), {
        origin,
        whose => whose(origin),
        // What the templates do not write is left out: report cards are about that.
        roundtrip => context! {
            templates => conclusion.roundtrip.templates,
            whole => read(Verdict::ReadBack),
            spaces => read(Verdict::ButForWhiteSpace),
            changed => read(Verdict::Changed),
            failed => read(Verdict::Failed),
            faults => faults.map(|one| context! { kind => one.rule, what => one.what.concat() }).collect::<Value>(),
        },
        all => tally.all(),
        seconds => format!("{:.2}", elapsed.as_secs_f64()),
        per_second => per_second(tally.all(), elapsed),
        reference => reference_names,
        judged => tally.judged(),
        agree => tally.agree,
        diverge => tally.diverge,
        unverified => tally.unverified,
        not_asked => tally.not_asked,
        is_good => tally.is_as_the_reference(),
        // Nothing disagrees with a record that is not there.
        is_unverified => reference_names.is_some() && tally.judged() > 0
            && tally.agree + tally.differ == 0 && tally.unverified == tally.judged(),
        engines => engines.map(|fault| shown(&Diagnostic::of_engine(fault).what.concat())).collect::<Value>(),
        is_one => matches!(wrong.as_slice(), [(1, _)]),
        wrong => wrong.into_iter().map(|(_, words)| words).collect::<Value>(),
        review => invocation::review(),
        forbidden => cards.map(|checked| checked.forbidden.len()).sum::<usize>(),
        not_compared => not_compared(conclusion),
    })
}

/// The counts of what differs from the accepted texts, in words.
fn not_accepted(conclusion: &Conclusion<'_>) -> Vec<(usize, String)> {
    let texts = TextKind::ALL.map(|kind| {
        let cards = conclusion.cards.iter();
        let cards = cards.filter(|checked| checked.kind == kind && !checked.change.is_same());
        (cards.count(), kind.name(), kind.of_many())
    });
    let is_read = |name: &&TemplateName| !conclusion.unread().any(|unread| unread == *name);
    let tallies = conclusion.by_template.iter();
    let tallies = tallies.filter(|(name, _)| is_read(name));
    let pairs = tallies.map(|(_, tally)| tally.changed + tally.new).sum();
    let all = [(pairs, "pair", "pairs")].into_iter().chain(texts);
    let wrong = all.filter(|(count, ..)| *count > 0);
    wrong
        .map(|(count, one, many)| (count, counted(count, one, many)))
        .collect()
}

/// The pairs without an expectation, with their outcomes, in words:
/// `825 pairs (735 rendered, 90 failed); nothing says what they should be`.
pub(crate) fn not_compared(conclusion: &Conclusion<'_>) -> Option<String> {
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
    paragraph(
        out,
        &format!("{}{}", whose(origin), Styled(BAD, verdict)),
        2,
    )
}
