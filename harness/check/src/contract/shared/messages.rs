//! Conversations of plain messages.

use crate::probe::catalogue::{
    ASSISTANT_FIRST, DEVELOPER_USER, LATE_SYSTEM, SYSTEM_ONLY, SYSTEM_TURNS, SYSTEM_USER,
    SYSTEM_USER_ASSISTANT, TWO_ASSISTANTS, TWO_SYSTEM, TWO_TURNS, TWO_USERS, USER_ASSISTANT_USER,
};
use crate::probe::{Probe, words};

/// Conversations with the words that they are made of, in order.
pub(in crate::contract) const CONVERSATIONS: [(Probe, &[&str]); 12] = [
    (
        USER_ASSISTANT_USER,
        &[words::USER, words::ASSISTANT, words::SECOND_USER],
    ),
    (
        TWO_TURNS,
        &[
            words::USER,
            words::ASSISTANT,
            words::SECOND_USER,
            words::SECOND_ASSISTANT,
        ],
    ),
    (SYSTEM_USER, &[words::SYSTEM, words::USER]),
    (
        SYSTEM_TURNS,
        &[
            words::SYSTEM,
            words::USER,
            words::ASSISTANT,
            words::SECOND_USER,
        ],
    ),
    (
        SYSTEM_USER_ASSISTANT,
        &[words::SYSTEM, words::USER, words::ASSISTANT],
    ),
    (SYSTEM_ONLY, &[words::SYSTEM]),
    (
        TWO_SYSTEM,
        &[words::SYSTEM, words::SECOND_SYSTEM, words::USER],
    ),
    (
        LATE_SYSTEM,
        &[
            words::USER,
            words::ASSISTANT,
            words::SYSTEM,
            words::SECOND_USER,
        ],
    ),
    (TWO_USERS, &[words::USER, words::SECOND_USER]),
    (
        TWO_ASSISTANTS,
        &[
            words::USER,
            words::ASSISTANT,
            words::SECOND_ASSISTANT,
            words::SECOND_USER,
        ],
    ),
    (ASSISTANT_FIRST, &[words::ASSISTANT, words::USER]),
    (DEVELOPER_USER, &[words::DEVELOPER, words::USER]),
];

/// What a word represents in these conversations.
pub(in crate::contract) fn name(word: &str) -> &'static str {
    match word {
        words::SYSTEM => "the system message",
        words::SECOND_SYSTEM => "the second system message",
        words::DEVELOPER => "the developer message",
        words::USER => "the first question",
        words::SECOND_USER => "the second question",
        words::ASSISTANT => "the first answer",
        words::FIRST_VALUE => "the first call",
        words::THIRD_VALUE => "the second call",
        words::RESULT => "the first result",
        words::SECOND_RESULT => "the second result",
        _ => "the second answer",
    }
}
