use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::mentions::turns_tools_off;
use super::shared::tools::supports_tools;
use crate::probe::catalogue::{
    ASSISTANT_FIRST_TOOLS, CALL_RESULT, OTHER_QUESTION, SYSTEM_TOOLS, TOOLS,
};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "tools-kept",
    meaning: "tools are in the prompt, with what they do and their parameters, or refused",
    guards_against: "a model that never learns which tools it has",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("tools_kept.md"),
    judge: |tally, prober, capabilities| {
        let seen = prober.see(TOOLS);
        if !supports_tools(prober, capabilities) {
            if tally.text(&seen).is_some() {
                let what = "tools, calls and results are not in the prompt";
                tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
            }
            return;
        }
        if !seen.has(words::TOOL) && turns_tools_off(prober) {
            let what = "the tools are not in the prompt: the template sets them to an empty list";
            return tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
        }
        if tally.text(&seen).is_some() {
            let missing: Vec<_> = [
                (words::TOOL, "the first tool"),
                (words::SECOND_TOOL, "the second tool"),
                (words::TOOL_ABOUT, "what a tool does"),
                (words::FIRST_KEY, "the first parameter"),
                (words::SECOND_KEY, "the second parameter"),
            ]
            .into_iter()
            .filter(|(word, _)| !seen.has(word))
            .map(|(_, name)| name)
            .collect();
            let what = match missing.as_slice() {
                [] => None,
                all if all.len() == 5 => Some("the tools are not in the prompt".to_owned()),
                some => Some(format!("not in the prompt: {}", some.join(", "))),
            };
            match what {
                None => tally.holds(),
                Some(what) if missing.len() < 5 && seen.has(words::TOOL) => {
                    tally.broken(Evidence::one(what, &seen).with(Severity::Warning));
                }
                Some(what) => tally.broken(Evidence::one(what, &seen)),
            }
        }
        let with_system = prober.see(SYSTEM_TOOLS);
        if seen.has(words::TOOL) && tally.text(&with_system).is_some() {
            tally.demand(with_system.has(words::TOOL), || {
                let what = "the tools are not in the prompt when there is a system message";
                Evidence::one(what, &with_system)
            });
        }
        for (probe, word, when) in [
            (
                ASSISTANT_FIRST_TOOLS,
                words::USER,
                "if the assistant speaks first",
            ),
            (
                OTHER_QUESTION,
                words::SECOND_USER,
                "with the second question",
            ),
            (
                CALL_RESULT,
                words::FIRST_VALUE,
                "any more when a result is there",
            ),
        ] {
            let later = prober.see(probe);
            if seen.has(words::TOOL_ABOUT) && later.has(word) {
                tally.demand(later.has(words::TOOL_ABOUT), || {
                    Evidence::one(format!("the tools are not in the prompt {when}"), &later)
                });
            }
        }
    },
};
