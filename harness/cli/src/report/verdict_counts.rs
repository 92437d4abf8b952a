//! How many parsed answers have each verdict, for people.

use std::io::{self, Write};

use anstyle::Style;
use rolecall_answers::transcript::Counts;

use crate::report::numbers::thousands;
use crate::report::style::{BAD, GOOD, NOTE, Styled};

/// Writes how many messages have each verdict.
pub(crate) fn write(out: &mut dyn Write, counts: &Counts) -> io::Result<()> {
    for (count, words) in counts.words() {
        let count = Styled(style(words), format!("{:>7}", thousands(count)));
        writeln!(out, "{count} {words}")?;
    }
    Ok(())
}

fn style(words: &str) -> Style {
    match words {
        "read back" => GOOD,
        "changed" | "failed" => BAD,
        _ => NOTE,
    }
}
