//! The page of a template.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use minijinja::{Value, context};
use rolecall_core::{CaseId, Dialect, OutcomeKind, TemplateName};

use crate::commands::matrix::site::pages::Pages;
use crate::commands::matrix::site::parts::{all_named, ink, named, shown, slug};
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{DifferenceGroup, DifferingPair, Measurement};
use rolecall_suite::suite::Suite;

pub(crate) fn page(
    pages: &Pages,
    matrix: &Matrix,
    suite: &Suite,
    dialect: Dialect,
    name: &TemplateName,
) -> io::Result<String> {
    let engines = matrix.ranked(dialect);
    let rows = engines.iter().filter_map(|engine| {
        let template = engine.templates.get(name)?;
        let refused = template
            .refused
            .as_ref()
            .map(|message| match template.line {
                Some(line) => format!("{message} (line {line})"),
                None => message.clone(),
            });
        Some(context! {
            engine => named(engine),
            share => engine.of_template(name).map(shown),
            differ => differing(engine, name).len(),
            refused,
        })
    });
    let template = suite.template(name);
    let (columns, cases) = cases(suite, &engines, name);
    let data = context! {
        root => "../",
        title => name.as_str(),
        about => template.and_then(|template| template.about.as_deref()),
        rows => rows.collect::<Vec<_>>(),
        engines => all_named(&columns),
        cases,
    };
    pages.page("template.html", data)
}

/// The cases in which an engine differs, and the outcomes. An engine that does not load the
/// template has no column, because it differs in all cases.
fn cases<'m>(
    suite: &Suite,
    engines: &[&'m Measurement],
    name: &TemplateName,
) -> (Vec<&'m Measurement>, Vec<Value>) {
    let is_loaded = |engine: &&&Measurement| {
        let template = engine.templates.get(name);
        template.is_some_and(|template| template.refused.is_none())
    };
    let loaded = engines.iter().filter(is_loaded);
    let known = loaded.map(|engine| (*engine, differing(engine, name)));
    let known: Vec<_> = known.filter(|(_, known)| !known.is_empty()).collect();
    let ids: BTreeSet<&CaseId> = known
        .iter()
        .flat_map(|(_, known)| known.keys().copied())
        .collect();
    let abouts: BTreeMap<&CaseId, &str> = suite
        .cases
        .iter()
        .filter_map(|case| Some((&case.id, case.about.as_deref()?)))
        .collect();
    let found = |id: &CaseId, (engine, known): &(&Measurement, Differences<'_>)| {
        let (at, group, pair) = known.get(id)?;
        let (ink, word) = in_a_word(group, pair);
        Some(context! { ink, word, cause => &group.cause, engine => slug(engine), at })
    };
    let cases = ids.into_iter().map(|id| {
        let about = abouts.get(id).copied().unwrap_or_default();
        let found: Vec<_> = known.iter().map(|known| found(id, known)).collect();
        context! { name => id.to_string(), about, found }
    });
    let cases = cases.collect();
    (known.into_iter().map(|(engine, _)| engine).collect(), cases)
}

/// An engine's outcome in a word, with its colour. A wrong text is worse than none, because nobody
/// notices it.
fn in_a_word(group: &DifferenceGroup, pair: &DifferingPair) -> (&'static str, &'static str) {
    match group.found {
        OutcomeKind::Rendered if pair.expected == OutcomeKind::Rendered => ("bad", "other prompt"),
        OutcomeKind::Rendered => ("bad", "a prompt"),
        OutcomeKind::Raised if pair.expected == OutcomeKind::Raised => ("cool", "other words"),
        kind => (ink(kind), kind.name()),
    }
}

/// The differences by case, each with the index of its group and the group.
type Differences<'m> = BTreeMap<&'m CaseId, (usize, &'m DifferenceGroup, &'m DifferingPair)>;

/// The pairs of a template in which an engine differs, each with the index of its group and the
/// group.
fn differing<'m>(engine: &'m Measurement, name: &TemplateName) -> Differences<'m> {
    let mut known = BTreeMap::new();
    for (at, group) in engine.by_size().into_iter().enumerate() {
        for pair in group.pairs.iter().filter(|pair| pair.template == *name) {
            known.insert(&pair.case, (at, group, pair));
        }
    }
    known
}
