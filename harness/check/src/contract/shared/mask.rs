//! What a model is trained to write.

use std::ops::Range;
use std::rc::Rc;

use rolecall_answers::mask::MaskedTurn;
use rolecall_core::provenance::Span;

use crate::capability::Capabilities;
use crate::contract::frame::Tally;
use crate::probe::catalogue::{
    CALL_TURN_USER_ASSISTANT, CALL_WITH_TEXT_ASSISTANT, PARALLEL_TURN, REASONED_TURN_USER,
    REASONED_USER, SYSTEM_TURNS, TWO_ROUNDS_TURN, TWO_TURNS,
};
use crate::probe::{MaskedProbe, MaskedProbes, Probe, Prober};

/// The masks of some conversations with answers. Calls and reasoning are in them if the template
/// writes these.
pub(in crate::contract) fn masked(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
) -> Rc<MaskedProbes> {
    prober.masked(|| {
        let mut conversations: Vec<Probe> = vec![TWO_TURNS, SYSTEM_TURNS];
        let has_calls = capabilities.tool_calls.single.is_kept();
        let has_reasoning = !capabilities.reasoning.fields.is_empty();
        if has_calls {
            conversations.extend([
                CALL_TURN_USER_ASSISTANT,
                CALL_WITH_TEXT_ASSISTANT,
                TWO_ROUNDS_TURN,
            ]);
        }
        if capabilities.tool_calls.parallel.is_kept() {
            conversations.push(PARALLEL_TURN);
        }
        if has_reasoning {
            conversations.push(REASONED_USER);
        }
        if has_calls && has_reasoning {
            conversations.push(REASONED_TURN_USER);
        }
        conversations
    })
}

/// Judges what a model learns of each conversation.
pub(in crate::contract) fn judge_masks(
    tally: &mut Tally,
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    judge: impl Fn(&mut Tally, &MaskedProbe),
) {
    match &*masked(prober, capabilities) {
        Ok(conversations) => {
            for probe in conversations {
                if turns(probe).next().is_some() {
                    judge(tally, probe);
                } else {
                    tally
                        .skip("the template writes answers within another text, and opens no turn for them");
                }
            }
        }
        Err(why) => tally.skip(*why),
    }
}

/// What a model learns of a conversation: what the template marks, or what the model writes if the
/// template marks nothing. None if the marks are not known.
pub(in crate::contract) fn learned(
    tally: &mut Tally,
    prober: &Prober<'_>,
    probe: &MaskedProbe,
) -> Option<Vec<Range<usize>>> {
    if !prober.has_marks() {
        return Some(probe.mask.ranges());
    }
    if probe.marked.is_none() {
        tally.skip("the template changes the text of its `{% generation %}` blocks");
    }
    probe.marked.clone()
}

pub(in crate::contract) fn covers(ranges: &[Range<usize>], place: &Range<usize>) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|range| range.start <= place.start && place.end <= range.end)
}

/// The turns that have text of the model.
pub(in crate::contract) fn turns(probe: &MaskedProbe) -> impl Iterator<Item = &MaskedTurn> {
    let turns = probe.mask.turns.iter();
    turns.filter(|turn| turn.ranges().next().is_some())
}

/// Where a message says something in a part of what the model writes of it.
pub(in crate::contract) fn said(
    probe: &MaskedProbe,
    message: usize,
    written: &Range<usize>,
) -> Vec<Span> {
    let said = probe
        .mask
        .said_by(message)
        .filter(|span| written.start <= span.prompt.start && span.prompt.end <= written.end);
    said.cloned().collect()
}

/// A part of an assistant's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::contract) enum Part {
    Call,
    Reasoning,
    Text,
}

pub(in crate::contract) fn part(span: &Span) -> Part {
    let has = |name: &str| span.origin.inputs().any(|input| input.path.contains(name));
    if has(".tool_calls") {
        Part::Call
    } else if [".reasoning_content", ".reasoning", ".thinking"]
        .into_iter()
        .any(has)
    {
        Part::Reasoning
    } else {
        Part::Text
    }
}
