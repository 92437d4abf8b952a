use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::leaks::{NOTHING, added, occurrences};
use crate::probe::Probe;
use crate::probe::catalogue::{
    CALL_RESULT, EMPTY_ANSWER, EMPTY_CALL, MISSING_ANSWER, MISSING_CALL, NO_IDS, NO_NAME, NO_TYPE,
    NULL_ANSWER, NULL_CALL, NULL_CALLS, TOOL_WITHOUT_DESCRIPTION, TOOL_WITHOUT_PARAMETERS, TOOLS,
    USER_ASSISTANT_USER,
};

pub(super) static CONTRACT: Contract = Contract {
    id: "no-null-leak",
    meaning: "a null or missing value leaves no `None`, `null` or `<no value>` in the prompt",
    guards_against: "a model that reads `None` as its own words",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("no_null_leak.md"),
    judge: |tally, prober, _| {
        for (probe, complete, who) in MISSING {
            // Ollama's JSON of a tool has every field, whatever a template does.
            if prober.dialect() == Dialect::Go && complete == TOOLS {
                continue;
            }
            let (seen, complete) = (prober.see(probe), prober.see(complete));
            let (Some(text), Some(complete)) = (tally.text(&seen), complete.text()) else {
                continue;
            };
            let leaked = NOTHING
                .iter()
                .find(|word| occurrences(text, word) > occurrences(complete, word));
            match leaked {
                None => tally.holds(),
                Some(word) => {
                    let what = format!("{who} puts `{word}` into the prompt");
                    tally.broken(Evidence::one(what, &seen).at(added(text, word, complete)));
                }
            }
        }
    },
};

/// Probes in which something is missing, each with a probe in which it is present. A word that both
/// prompts contain comes from the template itself.
const MISSING: [(Probe, Probe, &str); 10] = [
    (NULL_ANSWER, EMPTY_ANSWER, "an answer that is null"),
    (MISSING_ANSWER, EMPTY_ANSWER, "an answer without content"),
    (NULL_CALL, EMPTY_CALL, "a call whose content is null"),
    (MISSING_CALL, EMPTY_CALL, "a call without content"),
    (
        NULL_CALLS,
        USER_ASSISTANT_USER,
        "an answer whose tool calls are null",
    ),
    (NO_IDS, CALL_RESULT, "a call without an ID"),
    (NO_NAME, CALL_RESULT, "a result that does not name its tool"),
    (TOOL_WITHOUT_PARAMETERS, TOOLS, "a tool without parameters"),
    (
        TOOL_WITHOUT_DESCRIPTION,
        TOOLS,
        "a tool without a description",
    ),
    (NO_TYPE, TOOLS, "a parameter without a type"),
];
