//! The page of an engine.

use std::collections::BTreeMap;
use std::io;

use minijinja::{Value, context};
use rolecall_core::{OutcomeKind, TemplateName};

use crate::commands::matrix::report::by_construct;
use crate::commands::matrix::site::construct;
use crate::commands::matrix::site::pages::Pages;
use crate::commands::matrix::site::parts::{ink, label, millionths, shown, slug, stale};
use rolecall_core::diff::{Diff, Side};
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{DifferenceGroup, Example, Measurement, Share};

pub(crate) fn page(pages: &Pages, matrix: &Matrix, engine: &Measurement) -> io::Result<String> {
    let components = engine.engine.components.iter();
    let components: Vec<_> = components
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let figures = [
        ("templates load", Some(engine.loaded())),
        ("prompts", Some(engine.prompts())),
        ("prompts of loaded", Some(engine.prompts_of_loaded())),
        ("refusals", Some(engine.refusals())),
        ("constructs", engine.construct_share()),
    ];
    let data = context! {
        root => "../",
        title => label(engine),
        slug => slug(engine),
        dialect => engine.dialect.name(),
        components,
        reference => engine.reference.to_string(),
        speed => engine.pairs_per_second,
        deaths => engine.deaths,
        stale => stale(matrix, engine),
        figures => figures.map(|(name, share)| (name, share.map(shown))),
        parts => parts(matrix, engine),
        differences => engine.by_size().into_iter().map(difference).collect::<Vec<_>>(),
    };
    pages.page("engine.html", data)
}

/// The tables of shares by template, family and construct.
fn parts(matrix: &Matrix, engine: &Measurement) -> Vec<Value> {
    let templates = engine.templates.iter().map(|(name, template)| ShareRow {
        name: name.as_str(),
        to: Some(format!("../templates/{name}.html")),
        share: engine.of_template(name).unwrap_or_default(),
        refused: template.refused.as_deref(),
    });
    let families = engine.families.keys().map(|name| ShareRow {
        name,
        to: None,
        share: engine.of_family(name).unwrap_or_default(),
        refused: None,
    });
    let mut parts = vec![
        part("By template", None, "template", templates),
        part("By family of conversations", None, "family", families),
    ];
    let constructs = by_construct(matrix, engine);
    if !constructs.is_empty() {
        let whole = constructs.values().filter(|share| share.is_whole()).count();
        let rest = constructs.iter().filter(|(_, share)| !share.is_whole());
        let rows = rest.map(|(name, share)| ShareRow {
            name,
            to: Some(construct::address("../", engine.dialect, name)),
            share: *share,
            refused: None,
        });
        parts.push(part("By construct", Some(whole), "construct", rows));
    }
    parts
}

/// A row of a table of shares.
struct ShareRow<'r> {
    name: &'r str,
    to: Option<String>,
    share: Share,
    /// Why the template does not load.
    refused: Option<&'r str>,
}

/// A table of shares, the worst first. `whole` counts the rows that are left out because everything
/// in them agrees.
fn part<'r>(
    heading: &str,
    whole: Option<usize>,
    what: &str,
    rows: impl Iterator<Item = ShareRow<'r>>,
) -> Value {
    let mut rows: Vec<ShareRow<'_>> = rows.collect();
    rows.sort_by_key(|row| millionths(row.share));
    let has_refused = rows.iter().any(|row| row.refused.is_some());
    let rows = rows.into_iter().map(|row| {
        let ShareRow {
            name, to, refused, ..
        } = row;
        context! { name, to, share => shown(row.share), refused }
    });
    context! { heading, whole, what, has_refused, rows => rows.collect::<Vec<_>>() }
}

/// A group of pairs with one cause.
fn difference(group: &DifferenceGroup) -> Value {
    let mut pairs: BTreeMap<(&TemplateName, OutcomeKind), Vec<String>> = BTreeMap::new();
    for pair in &group.pairs {
        let cases = pairs.entry((&pair.template, pair.expected)).or_default();
        cases.push(pair.case.to_string());
    }
    let pairs = pairs.into_iter().map(|((template, expected), cases)| {
        (template.to_string(), expected.name(), cases.join(", "))
    });
    let Example {
        template,
        case,
        expected,
        found,
        ..
    } = &group.example;
    let diff = Diff::new(expected, found);
    let lines = diff.hunks.iter().flatten().map(|line| {
        let (class, sign) = match line.side {
            Side::Both => ("", " "),
            Side::Expected => ("gone", "-"),
            Side::Found => ("came", "+"),
        };
        let pieces = line.pieces.iter();
        let pieces =
            pieces.map(|piece| (piece.text.trim_end_matches('\n').to_owned(), piece.changed));
        context! { class, sign, pieces => pieces.collect::<Vec<_>>() }
    });
    context! {
        count => group.pairs.len(),
        ink => ink(group.found),
        found => group.found.name(),
        cause => &group.cause,
        template => template.as_str(),
        case => case.to_string(),
        lines => lines.collect::<Vec<_>>(),
        pairs => pairs.collect::<Vec<_>>(),
    }
}
