use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::agents;
use super::shared::messages::{CONVERSATIONS, name};
use crate::probe::input_style::open;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "content-in-order",
    meaning: "the prompt has the messages in the order of the conversation",
    guards_against: "answers before their questions, instructions that move when the conversation goes on",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("content_in_order.md"),
    judge: |tally, prober, _| {
        for (probe, words) in CONVERSATIONS {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            let places: Vec<_> = words
                .iter()
                .filter_map(|word| Some((*word, seen.find(word)?.start)))
                .collect();
            let next = places.iter().skip(1);
            for (&(first, before), &(second, after)) in places.iter().zip(next) {
                // Many models have one place for instructions.
                let is_turn =
                    |word| ![words::SYSTEM, words::SECOND_SYSTEM, words::DEVELOPER].contains(&word);
                let severity = if is_turn(first) && is_turn(second) {
                    Severity::Warning
                } else {
                    Severity::Limitation
                };
                let is_moved = is_turn(first) && !is_turn(second);
                tally.demand_with(severity, before < after, || {
                    let (one, other) = (name(first), name(second));
                    let what = if is_moved {
                        format!("{other} is moved before {one}")
                    } else {
                        format!("{one} comes after {other}")
                    };
                    Evidence::one(what, &seen).at(seen.find(first))
                });
            }
        }
        let m = prober.input_style();
        let later = m.message("system", words::SECOND_SYSTEM);
        let asked = open(vec![m.system(), m.assistant(), later, m.user()]);
        let about = "two system messages with an answer between them, and a question";
        let seen = prober.ask("system-again", about, asked);
        if let (Some(first), Some(second)) =
            (seen.find(words::SYSTEM), seen.find(words::SECOND_SYSTEM))
        {
            tally.demand(first.start < second.start, || {
                let what = "of two system messages the second comes first";
                Evidence::one(what, &seen).at(Some(second))
            });
        }
        agents::are_in_order(tally, prober);
    },
};
