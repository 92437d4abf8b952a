use std::ops::Range;

use rolecall_core::provenance::{Input, InputKind};
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::mask::{judge_masks, learned};
use super::shared::purpose::{INSTRUCTS_LAST, instructs_last};
use crate::probe::MaskedProbe;

pub(super) static CONTRACT: Contract = Contract {
    id: "only-answers-learned",
    meaning: "what a model learns to write holds nothing that others say",
    guards_against: "a model that plays the user, or makes up the results of tools",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("only_answers_learned.md"),
    judge: |tally, prober, capabilities| {
        if instructs_last(prober) {
            return tally.skip(INSTRUCTS_LAST);
        }
        judge_masks(tally, prober, capabilities, |tally, probe| {
            if let Some(learned) = learned(tally, prober, probe) {
                others_are_not_learned(tally, probe, &learned);
            }
        });
    },
};

fn others_are_not_learned(tally: &mut Tally, probe: &MaskedProbe, learned: &[Range<usize>]) {
    let (text, seen) = (&probe.mask.prompt, &probe.seen);
    for span in &probe.mask.spans {
        let Some(whose) = span.origin.inputs().find_map(|input| whose(probe, input)) else {
            continue;
        };
        let is_blank = text.cut(span.prompt.clone()).trim().is_empty();
        let is_learned = learned
            .iter()
            .any(|range| range.start < span.prompt.end && span.prompt.start < range.end);
        tally.demand(is_blank || !is_learned, || {
            let what = format!("the model learns to write {whose}");
            Evidence::one(what, seen).at(Some(span.prompt.clone()))
        });
    }
}

/// What an input is, if somebody else than the model wrote it.
fn whose(probe: &MaskedProbe, input: &Input) -> Option<&'static str> {
    match input.kind {
        InputKind::Tool => Some("the list of tools"),
        InputKind::Document => Some("a document"),
        InputKind::Message => {
            let (index, part) = input.path.strip_prefix("messages[")?.split_once(']')?;
            let message = probe
                .seen
                .asked
                .messages
                .get(index.parse::<usize>().ok()?)?;
            if !part.starts_with(".content") {
                return None;
            }
            match message["role"].as_str()? {
                "user" => Some("what the user says"),
                "system" => Some("the system message"),
                "tool" => Some("the result of a call"),
                _ => None,
            }
        }
        InputKind::Variable | InputKind::Token | InputKind::Clock => None,
    }
}
