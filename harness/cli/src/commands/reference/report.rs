//! Reports on the references: which records are current, and which change.

use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::Outcome;

use crate::report::numbers::{counted, thousands};
use crate::report::screen::whose;
use crate::report::style::{BAD, GOOD, Styled};
use crate::report::text::text;
use crate::report::wrapping::paragraph;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_suite::divergence::pair_name;
use rolecall_suite::record::RecordedAnswer;
use rolecall_suite::recording::Update;
use rolecall_suite::records::Records;
use rolecall_suite::run::Rendered;

/// How many names to list before the rest is only counted.
const MOST: usize = 20;

/// Writes what an update changes, one line for each changed template.
pub fn write_updates<'u>(
    out: &mut dyn Write,
    updates: impl Iterator<Item = &'u Update<'u>>,
) -> io::Result<()> {
    let mut same = 0;
    let updates = updates.map(|update| {
        same += update.same;
        let counts = [
            (update.added.len(), "new"),
            (update.changed.len(), "changed"),
            (update.removed.len(), "removed"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let unanswered = update.unanswered.iter().take(MOST).map(|(id, outcome)| {
            context! { kind => outcome.kind().name(), id => id.to_string(), text => outcome.text() }
        });
        context! {
            name => update.template.name.as_str(),
            words => counts.map(|(count, word)| format!("{} {word}", thousands(count))).collect::<Vec<_>>(),
            changed => update.changed.iter().take(MOST).map(ToString::to_string).collect::<Vec<_>>(),
            unanswered => unanswered.collect::<Value>(),
        }
    });
    let updates: Vec<Value> = updates.collect();
    text!(out, include_str!("report.txt"), { updates, same })
}

/// The comparison of records with the references' current results: counts, and the first records
/// that are wrong.
#[derive(Debug, Default)]
pub struct RecordStandings {
    count: usize,
    /// How many are not current.
    pub wrong: usize,
    shown: Vec<Vec<u8>>,
}

impl RecordStandings {
    /// Adds the record of a pair, and what a reference gives for it now.
    pub fn add(&mut self, records: &Records, now: &Rendered<'_>) -> io::Result<()> {
        self.count += 1;
        let recorded = records.answer(&now.pair, || Fingerprint::of_case(now.pair.case));
        let of_now = RecordedAnswer::of(&now.outcome);
        if recorded
            .as_ref()
            .is_ok_and(|recorded| of_now.as_ref() == Some(*recorded))
        {
            return Ok(());
        }
        self.wrong += 1;
        if self.wrong > MOST {
            return Ok(());
        }
        let mut out = Vec::new();
        let name = pair_name(&now.pair);
        match recorded {
            Err(why) => {
                let text = format!("{} {name}: {why}", Styled(BAD, "no record"));
                paragraph(&mut out, &text, 2)?;
            }
            Ok(recorded) => {
                writeln!(out, "{} {name}", Styled(BAD, "wrong record"))?;
                for text in [
                    format!("  recorded: {}", described(recorded)),
                    format!("  {} now: {}", now.engine, described_outcome(&now.outcome)),
                ] {
                    paragraph(&mut out, &text, 4)?;
                }
            }
        }
        self.shown.push(out);
        Ok(())
    }

    /// Writes which records of a suite differ from the references' current results, and how many.
    pub fn write(&self, out: &mut dyn Write, origin: &str) -> io::Result<()> {
        for shown in &self.shown {
            out.write_all(shown)?;
        }
        if self.wrong > MOST {
            writeln!(out, "… and {} more", thousands(self.wrong - MOST))?;
        }
        if self.wrong > 0 {
            let command = invocation::command("reference update");
            writeln!(out, "to record the references' current results: {command}")?;
        }
        let style = if self.wrong == 0 { GOOD } else { BAD };
        let all = counted(self.count, "record", "records");
        let good = format!("{} of {all} are", thousands(self.count - self.wrong));
        writeln!(out, "{}{} current", whose(origin), Styled(style, good))
    }
}

/// How a message about a wrong record describes an outcome: its kind, and its words or its checksum.
fn described(answer: &RecordedAnswer) -> String {
    match answer {
        RecordedAnswer::Checked(kind, hash) => format!("{kind}, SHA-256 {hash}…"),
        RecordedAnswer::Whole(Outcome::Failed { stage, message, .. }) => {
            format!("failed at {stage}: {message}")
        }
        RecordedAnswer::Whole(other) => format!("{} {}", other.kind(), other.text()),
    }
}

/// The same description for the reference's current outcome of a pair.
fn described_outcome(outcome: &Outcome) -> String {
    match RecordedAnswer::of(outcome) {
        Some(answer) => described(&answer),
        None => format!("{}: {}", outcome.kind(), outcome.text()),
    }
}
