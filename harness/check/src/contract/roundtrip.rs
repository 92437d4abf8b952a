//! Contracts about messages: what the chat template writes, the response template reads back.

use rolecall_answers::comparison::Verdict;
use rolecall_answers::ending::Form;
use rolecall_answers::reading::ReadAnswer;
use rolecall_core::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::read_answer::{demand_one, demand_roundtrip, evidence, look};
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::answers::{
    CALL, JSON, LONG_REASONING, NO_ARGUMENTS, NUMBERS, PARAGRAPHS, PARALLEL, PROGRAM, REASONING,
    REASONING_CALL, REASONING_TEXT_CALL, SPACED, TEXT, TEXT_CALL, TEXT_OR_NULL, TEXT_OR_NUMBER,
    TEXT_PARALLEL, TEXTS, THREE, TWICE, TYPED,
};
use crate::probe::{AnswerReading, NoReadings, Probe, Prober};

/// The forms of an answer with its end token.
pub(super) const WITH_END: [Form; 2] = [Form::Whole, Form::Ended];

const TEXT_PROBES: [Probe; 3] = [TEXT, PARAGRAPHS, JSON];
const CALL_PROBES: [Probe; 4] = [CALL, TEXT_CALL, NO_ARGUMENTS, PROGRAM];

pub(super) static READS_BACK: Contract = Contract {
    id: "reads-back",
    meaning: "a parser gets back the text or the call that the template wrote",
    guards_against: "calls that reach users as text, texts that lose a part",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/reads-back.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if let Err(NoReadings::Refused(why)) = &*prober.readings() {
            let what = format!("transformers refuses the response template: {why}");
            tally.broken(Evidence::of_source(what));
            return tally.judgement();
        }
        demand_roundtrip(&mut tally, prober, &TEXT_PROBES, &WITH_END);
        if writes_calls(capabilities) {
            demand_roundtrip(&mut tally, prober, &CALL_PROBES, &WITH_END);
        }
        // Models often write white space around a text that is no part of it.
        look(
            &mut tally,
            prober,
            Some(&[SPACED]),
            |tally, reading, answer| {
                if is_kept(reading, answer) {
                    demand_one(tally, reading, answer, &WITH_END, Severity::Note);
                }
            },
        );
        tally.judgement()
    },
};

pub(super) static READS_BACK_WITHOUT_END_TOKEN: Contract = Contract {
    id: "reads-back-without-end-token",
    meaning: "an answer is parsed the same without its end token, as servers return it",
    guards_against: "calls that are only parsed if the end token follows them",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/reads-back-without-end-token.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        look(&mut tally, prober, None, |tally, reading, answer| {
            let forms = answer.forms.iter();
            let (bare, ended): (Vec<_>, Vec<_>) = forms.partition(|read| read.form == Form::Bare);
            let ended = ended.iter().map(|read| read.verdict).max();
            let ([bare], Some(ended)) = (bare.as_slice(), ended) else {
                return tally.skip("no answer has an end token");
            };
            // What is not right with the end token either is another contract's subject.
            tally.demand(bare.verdict <= ended, || {
                let evidence = evidence(reading, answer, bare);
                match bare.verdict {
                    Verdict::ButForWhiteSpace => evidence.with(Severity::Warning),
                    _ => evidence,
                }
            });
        });
        tally.judgement()
    },
};

pub(super) static ARGUMENT_TYPES_KEPT: Contract = Contract {
    id: "argument-types-kept",
    meaning: "arguments are parsed with the types that the tool's schema gives them",
    guards_against: "the text \"3\" where a tool wants the number 3, or the reverse",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/argument-types-kept.md"),
    judge: |prober, capabilities| judged_calls(prober, capabilities, &[TYPED, NUMBERS, TEXTS]),
};

pub(super) static UNION_TYPES_KEPT: Contract = Contract {
    id: "union-types-kept",
    meaning: "a text stays a text, also where the schema allows another type",
    guards_against: "the answer \"null\" that becomes no answer",
    severity: Severity::Note,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/union-types-kept.md"),
    judge: |prober, capabilities| {
        judged_calls(prober, capabilities, &[TEXT_OR_NUMBER, TEXT_OR_NULL])
    },
};

pub(super) static PARALLEL_CALLS_READ_BACK: Contract = Contract {
    id: "parallel-calls-read-back",
    meaning: "several calls in an answer are all parsed, in their order",
    guards_against: "calls that are lost, or run together",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/parallel-calls-read-back.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.parallel.is_kept() {
            tally.skip("the template does not write several calls");
            return tally.judgement();
        }
        let probes = [PARALLEL, TEXT_PARALLEL, TWICE, THREE];
        demand_roundtrip(&mut tally, prober, &probes, &WITH_END);
        tally.judgement()
    },
};

pub(super) static REASONING_READ_BACK: Contract = Contract {
    id: "reasoning-read-back",
    meaning: "reasoning is parsed as reasoning, and the answer after it as the answer",
    guards_against: "reasoning that users read as the answer, answers that are taken for reasoning",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/reasoning-read-back.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
            return tally.judgement();
        }
        demand_roundtrip(&mut tally, prober, &[REASONING, LONG_REASONING], &WITH_END);
        if writes_calls(capabilities) {
            let probes = [REASONING_CALL, REASONING_TEXT_CALL];
            demand_roundtrip(&mut tally, prober, &probes, &WITH_END);
        }
        tally.judgement()
    },
};

/// Whether a template writes a text with the white space around it.
fn is_kept(reading: &AnswerReading, answer: &ReadAnswer) -> bool {
    let content = &reading.reading.meant.content;
    answer.forms.iter().all(|read| read.text.contains(content))
}

/// Whether a template writes calls of tools.
pub(super) fn writes_calls(capabilities: &Capabilities) -> bool {
    capabilities.tool_calls.single.is_kept()
}

/// Demands that calls are parsed.
fn judged_calls(prober: &Prober<'_>, capabilities: &Capabilities, chosen: &[Probe]) -> Judgement {
    let mut tally = Tally::default();
    if !writes_calls(capabilities) {
        tally.skip("the template writes no calls");
        return tally.judgement();
    }
    demand_roundtrip(&mut tally, prober, chosen, &WITH_END);
    tally.judgement()
}
