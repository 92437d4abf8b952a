use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::agents;
use super::shared::messages::{CONVERSATIONS, name};
use crate::probe::catalogue::{
    CALL_TURN_USER, INLINE_REASONING, INLINE_REASONING_USER, OTHER_QUESTION, PARALLEL, REASONED,
    REASONED_CALL, REASONED_USER, SYSTEM_TOOLS, TOOLS,
};
use crate::probe::{Probe, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "content-once",
    meaning: "no content is in the prompt more than once",
    guards_against: "a system message that is written both at the top and in its turn",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("content_once.md"),
    judge: |tally, prober, _| {
        for (probe, words) in CONVERSATIONS {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            for word in words {
                let count = seen.count(word);
                tally.demand(count <= 1, || {
                    let what = format!("{} is in the prompt {count} times", name(word));
                    Evidence::one(what, &seen).at(seen.find_again(word))
                });
            }
        }
        for (probe, words) in ONCE_WITH_TOOLS {
            let seen = prober.see(probe);
            for word in words.iter().filter(|word| seen.count(word) > 1) {
                let count = seen.count(word);
                let what = format!(
                    "{} is in the prompt {count} times: {}",
                    name(word),
                    probe.about
                );
                tally.broken(Evidence::one(what, &seen).at(seen.find_again(word)));
            }
        }
        for probe in [
            REASONED,
            REASONED_USER,
            REASONED_CALL,
            INLINE_REASONING,
            INLINE_REASONING_USER,
        ] {
            let seen = prober.see(probe);
            tally.demand(seen.count(words::REASONING) <= 1, || {
                let what = format!(
                    "the reasoning of an answer is in the prompt twice: {}",
                    probe.about
                );
                Evidence::one(what, &seen).at(seen.find_again(words::REASONING))
            });
            tally.demand(seen.count(words::ASSISTANT) <= 1, || {
                let what = format!("the answer is in the prompt twice: {}", probe.about);
                Evidence::one(what, &seen).at(seen.find_again(words::ASSISTANT))
            });
        }
        agents::are_once(tally, prober);
    },
};

/// Conversations with tools, with what they have once.
const ONCE_WITH_TOOLS: [(Probe, &[&str]); 5] = [
    (TOOLS, &[words::USER]),
    (SYSTEM_TOOLS, &[words::SYSTEM, words::USER]),
    (
        OTHER_QUESTION,
        &[words::USER, words::ASSISTANT, words::SECOND_USER],
    ),
    (
        CALL_TURN_USER,
        &[
            words::USER,
            words::FIRST_VALUE,
            words::RESULT,
            words::SECOND_ASSISTANT,
            words::SECOND_USER,
        ],
    ),
    (
        PARALLEL,
        &[
            words::FIRST_VALUE,
            words::THIRD_VALUE,
            words::RESULT,
            words::SECOND_RESULT,
        ],
    ),
];
