//! The page of servers: what each application that serves templates makes of ordinary conversations, and
//! how many answers it parses.

use std::io;

use minijinja::context;
use rolecall_check::served::{Served, ServedDifference, ServedVerdict};
use rolecall_core::{TemplateName, transcript};
use rolecall_front::front::Front;
use rolecall_suite::conclusion::Share;
use serde_json::{Value, json};

use super::pages::Pages;
use crate::matrix::engines::Matrix;
use crate::matrix::roundtrip::{Counted, RoundtripMeasurement};
use crate::report::json::VERSION;
use crate::report::text;

/// What applications make of a template.
pub type ServedTemplate = (TemplateName, Served);

/// The page, and the same as JSON.
pub(super) fn page(
    pages: &Pages,
    matrix: &Matrix,
    served: &[ServedTemplate],
) -> io::Result<(String, String)> {
    let fronts: Vec<Front> = served
        .first()
        .map_or_else(Vec::new, |(_, one)| one.fronts.clone());
    let parsers: Vec<Option<&RoundtripMeasurement>> =
        fronts.iter().map(|front| parser(matrix, *front)).collect();
    let rows = served.iter().map(|(name, one)| {
        let cells = fronts.iter().zip(&parsers).map(|(front, parser)| {
            let answers = parser.and_then(|parser| parser.templates.get(name));
            cell(one, *front, answers)
        });
        json!({"template": name, "applications": cells.collect::<Vec<_>>()})
    });
    let applications = fronts.iter().zip(&parsers).map(|(front, parser)| {
        json!({
            "name": front.name(),
            "about": front.description(),
            "parser": parser.map(|parser| parser.reader.to_string()),
            "causes": causes(served, *front),
        })
    });
    let data = json!({
        "rolecall": VERSION,
        "applications": applications.collect::<Vec<_>>(),
        "templates": rows.collect::<Vec<_>>(),
    });
    let mut shown = data.clone();
    let applications = shown["applications"].as_array_mut();
    let causes = applications.into_iter().flatten();
    let causes = causes.filter_map(|one| one["causes"].as_array_mut());
    for cause in causes.flatten() {
        // As a text, its keys stay in their order.
        let text = serde_json::to_string_pretty(&cause["conversation"])?;
        cause["conversation"] = text.into();
    }
    let page =
        context! { root => "", title => "What servers make of templates", ..text::data(&shown) };
    let json = serde_json::to_string_pretty(&data)? + "\n";
    Ok((pages.page("servers.html", page)?, json))
}

/// The measured parser of an application: it has its name, or begins with it.
fn parser(matrix: &Matrix, front: Front) -> Option<&RoundtripMeasurement> {
    let is_of = |one: &&RoundtripMeasurement| {
        let rest = one.reader.engine.strip_prefix(front.name());
        rest.is_some_and(|rest| rest.is_empty() || rest == "-parsers")
    };
    matrix.roundtrip().iter().rfind(is_of)
}

/// What an application makes of a template.
fn cell(served: &Served, front: Front, answers: Option<&Counted>) -> Value {
    let verdicts = served.capabilities.iter();
    let verdicts =
        verdicts.filter_map(|one| Some((one.capability, *one.verdicts.get(front.name())?)));
    let other: Vec<_> = verdicts
        .filter(|(_, verdict)| *verdict >= ServedVerdict::Changes)
        .map(|(capability, verdict)| json!({"capability": capability, "verdict": verdict}))
        .collect();
    let of_front = served.differences.iter().filter(|one| one.front == front);
    let defects = of_front.filter(|one| one.verdict.is_defect());
    let defects: usize = defects.map(|one| one.capabilities.len()).sum();
    let answers = answers.map(Counted::share).filter(|share| share.all > 0);
    json!({
        "kinds_of_conversations": served.capabilities.len(),
        "other": other,
        "defects": defects,
        "answers": answers.map(|Share { agree, all }| json!({"read": agree, "of": all})),
    })
}

/// Why an application makes other prompts than the templates' own front: those in which something is
/// lost or added first, then those in the most templates.
fn causes(served: &[ServedTemplate], front: Front) -> Vec<Value> {
    let mut causes: Vec<(&ServedDifference, Vec<&TemplateName>)> = Vec::new();
    for (name, one) in served {
        for difference in one.differences.iter().filter(|one| one.front == front) {
            let is_same = |known: &ServedDifference| {
                known.verdict == difference.verdict && known.changes == difference.changes
            };
            match causes.iter_mut().find(|(known, _)| is_same(known)) {
                Some((known, templates)) => {
                    templates.push(name);
                    if size(difference) < size(known) {
                        *known = difference;
                    }
                }
                None => causes.push((difference, vec![name])),
            }
        }
    }
    causes.sort_by_key(|(one, templates)| {
        (!one.verdict.is_defect(), std::cmp::Reverse(templates.len()))
    });
    causes
        .into_iter()
        .map(|(one, templates)| cause(one, &templates))
        .collect()
}

/// How long the conversation of a difference is.
fn size(difference: &ServedDifference) -> usize {
    let renders = &difference.evidence[0].renders;
    renders
        .first()
        .map_or(0, |render| render.conversation.to_string().len())
}

/// A cause, with the smallest conversation and both prompts.
fn cause(one: &ServedDifference, templates: &[&TemplateName]) -> Value {
    let evidence = &one.evidence[0];
    let prompts = evidence
        .renders
        .iter()
        .map(|render| transcript::encode(&render.outcome));
    let prompts: Vec<String> = prompts.collect();
    json!({
        "verdict": one.verdict,
        "is_defect": one.verdict.is_defect(),
        "what": evidence.what,
        "capabilities": one.capabilities,
        "changes": one.changes,
        "templates": templates,
        "conversation": evidence.renders.first().map(|render| &render.conversation),
        "expected": prompts.first(),
        "found": prompts.get(1),
    })
}
