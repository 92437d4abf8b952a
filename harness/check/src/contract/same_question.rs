use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{OTHER_QUESTION, SAME_QUESTION};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "same-question",
    meaning: "a question that was asked before is treated as any other",
    guards_against: "messages that are recognised by their text, and tools printed twice",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("same_question.md"),
    judge: |tally, prober, _| {
        let (other, same) = (prober.see(OTHER_QUESTION), prober.see(SAME_QUESTION));
        if let (Some(text), Some(found)) = (tally.text(&other), tally.text(&same)) {
            if other.has(words::USER) && other.has(words::SECOND_USER) {
                let expected = text.replace(words::SECOND_USER, words::USER);
                tally.demand(expected == found, || {
                    let what = if same.count(words::TOOL) > other.count(words::TOOL) {
                        "if the first question is asked again, the tools are in the prompt again"
                    } else {
                        "if the first question is asked again, more changes than the question"
                    };
                    Evidence::differ(what, &other, &same)
                });
            } else {
                tally.skip("not every question is in the prompt");
            }
        }
    },
};
