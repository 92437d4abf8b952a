use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{
    INLINE_REASONING, INLINE_REASONING_USER, REASONED, REASONED_CALL, REASONED_LOOP,
    REASONED_TURN_USER, REASONED_USER,
};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "reasoning-kept",
    meaning: "the reasoning of the last answer is in the prompt",
    guards_against: "training data and tool loops without the reasoning that belongs to them",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("reasoning_kept.md"),
    judge: |tally, prober, capabilities| {
        let seen = prober.see(REASONED);
        if tally.text(&seen).is_some() {
            tally.demand(seen.has(words::REASONING), || {
                Evidence::one("the reasoning of the answer is not in the prompt", &seen)
            });
        }
        let seen = prober.see(REASONED_CALL);
        if capabilities.tool_calls.single.is_kept() && tally.text(&seen).is_some() {
            // An agent needs this reasoning for its next step, more than the reasoning of a last answer.
            let severity = if prober.see(REASONED).has(words::REASONING) {
                Severity::Warning
            } else {
                Severity::Note
            };
            tally.demand_with(severity, seen.has(words::REASONING), || {
                let what = "the reasoning before a tool call is not in the prompt";
                Evidence::one(what, &seen)
            });
        }
        // No model was trained with the reasoning of old turns and without that of its own turn.
        let calls = capabilities.tool_calls.single.is_kept();
        for (old, new) in [
            (REASONED_USER, REASONED_CALL),
            (REASONED_USER, REASONED),
            (REASONED_TURN_USER, REASONED_LOOP),
            (INLINE_REASONING_USER, INLINE_REASONING),
        ] {
            let (old, new) = (prober.see(old), prober.see(new));
            let is_lost =
                old.has(words::REASONING) && new.text().is_some() && !new.has(words::REASONING);
            if is_lost && (calls || new.asked.tools.is_none()) {
                let what = "the reasoning of earlier answers is in the prompt, and that of the \
                            last answer or the running turn is not";
                tally.broken(Evidence::differ(what, &old, &new).with(Severity::Error));
            }
        }
        let running = prober.see(REASONED_LOOP);
        let [first, second] =
            [words::REASONING, words::SECOND_REASONING].map(|word| running.has(word));
        if calls && first != second {
            let what = "only some of the reasoning in a running turn is in the prompt";
            tally.broken(Evidence::one(what, &running).with(Severity::Warning));
        }
    },
};
