//! Report cards and transcripts of readings that are not as a suite demands.

use std::io::{self, Write};

use minijinja::{Value, context};

use super::difference::{write_diff, write_more, write_whole_diff};
use super::text::{text, written};
use rolecall_core::invocation;
use rolecall_core::problem::shown_path;
use rolecall_suite::checked_text::{CheckedText, TextKind, by_change};
use rolecall_suite::snapshot::SnapshotStatus;

/// How many changed lines of a text people read above the verdict.
const MOST_LINES: usize = 20;

/// How many answers are named that changed in one way.
const MOST_NAMES: usize = 3;

/// Writes how a text differs from the accepted one. Nothing if it does not.
pub fn write_change(out: &mut dyn Write, checked: &CheckedText, is_whole: bool) -> io::Result<()> {
    write_begin(out, checked, &[], is_whole, usize::MAX)
}

/// Writes the first lines of how a text differs.
fn write_begin(
    out: &mut dyn Write,
    checked: &CheckedText,
    others: &[&CheckedText],
    is_whole: bool,
    most: usize,
) -> io::Result<()> {
    let kind = checked.kind.name();
    let (word, style) = match &checked.change {
        SnapshotStatus::Same => return Ok(()),
        SnapshotStatus::New => ("new", "note"),
        SnapshotStatus::Unreadable(_) => ("unreadable", "bad"),
        SnapshotStatus::Changed(_) => ("changed", "bad"),
    };
    let why = match &checked.change {
        SnapshotStatus::Unreadable(why) => Some(why.to_string()),
        _ => None,
    };
    let diff = written(|out| {
        let Some(diff) = checked.diff() else {
            return Ok(());
        };
        let (begin, more) = diff.begin(most);
        if more > 0 && checked.kind == TextKind::Readings {
            return write_verdicts(out, checked);
        }
        let write = if is_whole {
            write_whole_diff
        } else {
            write_diff
        };
        write(out, &begin, "  ")?;
        write_more(out, more, "  ")
    });
    let names: Vec<String> = others.iter().map(|one| one.template.clone()).collect();
    text!(out, include_str!("checked_text.txt"), {
        word,
        style,
        name => format!("{} {kind}", checked.template),
        kind,
        is_new => matches!(checked.change, SnapshotStatus::New),
        why,
        diff => diff?,
        others => names,
        look => look(checked),
    })
}

/// Writes what became of parsed answers. Of hundreds nobody reads each.
fn write_verdicts(out: &mut dyn Write, checked: &CheckedText) -> io::Result<()> {
    let groups = checked
        .verdicts()
        .into_iter()
        .map(|([before, now], names)| {
            let named = |verdict: Option<String>| verdict.unwrap_or_else(|| "not there".to_owned());
            context! {
                answers => names.len(),
                before => named(before),
                now => named(now),
                more => names.len().saturating_sub(MOST_NAMES),
                shown => names.into_iter().take(MOST_NAMES).collect::<Vec<_>>(),
            }
        });
    text!(out, include_str!("verdicts.txt"), { groups => groups.collect::<Value>() })
}

/// Writes the texts that are not as demanded: how they changed, and which broken contracts the
/// rule forbids. Long differences are cut, unless they are wanted whole.
pub fn write(out: &mut dyn Write, cards: &[CheckedText], is_whole: bool) -> io::Result<()> {
    let most = if is_whole { usize::MAX } else { MOST_LINES };
    for (checked, others) in by_change(cards) {
        write_begin(out, checked, &others, is_whole, most)?;
        write_forbidden(out, checked)?;
    }
    Ok(())
}

/// Writes the broken contracts of a card that the rule forbids.
pub fn write_forbidden(out: &mut dyn Write, checked: &CheckedText) -> io::Result<()> {
    if checked.forbidden.is_empty() {
        return Ok(());
    }
    let forbidden = checked.forbidden.iter().map(|found| {
        context! {
            severity => found.severity().name(),
            id => found.contract.id,
            what => super::card::one_line(found.what()),
        }
    });
    text!(out, include_str!("forbidden.txt"), {
        name => &checked.template,
        forbidden => forbidden.collect::<Value>(),
        look => look(checked),
        sidecar => checked.sidecar.as_deref().map(shown_path),
    })
}

/// The command that shows a text.
fn look(checked: &CheckedText) -> String {
    let template = invocation::word(&checked.template);
    invocation::command(&match checked.kind {
        TextKind::Card => format!("check {template}"),
        TextKind::Readings => format!("roundtrip {template}"),
    })
}
