//! The report of `review`: where in the review somebody is, and what came of it.

use std::io::{self, Write};

use super::accepting::AcceptedCounts;
use super::numbers::{counted, thousands};
use super::style::{BAD, GOOD, NOTE, QUIET, Styled};
use super::wrapping::paragraph;
use rolecall_suite::checked_text::TextKind;

/// Writes which cause of how many comes next.
pub fn write_place(out: &mut dyn Write, at: usize, all: usize, pairs: usize) -> io::Result<()> {
    let text = format!("{at} of {all}: {}", counted(pairs, "pair", "pairs"));
    writeln!(out, "{}", Styled(QUIET, text))
}

/// Writes that pairs are decided on, because all their differences are.
pub fn write_implied(out: &mut dyn Write, pairs: usize, is_accepted: bool) -> io::Result<()> {
    let count = counted(pairs, "pair", "pairs");
    let text = if is_accepted {
        format!("accepted {count} with no other differences than those that you accepted")
    } else {
        format!("left {count} with a difference that you rejected")
    };
    paragraph(out, &Styled(QUIET, text).to_string(), 2)
}

/// Writes how many results were accepted, how many of them were not shown whole, and how many are
/// left.
pub fn write(
    out: &mut dyn Write,
    counts: &AcceptedCounts,
    (left, unread): (usize, usize),
    questions: usize,
) -> io::Result<()> {
    let pairs = counts.accepted.changed + counts.accepted.new;
    let cards = counted(counts.cards, "report card", "report cards");
    let readings = (counts.readings > 0).then(|| {
        let kind = TextKind::Readings;
        format!(
            " and {}",
            counted(counts.readings, kind.name(), kind.of_many())
        )
    });
    let accepted = format!(
        "accepted {} and {cards}{} in {}",
        counted(pairs, "snapshot", "snapshots"),
        readings.unwrap_or_default(),
        counted(questions, "decision", "decisions"),
    );
    let left = match left {
        0 => "nothing is left".to_owned(),
        left => Styled(
            BAD,
            format!("{} left", counted(left, "result is", "results are")),
        )
        .to_string(),
    };
    let read = match unread {
        0 => String::new(),
        unread => Styled(NOTE, format!(", {} of them unread", thousands(unread))).to_string(),
    };
    paragraph(out, &format!("{}{read}; {left}", Styled(GOOD, accepted)), 2)
}
