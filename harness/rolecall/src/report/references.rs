//! What came of asking the references.

use std::io::{self, Write};

use rolecall_model::Outcome;

use super::numbers::{counted, thousands};
use super::screen;
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::wrapped;
use crate::divergence::pair_name;
use crate::fingerprint::Fingerprint;
use crate::record::Answer;
use crate::recording::{Standing, Update};
use crate::run::Rendered;

/// Names listed before the rest is only counted.
const MOST: usize = 20;

/// Writes what an update changes, a line a template that changes.
pub fn write_updates(out: &mut dyn Write, updates: &[Update<'_>]) -> io::Result<()> {
    let mut same = 0;
    for update in updates {
        same += update.same;
        let counts = [
            (update.added.len(), "new"),
            (update.changed.len(), "changed"),
            (update.removed.len(), "removed"),
        ];
        let words: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{} {word}", thousands(*count)))
            .collect();
        if !words.is_empty() {
            let name = Styled(HEADING, &update.template.name);
            writeln!(out, "{name}: {}", words.join(", "))?;
        }
        // The template and the case are as they were: this deserves a look.
        for id in update.changed.iter().take(MOST) {
            writeln!(out, "  {} {id}", Styled(NOTE, "changed"))?;
        }
        for (id, outcome) in update.unanswered.iter().take(MOST) {
            let kind = Styled(BAD, outcome.kind());
            let text = format!("  {kind} {id}: {}", outcome.text());
            writeln!(out, "{}", wrapped(&text, screen::width(), 4))?;
        }
    }
    writeln!(
        out,
        "{}",
        Styled(
            QUIET,
            counted(same, "record is as it was", "records are as they were")
        )
    )
}

/// How records stand to what the references do now: counts, and the first that are wrong.
#[derive(Debug, Default)]
pub struct Standings {
    count: usize,
    /// How many are not current.
    pub wrong: usize,
    shown: Vec<Vec<u8>>,
}

impl Standings {
    /// Adds the record of a pair.
    pub fn add(&mut self, rendered: &Rendered<'_>, standing: &Standing) -> io::Result<()> {
        self.count += 1;
        if *standing == Standing::Current {
            return Ok(());
        }
        self.wrong += 1;
        if self.wrong > MOST {
            return Ok(());
        }
        let mut out = Vec::new();
        let name = pair_name(&rendered.pair);
        match standing {
            Standing::Current => {}
            Standing::Missing(why) => {
                let text = format!("{} {name}: {why}", Styled(BAD, "no record"));
                writeln!(out, "{}", wrapped(&text, screen::width(), 2))?;
            }
            Standing::Wrong { recorded } => {
                writeln!(out, "{} {name}", Styled(BAD, "wrong record"))?;
                let now = described_outcome(&rendered.outcome);
                for text in [
                    format!("  recorded: {}", described(recorded)),
                    format!("  {} now: {now}", rendered.engine),
                ] {
                    writeln!(out, "{}", wrapped(&text, screen::width(), 4))?;
                }
            }
        }
        self.shown.push(out);
        Ok(())
    }

    /// Writes which records are not what the reference does now, and how many are.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for shown in &self.shown {
            out.write_all(shown)?;
        }
        if self.wrong > MOST {
            writeln!(out, "… and {} more", thousands(self.wrong - MOST))?;
        }
        let style = if self.wrong == 0 { GOOD } else { BAD };
        let all = counted(self.count, "record", "records");
        let good = format!("{} of {all} are", thousands(self.count - self.wrong));
        writeln!(out, "{} current", Styled(style, good))
    }
}

/// What an outcome is called where a record is called wrong: its kind, and its words or
/// the beginning of its SHA-256.
fn described(answer: &Answer) -> String {
    let short = |hash: &Fingerprint| hash.to_string()[..12].to_owned();
    match answer {
        Answer::Rendered(hash) => format!("rendered, SHA-256 {}…", short(hash)),
        Answer::Raised(hash) => format!("raised, SHA-256 {}…", short(hash)),
        Answer::Failed { stage, message, .. } => format!("failed at {stage}: {message}"),
        Answer::Exceeded(limit) => format!("exceeded {limit}"),
    }
}

/// What a pair's reference did, described likewise.
fn described_outcome(outcome: &Outcome) -> String {
    match Answer::of(outcome) {
        Some(answer) => described(&answer),
        None => format!("{}: {}", outcome.kind(), outcome.text()),
    }
}
