//! The contract about what a model is trained to write.

use std::ops::Range;

use rolecall_model::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::{control_tokens, special_token};
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{SYSTEM_TURNS, TWO_TURNS};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static ASSISTANT_MASK: Contract = Contract {
    id: "assistant-mask",
    meaning: "`{% generation %}` marks every answer with the token that ends it, and nothing else",
    guards_against: "training on nothing, on the user's words, or without an end",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/assistant-mask.md"),
    judge: assistant_mask,
};

fn assistant_mask(prober: &Prober<'_>, capabilities: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    if !prober.template().source.contains("endgeneration") {
        tally.skip("the template has no `{% generation %}` blocks");
        return tally.judgement();
    }
    for probe in [TWO_TURNS, SYSTEM_TURNS] {
        let seen = prober.see(probe);
        if tally.text(&seen).is_none() {
            continue;
        }
        match prober.own_text(probe) {
            Some((text, spans)) => judge(&mut tally, prober, capabilities, &seen, &text, &spans),
            None => tally.skip("the template changes the text of its `{% generation %}` blocks"),
        }
    }
    tally.judgement()
}

fn judge(
    tally: &mut Tally,
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    seen: &ProbeOutcome,
    text: &str,
    spans: &[Range<usize>],
) {
    let spans = joined(spans);
    if spans.iter().all(|span| text[span.clone()].is_empty()) {
        tally.broken(Evidence::one("nothing is marked", seen));
        return;
    }
    for word in [words::SYSTEM, words::USER, words::SECOND_USER] {
        if let Some(place) = seen.find(word) {
            let is_marked = spans
                .iter()
                .any(|span| span.start < place.end && place.start < span.end);
            tally.demand(!is_marked, || {
                Evidence::one("what the user or the system says is marked", seen)
            });
        }
    }
    for word in [words::ASSISTANT, words::SECOND_ASSISTANT] {
        let Some(place) = seen.find(word) else {
            continue;
        };
        let Some(span) = spans
            .iter()
            .find(|span| span.start <= place.start && place.end <= span.end)
        else {
            tally.broken(Evidence::one("an answer is not marked", seen));
            continue;
        };
        tally.holds();
        if let GenerationPrompt::Suffix { text: opening } = &capabilities.generation_prompt {
            let is_marked =
                !opening.trim().is_empty() && text[span.start..place.start].contains(opening);
            tally.demand_with(Severity::Warning, !is_marked, || {
                Evidence::one("the opening of an answer is marked", seen)
            });
        }
        // The end of the answer: the first control token behind it.
        let rest = &text[place.end..];
        let next = [words::USER, words::SECOND_USER]
            .iter()
            .filter_map(|word| rest.to_ascii_lowercase().find(word))
            .min()
            .unwrap_or(rest.len());
        let between = &rest[..next];
        let eos = special_token(prober.template(), "eos_token").map(str::to_owned);
        let stop = control_tokens(between)
            .into_iter()
            .chain(eos)
            .filter(|token| between.contains(token))
            .min_by_key(|token| between.find(token));
        if let Some(stop) = stop
            && let Some(at) = between.find(&stop)
        {
            let end = place.end + at + stop.len();
            tally.demand(end <= span.end, || {
                let what = format!("`{stop}`, which ends an answer, is not marked");
                Evidence::one(what, seen)
            });
        }
    }
}

/// Spans of which no two touch each other.
fn joined(spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if last.end == span.start => last.end = span.end,
            _ => joined.push(span.clone()),
        }
    }
    joined
}
