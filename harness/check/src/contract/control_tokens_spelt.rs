use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::tokens::control_tokens;
use crate::probe::catalogue::{CALL_RESULT, SYSTEM_TOOLS, SYSTEM_TURNS, TWO_TURNS};

pub(super) static CONTRACT: Contract = Contract {
    id: "control-tokens-spelt",
    meaning: "no control token is there twice, once with a sign less",
    guards_against: "a token that lost its `|`, which the model reads as a few letters",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("control_tokens_spelt.md"),
    judge: |tally, prober, _| {
        let (mut tokens, mut seen_in) = (Vec::new(), Vec::new());
        for probe in [SYSTEM_TURNS, TWO_TURNS, SYSTEM_TOOLS, CALL_RESULT] {
            let seen = prober.see(probe);
            if let Some(text) = tally.text(&seen) {
                tokens.extend(control_tokens(text));
                seen_in.push(seen);
            }
        }
        tokens.sort();
        tokens.dedup();
        if tokens.is_empty() {
            return tally.skip("there are no control tokens in the prompt");
        }
        let marked = tokens.iter().filter(|token| token.contains(['|', '｜']));
        let lost = marked.clone().find_map(|token| {
            let other = marked.clone().find(|other| has_lost_a_bar(token, other));
            other.map(|other| (token, other))
        });
        tally.demand(lost.is_none(), || {
            let (token, right) = lost.map_or(("", ""), |(token, right)| (token, right));
            let what = format!("`{token}` is in the prompt next to `{right}`");
            let mut seen = seen_in.iter();
            let seen = seen.find(|seen| seen.text().is_some_and(|text| text.contains(token)));
            seen.map_or_else(
                || Evidence::of_source(what.clone()),
                |seen| {
                    let at = seen.text().and_then(|text| text.find(token));
                    Evidence::one(what.clone(), seen).at(at.map(|at| at..at + token.len()))
                },
            )
        });
    },
};

/// Whether a token is another one without one of its bars, or with other signs for its bars and blanks.
fn has_lost_a_bar(token: &str, other: &str) -> bool {
    let plain = |token: &str| token.replace('｜', "|").replace('▁', "_");
    if token != other && token.is_ascii() != other.is_ascii() && plain(token) == plain(other) {
        return true;
    }
    let bars = other.match_indices(['|', '｜']);
    bars.into_iter().any(|(at, bar)| {
        token.len() + bar.len() == other.len()
            && token.starts_with(other.cut(..at))
            && token.ends_with(other.cut(at + bar.len()..))
    })
}
