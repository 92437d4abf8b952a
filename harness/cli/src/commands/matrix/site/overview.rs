//! The first page: a table of all engines, and a table of engines and templates.

use std::collections::BTreeSet;
use std::io;

use minijinja::{Value, context};
use rolecall_core::Dialect;

use crate::commands::matrix::site::construct;
use crate::commands::matrix::site::pages::Pages;
use crate::commands::matrix::site::parts::{
    all_named, label, named, row, shown, slug, stale, templates,
};
use crate::report::numbers::counted;
use rolecall_suite::measurement::matrix::Matrix;

pub(crate) fn page(pages: &Pages, matrix: &Matrix) -> io::Result<String> {
    let dialects = matrix.dialects().into_iter();
    let dialects: Vec<_> = dialects
        .map(|dialect| of_dialect(matrix, dialect))
        .collect();
    let title = "Engines of chat templates, measured";
    let index = index(matrix);
    pages.page(
        "overview.html",
        context! { root => "", title, dialects, index },
    )
}

fn of_dialect(matrix: &Matrix, dialect: Dialect) -> Value {
    let engines = matrix.ranked(dialect);
    let rows = engines.iter().map(|engine| {
        let shares = [
            Some(engine.prompts()),
            Some(engine.prompts_of_loaded()),
            Some(engine.refusals()),
            engine.construct_share(),
        ];
        context! {
            engine => named(engine),
            stale => stale(matrix, engine),
            loaded => shown(engine.loaded()),
            shares => shares.map(|share| share.map(shown)),
            speed => engine.pairs_per_second,
        }
    });
    let asked = engines.first().map(|first| {
        format!(
            "{}, {} and {}, judged by {}",
            counted(first.templates.len(), "template", "templates"),
            counted(first.prompts().all, "prompt", "prompts"),
            counted(first.refusals().all, "refusal", "refusals"),
            first.reference,
        )
    });
    let names = templates(matrix, dialect);
    let templates = names.iter().map(|name| {
        let shares = engines.iter().map(|engine| engine.of_template(name));
        let refused = engines.iter().map(|engine| {
            let template = engine.templates.get(name);
            template.is_some_and(|template| template.refused.is_some())
        });
        let to = format!("templates/{name}.html");
        let refused: Vec<bool> = refused.collect();
        context! { refused, ..row(name.as_str(), Some(to), shares.collect()) }
    });
    let families = engines.iter().flat_map(|engine| engine.families.keys());
    let families: BTreeSet<&String> = families.collect();
    let families = families.into_iter().map(|name| {
        let shares = engines.iter().map(|engine| engine.of_family(name));
        row(name, None, shares.collect())
    });
    let groups = construct::groups(matrix, dialect);
    context! {
        name => dialect.name(),
        asked,
        engines => all_named(&engines),
        rows => rows.collect::<Vec<_>>(),
        templates => templates.collect::<Vec<_>>(),
        families => families.collect::<Vec<_>>(),
        constructs => construct::overview(matrix, &engines, &groups),
        together => together(matrix, dialect),
    }
}

/// The mistakes that engines of a dialect share, and those of one engine.
fn together(matrix: &Matrix, dialect: Dialect) -> Option<Value> {
    let common = matrix.common(dialect);
    if common.engines.len() < 2 {
        return None;
    }
    let counts = common.counts();
    let all = counts.len();
    let counts = counts.into_iter().enumerate().rev().map(|(at, pairs)| {
        let who = match at + 1 {
            1 => "in one engine alone".to_owned(),
            count if count == all => format!("in all {count}"),
            count => format!("in {count}"),
        };
        (who, pairs)
    });
    let engines = common.engines.iter().enumerate().map(|(at, engine)| {
        let all = engine.differing().count();
        (named(engine), common.only(at), all)
    });
    Some(context! {
        counts => counts.collect::<Vec<_>>(),
        engines => engines.collect::<Vec<_>>(),
    })
}

/// The entries of the search: kind, name and address.
fn index(matrix: &Matrix) -> Vec<(&'static str, String, String)> {
    let mut entries = Vec::new();
    for engine in matrix.measurements() {
        let page = format!("engines/{}.html", slug(engine));
        entries.push(("engine", label(engine), page.clone()));
        for (at, group) in engine.by_size().iter().enumerate() {
            let name = format!("{}: {} {}", engine.engine.engine, group.found, group.cause);
            entries.push(("difference", name, format!("{page}#d{at}")));
        }
    }
    for dialect in matrix.dialects() {
        for name in templates(matrix, dialect) {
            let to = format!("templates/{name}.html");
            entries.push(("template", name.to_string(), to));
        }
        for name in construct::groups(matrix, dialect)
            .into_iter()
            .flat_map(|group| group.names)
        {
            let to = construct::address("", dialect, &name);
            entries.push(("construct", name, to));
        }
    }
    entries
}
