//! The roles that a template knows, and in which order it takes them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::support::Support;
use crate::probe::catalogue::{
    ASSISTANT_FIRST, ASSISTANT_PARTS, DEVELOPER_USER, LATE_SYSTEM, RESULT_PARTS, SYSTEM_ONLY,
    SYSTEM_PARTS, SYSTEM_USER, TWO_ASSISTANTS, TWO_SYSTEM, TWO_USERS, UNKNOWN_ROLE, USER,
    USER_PARTS,
};
use crate::probe::{Probe, Prober, words};

/// What becomes of messages in each role, and in unusual orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Roles {
    /// Roles, by what becomes of the words of a probe.
    pub(super) fn of(support: impl Fn(Probe, &[&str]) -> Support) -> Roles {
        let assistants = [words::ASSISTANT, words::SECOND_ASSISTANT];
        Roles {
            system: System {
                leading: support(SYSTEM_USER, &[words::SYSTEM]),
                alone: support(SYSTEM_ONLY, &[words::SYSTEM]),
                two: support(TWO_SYSTEM, &[words::SYSTEM, words::SECOND_SYSTEM]),
                late: support(LATE_SYSTEM, &[words::SYSTEM]),
            },
            developer: support(DEVELOPER_USER, &[words::DEVELOPER]),
            unknown: support(UNKNOWN_ROLE, &[words::NARRATOR]),
            consecutive_users: support(TWO_USERS, &[words::USER, words::SECOND_USER]),
            consecutive_assistants: support(TWO_ASSISTANTS, &assistants),
            assistant_first: support(ASSISTANT_FIRST, &[words::ASSISTANT]),
        }
    }
}

pub(super) fn explore(prober: &Prober<'_>) -> Roles {
    let mut roles = Roles::of(|probe, words| Support::of(&prober.see(probe), words));
    if is_merged(prober, &roles.system.leading) {
        roles.system.leading = Support::Merged;
    }
    roles
}

/// A system message is merged if it has the same opening as a question without a system message.
fn is_merged(prober: &Prober<'_>, leading: &Support) -> bool {
    let (seen, plain) = (prober.see(SYSTEM_USER), prober.see(USER));
    match (seen.before(words::SYSTEM), plain.before(words::USER)) {
        (Some(before_system), Some(before_user)) => {
            *leading == Support::Kept
                && !before_user.trim().is_empty()
                && before_system.starts_with(before_user.trim_end())
        }
        _ => false,
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
