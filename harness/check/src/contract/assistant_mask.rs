use std::ops::Range;

use rolecall_core::provenance::Span;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::mask::{Part, covers, judge_masks, learned, part, said, turns};
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::MaskedProbe;

pub(super) static CONTRACT: Contract = Contract {
    id: "assistant-mask",
    meaning: "`{% generation %}` marks every answer with its calls and reasoning, but not its \
              opening",
    guards_against: "a model that is trained on nothing, or on a part of its answers",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("assistant_mask.md"),
    judge: |tally, prober, capabilities| {
        if !prober.has_marks() {
            return tally.skip("the template has no `{% generation %}` blocks");
        }
        judge_masks(tally, prober, capabilities, |tally, probe| {
            if let Some(marked) = learned(tally, prober, probe) {
                answers_marked(tally, capabilities, probe, &marked);
            }
        });
    },
};

fn answers_marked(
    tally: &mut Tally,
    capabilities: &Capabilities,
    probe: &MaskedProbe,
    marked: &[Range<usize>],
) {
    let (text, seen) = (&probe.mask.prompt, &probe.seen);
    if marked.is_empty() {
        tally.broken(Evidence::one("nothing is marked", seen));
        return;
    }
    for turn in turns(probe) {
        let said: Vec<Span> = turn
            .ranges()
            .flat_map(|part| said(probe, turn.message, &part))
            .collect();
        for span in &said {
            let (what, severity) = match part(span) {
                Part::Call => ("a call is not marked", Severity::Error),
                Part::Reasoning => ("the reasoning is not marked", Severity::Warning),
                Part::Text => ("an answer is not marked", Severity::Error),
            };
            let is_blank = text.cut(span.prompt.clone()).trim().is_empty();
            tally.demand_with(severity, is_blank || covers(marked, &span.prompt), || {
                Evidence::one(what, seen).at(Some(span.prompt.clone()))
            });
        }
        let first = said.first().map(|span| span.prompt.start);
        let mark = first.and_then(|first| marked.iter().find(|range| range.contains(&first)));
        if let (Some(first), Some(mark), GenerationPrompt::Suffix { text: opening }) =
            (first, mark, &capabilities.generation_prompt)
        {
            let is_marked =
                !opening.trim().is_empty() && text.cut(mark.start..first).contains(opening);
            tally.demand_with(Severity::Warning, !is_marked, || {
                Evidence::one("the opening of an answer is marked", seen)
                    .at(Some(mark.start..first))
            });
        }
    }
}
