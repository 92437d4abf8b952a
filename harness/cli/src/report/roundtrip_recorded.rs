//! What a response template makes of answers that somebody else recorded, for people.

use std::io::{self, Write};
use std::path::Path;

use minijinja::{Value, context};

use super::numbers::{counted, thousands};
use super::text::text;
use super::wrapping::paragraph;
use rolecall_answers::recorded::{RecordedAnswer, RecordedReading, RecordedVerdict, line_of};
use rolecall_core::problem::{shown, shown_path};
use rolecall_suite::recorded_answers::RecordedFamily;

/// How many differences of a family are shown.
const MOST_SHOWN: usize = 5;

/// Reports a file of answers that was written, and how many answers there were.
pub fn write_written(out: &mut dyn Write, path: &Path, count: usize, of: usize) -> io::Result<()> {
    let (path, answers) = (shown_path(path), counted(count, "answer", "answers"));
    paragraph(
        out,
        &format!("wrote {path} with {answers}, of {}", thousands(of)),
        2,
    )
}

/// Writes the counts of a family, and its first differences, or all.
pub fn write(
    out: &mut dyn Write,
    family: &RecordedFamily,
    reader: &str,
    readings: &[RecordedReading],
    is_whole: bool,
) -> io::Result<()> {
    let counts = RecordedVerdict::ALL.into_iter().map(|verdict| {
        let count = readings.iter().filter(|it| it.verdict == verdict).count();
        (count, verdict.name(), style(verdict))
    });
    let left_out = (
        family.left_out,
        "left out: retired, or checked against JSON",
        "note",
    );
    let counts = counts.chain(Some(left_out).filter(|(count, ..)| *count > 0));
    let counts = counts.map(|(count, words, style)| context! { count, words, style });
    let is_shown =
        |reading: &RecordedReading| reading.verdict > RecordedVerdict::ButForWhiteSpace || is_whole;
    let both = family.answers.iter().zip(readings);
    let differing: Vec<_> = both.filter(|(_, reading)| is_shown(reading)).collect();
    let most = if is_whole { usize::MAX } else { MOST_SHOWN };
    let answers = differing.iter().take(most);
    text!(out, include_str!("roundtrip_recorded.txt"), {
        title => shown(&format!("{} with {reader}", family.name)),
        counts => counts.collect::<Value>(),
        answers => answers.map(|(answer, reading)| of_answer(answer, reading)).collect::<Value>(),
        more => differing.len().saturating_sub(most),
    })
}

fn of_answer(answer: &RecordedAnswer, reading: &RecordedReading) -> Value {
    let mut lines = vec![
        format!("answer {}", serde_json::json!(answer.text)),
        format!("recorded {}", line_of(&Ok(answer.parts.clone()))),
        format!("read {}", line_of(&reading.whole)),
    ];
    if reading.in_pieces != reading.whole {
        lines.push(format!("in its pieces {}", line_of(&reading.in_pieces)));
    }
    context! {
        head => shown(&format!("{}: {}", answer.name, reading.verdict.name())),
        lines => lines.iter().map(|line| shown(line)).collect::<Vec<_>>(),
    }
}

fn style(verdict: RecordedVerdict) -> &'static str {
    match verdict {
        RecordedVerdict::AsRecorded => "good",
        RecordedVerdict::ButForWhiteSpace => "note",
        RecordedVerdict::Otherwise | RecordedVerdict::Refused => "bad",
    }
}
