//! `--answers`: the campaign of answers, and its report.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use rolecall_agree::answers::campaign::{self, AnswerDifference, AnswerTally};
use rolecall_agree::answers::examination::AnswerReference;
use rolecall_agree::campaign::CampaignLength;
use rolecall_agree::question::Material;
use rolecall_core::invocation;
use rolecall_io::protocol::Process;
use serde_json::{Value, json};

/// Why the campaign could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswersError {
    /// The reference reads no answers.
    #[error("the reference does not answer: {0}")]
    Unanswered(String),
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Output(#[from] io::Error),
}

/// The most bytes of an answer of the reference.
const LONGEST: usize = 16 << 20;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The reference as a running program.
struct RunningReference(Process);

impl AnswerReference for RunningReference {
    fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let line = self.0.ask(request, PATIENCE)?;
        let answer: Value = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
        if answer["outcome"] == "failed" && request["request"] == "parse" {
            return Err(answer["message"].as_str().unwrap_or_default().to_owned());
        }
        Ok(answer)
    }
}

/// Runs the campaign, and returns whether nothing differs.
pub(crate) fn run(
    program: &[String],
    material: &Material,
    seed: u64,
    length: CampaignLength,
    folder: Option<&Path>,
    out: &mut dyn Write,
) -> Result<bool, AnswersError> {
    let process = Process::spawn(program, LONGEST).map_err(AnswersError::Unanswered)?;
    let mut reference = RunningReference(process);
    reference
        .ask(&json!({"request": "start", "rolecall": 1}))
        .map_err(AnswersError::Unanswered)?;
    let tally = campaign::run(&material.templates, seed, length, &mut reference)
        .map_err(AnswersError::Unanswered)?;
    let folder = folder.map_or_else(String::new, |folder| {
        format!(" {}", invocation::word(&folder.to_string_lossy()))
    });
    let again = format!("scripts/fuzz agree{folder} --answers --seed {seed}");
    write(out, &tally, &again)?;
    Ok(tally.differing == 0)
}

fn write(out: &mut dyn Write, tally: &AnswerTally, again: &str) -> io::Result<()> {
    for example in &tally.examples {
        difference(out, example)?;
        writeln!(out, "  again: {again} --only {}\n", example.number)?;
    }
    writeln!(
        out,
        "{} answers of {} templates in {:.1} s; {} templates were refused ({again})",
        tally.answers,
        tally.templates,
        tally.time.as_secs_f64(),
        tally.refused
    )?;
    writeln!(
        out,
        "  {} with calls, {} with reasoning, {} that Ollama does not always read alike, {} over a \
         limit",
        tally.with_calls, tally.with_reasoning, tally.varying, tally.exceeded
    )?;
    writeln!(out, "  {} differ", tally.differing)
}

fn difference(out: &mut dyn Write, example: &AnswerDifference) -> io::Result<()> {
    writeln!(out, "{:?}", example.source)?;
    let asked = &example.asked;
    writeln!(out, "  tools: {}", json!(asked.tools))?;
    writeln!(
        out,
        "  think: {}, prompt: {:?}",
        json!(asked.think),
        asked.prompt
    )?;
    writeln!(out, "  pieces: {}", json!(asked.pieces))?;
    writeln!(out, "  expected: {}", example.expected)?;
    writeln!(out, "  found:    {}", example.found)
}
