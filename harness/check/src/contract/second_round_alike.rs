use std::collections::BTreeMap;

use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{CALL_RESULT, TOOLS, TWO_ROUNDS, TWO_TURNS};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "second-round-alike",
    meaning: "a second round of calls has the control tokens that the first one has",
    guards_against: "agents whose first call is well formed, and no other",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("second_round_alike.md"),
    judge: |tally, prober, _| {
        let (none, one, two) = (
            prober.see(TOOLS),
            prober.see(CALL_RESULT),
            prober.see(TWO_ROUNDS),
        );
        let (Some(before), Some(first), Some(second)) =
            (tally.text(&none), tally.text(&one), tally.text(&two))
        else {
            return;
        };
        if !two.has(words::THIRD_VALUE) || !one.has(words::FIRST_VALUE) {
            return tally.skip("calls are not in the prompt");
        }
        // Some models stay in one turn through all rounds.
        let turns = prober.see(TWO_TURNS);
        let turns = counts(turns.text().unwrap_or_default());
        // The text after the result in both opens the answer that is asked for.
        let ends = (one.after(words::RESULT), two.after(words::SECOND_RESULT));
        let end = match ends {
            (Some(end), Some(other)) if end == other => end.len(),
            _ => 0,
        };
        let first = first.cut(..first.len() - end);
        let [before, first, second] = [before, first, second].map(counts);
        let count = |of: &BTreeMap<&str, usize>, token: &str| of.get(token).copied().unwrap_or(0);
        let missing: Vec<&str> = first
            .iter()
            .filter(|(token, found)| {
                **found > count(&before, token)
                    && count(&second, token) <= **found
                    && count(&turns, token) == 0
            })
            .map(|(token, _)| *token)
            .collect();
        tally.demand(missing.is_empty(), || {
            let missing: Vec<String> = missing.iter().map(|token| format!("`{token}`")).collect();
            let what = format!(
                "the first round of calls has {}, the second has not",
                missing.join(", ")
            );
            Evidence::one(what, &two)
        });
    },
};

/// How often each control token is in a prompt.
fn counts(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for token in control_tokens_in(text) {
        *counts.entry(token).or_default() += 1;
    }
    counts
}
