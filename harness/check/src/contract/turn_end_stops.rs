use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::vocabulary::{cut, tokenizer};
use crate::probe::catalogue::{
    CALL, CALL_RESULT, SYSTEM_TURNS, TWO_TURNS, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{Prober, words};
use crate::tokenizer::TokenKind;

pub(super) static CONTRACT: Contract = Contract {
    id: "turn-end-stops",
    meaning: "the model stops at a token that ends the assistant's turn",
    guards_against: "answers that run on into the next turn, up to the limit",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("turn_end_stops.md"),
    judge: |tally, prober, _| {
        stops_of_the_modelfile(tally, prober);
        let Some(tokenizer) = tokenizer(tally, prober) else {
            return;
        };
        let Some(stops) = tokenizer.stops() else {
            return tally.skip("nothing says at which tokens the model stops");
        };
        let shown = |id: &u32| match tokenizer.marker_of(*id) {
            Some(marker) => format!("`{}`", marker.text),
            None => format!("token {id}"),
        };
        let turns = [
            (
                (USER_ASSISTANT, words::ASSISTANT, "an answer"),
                (USER_ASSISTANT_USER, words::SECOND_USER),
            ),
            (
                (CALL, words::SECOND_VALUE, "a call"),
                (CALL_RESULT, words::RESULT),
            ),
        ];
        for ((probe, word, name), (next, next_word)) in turns {
            let seen = prober.see(probe);
            let Some((text, tokens)) = cut(tally, tokenizer, &seen) else {
                continue;
            };
            let Some(after) = seen.after(word) else {
                tally.skip(format!("{name} is not in the prompt"));
                continue;
            };
            let from = text.len() - after.len();
            let after = tokens.iter().filter(|token| token.range.start >= from);
            let ends: Vec<u32> = after
                .filter(|token| token.kind != TokenKind::Ordinary)
                .filter_map(|token| token.id)
                .collect();
            if ends.is_empty() {
                tally.skip(format!("no token ends {name}"));
                continue;
            }
            // Some models stop at the token that opens the next turn.
            let next = prober.see(next);
            let opens = || {
                let (_, tokens) = cut(&mut Tally::default(), tokenizer, &next)?;
                let (from, to) = (next.find(word)?.end, next.find(next_word)?.start);
                let mut between = tokens
                    .iter()
                    .filter(|token| (from..to).contains(&token.range.start));
                let stops_at = |id: &u32| stops.ids.contains(id);
                Some(between.any(|token| token.id.as_ref().is_some_and(stops_at)))
            };
            let is_end = ends.iter().any(|id| stops.ids.contains(id)) || opens() == Some(true);
            tally.demand(is_end, || {
                let ends: Vec<_> = ends.iter().map(shown).collect();
                let stops_at: Vec<_> = stops.ids.iter().map(shown).collect();
                let what = format!(
                    "{name} ends with {}, but the model stops only at {}, says {}",
                    ends.join(", "),
                    stops_at.join(", "),
                    stops.said_by
                );
                Evidence::one(what, &seen).at(Some(from..text.len()))
            });
        }
    },
};

/// A template writes at least one of the texts at which Ollama ends answers, as its `PARAMETER stop`
/// says. The model may stop at a token of its own besides.
fn stops_of_the_modelfile(tally: &mut Tally, prober: &Prober<'_>) {
    let stops = &prober.template().setup.stops;
    if stops.is_empty() {
        return;
    }
    let conversations = [SYSTEM_TURNS, TWO_TURNS, CALL_RESULT];
    let is_written = conversations.iter().any(|probe| {
        let seen = prober.see(*probe);
        let text = seen.text().unwrap_or_default();
        stops.iter().any(|stop| text.contains(stop.trim()))
    });
    tally.demand_with(Severity::Warning, is_written, || {
        let what = format!(
            "answers shall end at `{}`, says PARAMETER stop, and the template writes nothing of that",
            stops.join("` or `")
        );
        Evidence::one(what, &prober.see(TWO_TURNS))
    });
}
