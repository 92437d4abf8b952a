//! The proof of a response template, for people and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Value as Data, context};
use rolecall_answers::comparison::Verdict;
use rolecall_check::contract::{Finding, Judgement};
use rolecall_check::probe::spaced;
use rolecall_core::ReadOutcome;
use rolecall_response::{Level, TRANSFORMERS};
use rolecall_suite::proof::{Proof, ReadingFailure};
use rolecall_suite::response_file::Inspected;
use serde_json::Value;

use crate::report::card::{CardDetail, FindingStyle, one_line, write_broken};
use crate::report::format::Format;
use crate::report::json::{VERSION, document};
use crate::report::numbers::thousands;
use crate::report::text::{text, written};
use crate::report::wrapping::each;
use crate::report::{inspections, json, screen, verdict_counts};

/// Writes the proofs of the response template in a file, as a text after the warnings about it.
pub fn write(
    out: &mut dyn Write,
    proofs: &[Proof],
    inspected: &Inspected,
    format: Format,
) -> io::Result<()> {
    if format == Format::Json {
        return json::write(out, &ProofDocument::of(proofs));
    }
    // What is wrong with it whatever a chat template writes comes first.
    inspections::write_findings(out, inspected, Level::Warning)?;
    let file = inspected.path.display().to_string();
    each(out, proofs, |out, one| write_one(out, one, &file))
}

/// Writes a proof: the contracts that are broken, the counts, and for each cause the smallest
/// message that shows it.
fn write_one(out: &mut dyn Write, proof: &Proof, file: &str) -> io::Result<()> {
    let style = FindingStyle {
        detail: CardDetail::Marked,
        width: screen::width(),
        shown_as: None,
    };
    let count = |is: fn(&Judgement) -> bool| {
        let findings = proof.findings.iter();
        findings.filter(|finding| is(&finding.judgement)).count()
    };
    let mut broken: Vec<&Finding> = proof
        .findings
        .iter()
        .filter(|one| one.is_broken())
        .collect();
    broken.sort_by_key(|finding| finding.rank());
    let failures = proof.failures.iter().map(|failure| {
        context! {
            messages => failure.messages,
            cause => &failure.smallest.cause,
            example => &failure.example,
            lines => lines(failure).into_iter().map(|(name, text)| vec![name.to_owned(), one_line(&text)]).collect::<Data>(),
        }
    });
    text!(out, include_str!("proof.txt"), {
        template => &proof.template,
        file,
        version => TRANSFORMERS,
        holding => count(|judgement| *judgement == Judgement::Holds),
        broken => broken.len(),
        other => count(|judgement| matches!(judgement, Judgement::DoesNotApply(_))),
        findings => written(|out| broken.iter().try_for_each(|one| write_broken(out, one, style)))?,
        counts => written(|out| verdict_counts::write(out, &proof.counts))?,
        failures => failures.collect::<Data>(),
    })
}

/// The smallest message that shows a failure, and what becomes of it.
fn lines(failure: &ReadingFailure) -> Vec<(&'static str, String)> {
    let case = &failure.smallest.case;
    let messages = case
        .messages
        .iter()
        .map(|message| ("message", spaced(message)));
    let tools = case
        .tools
        .iter()
        .flatten()
        .map(|tool| ("tool", spaced(tool)));
    let shown = failure.shown().into_iter().flat_map(|(_, text, outcome)| {
        let read = match outcome {
            ReadOutcome::Read { message } => ("read", spaced(message)),
            ReadOutcome::Failed { kind, message } => ("refused", format!("{kind}: {message}")),
            other => ("refused", other.essence()),
        };
        [("text", text.to_owned()), read]
    });
    messages.chain(tools).chain(shown).collect()
}

/// How a response template does, in a sentence: `Of 344 answers of the cases, 331 are read back.`
pub fn sentence(proof: &Proof) -> String {
    let broken = proof.findings.iter();
    let broken = broken.filter(|finding| finding.is_defect());
    let broken: Vec<&str> = broken.map(|finding| finding.contract.id).collect();
    let whole = proof.counts.count(Verdict::ReadBack);
    let counts = format!(
        "Of {} answers of the cases, {} are read back.",
        thousands(proof.counts.readable()),
        thousands(whole)
    );
    if broken.is_empty() {
        return counts;
    }
    format!("{counts} Broken: {}.", broken.join(", "))
}

document! {
    /// Proofs as JSON.
    pub struct ProofDocument<'p> from (proofs: &'p [Proof]) {
        /// The version of this format.
        rolecall: u32 = VERSION,
        /// One for each template.
        proofs: Vec<ProofJson<'p>> = proofs.iter().map(ProofJson::of).collect(),
    }

    /// What a response template makes of all that a template writes.
    struct ProofJson<'p> from (proof: &'p Proof) with {
        let failures = proof.failures.iter();
    } {
        /// The template's name.
        template: &'p str = &proof.template,
        /// Whether no contract is broken as an error.
        holds: bool = proof.holds(),
        /// How the two relate to the contracts about answers.
        findings: &'p [Finding] = &proof.findings,
        /// How many messages of the cases have each verdict.
        messages: BTreeMap<&'static str, usize> =
            proof.counts.words().into_iter().map(|(count, words)| (words, count)).collect(),
        /// Why messages are not parsed as meant, the most frequent cause first.
        failures: Vec<FailureJson<'p>> =
            failures.filter_map(|one| Some(FailureJson::of(one, one.shown()?))).collect(),
    }

    /// Messages that are not parsed as meant for the same cause.
    struct FailureJson<'p> from (
        failure: &'p ReadingFailure, shown: (&'p str, &'p str, &'p ReadOutcome),
    ) with {
        let smallest = &failure.smallest;
        let (prompt, text, outcome) = shown;
    } {
        /// The cause, in words.
        cause: &'p str = &smallest.cause,
        /// How many messages have it.
        messages: usize = failure.messages,
        /// The message from which the smallest one was made: `family/name#index`.
        example: &'p str = &failure.example,
        /// The smallest conversation that shows the cause. Its last message is the answer.
        conversation: &'p [Value] = &smallest.case.messages,
        /// The tools of this conversation.
        tools?: Option<&'p [Value]> = smallest.case.tools.as_deref(),
        /// The prompt before the answer.
        prompt: &'p str = prompt,
        /// The answer.
        text: &'p str = text,
        /// The message that is parsed instead.
        read?: Option<&'p Value> = outcome.message(),
        /// Why the answer is refused.
        refusal?: Option<String> = outcome.message().is_none().then(|| outcome.essence()),
    }
}
