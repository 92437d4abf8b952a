//! Proofs of response templates: what a response template makes of all that a chat template writes.

use std::collections::BTreeMap;

use rolecall_answers::cause;
use rolecall_answers::reader::{DeclaredReader, OwnReader};
use rolecall_answers::reading::{MessageReading, contained_case};
use rolecall_answers::reduction::Counterexample;
use rolecall_answers::transcript::Counts;
use rolecall_answers::written::Writer;
use rolecall_check::card::examine;
use rolecall_check::contract::{Finding, INTERNAL_ERROR, Severity, on_read_answers};
use rolecall_core::guard::contained;
use rolecall_core::{Case, Engine, ReadOutcome, Template};
use rolecall_front::program::FrontProgram;

/// What the response template of a template makes of its answers.
#[derive(Debug)]
pub struct Proof {
    pub template: String,
    /// How the two relate to the contracts about answers.
    pub findings: Vec<Finding>,
    /// How many messages of the cases have each verdict.
    pub counts: Counts,
    /// Why messages are not parsed as meant, the most frequent cause first.
    pub failures: Vec<ReadingFailure>,
}

/// Messages that are not parsed as meant for the same cause.
#[derive(Debug)]
pub struct ReadingFailure {
    /// How many there are.
    pub messages: usize,
    /// The name of the message from which the smallest one was made.
    pub example: String,
    /// The smallest conversation that shows the cause.
    pub smallest: Counterexample,
}

impl Proof {
    /// Tries the response template of a template on the probes of report cards, and on the answers
    /// of cases. None if the template has no response template.
    pub fn prove(engine: &dyn Engine, template: &Template, cases: &[Case]) -> Option<Proof> {
        let response_template = template.response_template.as_ref()?;
        let mut findings = examine(engine, template).findings;
        findings.retain(|finding| {
            on_read_answers().contains(&finding.contract) || *finding.contract == INTERNAL_ERROR
        });
        let program = FrontProgram::load(engine, template);
        let writer = Writer::new(&program);
        let own = OwnReader::default();
        let reader = DeclaredReader::new(&own, response_template);
        let mut readings: Vec<MessageReading> = Vec::new();
        let mut by_cause: BTreeMap<String, Vec<(&Case, usize)>> = BTreeMap::new();
        let cases = cases.iter();
        let cases = cases.filter(|case| case.front.is_none() && case.is_for(template.dialect));
        for case in cases {
            for reading in contained_case(&writer, &reader, case) {
                if let Some((cause, _)) = cause::first_cause(&reading) {
                    let messages = by_cause.entry(cause).or_default();
                    messages.push((case, reading.id.index));
                }
                readings.push(reading);
            }
        }
        let smallest = |messages: Vec<(&Case, usize)>| {
            // A short conversation is soon reduced.
            let length = |(case, index): &&(&Case, usize)| {
                let messages = case.messages.iter().take(index + 1);
                messages
                    .map(|message| message.to_string().len())
                    .sum::<usize>()
            };
            let (case, index) = messages.iter().min_by_key(length)?;
            let smallest = Counterexample::reduced(&writer, &reader, case, *index)?;
            Some(ReadingFailure {
                messages: messages.len(),
                example: format!("{}#{index}", case.id),
                smallest,
            })
        };
        let failures = by_cause.into_values();
        let failures = failures
            .filter_map(|messages| contained("a reduction", || smallest(messages)).flatten());
        let mut failures: Vec<ReadingFailure> = failures.collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.messages));
        Some(Proof {
            template: template.name.to_string(),
            findings,
            counts: Counts::of(&readings),
            failures,
        })
    }

    /// Whether no contract is broken as an error.
    pub fn holds(&self) -> bool {
        let is_error =
            |finding: &Finding| finding.is_broken() && finding.severity() == Severity::Error;
        !self.findings.iter().any(is_error)
    }
}

impl ReadingFailure {
    /// The prompt, the text and what was read of the smallest conversation, in the form that shows
    /// the cause.
    pub fn shown(&self) -> Option<(&str, &str, &ReadOutcome)> {
        let (_, read) = cause::first_cause(&self.smallest.reading)?;
        let answer = self.smallest.reading.result.as_ref().ok()?;
        let outcome = read
            .streamed
            .as_ref()
            .filter(|_| read.differences.is_empty());
        Some((&answer.prompt, &read.text, outcome.unwrap_or(&read.outcome)))
    }
}
