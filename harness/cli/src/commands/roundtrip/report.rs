//! The parsed answers of a template, for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::report::style::{HEADING, NOTE, QUIET, Styled};
use crate::report::verdict_counts;
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
    verdict_counts::write(out, &Counts::of(readings))?;
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
