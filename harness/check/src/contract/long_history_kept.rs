use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::agents;
use crate::probe::catalogue::{
    LONG, LONG_RESULT, LONG_TEXT, MANY_CALLS, MANY_ROUNDS, MANY_TOOLS, SYSTEM_LONG, SYSTEM_USER,
    TWO_TURNS,
};
use crate::probe::{Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "long-history-kept",
    meaning: "however long a conversation is, its texts, tools, calls and results are in the prompt",
    guards_against: "a model that forgets how the conversation began, without any error",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("long_history_kept.md"),
    judge: |tally, prober, _| {
        let short = prober.see(TWO_TURNS);
        let mut said = [
            words::USER,
            words::ASSISTANT,
            words::SECOND_USER,
            words::SECOND_ASSISTANT,
        ]
        .iter();
        if tally.text(&short).is_none() {
            return;
        }
        if !said.all(|word| short.has(word)) {
            return tally.skip("a short conversation is not as a whole in the prompt either");
        }
        for (probe, before) in [(LONG, None), (SYSTEM_LONG, Some(SYSTEM_USER))] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            let turns = words::TURNS.iter();
            let all: Vec<&str> = turns.flat_map(|(asked, said)| [*asked, *said]).collect();
            let lost = all.iter().filter(|word| !seen.has(word)).count();
            tally.demand(lost == 0, || {
                let what = format!(
                    "of the {} messages of a conversation, {lost} are not in the prompt",
                    seen.asked.messages.len()
                );
                Evidence::one(what, &seen)
            });
            if before.is_some_and(|probe| prober.see(probe).has(words::SYSTEM)) {
                tally.demand(seen.has(words::SYSTEM), || {
                    let what = "the system message before a long conversation is not in the prompt";
                    Evidence::one(what, &seen)
                });
            }
        }
        long_texts_kept(tally, prober);
        many_kept(tally, prober);
        agents::are_kept(tally, prober);
    },
};

/// Demands that a long text is in the prompt up to its end.
fn long_texts_kept(tally: &mut Tally, prober: &Prober<'_>) {
    for (probe, who) in [
        (LONG_TEXT, "a long question"),
        (LONG_RESULT, "a long result"),
    ] {
        let seen = prober.see(probe);
        if seen.text().is_some() && seen.has(words::BEFORE) {
            tally.demand(seen.has(words::AFTER), || {
                Evidence::one(format!("the end of {who} is not in the prompt"), &seen)
            });
        }
    }
}

/// Demands that of many tools, calls and results all are in the prompt, if the first two are.
fn many_kept(tally: &mut Tally, prober: &Prober<'_>) {
    let names = words::TURNS.map(|(asked, _)| asked);
    let results = words::TURNS.map(|(_, said)| said);
    for (probe, all, what) in [
        (MANY_TOOLS, &names[..6], "tools"),
        (MANY_CALLS, &names[..4], "calls at once"),
        (MANY_CALLS, &results[..4], "results of calls at once"),
        (MANY_ROUNDS, &names[..4], "calls in a row"),
        (MANY_ROUNDS, &results[..4], "results of calls in a row"),
    ] {
        let seen = prober.see(probe);
        let found = all.iter().filter(|word| seen.has(word)).count();
        // What a template never shows is reported by other contracts.
        if seen.text().is_some() && found > 1 {
            tally.demand(found == all.len(), || {
                let what = format!("of {} {what} only {found} are in the prompt", all.len());
                Evidence::one(what, &seen)
            });
        }
    }
}
