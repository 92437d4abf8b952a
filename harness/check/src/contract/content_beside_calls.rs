use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity, Tally};
use crate::probe::catalogue::{CALL_WITH_TEXT, REASONED_CALL, REASONED_CALL_WITH_TEXT};
use crate::probe::{Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "content-beside-calls",
    meaning: "the assistant's text with a call is in the prompt, before the call",
    guards_against: "explanations that vanish, or appear after the result",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("content_beside_calls.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tool_calls.single.is_kept() {
            return tally.skip("a call is not in the prompt");
        }
        let seen = prober.see(CALL_WITH_TEXT);
        if tally.text(&seen).is_some() {
            let text = seen.find(words::ASSISTANT);
            let call = seen.find(words::FIRST_VALUE);
            let broken = |what: &str| Evidence::one(what, &seen);
            match (text, call) {
                (None, _) => tally.broken(broken("the text with a call is not in the prompt")),
                (Some(_), None) => {
                    let what = "the call beside a text is not in the prompt, only the text";
                    tally.broken(broken(what));
                }
                // A message does not say which of the two was first.
                (Some(text), Some(call)) => {
                    let behind = match seen.find(words::RESULT) {
                        Some(result) if result.start < text.start => "the tool's result",
                        _ => "the call",
                    };
                    // The models of Gemma and LFM call first, and then say something.
                    let mut marks = ["<|tool_call>", "<|tool_call_start|>"].into_iter();
                    let (severity, why) = match marks.find(|mark| seen.has(mark)) {
                        Some(_) => (Severity::Note, ", as its models were trained"),
                        None => (Severity::Warning, ""),
                    };
                    tally.demand_with(severity, text.start < call.start, || {
                        broken(&format!("the text with a call comes after {behind}{why}"))
                            .at(Some(text))
                    });
                }
            }
        }
        with_reasoning_too(tally, prober);
    },
};

/// An agent's usual message has reasoning, a text and a call. Each of them stays that stays alone.
fn with_reasoning_too(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(REASONED_CALL_WITH_TEXT);
    let (text, reasoned) = (prober.see(CALL_WITH_TEXT), prober.see(REASONED_CALL));
    let (true, true) = (text.text().is_some(), reasoned.text().is_some()) else {
        return;
    };
    tally.demand_with(Severity::Warning, seen.text().is_some(), || {
        let what = format!("a call with reasoning and text: {}", seen.refusal());
        Evidence::one(what, &seen)
    });
    if seen.text().is_none() {
        return;
    }
    for (alone, word, what) in [
        (&text, words::ASSISTANT, "the text"),
        (&text, words::FIRST_VALUE, "the call"),
        (&reasoned, words::REASONING, "the reasoning"),
    ] {
        tally.demand(!alone.has(word) || seen.has(word), || {
            let what = format!("{what} of a call with reasoning and text is not in the prompt");
            Evidence::differ(what, alone, &seen)
        });
    }
}
