//! What a template claims to be able to do, and how it fails.

use rolecall_core::{NameKind, Outcome, Stage, UnknownName};

use super::mentions::{handles, speaks_of, speaks_of_tools};
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_RESULT_USER, COMPACT_ARGUMENTS, DOCUMENT, LONG_IDS, NO_IDS,
    OBJECT_ARGUMENTS, PARALLEL, PARALLEL_TURN, REASONED, REASONED_USER, RICH_TOOL, SYSTEM_TOOLS,
    SYSTEM_TURNS, SYSTEM_USER, TOOLS, TWO_ROUNDS, TWO_TURNS, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{Probe, ProbeOutcome, Prober};

/// Something that a template may be able to do.
pub(in crate::contract) struct ClaimedAbility {
    pub(in crate::contract) name: &'static str,
    /// Whether the template means to support it.
    pub(in crate::contract) is_meant: fn(&Prober<'_>) -> bool,
    /// The probes that ask for it.
    pub(in crate::contract) probes: &'static [Probe],
}

pub(in crate::contract) const CLAIMED_ABILITIES: [ClaimedAbility; 8] = [
    ClaimedAbility {
        name: "earlier turns",
        is_meant: |_| true,
        probes: &[USER_ASSISTANT, USER_ASSISTANT_USER, TWO_TURNS],
    },
    ClaimedAbility {
        name: "a system message",
        is_meant: |prober| speaks_of(prober, &["system", "System"]),
        probes: &[SYSTEM_USER, SYSTEM_TURNS],
    },
    ClaimedAbility {
        name: "tools",
        is_meant: speaks_of_tools,
        probes: &[TOOLS, SYSTEM_TOOLS, RICH_TOOL],
    },
    ClaimedAbility {
        name: "tool calls",
        is_meant: |prober| speaks_of_tools(prober) || handles(prober, &["tool_calls"]),
        probes: &[
            CALL,
            CALL_RESULT,
            PARALLEL,
            OBJECT_ARGUMENTS,
            COMPACT_ARGUMENTS,
        ],
    },
    ClaimedAbility {
        name: "results of tools",
        is_meant: |prober| speaks_of(prober, &["tool", "tool_call_id", "ipython", "ToolCallID"]),
        probes: &[CALL_RESULT, CALL_RESULT_USER, NO_IDS, LONG_IDS, TWO_ROUNDS],
    },
    ClaimedAbility {
        name: "calls at once",
        is_meant: speaks_of_tools,
        probes: &[PARALLEL, PARALLEL_TURN],
    },
    ClaimedAbility {
        name: "reasoning",
        is_meant: |prober| {
            let names = ["reasoning_content", "reasoning", "thinking", "Thinking"];
            handles(prober, &names)
        },
        probes: &[REASONED, REASONED_USER],
    },
    ClaimedAbility {
        name: "documents",
        is_meant: |prober| speaks_of(prober, &["documents"]),
        probes: &[DOCUMENT],
    },
];

impl ClaimedAbility {
    /// Whether every probe of it ends in an engine's error.
    pub(in crate::contract) fn fails(&self, prober: &Prober<'_>) -> bool {
        let mut all = self.probes.iter();
        all.all(|probe| is_failure(&prober.see(*probe)))
    }
}

/// The probes of some capabilities.
pub(in crate::contract) fn probes(
    of: impl Fn(&ClaimedAbility) -> bool,
) -> impl Iterator<Item = Probe> {
    let capabilities = CLAIMED_ABILITIES
        .iter()
        .filter(move |capability| of(capability));
    capabilities.flat_map(|capability| capability.probes.iter().copied())
}

/// Whether a filter, a test, a function, a method or a field is not there, whatever a conversation
/// holds.
pub(in crate::contract) fn lacks_a_name(prober: &Prober<'_>, seen: &ProbeOutcome) -> bool {
    /// What engines say of a name that no value of this type has.
    const MISSING: [&str; 3] = ["No filter named", "No test named", "can't evaluate field"];
    if !is_failure(seen) {
        return false;
    }
    let words = seen.outcome.text();
    let unknown = prober.unknown_names().unwrap_or_default();
    let mut unknown = unknown
        .iter()
        .filter(|name| !matches!(name.kind, NameKind::Key { .. }));
    MISSING.iter().any(|missing| words.contains(missing))
        || unknown.any(|name| is_failure_of(&seen.outcome, name))
}

/// Whether a render ended at a name.
pub(in crate::contract) fn is_failure_of(outcome: &Outcome, unknown: &UnknownName) -> bool {
    match outcome {
        Outcome::Failed {
            line: Some(line),
            message,
            ..
        } => *line == unknown.line && message.contains(&unknown.name),
        _ => false,
    }
}

/// The engine's messages for the features that fail as a whole.
pub(in crate::contract) fn failures(prober: &Prober<'_>) -> Vec<String> {
    let failing = probes(|capability| capability.fails(prober));
    failing.map(|probe| prober.see(probe).refusal()).collect()
}

/// Whether an engine gave up: the template did not refuse, and neither did its front.
pub(in crate::contract) fn is_failure(seen: &ProbeOutcome) -> bool {
    match &*seen.outcome {
        Outcome::Rendered { .. } | Outcome::Raised { .. } => false,
        Outcome::Failed { stage, message, .. } => *stage != Stage::Input && !refuses(message),
        Outcome::Exceeded { .. } | Outcome::Crashed { .. } | Outcome::NotAsked { .. } => true,
    }
}

/// Whether a Go template failed on purpose. Ollama's templates have no way to refuse, so an author may
/// ask a text for a field whose name says why: `{{ .Role.out_of_turn }}`. No field has such a name.
fn refuses(message: &str) -> bool {
    let field = message.split_once("can't evaluate field ");
    field
        .and_then(|(_, rest)| rest.split_once(" in type string"))
        .is_some_and(|(name, _)| name.contains('_') && !name.contains(' '))
}
