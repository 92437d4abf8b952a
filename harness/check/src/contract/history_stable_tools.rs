use rolecall_core::Dialect;

use super::frame::{Contract, Severity};
use super::shared::prefix::{REWRITTEN, goes_on};
use crate::probe::catalogue::{
    CALL, CALL_RESULT_ASSISTANT, CALL_RESULT_CLOSED, CALL_TURN_USER_CLOSED, TOOLS_TURN,
    TOOLS_TURN_USER_CLOSED,
};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "history-stable-tools",
    meaning: "a conversation with tools that goes on begins with the prompt as it was",
    guards_against: "tools that move with the last question, calls that are written anew",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("history_stable_tools.md"),
    judge: |tally, prober, capabilities| {
        if capabilities.tools.is_kept() {
            let pair = (TOOLS_TURN, TOOLS_TURN_USER_CLOSED);
            goes_on(
                tally,
                prober,
                capabilities,
                pair,
                words::ASSISTANT,
                REWRITTEN,
            );
        } else {
            tally.skip("tools are not in the prompt");
        }
        if capabilities.tool_calls.single.is_kept() {
            for (pair, last, what) in [
                (
                    (CALL, CALL_RESULT_CLOSED),
                    words::SECOND_VALUE,
                    "the call changes when its result comes",
                ),
                (
                    (CALL_RESULT_CLOSED, CALL_RESULT_ASSISTANT),
                    words::RESULT,
                    "the result changes when the answer comes",
                ),
                (
                    (CALL_RESULT_ASSISTANT, CALL_TURN_USER_CLOSED),
                    words::SECOND_ASSISTANT,
                    "a turn with a call changes when the conversation goes on",
                ),
            ] {
                goes_on(tally, prober, capabilities, pair, last, what);
            }
        } else {
            tally.skip("tool calls are not in the prompt");
        }
    },
};
