//! The proof of a response template, for people and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rolecall_answers::comparison::Verdict;
use rolecall_check::contract::{Finding, Judgement, Severity};
use rolecall_check::probe::spaced;
use rolecall_core::ReadOutcome;
use rolecall_response::TRANSFORMERS;
use rolecall_suite::proof::{Proof, ReadingFailure};
use serde::Serialize;
use serde_json::Value;

use super::card::{CardDetail, FindingStyle, one_line, write_broken};
use super::json::{self, VERSION};
use super::numbers::{counted, thousands};
use super::roundtrip::write_counts;
use super::screen;
use super::style::{GOOD, HEADING, NOTE, QUIET, Styled};
use super::wrapping::wrapped;

/// Writes a proof: the contracts that are broken, the counts, and for each cause the smallest
/// message that shows it.
pub fn write(out: &mut dyn Write, proof: &Proof, file: &str) -> io::Result<()> {
    let width = screen::width();
    let title = format!(
        "{}, answers read with {file} as transformers {TRANSFORMERS} reads",
        Styled(HEADING, &proof.template)
    );
    writeln!(out, "{}", wrapped(&title, width, 2))?;
    writeln!(out, "{}", wrapped(&contracts(proof), width, 2))?;
    let style = FindingStyle {
        detail: CardDetail::Marked,
        width,
        shown_as: None,
    };
    for severity in Severity::ALL {
        for finding in &proof.findings {
            if finding.is_broken() && finding.severity() == severity {
                write_broken(out, finding, style)?;
            }
        }
    }
    writeln!(out, "\n{}", Styled(HEADING, "answers of the cases"))?;
    write_counts(out, &proof.counts)?;
    if proof.failures.is_empty() {
        return Ok(());
    }
    let heading = "answers that are not parsed as they were meant, each with the smallest message \
                   that shows it";
    let heading = Styled(HEADING, heading).to_string();
    writeln!(out, "\n{}", wrapped(&heading, width, 2))?;
    for failure in &proof.failures {
        write_failure(out, failure, width)?;
    }
    Ok(())
}

/// How a response template does, in a sentence: `Of 344 answers of the cases, 331 are read back.`
pub fn sentence(proof: &Proof) -> String {
    let broken = proof.findings.iter();
    let broken = broken.filter(|finding| finding.is_defect());
    let broken: Vec<&str> = broken.map(|finding| finding.contract.id).collect();
    let whole = proof.counts.count(Verdict::ReadBack);
    let counts = format!(
        "Of {} answers of the cases, {} are read back.",
        thousands(proof.counts.read()),
        thousands(whole)
    );
    if broken.is_empty() {
        return counts;
    }
    format!("{counts} Broken: {}.", broken.join(", "))
}

/// `9 contracts about answers hold, 1 is broken, 1 does not apply`
fn contracts(proof: &Proof) -> String {
    let count = |is: fn(&Judgement) -> bool| {
        let findings = proof.findings.iter();
        findings.filter(|finding| is(&finding.judgement)).count()
    };
    let holding = count(|judgement| *judgement == Judgement::Holds);
    let broken = count(|judgement| matches!(judgement, Judgement::Broken(_)));
    let other = count(|judgement| matches!(judgement, Judgement::DoesNotApply(_)));
    let holding = counted(
        holding,
        "contract about answers holds",
        "contracts about answers hold",
    );
    let broken = counted(broken, "is broken", "are broken");
    let other = counted(other, "does not apply", "do not apply");
    format!("{}, {broken}, {other}", Styled(GOOD, holding))
}

fn write_failure(out: &mut dyn Write, failure: &ReadingFailure, width: usize) -> io::Result<()> {
    let smallest = &failure.smallest;
    let count = format!(
        "{} {}",
        thousands(failure.messages),
        if failure.messages == 1 {
            "message"
        } else {
            "messages"
        }
    );
    let cause = Styled(NOTE, &smallest.cause);
    let from = Styled(QUIET, format!("(from {})", failure.example));
    writeln!(
        out,
        "{}",
        wrapped(&format!("  {count}: {cause} {from}"), width, 4)
    )?;
    let mut line = |name: &str, text: String| {
        let text = format!("    {name:7} {}", one_line(&text));
        writeln!(out, "{}", wrapped(&text, width, 12))
    };
    for message in &smallest.case.messages {
        line("message", spaced(message))?;
    }
    for tool in smallest.case.tools.iter().flatten() {
        line("tool", spaced(tool))?;
    }
    if let Some((_, text, outcome)) = failure.shown() {
        line("text", text.to_owned())?;
        match outcome {
            ReadOutcome::Read { message } => line("read", spaced(message))?,
            ReadOutcome::Failed { kind, message } => line("refused", format!("{kind}: {message}"))?,
            other => line("refused", other.essence())?,
        }
    }
    Ok(())
}

/// Proofs as JSON.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProofDocument<'p> {
    /// The version of this format.
    rolecall: u32,
    /// One for each template.
    proofs: Vec<ProofJson<'p>>,
}

/// What a response template makes of all that a template writes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ProofJson<'p> {
    /// The template's name.
    template: &'p str,
    /// Whether no contract is broken as an error.
    holds: bool,
    /// How the two relate to the contracts about answers.
    findings: &'p [Finding],
    /// How many messages of the cases have each verdict.
    messages: BTreeMap<&'static str, usize>,
    /// Why messages are not parsed as meant, the most frequent cause first.
    failures: Vec<FailureJson<'p>>,
}

/// Messages that are not parsed as meant for the same cause.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FailureJson<'p> {
    /// The cause, in words.
    cause: String,
    /// How many messages have it.
    messages: usize,
    /// The message from which the smallest one was made: `family/name#index`.
    example: &'p str,
    /// The smallest conversation that shows the cause. Its last message is the answer.
    conversation: &'p [Value],
    /// The tools of this conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'p [Value]>,
    /// The prompt before the answer.
    prompt: &'p str,
    /// The answer.
    text: &'p str,
    /// The message that is parsed instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<&'p Value>,
    /// Why the answer is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
}

pub fn write_json(out: &mut dyn Write, proofs: &[Proof]) -> io::Result<()> {
    let proofs = proofs.iter().map(|proof| ProofJson {
        template: &proof.template,
        holds: proof.holds(),
        findings: &proof.findings,
        messages: proof
            .counts
            .words()
            .into_iter()
            .map(|(count, words)| (words, count))
            .collect(),
        failures: proof.failures.iter().filter_map(FailureJson::of).collect(),
    });
    let document = ProofDocument {
        rolecall: VERSION,
        proofs: proofs.collect(),
    };
    json::write(out, &document)
}

impl<'p> FailureJson<'p> {
    fn of(failure: &'p ReadingFailure) -> Option<FailureJson<'p>> {
        let (prompt, text, outcome) = failure.shown()?;
        let smallest = &failure.smallest;
        Some(FailureJson {
            cause: smallest.cause.to_string(),
            messages: failure.messages,
            example: &failure.example,
            conversation: &smallest.case.messages,
            tools: smallest.case.tools.as_deref(),
            prompt,
            text,
            read: outcome.message(),
            refusal: outcome.message().is_none().then(|| outcome.essence()),
        })
    }
}
