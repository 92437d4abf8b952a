//! A comparison as JSON.

use std::io::{self, Write};

use rolecall_model::Outcome;
use serde_json::{Value, json};

use crate::comparison::{CardChange, Comparison, FindingChange, Group, Pairing, Tally};

/// The version of the form below.
const VERSION: u32 = 1;

/// Writes a comparison as one object:
///
/// ```json
/// {"rolecall": 1, "subject": "templates", "a": "OLD", "b": "NEW", "differs": true,
///  "counts": {"cases": 4, "differ": 2, "same": 1, "refuse": 0, "fail": 1},
///  "templates": [{"a": "chat", "b": "chat", "counts": {…}, "only_a": [], "only_b": [],
///                 "card": {"broken": […], "mended": […], "capabilities": […]}}],
///  "only_a": [], "only_b": [],
///  "differences": [{"cases": [{"template": 0, "case": "plain/user"}], "first": "…",
///                   "a": {"outcome": "rendered", "text": "…"}, "b": {…}}],
///  "failures": [{"cases": […], "a": {…}, "b": {…}}]}
/// ```
///
/// `subject` is `templates`, `engines`, `fronts` or `runs`. Of the counts, `same` is of the
/// same prompts, `refuse` of templates that refuse in the same words, `fail` of cases in which
/// both sides fail. `template` is a place in the list `templates`, counted from 0. `card` is
/// there where the report cards of templates were compared: `broken` and `mended` have
/// `{"contract", "severity", "what", "alone"}`, `capabilities` has
/// `{"name", "a", "b", "turn"}`, the turn being `gained`, `lost` or `other`. A difference has
/// the outcomes of its first case, as `render --format jsonl` writes them, and `first`
/// where both are of one kind: where they part, in words. Of prompts it has `edits`, the
/// words that came and went in each of its cases, as `{"gone", "came"}`.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let [a, b] = &comparison.sides;
    let [only_a, only_b] = &comparison.alone;
    let differences = comparison.differences().iter();
    let failures = comparison.failures().iter();
    let value = json!({
        "rolecall": VERSION,
        "subject": comparison.subject.name(),
        "a": a,
        "b": b,
        "differs": comparison.differs(),
        "counts": counts(comparison.tally()),
        "templates": comparison.pairings.iter().map(pairing).collect::<Vec<_>>(),
        "only_a": only_a,
        "only_b": only_b,
        "differences": differences.map(group).collect::<Vec<_>>(),
        "failures": failures.map(group).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)
}

fn counts(tally: Tally) -> Value {
    json!({
        "cases": tally.count(),
        "differ": tally.differ,
        "same": tally.same,
        "refuse": tally.refuse,
        "fail": tally.fail,
    })
}

fn pairing(pairing: &Pairing) -> Value {
    let [a, b] = &pairing.names;
    let [only_a, only_b] = &pairing.only;
    let mut value = json!({
        "a": a,
        "b": b,
        "counts": counts(pairing.tally),
        "only_a": only_a,
        "only_b": only_b,
    });
    if let Some(change) = &pairing.card {
        value["card"] = card(change);
    }
    value
}

/// What report cards differ in.
pub(super) fn card(change: &CardChange) -> Value {
    let findings = |list: &[FindingChange]| -> Vec<Value> {
        let one = |change: &FindingChange| {
            json!({
                "contract": change.contract.id,
                "severity": change.severity,
                "what": change.what,
                "alone": change.is_alone,
            })
        };
        list.iter().map(one).collect()
    };
    let capabilities = change.capabilities.iter().map(|change| {
        let [a, b] = &change.sides;
        json!({"name": change.name, "a": a, "b": b, "turn": change.turn.name()})
    });
    json!({
        "broken": findings(&change.broken),
        "mended": findings(&change.mended),
        "capabilities": capabilities.collect::<Vec<_>>(),
    })
}

fn group(group: &Group) -> Value {
    let members = group.members.iter();
    let cases = members.map(|member| json!({"template": member.pairing, "case": member.case}));
    let [a, b] = &group.outcomes;
    let mut value = json!({
        "cases": cases.collect::<Vec<_>>(),
        "a": outcome(a),
        "b": outcome(b),
    });
    if !group.edits.is_empty() {
        let edits = group.edits.iter();
        let edits = edits.map(|edit| json!({"gone": edit.gone, "came": edit.came}));
        value["edits"] = edits.collect();
    }
    if let Some(first) = group.diff.first.as_ref().filter(|_| a.kind() == b.kind()) {
        value["first"] = first.as_str().into();
    }
    value
}

/// An outcome, as `report::jsonl` writes it.
fn outcome(outcome: &Outcome) -> Value {
    let name = outcome.kind().name();
    match outcome {
        Outcome::Rendered { text } => json!({"outcome": name, "text": text}),
        Outcome::Raised { message }
        | Outcome::Crashed { message }
        | Outcome::NotAsked { message } => {
            json!({"outcome": name, "message": message})
        }
        Outcome::Failed {
            stage,
            message,
            line,
        } => json!({"outcome": name, "stage": stage.name(), "message": message, "line": line}),
        Outcome::Exceeded { limit } => json!({"outcome": name, "limit": limit.name()}),
    }
}
