use rolecall_core::{Dialect, Outcome, Stage};

use super::frame::{Contract, Evidence, Severity};
use super::shared::working::failures;
use crate::probe::Probe;
use crate::probe::catalogue::{
    ASSISTANT_FIRST, CALL_RESULT, DEVELOPER_USER, DOCUMENT, LATE_SYSTEM, LONG_IDS, NO_ARGUMENTS,
    NO_IDS, NO_TOOLS, NO_TYPE, PARALLEL, REASONED, SYSTEM_USER, TOOL_WITHOUT_DESCRIPTION,
    TOOL_WITHOUT_PARAMETERS, TOOLS, TWO_ASSISTANTS, TWO_SYSTEM, TWO_USERS, TYPED_ARGUMENTS,
    UNION_TYPE, UNKNOWN_ROLE,
};

pub(super) static CONTRACT: Contract = Contract {
    id: "refusal-words",
    meaning: "what clients send is accepted, or refused in the template's own words",
    guards_against: "users who read `can only concatenate str` instead of `no system role`",
    severity: Severity::Warning,
    // A template for Ollama has no way to refuse.
    dialects: &[Dialect::Jinja],
    page: include_str!("refusal_words.md"),
    judge: |tally, prober, _| {
        let mut groups: Vec<(String, Evidence, Vec<&str>)> = Vec::new();
        // `capabilities-work` reports features that fail as a whole.
        let reported = failures(prober);
        for probe in LEGAL {
            let seen = prober.see(*probe);
            let is_wordless = match &*seen.outcome {
                Outcome::Rendered { .. } => continue,
                Outcome::Raised { .. } => false,
                Outcome::Failed { stage, .. } => *stage != Stage::Input,
                Outcome::Exceeded { .. } | Outcome::Crashed { .. } | Outcome::NotAsked { .. } => {
                    true
                }
            };
            if !is_wordless {
                tally.holds();
                continue;
            }
            let refusal = seen.refusal();
            if reported.contains(&refusal) {
                tally.skip("capabilities-work reports what fails");
                continue;
            }
            if let Some((_, _, names)) = groups.iter_mut().find(|(known, ..)| *known == refusal) {
                names.push(probe.about);
            } else {
                groups.push((refusal, Evidence::one("", &seen), vec![probe.about]));
            }
        }
        tally.skip("the template refuses none of the probes");
        for (refusal, evidence, names) in groups {
            tally.broken(Evidence {
                what: format!("{}: {refusal}", names.join("; ")),
                ..evidence
            });
        }
    },
};

/// Probes that a server may send. A template that does not support one should refuse it with a
/// message. Null content, content in parts, arguments in another form and empty lists of calls are
/// not among them, because they have contracts of their own. A system message alone asks nothing.
const LEGAL: &[Probe] = &[
    SYSTEM_USER,
    TWO_SYSTEM,
    LATE_SYSTEM,
    DEVELOPER_USER,
    UNKNOWN_ROLE,
    TWO_USERS,
    TWO_ASSISTANTS,
    ASSISTANT_FIRST,
    TOOLS,
    NO_TOOLS,
    TOOL_WITHOUT_PARAMETERS,
    TOOL_WITHOUT_DESCRIPTION,
    UNION_TYPE,
    NO_TYPE,
    CALL_RESULT,
    TYPED_ARGUMENTS,
    NO_ARGUMENTS,
    PARALLEL,
    NO_IDS,
    LONG_IDS,
    REASONED,
    DOCUMENT,
];
