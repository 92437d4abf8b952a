use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::mentions::handles;
use crate::capability::{Capabilities, switch};
use crate::probe::catalogue::{
    INLINE_REASONING, INLINE_REASONING_USER, REASONED, REASONED_CALL, REASONED_LOOP,
    REASONED_TURN_USER, REASONED_USER,
};
use crate::probe::{Prober, words};

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
        is_printed_if_read(tally, prober, capabilities);
        let running = prober.see(REASONED_LOOP);
        let [first, second] =
            [words::REASONING, words::SECOND_REASONING].map(|word| running.has(word));
        if calls && first != second {
            let what = "only some of the reasoning in a running turn is in the prompt";
            tally.broken(Evidence::one(what, &running).with(Severity::Warning));
        }
    },
};

/// Demands of a template that does something with the reasoning of answers that some conversation has it in
/// its prompt, if need be under some setting of a switch.
fn is_printed_if_read(tally: &mut Tally, prober: &Prober<'_>, capabilities: &Capabilities) {
    // Parts of a content may have the type `thinking`.
    let fields = [
        ".reasoning",
        ".thinking",
        "'reasoning_content'",
        "\"reasoning_content\"",
    ];
    let code = prober.code();
    let is_field = fields.iter().any(|field| code.contains(field));
    let is_used = handles(prober, &["reasoning_content", "reasoning", "thinking"]);
    if prober.dialect() == Dialect::Go || !is_field || !is_used {
        return;
    }
    let is_lost = |prober: &Prober<'_>| {
        let reasoned = [REASONED, REASONED_USER, REASONED_CALL, REASONED_LOOP];
        let mut all = reasoned.map(|probe| prober.see(probe)).into_iter();
        all.all(|seen| seen.text().is_some() && !seen.has(words::REASONING))
    };
    if is_lost(prober) && switch::set(&capabilities.switches, prober).all(|set| is_lost(&set)) {
        let what = "the template reads the reasoning of answers, and writes it into no prompt";
        tally.broken(Evidence::one(what, &prober.see(REASONED)).with(Severity::Warning));
    }
}
