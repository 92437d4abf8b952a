use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};
use serde_json::json;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::reasoning::marks;
use crate::capability::{Capabilities, switch};
use crate::probe::catalogue::{
    INLINE_REASONING, INLINE_REASONING_USER, REASONED, REASONED_CALL, REASONED_USER, USER,
    USER_ASSISTANT,
};
use crate::probe::input_style::closed;
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "thoughts-whole",
    meaning: "reasoning comes before its answer, and between both of its marks",
    guards_against: "an answer that the model takes for reasoning, or reasoning without an end",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("thoughts_whole.md"),
    judge: |tally, prober, capabilities| {
        for probe in [
            REASONED,
            REASONED_USER,
            INLINE_REASONING,
            INLINE_REASONING_USER,
            REASONED_CALL,
        ] {
            let seen = prober.see(probe);
            let (Some(_), Some(reasoning)) = (tally.text(&seen), seen.find(words::REASONING))
            else {
                continue;
            };
            if let Some(answer) = seen.find(words::ASSISTANT) {
                tally.demand(reasoning.start < answer.start, || {
                    let what = format!("the reasoning comes after the answer: {}", probe.about);
                    Evidence::one(what, &seen).at(Some(reasoning.clone()))
                });
            }
            let half = half_marked(&seen);
            tally.demand(half.is_none(), || {
                let what = format!("{}: {}", half.unwrap_or_default(), probe.about);
                Evidence::one(what, &seen).at(Some(reasoning))
            });
        }
        in_parts(tally, prober);
        closed_unopened(tally, prober, capabilities);
        tally.skip("the reasoning is not in the prompt");
    },
};

/// Demands that a mark which closes reasoning before an answer without any is opened, unless prompts end
/// with such a mark, too, under some setting of a switch.
fn closed_unopened(tally: &mut Tally, prober: &Prober<'_>, capabilities: &Capabilities) {
    let answered = prober.see(USER_ASSISTANT);
    let has_mark = |asked: &ProbeOutcome| {
        asked
            .after(words::USER)
            .is_some_and(|end| marks(end).next().is_some())
    };
    let between = answered.between(words::USER, words::ASSISTANT);
    // The mark of gpt-oss before answers closes nothing.
    let between = between.filter(|text| !text.contains("<|channel|>"));
    if let Some((_, mark)) = between.and_then(|text| marks(text).next())
        && !mark.opens
        && !has_mark(&prober.see(USER))
        && !switch::set(&capabilities.switches, prober).any(|set| has_mark(&set.see(USER)))
    {
        let what = "a mark closes reasoning before an answer without any, and nothing opens it";
        tally.broken(Evidence::one(what, &answered).with(Severity::Warning));
    }
}

/// Demands the same of reasoning that is a part of its answer's content.
fn in_parts(tally: &mut Tally, prober: &Prober<'_>) {
    let m = prober.input_style();
    let parts = json!([
        {"type": "thinking", "thinking": words::REASONING},
        {"type": "text", "text": words::ASSISTANT},
    ]);
    let case = closed(vec![
        m.user(),
        json!({"role": "assistant", "content": parts}),
    ]);
    let seen = prober.ask(
        "reasoning-part",
        "an answer with its reasoning as a part of the content",
        case,
    );
    let text = seen.text().unwrap_or_default();
    // A template that does not know such parts prints the list.
    if seen.has(words::REASONING) && !text.contains("'type'") && !text.contains("\"type\"") {
        let half = half_marked(&seen);
        tally.demand(half.is_none(), || {
            let what = format!("{}: {}", half.unwrap_or_default(), seen.about);
            Evidence::one(what, &seen).at(seen.find(words::REASONING))
        });
    }
}

/// What is wrong if reasoning has one of its marks and not the other.
fn half_marked(seen: &ProbeOutcome) -> Option<&'static str> {
    let (text, reasoning) = (seen.text()?, seen.find(words::REASONING)?);
    let from = seen.find(words::USER).map_or(0, |asked| asked.end);
    let before = text.get(from..reasoning.start)?;
    let rest = text.cut(reasoning.end..);
    let answer = seen.find(words::ASSISTANT).map(|answer| answer.start);
    let until = answer.and_then(|at| at.checked_sub(reasoning.end));
    let after = rest.cut(..until.unwrap_or(rest.len()));
    let is_opened = marks(before)
        .next_back()
        .is_some_and(|(_, mark)| mark.opens);
    // Some models end reasoning with a token that ends other things, too.
    let ends = |token: &str| token.to_lowercase().contains("end");
    let is_closed = marks(after).next().is_some_and(|(_, mark)| !mark.opens)
        || control_tokens_in(after).next().is_some_and(ends);
    match (is_opened, is_closed) {
        (true, false) => Some("a mark opens the reasoning, and none closes it"),
        (false, true) if marks(after).next().is_some() => {
            Some("a mark closes the reasoning, and none opens it")
        }
        _ => None,
    }
}
