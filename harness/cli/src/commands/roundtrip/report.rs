//! The parsed answers of a template, for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::Style;

use crate::report::numbers::thousands;
use crate::report::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use rolecall_answers::comparison::Verdict;
use rolecall_answers::reading::MessageReading;
use rolecall_answers::transcript::{self, Counts};
use rolecall_core::ReadOutcome;

/// Writes how the answers of a template are parsed: the counts, and the messages that are lost or
/// changed as they were meant. With `is_whole`, the others too.
pub fn write(
    out: &mut dyn Write,
    template: &str,
    readings: &[MessageReading],
    is_whole: bool,
) -> io::Result<()> {
    writeln!(out, "{}", Styled(HEADING, template))?;
    write_counts(out, &Counts::of(readings))?;
    for message in unsupported(readings) {
        writeln!(out, "        {}", Styled(QUIET, message))?;
    }
    // The chat template writes less than was meant, or refuses: `check` reports that.
    let is_shown = |reading: &&MessageReading| {
        is_whole
            || reading.is_streamed_otherwise()
            || !matches!(
                reading.verdict(),
                Verdict::ReadBack | Verdict::NotWritten | Verdict::Refused | Verdict::WithoutPrompt
            )
    };
    let shown: Vec<&MessageReading> = readings.iter().filter(is_shown).collect();
    writeln!(out)?;
    for reading in &shown {
        let text = transcript::of_one(reading);
        for (number, line) in text.lines().enumerate() {
            let style = if number == 0 { NOTE } else { QUIET };
            writeln!(out, "{}", Styled(style, line))?;
        }
    }
    if !shown.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

/// Writes how many messages have each verdict.
pub(crate) fn write_counts(out: &mut dyn Write, counts: &Counts) -> io::Result<()> {
    for (count, words) in counts.words() {
        let count = Styled(style(words), format!("{:>7}", thousands(count)));
        writeln!(out, "{count} {words}")?;
    }
    Ok(())
}

/// What a reader says about answers that it cannot read, each text once.
fn unsupported(readings: &[MessageReading]) -> BTreeSet<&str> {
    let forms = readings.iter().flat_map(MessageReading::forms);
    forms
        .filter_map(|form| match &form.outcome {
            ReadOutcome::Unsupported { message } => Some(message.as_str()),
            _ => None,
        })
        .collect()
}

fn style(words: &str) -> Style {
    match words {
        "read back" => GOOD,
        "changed" | "failed" => BAD,
        _ => NOTE,
    }
}
