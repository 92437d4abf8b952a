//! The page of what comes back of answers: a table of readers and templates, and what is wrong.

use std::collections::BTreeMap;
use std::io;

use minijinja::{Value, context};
use rolecall_core::rows::Row;
use rolecall_suite::suite::Suite;

use crate::commands::matrix::report::templates;
use crate::commands::matrix::site::pages::Pages;
use crate::commands::matrix::site::parts::shown;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::roundtrip::{Counted, RoundtripMeasurement};

pub(crate) fn page(pages: &Pages, matrix: &Matrix, suite: &Suite) -> io::Result<String> {
    let readers = matrix.roundtrip();
    let known: Vec<_> = matrix
        .dialects()
        .into_iter()
        .flat_map(|dialect| crate::commands::matrix::site::parts::templates(matrix, dialect))
        .collect();
    let rows = templates(readers).into_iter().map(|name| {
        let cells = readers.iter().map(|one| {
            let counted = one.templates.get(name)?;
            Some(cell(counted))
        });
        let to = known
            .contains(name)
            .then(|| format!("templates/{name}.html"));
        context! { name => name.as_str(), to, cells => cells.collect::<Vec<_>>() }
    });
    let abouts: BTreeMap<String, &str> = suite
        .cases
        .iter()
        .filter_map(|case| Some((case.id.to_string(), case.about.as_deref()?)))
        .collect();
    let parts = readers.iter().map(|one| part(one, &abouts));
    let heads = readers.iter().enumerate().map(|(at, one)| {
        context! { label => one.reader.to_string(), at, share => shown(one.share()) }
    });
    pages.page(
        "roundtrip.html",
        context! {
            root => "",
            title => "Who reads back which answers",
            readers => heads.collect::<Vec<_>>(),
            rows => rows.collect::<Vec<_>>(),
            parts => parts.collect::<Vec<_>>(),
        },
    )
}

/// A template's result with a reader.
fn cell(counted: &Counted) -> Value {
    let counts = counted.verdicts();
    let mut words: Vec<String> = counts
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    if counted.streamed > 0 {
        words.push(format!("{} otherwise when streamed", counted.streamed));
    }
    if counted.prompts > 0 {
        words.push(format!("{} after another prompt", counted.prompts));
    }
    context! {
        share => shown(counted.share()),
        is_refused => counted.refusal().is_some(),
        words => words.join(", "),
    }
}

/// What a reader gets wrong.
fn part(one: &RoundtripMeasurement, abouts: &BTreeMap<String, &str>) -> Value {
    let templates = one.templates.iter();
    let templates = templates.filter(|(_, counted)| !counted.causes.is_empty());
    let templates = templates.map(|(name, counted)| {
        let causes = counted.causes.iter().map(|Row((count, example, words))| {
            let case = example.split_once('#').map_or(&**example, |(case, _)| case);
            let about = abouts.get(case).copied().unwrap_or_default();
            context! { words, count, example, about }
        });
        context! { name => name.as_str(), causes => causes.collect::<Vec<_>>() }
    });
    context! {
        label => one.reader.to_string(),
        templates => templates.collect::<Vec<_>>(),
    }
}
