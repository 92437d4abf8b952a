//! What a response template makes of answers that somebody else recorded, for people.

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;

use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::wrapped;
use rolecall_answers::recorded::{RecordedAnswer, RecordedReading, RecordedVerdict, line_of};
use rolecall_core::problem::{shown, shown_path};
use rolecall_suite::recorded_answers::RecordedFamily;

/// How many differences of a family are shown.
const MOST_SHOWN: usize = 5;

/// Reports a file of answers that was written, and how many answers there were.
pub fn write_written(out: &mut dyn Write, path: &Path, count: usize, of: usize) -> io::Result<()> {
    let text = format!(
        "wrote {} with {}, of {}",
        shown_path(path),
        counted(count, "answer", "answers"),
        thousands(of)
    );
    writeln!(out, "{}", wrapped(&text, screen::width(), 2))
}

/// Writes the counts of a family, and its first differences, or all.
pub fn write(
    out: &mut dyn Write,
    family: &RecordedFamily,
    reader: &str,
    readings: &[RecordedReading],
    is_whole: bool,
) -> io::Result<()> {
    let title = format!("{} with {reader}", family.name);
    writeln!(out, "{}", Styled(HEADING, shown(&title)))?;
    for verdict in RecordedVerdict::ALL {
        let count = readings.iter().filter(|it| it.verdict == verdict).count();
        let number = Styled(style(verdict), format!("{:>7}", thousands(count)));
        writeln!(out, "{number} {}", verdict.name())?;
    }
    if family.left_out > 0 {
        let number = Styled(NOTE, format!("{:>7}", thousands(family.left_out)));
        writeln!(out, "{number} left out: retired, or checked against JSON")?;
    }
    writeln!(out)?;
    let both = family.answers.iter().zip(readings);
    let differing: Vec<_> = both
        .filter(|(_, reading)| reading.verdict > RecordedVerdict::ButForWhiteSpace || is_whole)
        .collect();
    let most = if is_whole { usize::MAX } else { MOST_SHOWN };
    for (answer, reading) in differing.iter().take(most) {
        write_one(out, answer, reading)?;
    }
    let more = differing.len().saturating_sub(most);
    if more > 0 {
        let more = counted(more, "more answer", "more answers");
        writeln!(out, "… and {more}: --all shows them\n")?;
    }
    Ok(())
}

fn write_one(
    out: &mut dyn Write,
    answer: &RecordedAnswer,
    reading: &RecordedReading,
) -> io::Result<()> {
    let head = format!("{}: {}", answer.name, reading.verdict.name());
    writeln!(out, "{}", Styled(NOTE, shown(&head)))?;
    let mut lines = vec![
        format!("answer {}", serde_json::json!(answer.text)),
        format!("recorded {}", line_of(&Ok(answer.parts.clone()))),
        format!("read {}", line_of(&reading.whole)),
    ];
    if reading.in_pieces != reading.whole {
        lines.push(format!("in its pieces {}", line_of(&reading.in_pieces)));
    }
    for line in lines {
        let line = format!("  {}", Styled(QUIET, shown(&line)));
        writeln!(out, "{}", wrapped(&line, screen::width(), 4))?;
    }
    writeln!(out)
}

fn style(verdict: RecordedVerdict) -> Style {
    match verdict {
        RecordedVerdict::AsRecorded => GOOD,
        RecordedVerdict::ButForWhiteSpace => NOTE,
        RecordedVerdict::Otherwise | RecordedVerdict::Refused => BAD,
    }
}
