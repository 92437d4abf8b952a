//! Openers that look ahead without end, so that nothing streams.

use crate::inspection::finding::{Evidence, Finding, Rule};
use crate::inspection::trial::Bench;
use crate::pattern::search::Found;

/// What a model may say in any answer.
const ORDINARY: &str =
    "It depends on the weather, but mostly on you.\n\nTake 2 of them (or more). ";

/// How often it is said.
const TIMES: usize = 8;

/// Text that waits may begin at most this far from the start of the text.
const NEAR: usize = 40;

/// One finding for each opener that holds ordinary text back.
pub(super) fn inspect(bench: &Bench<'_>) -> Vec<Finding> {
    let text = ORDINARY.repeat(TIMES);
    let codes: Vec<u32> = text.chars().map(u32::from).collect();
    let mut findings = Vec::new();
    for field in bench.fields() {
        if bench.is_spent() {
            break;
        }
        let Some(open) = &field.open else {
            continue;
        };
        let found = bench.search(&open.pattern, &codes, 0, true, 1_000_000);
        if !matches!(found, Some(Found::Partial(start)) if start < NEAR) {
            continue;
        }
        let trial = bench.streamed(&text);
        if trial.early_events > 0 || trial.outcome.is_err() {
            continue;
        }
        let (name, key) = (&field.name, open.key);
        findings.push(Finding {
            rule: Rule::OpenLooksAhead,
            field: Some(name.clone()),
            key: Some(key),
            message: format!(
                "`{key}` of `{name}` looks ahead as far as the text goes. While an answer arrives, no \
                 part of it is shown until the parser knows what comes much later, and transformers \
                 searches all of it again for each piece"
            ),
            help: "open the region by a text at its start; if the prompt writes that \
                   text, let `start_anchor` end before it"
                .to_owned(),
            evidence: Evidence::HeldBack { text: text.clone() },
        });
    }
    findings
}
