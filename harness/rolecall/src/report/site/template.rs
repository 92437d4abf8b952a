//! The page of a template.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rolecall_model::{CaseId, Dialect, OutcomeKind, TemplateName};

use super::html::{Page, escaped};
use super::parts::{cell, engine_link, heading, ink, ranked, slug, table};
use crate::matrix::Matrix;
use crate::measurement::{Differing, Group, Measurement};
use crate::report::numbers::{counted, thousands};
use crate::suite::Suite;

/// The page.
pub(super) fn page(
    matrix: &Matrix,
    suite: &Suite,
    dialect: Dialect,
    name: &TemplateName,
) -> String {
    let engines = ranked(matrix, dialect);
    let mut main = format!("<h1>{}</h1>\n", escaped(name.as_str()));
    let template = suite.template(name);
    if let Some(about) = template.and_then(|template| template.about.as_deref()) {
        let _ = writeln!(main, "<p class=\"quiet\">{}</p>", escaped(about));
    }
    main += "<h2>Engines</h2>\n";
    let mut rows = String::new();
    for engine in &engines {
        let Some(of_template) = engine.templates.get(name) else {
            continue;
        };
        let differ = engine
            .differing()
            .filter(|(_, pair)| pair.template == *name)
            .count();
        let refused = of_template
            .refused
            .as_ref()
            .map_or_else(String::new, |refused| {
                let line = refused
                    .line
                    .map_or_else(String::new, |line| format!(" (line {line})"));
                format!(
                    "<span class=\"bad\">does not load:</span> {}{line}",
                    escaped(&refused.message)
                )
            });
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th>{}<td class=\"number\" data-value=\"{differ}\">{}</td>\
             <td class=\"words\">{refused}</td></tr>",
            engine_link("../", engine),
            cell(engine.of_template(name)),
            thousands(differ),
        );
    }
    let head = "<th scope=\"col\">engine</th><th scope=\"col\" class=\"number\">agree</th><th \
                scope=\"col\" class=\"number\">pairs that differ</th><td></td>";
    main += &table("Engines with this template", head, &rows);
    main += &cases(suite, &engines, name);
    let page = Page {
        root: "../",
        title: name.as_str(),
        main,
        index: None,
    };
    page.text()
}

/// The cases in which an engine differs, and what came of them. Of an engine that does not load
/// the template all of them do: it has no column.
fn cases(suite: &Suite, engines: &[&Measurement], name: &TemplateName) -> String {
    let is_loaded = |engine: &&&Measurement| {
        let template = engine.templates.get(name);
        template.is_some_and(|template| template.refused.is_none())
    };
    let shown: Vec<&Measurement> = engines
        .iter()
        .filter(is_loaded)
        .filter(|engine| engine.differing().any(|(_, pair)| pair.template == *name))
        .copied()
        .collect();
    let known: Vec<BTreeMap<&CaseId, (usize, &Group, &Differing)>> =
        shown.iter().map(|engine| differing(engine, name)).collect();
    let ids: BTreeSet<&CaseId> = known
        .iter()
        .flat_map(|known| known.keys().copied())
        .collect();
    if ids.is_empty() {
        return "<p>No engine that loads it differs from the reference.</p>\n".to_owned();
    }
    let mut out = format!(
        "<h2>{} in which an engine that loads it differs</h2>\n",
        counted(ids.len(), "conversation", "conversations")
    );
    let abouts: BTreeMap<&CaseId, &str> = suite
        .cases
        .iter()
        .filter_map(|case| Some((&case.id, case.about.as_deref()?)))
        .collect();
    let mut rows = String::new();
    for id in ids {
        let about = abouts.get(id).copied().unwrap_or_default();
        let _ = write!(
            rows,
            "<tr><th scope=\"row\" title=\"{}\">{}</th>",
            escaped(about),
            escaped(&id.to_string())
        );
        for (engine, known) in shown.iter().zip(&known) {
            let _ = match known.get(id) {
                None => write!(rows, "<td class=\"quiet\">·</td>"),
                Some((at, group, pair)) => {
                    let (class, word) = found(group, pair);
                    write!(
                        rows,
                        "<td><a class=\"{class}\" title=\"{}\" href=\"../engines/{}.html#d{at}\">\
                         {word}</a></td>",
                        escaped(&group.cause),
                        escaped(&slug(engine)),
                    )
                }
            };
        }
        rows += "</tr>\n";
    }
    let mut head = String::from("<th scope=\"col\">conversation</th>");
    head.extend(shown.iter().map(|engine| heading("../", engine)));
    out += &table("Conversations in which engines differ", &head, &rows);
    out
}

/// What an engine gave instead of what it should have, in a word, with its colour: another text
/// is worse than none, for nobody notices.
fn found(group: &Group, pair: &Differing) -> (&'static str, &'static str) {
    match group.found {
        OutcomeKind::Rendered if pair.expected == OutcomeKind::Rendered => ("bad", "other prompt"),
        OutcomeKind::Rendered => ("bad", "a prompt"),
        OutcomeKind::Raised if pair.expected == OutcomeKind::Raised => ("cool", "other words"),
        kind => (ink(kind), kind.name()),
    }
}

/// The pairs of a template that an engine does otherwise, with the place and the group of each.
fn differing<'m>(
    engine: &'m Measurement,
    name: &TemplateName,
) -> BTreeMap<&'m CaseId, (usize, &'m Group, &'m Differing)> {
    let mut known = BTreeMap::new();
    for (at, group) in engine.by_size().into_iter().enumerate() {
        for pair in group.pairs.iter().filter(|pair| pair.template == *name) {
            known.insert(&pair.case, (at, group, pair));
        }
    }
    known
}
