//! The contract that the features of a template work at all.

use std::collections::BTreeSet;

use rolecall_core::{Dialect, NameKind, Outcome, Stage, UnknownName};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::mentions::{handles, speaks_of, speaks_of_tools};
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_RESULT_USER, CALL_TURN_USER, CALL_WITH_TEXT,
    COMPACT_ARGUMENTS, DOCUMENT, DOCUMENT_TOOLS, LONG_IDS, NO_IDS, OBJECT_ARGUMENTS,
    OTHER_QUESTION, PARALLEL, PARALLEL_TURN, REASONED, REASONED_USER, RICH_TOOL,
    SYSTEM_CALL_RESULT, SYSTEM_DOCUMENT, SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_USER, TOOLS,
    TWO_ROUNDS, TWO_TURNS, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{Probe, ProbeOutcome, Prober, words};

pub(super) static CAPABILITIES_WORK: Contract = Contract {
    id: "capabilities-work",
    meaning: "no feature that the template supports ends in an engine's error",
    guards_against: "a wrong filter, attribute or type in a branch that nobody tried",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/capabilities-work.md"),
    judge: capabilities_work,
};

/// Something that a template may be able to do.
struct ClaimedAbility {
    name: &'static str,
    /// Whether the template means to support it.
    is_meant: fn(&Prober<'_>) -> bool,
    /// The probes that ask for it.
    probes: &'static [Probe],
}

const CLAIMED_ABILITIES: [ClaimedAbility; 8] = [
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
    fn fails(&self, prober: &Prober<'_>) -> bool {
        let mut all = self.probes.iter();
        all.all(|probe| is_failure(&prober.see(*probe)))
    }
}

fn capabilities_work(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let mut reported = BTreeSet::new();
    for capability in &CLAIMED_ABILITIES {
        if !capability.fails(prober) {
            tally.holds();
            continue;
        }
        let all = capability.probes.iter();
        let seen: Vec<_> = all.map(|probe| prober.see(*probe)).collect();
        // A cause that lets several kinds of conversations fail is reported for the first.
        let failures: BTreeSet<String> = seen.iter().map(|seen| failure(prober, seen)).collect();
        if failures.is_subset(&reported) {
            continue;
        }
        reported.extend(failures);
        // Probes that fail alike are reported together.
        let mut said_of_it: Vec<(String, &ProbeOutcome, Vec<&str>)> = Vec::new();
        for seen in &seen {
            let failure = failure(prober, seen);
            match said_of_it.iter_mut().find(|(known, ..)| *known == failure) {
                Some((_, _, names)) => names.push(seen.probe),
                None => said_of_it.push((failure, seen, vec![seen.probe])),
            }
        }
        for (failure, seen, names) in said_of_it {
            let what = format!(
                "every conversation with {} fails: {failure} ({})",
                capability.name,
                names.join(", ")
            );
            let evidence = Evidence::one(what, seen);
            tally.broken(
                if (capability.is_meant)(prober) || lacks_a_name(prober, seen) {
                    evidence
                } else {
                    evidence.with(Severity::Limitation)
                },
            );
        }
    }
    combined(&mut tally, prober);
    unknown_names(&mut tally, prober, reported);
    tally.judgement()
}

/// Conversations, each with those that have a part of it.
const COMBINED: [(Probe, &[Probe]); 11] = [
    (USER_ASSISTANT, &[USER_ASSISTANT_USER]),
    (SYSTEM_TOOLS, &[SYSTEM_USER, TOOLS]),
    (SYSTEM_CALL_RESULT, &[SYSTEM_USER, CALL_RESULT]),
    (CALL_RESULT_ASSISTANT, &[CALL_RESULT, USER_ASSISTANT]),
    (CALL_TURN_USER, &[CALL_RESULT, USER_ASSISTANT_USER]),
    (TWO_ROUNDS, &[CALL_RESULT]),
    (OTHER_QUESTION, &[TOOLS, USER_ASSISTANT_USER]),
    (SYSTEM_TURNS, &[SYSTEM_USER, USER_ASSISTANT_USER]),
    (CALL_WITH_TEXT, &[CALL_RESULT]),
    (DOCUMENT_TOOLS, &[DOCUMENT, TOOLS]),
    (SYSTEM_DOCUMENT, &[SYSTEM_USER, DOCUMENT]),
];

/// What works alone works together: each part of a conversation gives a prompt, and so does the
/// whole. A template may refuse in its own words what its model does not know, such as text next to
/// a call.
fn combined(tally: &mut Tally, prober: &Prober<'_>) {
    for (whole, parts) in COMBINED {
        let seen = prober.see(whole);
        // A call that vanishes without a word does not work.
        let works = |probe: &Probe| {
            let seen = prober.see(*probe);
            let is_call = seen
                .asked
                .messages
                .iter()
                .any(|one| one["tool_calls"].is_array());
            seen.text().is_some() && (!is_call || seen.has(words::FIRST_VALUE))
        };
        let is_known = ![USER_ASSISTANT, CALL_WITH_TEXT, DOCUMENT_TOOLS].contains(&whole);
        let is_refused = matches!(*seen.outcome, Outcome::Raised { .. }) && is_known;
        if (is_failure(&seen) || is_refused) && parts.iter().all(works) {
            let what = format!(
                "each part of this conversation works, and the whole does not: {}: {}",
                whole.about,
                failure(prober, &seen)
            );
            tally.broken(Evidence::one(what, &seen));
        }
    }
}

/// A missing filter or test is a defect in every conversation that reaches it.
fn unknown_names(tally: &mut Tally, prober: &Prober<'_>, mut reported: BTreeSet<String>) {
    for probe in probes(|capability| !capability.fails(prober)) {
        let seen = prober.see(probe);
        let failure = failure(prober, &seen);
        if lacks_a_name(prober, &seen) && reported.insert(failure.clone()) {
            let what = format!("{failure} ({})", seen.probe);
            tally.broken(Evidence::one(what, &seen));
        }
    }
}

/// The probes of some capabilities.
fn probes(of: impl Fn(&ClaimedAbility) -> bool) -> impl Iterator<Item = Probe> {
    let capabilities = CLAIMED_ABILITIES
        .iter()
        .filter(move |capability| of(capability));
    capabilities.flat_map(|capability| capability.probes.iter().copied())
}

/// Whether a filter, a test, a function, a method or a field is not there, whatever a conversation
/// holds.
pub(super) fn lacks_a_name(prober: &Prober<'_>, seen: &ProbeOutcome) -> bool {
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
pub(super) fn is_failure_of(outcome: &Outcome, unknown: &UnknownName) -> bool {
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
pub(super) fn failures(prober: &Prober<'_>) -> Vec<String> {
    let failing = probes(|capability| capability.fails(prober));
    failing.map(|probe| prober.see(probe).refusal()).collect()
}

/// The method in a line that the sandbox of transformers forbids, if the engine's message names it.
/// Engines say that there is no such method.
fn forbidden_method(prober: &Prober<'_>, line: usize, message: &str) -> Option<String> {
    let unknown = prober.unknown_names()?;
    let mut methods = unknown
        .into_iter()
        .filter(|name| name.kind == NameKind::Method);
    let found = methods.find(|name| name.line == line && message.contains(&name.name));
    found.map(|found| found.name)
}

/// Whether an engine gave up: the template did not refuse, and neither did its front.
fn is_failure(seen: &ProbeOutcome) -> bool {
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

/// How it gave up, with the line of the template.
fn failure(prober: &Prober<'_>, seen: &ProbeOutcome) -> String {
    match &*seen.outcome {
        Outcome::Failed {
            line: Some(line),
            message,
            ..
        } if let Some(method) = forbidden_method(prober, *line, message) => {
            format!("line {line}: transformers does not let templates call `{method}`")
        }
        Outcome::Failed {
            line: Some(line), ..
        } => format!("line {line}: {}", seen.outcome.text().trim()),
        _ => seen.refusal(),
    }
}
