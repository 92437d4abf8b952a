use std::ops::Range;

use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::mask::{Part, covers, judge_masks, learned, masked, part, said, turns};
use super::shared::tokens::special_token;
use crate::capability::Capabilities;
use crate::probe::{MaskedProbe, Prober};

pub(super) static CONTRACT: Contract = Contract {
    id: "turn-end-learned",
    meaning: "what a model learns of each answer ends with the token that ends its turn",
    guards_against: "a model that never learns to stop",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("turn_end_learned.md"),
    judge: |tally, prober, capabilities| {
        let ends = ends(prober, capabilities);
        judge_masks(tally, prober, capabilities, |tally, probe| {
            if let Some(learned) = learned(tally, prober, probe) {
                turns_end(tally, prober, probe, &learned, &ends);
            }
        });
    },
};

/// The tokens that end answers in any conversation. A call may end with its own closing tag, which
/// ends no turn.
fn ends(prober: &Prober<'_>, capabilities: &Capabilities) -> Vec<String> {
    let masked = masked(prober, capabilities);
    let conversations = masked.as_deref().unwrap_or_default().iter();
    let ends = conversations.flat_map(|probe| {
        let ends = probe.mask.turns.iter().filter_map(|turn| {
            let message = probe.seen.asked.messages.get(turn.message)?;
            let is_call = message.get("tool_calls").is_some();
            turn.end.clone().filter(|_| !is_call)
        });
        ends.map(|end| probe.mask.prompt.cut(end).to_owned())
    });
    ends.collect()
}

fn turns_end(
    tally: &mut Tally,
    prober: &Prober<'_>,
    probe: &MaskedProbe,
    learned: &[Range<usize>],
    ends: &[String],
) {
    let (text, seen) = (&probe.mask.prompt, &probe.seen);
    for turn in turns(probe) {
        let mut name = "an answer";
        let mut written = 0..0;
        for part_of_turn in turn.ranges() {
            let said = said(probe, turn.message, &part_of_turn);
            written = part_of_turn;
            let Some(last) = said.last() else { continue };
            name = match part(last) {
                Part::Call => "a call",
                _ if turn.message + 1 == seen.asked.messages.len() => {
                    "an answer at the end of a conversation"
                }
                _ => "an answer",
            };
            // Nothing of an answer is learned if it is not marked: this is another contract.
            let rest = last.prompt.end..written.end;
            if !covers(learned, &(rest.start.saturating_sub(1)..rest.start)) {
                continue;
            }
            match turn.end.as_ref().filter(|end| end.end == rest.end) {
                Some(end) if !covers(learned, end) => tally.broken(not_learned(
                    probe,
                    end,
                    &format!(
                        "`{}`, which ends {name}, is not learned",
                        text.cut(end.clone())
                    ),
                )),
                _ => {
                    let blank =
                        text.cut(rest.clone()).len() - text.cut(rest.clone()).trim_start().len();
                    let rest = rest.start + blank..rest.end;
                    tally.demand(rest.is_empty() || covers(learned, &rest), || {
                        let end = text.cut(rest.clone());
                        not_learned(
                            probe,
                            &rest,
                            &format!("the end of {name}, `{end}`, is not learned"),
                        )
                    });
                }
            }
        }
        let message = seen.asked.messages.get(turn.message);
        let is_with_call = message.is_some_and(|message| message.get("tool_calls").is_some());
        if turn.end.is_none() {
            if prober.template().source.contains("eos_token")
                && special_token(prober.template(), "eos_token").is_none()
            {
                tally.skip("the template writes `eos_token`, and this token is not known");
            } else if ends
                .iter()
                .any(|end| text.cut(written.clone()).contains(end))
            {
                tally.skip("the end of an answer is followed by more of its turn");
            } else if name != "a call" && is_with_call {
                tally.skip("a call beside the text goes on");
            } else {
                tally.broken(unended(probe, written, name, ends));
            }
        }
    }
}

/// Evidence that the end of an answer is not learned.
fn not_learned(probe: &MaskedProbe, end: &Range<usize>, what: &str) -> Evidence {
    Evidence::one(what, &probe.seen).at(Some(end.clone()))
}

/// Evidence that no token ends a turn.
fn unended(probe: &MaskedProbe, written: Range<usize>, name: &str, ends: &[String]) -> Evidence {
    let (what, severity) = match ends.first() {
        Some(token) => (
            format!("`{token}` ends answers, and is missing after {name}"),
            Severity::Warning,
        ),
        None => (
            "no token ends an answer: the trainer has to add the token at which the model shall stop"
                .to_owned(),
            Severity::Note,
        ),
    };
    let evidence = Evidence::one(what, &probe.seen);
    evidence.at(Some(written)).with(severity)
}
