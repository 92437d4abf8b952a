//! The contracts about what a model is trained to write: every answer, its end, and nothing else.

use std::ops::Range;
use std::rc::Rc;

use rolecall_answers::mask::MaskedTurn;
use rolecall_core::provenance::{Input, InputKind, Span};
use rolecall_core::{Cut, Dialect};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::special_token;
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{
    CALL_TURN_USER_ASSISTANT, CALL_WITH_TEXT_ASSISTANT, PARALLEL_TURN, REASONED_TURN_USER,
    REASONED_USER, SYSTEM_TURNS, TWO_ROUNDS_TURN, TWO_TURNS,
};
use crate::probe::{MaskedProbe, MaskedProbes, Probe, Prober};

/// The masks of some conversations with answers. Calls and reasoning are in them if the template
/// writes these.
pub(super) fn masked(prober: &Prober<'_>, capabilities: &Capabilities) -> Rc<MaskedProbes> {
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
fn judge_masks(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    judge: impl Fn(&mut Tally, &MaskedProbe),
) -> Judgement {
    let mut tally = Tally::default();
    match &*masked(prober, capabilities) {
        Ok(conversations) => {
            for probe in conversations {
                if turns(probe).next().is_some() {
                    judge(&mut tally, probe);
                } else {
                    tally
                        .skip("the template writes answers within another text, and opens no turn for them");
                }
            }
        }
        Err(why) => tally.skip(*why),
    }
    tally.judgement()
}

/// What a model learns of a conversation: what the template marks, or what the model writes if the
/// template marks nothing. None if the marks are not known.
fn learned(
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

fn covers(ranges: &[Range<usize>], place: &Range<usize>) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|range| range.start <= place.start && place.end <= range.end)
}

pub(super) static ASSISTANT_MASK: Contract = Contract {
    id: "assistant-mask",
    meaning: "`{% generation %}` marks every answer with its calls and reasoning, but not its \
              opening",
    guards_against: "a model that is trained on nothing, or on a part of its answers",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/assistant-mask.md"),
    judge: |prober, capabilities| {
        if !prober.has_marks() {
            let why = "the template has no `{% generation %}` blocks";
            return Judgement::DoesNotApply(why.to_owned());
        }
        judge_masks(prober, capabilities, |tally, probe| {
            if let Some(marked) = learned(tally, prober, probe) {
                answers_marked(tally, capabilities, probe, &marked);
            }
        })
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

/// The turns that have text of the model.
fn turns(probe: &MaskedProbe) -> impl Iterator<Item = &MaskedTurn> {
    let turns = probe.mask.turns.iter();
    turns.filter(|turn| turn.ranges().next().is_some())
}

/// Where a message says something in a part of what the model writes of it.
fn said(probe: &MaskedProbe, message: usize, written: &Range<usize>) -> Vec<Span> {
    let said = probe
        .mask
        .said_by(message)
        .filter(|span| written.start <= span.prompt.start && span.prompt.end <= written.end);
    said.cloned().collect()
}

/// A part of an assistant's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Call,
    Reasoning,
    Text,
}

fn part(span: &Span) -> Part {
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

pub(super) static TURN_END_LEARNED: Contract = Contract {
    id: "turn-end-learned",
    meaning: "what a model learns of each answer ends with the token that ends its turn",
    guards_against: "a model that never learns to stop",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/turn-end-learned.md"),
    judge: |prober, capabilities| {
        let ends = ends(prober, capabilities);
        judge_masks(prober, capabilities, |tally, probe| {
            if let Some(learned) = learned(tally, prober, probe) {
                turns_end(tally, prober, probe, &learned, &ends);
            }
        })
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
        if turn.end.is_none() {
            if prober.template().source.contains("eos_token")
                && special_token(prober.template(), "eos_token").is_none()
            {
                tally.skip("the template writes `eos_token`, and this token is not known");
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
            format!("`{token}` ends answers, and no token ends {name}"),
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

pub(super) static ONLY_ANSWERS_LEARNED: Contract = Contract {
    id: "only-answers-learned",
    meaning: "what a model learns to write holds nothing that others say",
    guards_against: "a model that plays the user, or makes up the results of tools",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/only-answers-learned.md"),
    judge: |prober, capabilities| {
        judge_masks(prober, capabilities, |tally, probe| {
            if let Some(learned) = learned(tally, prober, probe) {
                others_are_not_learned(tally, probe, &learned);
            }
        })
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
