use rolecall_core::problem::closest;
use rolecall_core::{Dialect, NameKind, UnknownName};

use super::capabilities_work;
use super::frame::{Contract, Evidence, Judgement, Severity};
use super::shared::working::is_failure_of;
use crate::probe::{Prober, catalogue};

pub(super) static CONTRACT: Contract = Contract {
    id: "names-known",
    meaning: "every filter, test, function and field that the template names exists",
    guards_against: "a misspelt name in a branch that runs for the first time in production",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("names_known.md"),
    judge: |tally, prober, capabilities| {
        let Some(unknown) = prober.unknown_names() else {
            return tally.skip("the engine does not report which names it knows");
        };
        let reported = match capabilities_work::CONTRACT.judgement(prober, capabilities) {
            Judgement::Broken(evidence) if capabilities.question.is_kept() => evidence,
            _ => Vec::new(),
        };
        let asked = prober.see(catalogue::USER);
        let mut is_reported_before = false;
        let is_seen = |name: &UnknownName| {
            let renders = reported.iter().flat_map(|one| &one.renders);
            renders
                .into_iter()
                .any(|render| is_failure_of(&render.outcome, name))
        };
        // Where one method fails, `capabilities-work` names all that are forbidden.
        let is_method = |name: &&UnknownName| name.kind == NameKind::Method;
        let are_listed = unknown.iter().filter(is_method).any(is_seen);
        for name in &unknown {
            let is_reported = is_seen(name) || are_listed && is_method(&name);
            // `renders` reports what fails in the simplest conversation.
            let is_reported = is_reported || is_failure_of(&asked.outcome, name);
            is_reported_before |= is_reported;
            if !is_reported && let Some(evidence) = evidence(prober, name) {
                tally.broken(evidence);
            }
        }
        if is_reported_before {
            tally.skip("other contracts report the unknown names");
        } else {
            tally.holds();
        }
    },
};

/// A name that is shorter resembles too many others.
const SHORTEST: usize = 4;

/// The evidence for an unknown name. None for a key that may be intended.
fn evidence(prober: &Prober<'_>, unknown: &UnknownName) -> Option<Evidence> {
    let UnknownName { kind, name, line } = unknown;
    let what = match kind {
        NameKind::Filter => format!("there is no filter `{name}`"),
        NameKind::Test => format!("there is no test `{name}`"),
        NameKind::Function => format!("there is no function `{name}`"),
        NameKind::Method => format!("transformers does not let templates call `{name}`"),
        NameKind::NoMethod => format!("no value has a method `{name}`"),
        NameKind::Field(of) => format!("{of} has no field `{name}`"),
        NameKind::Key { of, known } => {
            let known = known.iter().copied().filter(|key| key.len() >= SHORTEST);
            let meant = closest(name, known)?;
            let what = format!("line {line}: {of} has no `{name}`; did you mean `{meant}`?");
            let evidence = Evidence::of_source(what).in_line(Some(*line));
            return Some(evidence.with(Severity::Warning));
        }
    };
    let mut all = catalogue::ALL.iter().map(|probe| prober.see(*probe));
    let failing = all.find(|seen| is_failure_of(&seen.outcome, unknown));
    Some(match failing {
        Some(seen) => Evidence::one(format!("line {line}: {what}"), &seen),
        None => Evidence::of_source(format!(
            "line {line}: {what}, in a branch that no conversation here reaches"
        ))
        .in_line(Some(*line)),
    })
}
