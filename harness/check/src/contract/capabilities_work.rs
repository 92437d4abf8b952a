use std::collections::BTreeSet;

use rolecall_core::{Dialect, NameKind, Outcome, UnknownName};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::working::{CLAIMED_ABILITIES, is_failure, lacks_a_name, probes};
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_TURN_USER, CALL_WITH_TEXT, COMPACT_ARGUMENTS,
    DOCUMENT, DOCUMENT_TOOLS, OTHER_QUESTION, SYSTEM_CALL_RESULT, SYSTEM_DOCUMENT, SYSTEM_TOOLS,
    SYSTEM_TURNS, SYSTEM_USER, TOOLS, TWO_ROUNDS, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{Probe, ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "capabilities-work",
    meaning: "no feature that the template supports ends in an engine's error",
    guards_against: "a wrong filter, attribute or type in a branch that nobody tried",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("capabilities_work.md"),
    judge: |tally, prober, _| {
        let mut reported = BTreeSet::new();
        for capability in &CLAIMED_ABILITIES {
            if !capability.fails(prober) {
                tally.holds();
                continue;
            }
            // A conversation with something else besides may work.
            let works = COMBINED.iter().find(|(whole, parts)| {
                let mut parts = parts.iter();
                parts.any(|part| capability.probes.contains(part))
                    && prober.see(*whole).text().is_some()
            });
            let failing = match works {
                Some((whole, _)) => format!(
                    "conversations with {} fail, except {}",
                    capability.name, whole.about
                ),
                None => format!("every conversation with {} fails", capability.name),
            };
            let all = capability.probes.iter();
            let seen: Vec<_> = all.map(|probe| prober.see(*probe)).collect();
            // A cause that lets several kinds of conversations fail is reported for the first.
            let failures: BTreeSet<String> =
                seen.iter().map(|seen| failure(prober, seen)).collect();
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
                let what = format!("{failing}: {failure} ({})", names.join(", "));
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
        combined(tally, prober);
        unknown_names(tally, prober, reported);
    },
};

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
            let mut evidence = Evidence::one(format!("{failure} ({})", seen.probe), &seen);
            // As where JSON text of arguments alone fails in another way: objects work.
            evidence.severity = (probe == COMPACT_ARGUMENTS).then_some(Severity::Warning);
            tally.broken(evidence);
        }
    }
}

/// The methods that the sandbox of transformers forbids, if the engine's message names the one in this
/// line. Engines say that there is no such method. The first hides the others.
fn forbidden_methods(prober: &Prober<'_>, line: usize, message: &str) -> Option<String> {
    let unknown = prober.unknown_names()?.into_iter();
    let methods: Vec<_> = unknown
        .filter(|name| name.kind == NameKind::Method)
        .collect();
    let is_named = |name: &UnknownName| name.line == line && message.contains(&name.name);
    methods.iter().any(is_named).then(|| {
        let named = methods
            .iter()
            .map(|one| format!("`{}` (line {})", one.name, one.line));
        named.collect::<Vec<_>>().join(" and ")
    })
}

/// How it gave up, with the line of the template.
fn failure(prober: &Prober<'_>, seen: &ProbeOutcome) -> String {
    match &*seen.outcome {
        Outcome::Failed {
            line: Some(line),
            message,
            ..
        } if let Some(methods) = forbidden_methods(prober, *line, message) => {
            format!("transformers does not let templates call {methods}")
        }
        Outcome::Failed {
            line: Some(line), ..
        } => format!("line {line}: {}", seen.outcome.text().trim()),
        _ => seen.refusal(),
    }
}
