//! The roles that a template knows, and in which order it takes them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::support::Support;
use crate::probe::catalogue::{
    ASSISTANT_FIRST, ASSISTANT_PARTS, DEVELOPER_USER, LATE_SYSTEM, RESULT_PARTS, SYSTEM_ONLY,
    SYSTEM_PARTS, SYSTEM_USER, TWO_ASSISTANTS, TWO_SYSTEM, TWO_USERS, UNKNOWN_ROLE, USER,
    USER_PARTS,
};
use crate::probe::{Prober, words};

/// What becomes of messages in each role, and in unusual orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Roles {
    /// System messages.
    pub system: System,
    /// A developer message before the first question.
    pub developer: Support,
    /// A message in a role that nobody knows.
    pub unknown: Support,
    /// Two user messages in a row.
    pub consecutive_users: Support,
    /// Two assistant messages in a row.
    pub consecutive_assistants: Support,
    /// A conversation that begins with the assistant.
    pub assistant_first: Support,
}

/// What becomes of system messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct System {
    /// One before the first question: `kept` is a turn of its own, `merged` a part of
    /// the user's.
    pub leading: Support,
    /// One alone, without a question.
    pub alone: Support,
    /// Two before the first question.
    pub two: Support,
    /// One in the middle of the conversation.
    pub late: Support,
}

pub(super) fn explore(prober: &Prober<'_>) -> Roles {
    let of = |probe, words: &[&str]| Support::of(&prober.see(probe), words);
    Roles {
        system: System {
            leading: leading(prober),
            alone: of(SYSTEM_ONLY, &[words::SYSTEM]),
            two: of(TWO_SYSTEM, &[words::SYSTEM, words::SECOND_SYSTEM]),
            late: of(LATE_SYSTEM, &[words::SYSTEM]),
        },
        developer: of(DEVELOPER_USER, &[words::DEVELOPER]),
        unknown: of(UNKNOWN_ROLE, &[words::NARRATOR]),
        consecutive_users: of(TWO_USERS, &[words::USER, words::SECOND_USER]),
        consecutive_assistants: of(TWO_ASSISTANTS, &[words::ASSISTANT, words::SECOND_ASSISTANT]),
        assistant_first: of(ASSISTANT_FIRST, &[words::ASSISTANT]),
    }
}

/// A system message is merged where it stands behind the same opening as a question
/// does without it.
fn leading(prober: &Prober<'_>) -> Support {
    let seen = prober.see(SYSTEM_USER);
    let support = Support::of(&seen, &[words::SYSTEM]);
    let plain = prober.see(USER);
    match (seen.before(words::SYSTEM), plain.before(words::USER)) {
        (Some(before_system), Some(before_user))
            if support == Support::Kept
                && !before_user.trim().is_empty()
                && before_system.starts_with(before_user.trim_end()) =>
        {
            Support::Merged
        }
        _ => support,
    }
}

pub(super) fn typed_content(prober: &Prober<'_>) -> BTreeMap<&'static str, Support> {
    [
        ("user", USER_PARTS, words::USER),
        ("assistant", ASSISTANT_PARTS, words::ASSISTANT),
        ("system", SYSTEM_PARTS, words::SYSTEM),
        ("tool", RESULT_PARTS, words::RESULT),
    ]
    .into_iter()
    .map(|(role, probe, word)| {
        let support = Support::of(&prober.see(probe), &[word]);
        (role, support)
    })
    .collect()
}
