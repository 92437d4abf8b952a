//! The report of `review`: where in the review somebody is, and what came of it.

use std::io::{self, Write};

use crate::report::numbers::counted;
use crate::report::style::{QUIET, Styled};
use crate::report::text::text;
use crate::report::wrapping::paragraph;
use rolecall_suite::accepting::AcceptedCounts;
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
    left: usize,
    unread: usize,
    questions: usize,
) -> io::Result<()> {
    text!(out, include_str!("report.txt"), {
        pairs => counts.accepted.changed + counts.accepted.new,
        cards => counts.cards,
        readings => counts.readings,
        one => TextKind::Readings.name(),
        many => TextKind::Readings.of_many(),
        questions,
        left,
        unread,
    })
}
