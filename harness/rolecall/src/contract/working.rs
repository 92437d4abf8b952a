//! The contract that what a template sets out to do works at all.

use rolecall_model::{Dialect, Outcome, Stage};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::severity::Severity;
use super::source::{speaks_of, speaks_of_tools};
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, COMPACT_ARGUMENTS, DOCUMENT, OBJECT_ARGUMENTS, PARALLEL, RICH_TOOL,
    SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_USER, TOOLS, TWO_TURNS, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{Probe, Prober, Seen};

pub(super) static CAPABILITIES_WORK: Contract = Contract {
    id: "capabilities-work",
    meaning: "what the template sets out to do does not end in an engine's error",
    guards_against: "a filter, an attribute or a type that is wrong in a branch nobody tried",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    judge: capabilities_work,
};

/// What a template may be able to do, and the probes that ask for it.
const CAPABILITIES: [(&str, &[Probe]); 5] = [
    (
        "earlier turns",
        &[USER_ASSISTANT, USER_ASSISTANT_USER, TWO_TURNS],
    ),
    ("a system message", &[SYSTEM_USER, SYSTEM_TURNS]),
    ("tools", &[TOOLS, SYSTEM_TOOLS, RICH_TOOL]),
    (
        "tool calls",
        &[
            CALL,
            CALL_RESULT,
            PARALLEL,
            OBJECT_ARGUMENTS,
            COMPACT_ARGUMENTS,
        ],
    ),
    ("documents", &[DOCUMENT]),
];

fn capabilities_work(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    for (name, probes) in CAPABILITIES {
        let template = prober.template();
        let is_meant = match name {
            "a system message" => speaks_of(template, &["system", "System"]),
            "tools" | "tool calls" => speaks_of_tools(template),
            "documents" => speaks_of(template, &["documents"]),
            _ => true,
        };
        let seen: Vec<_> = probes.iter().map(|probe| prober.see(*probe)).collect();
        if !seen.iter().all(|seen| is_failure(seen)) {
            tally.holds();
            continue;
        }
        // Those that fail alike are told together.
        let mut told: Vec<(String, &Seen, Vec<&str>)> = Vec::new();
        for seen in &seen {
            let failure = failure(seen);
            match told.iter_mut().find(|(known, ..)| *known == failure) {
                Some((_, _, names)) => names.push(seen.probe),
                None => told.push((failure, seen, vec![seen.probe])),
            }
        }
        for (failure, seen, names) in told {
            let what = format!(
                "every conversation with {name} fails: {failure} ({})",
                names.join(", ")
            );
            let evidence = Evidence::one(what, seen);
            tally.broken(if is_meant {
                evidence
            } else {
                evidence.with(Severity::Limitation)
            });
        }
    }
    unknown_names(&mut tally, prober);
    tally.judgement()
}

/// A filter or test that is not there is a defect in whatever conversation meets it.
fn unknown_names(tally: &mut Tally, prober: &Prober<'_>) {
    let known = failing(prober);
    let all = CAPABILITIES.iter().flat_map(|(_, probes)| *probes);
    for probe in all.filter(|probe| !known.contains(&probe.name)) {
        let seen = prober.see(*probe);
        if lacks_a_name(&seen) {
            let what = format!("{} ({})", failure(&seen), seen.probe);
            tally.broken(Evidence::one(what, &seen));
        }
    }
}

/// Whether a filter or a test is not there.
pub(super) fn lacks_a_name(seen: &Seen) -> bool {
    let words = seen.outcome.text();
    let names = ["No filter named", "No test named"];
    is_failure(seen) && names.iter().any(|name| words.contains(name))
}

/// How the capabilities fail that do so as a whole, in an engine's words.
pub(super) fn failures(prober: &Prober<'_>) -> Vec<String> {
    let names = failing(prober);
    let all = CAPABILITIES.iter().flat_map(|(_, probes)| *probes);
    let failing = all.filter(|probe| names.contains(&probe.name));
    failing.map(|probe| prober.see(*probe).refusal()).collect()
}

/// The probes that fail because a capability does as a whole.
fn failing(prober: &Prober<'_>) -> Vec<&'static str> {
    let capabilities = CAPABILITIES.iter().map(|(_, probes)| *probes);
    let failing = capabilities.filter(|probes| {
        let mut all = probes.iter();
        all.all(|probe| is_failure(&prober.see(*probe)))
    });
    failing.flatten().map(|probe| probe.name).collect()
}

/// Whether an engine gave up: the template did not refuse, and neither did its front.
fn is_failure(seen: &Seen) -> bool {
    match &seen.outcome {
        Outcome::Rendered { .. } | Outcome::Raised { .. } => false,
        Outcome::Failed { stage, .. } => *stage != Stage::Input,
        Outcome::Exceeded { .. } | Outcome::Crashed { .. } => true,
    }
}

/// How it gave up, with the line of the template.
fn failure(seen: &Seen) -> String {
    match &seen.outcome {
        Outcome::Failed {
            line: Some(line), ..
        } => format!("line {line}: {}", seen.outcome.text().trim()),
        _ => seen.refusal(),
    }
}
