//! The pages of constructs: small templates, grouped by the feature of the language that they use.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;

use minijinja::{Value, context};
use rolecall_core::{Dialect, OutcomeKind};

use crate::commands::matrix::report::by_construct;
use crate::commands::matrix::site::pages::Pages;
use crate::commands::matrix::site::parts::{all_named, ink, row};
use rolecall_core::transcript::encode_text;
use rolecall_suite::construct::Construct;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{Measurement, Share};

/// The kinds of features: how their names begin, and the page's name and title.
const KINDS: [(&str, &str, &str); 7] = [
    ("{% ", "statements", "Statements"),
    ("{{ ", "statements", "Statements"),
    ("filter ", "filters", "Filters"),
    ("test ", "tests", "Tests"),
    ("function ", "functions", "Functions"),
    ("method ", "methods", "Methods"),
    ("loop.", "loop", "Attributes of loops"),
];

/// The page for all other features.
const OTHERS: (&str, &str) = ("expressions", "Expressions and whitespace");

/// A page: features of one kind.
pub(crate) struct ConstructPage {
    /// The page's name.
    pub(crate) slug: String,
    title: String,
    pub(crate) names: BTreeSet<String>,
}

/// The page for a feature.
fn kind(dialect: Dialect, name: &str) -> (String, &'static str) {
    let known = KINDS
        .iter()
        .find(|(beginning, ..)| name.starts_with(beginning));
    let (slug, title) = known.map_or(OTHERS, |(_, slug, title)| (*slug, *title));
    (format!("{dialect}-{slug}"), title)
}

pub(crate) fn groups(matrix: &Matrix, dialect: Dialect) -> Vec<ConstructPage> {
    let mut groups: BTreeMap<String, ConstructPage> = BTreeMap::new();
    let rows = matrix
        .constructs(dialect)
        .map_or(&[][..], |table| &table.rows);
    for name in rows.iter().flat_map(|row| &row.uses) {
        let (slug, title) = kind(dialect, name);
        let group = groups.entry(slug.clone()).or_insert_with(|| ConstructPage {
            slug,
            title: title.to_owned(),
            names: BTreeSet::new(),
        });
        group.names.insert(name.clone());
    }
    groups.into_values().collect()
}

/// The anchor of a feature on its page.
pub(crate) fn anchor(name: &str) -> String {
    let mut anchor = String::from("c");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            anchor.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(anchor, "-{byte:x}");
        }
    }
    anchor
}

pub(crate) fn address(root: &str, dialect: Dialect, name: &str) -> String {
    format!(
        "{root}constructs/{}.html#{}",
        kind(dialect, name).0,
        anchor(name)
    )
}

/// The engines' shares on each page.
pub(crate) fn overview(
    matrix: &Matrix,
    engines: &[&Measurement],
    groups: &[ConstructPage],
) -> Vec<Value> {
    let of_group = |group: &ConstructPage| {
        let to = format!("constructs/{}.html", group.slug);
        let shares = engines.iter().map(|engine| share(matrix, engine, group));
        row(&group.title, Some(to), shares.collect())
    };
    groups.iter().map(of_group).collect()
}

/// An engine's share in the constructs that use a feature of a page.
fn share(matrix: &Matrix, engine: &Measurement, group: &ConstructPage) -> Option<Share> {
    let known = engine.constructs.as_ref()?;
    let table = matrix.constructs(engine.dialect)?;
    let mut share = Share::default();
    for row in table.rows.iter().filter(|row| group.has(row)) {
        share.all += 1;
        share.agree += usize::from(!known.differ.contains_key(row.id()));
    }
    Some(share)
}

impl ConstructPage {
    fn has(&self, row: &Construct) -> bool {
        !row.uses.is_disjoint(&self.names)
    }
}

pub(crate) fn page(
    pages: &Pages,
    matrix: &Matrix,
    dialect: Dialect,
    group: &ConstructPage,
) -> io::Result<String> {
    let engines = matrix.ranked(dialect);
    let shares: Vec<_> = engines
        .iter()
        .map(|engine| by_construct(matrix, engine))
        .collect();
    let table = matrix
        .constructs(dialect)
        .map_or(&[][..], |table| &table.rows);
    let mut seen = BTreeSet::new();
    let names = group.names.iter().map(|name| {
        let of_name: Vec<_> = table.iter().filter(|row| row.uses.contains(name)).collect();
        let wrong = of_name.iter().map(|row| (row, wrong(&engines, row)));
        let wrong: Vec<_> = wrong.filter(|(_, wrong)| !wrong.is_empty()).collect();
        let whole = of_name.len() - wrong.len();
        let rows = wrong.into_iter().map(|(row, wrong)| {
            // A construct that is already on the page is not shown again.
            let is_first = seen.insert(row.id());
            let wrong = wrong.into_iter().filter(|_| is_first);
            let wrong = wrong.map(|((kind, text), engines)| {
                let found = outcome(kind, ink(kind), text);
                context! { engines => all_named(&engines), found }
            });
            let expected = &row.expected;
            context! {
                id => row.id(),
                source => source(row),
                expected => outcome(expected.kind(), "cool", &visible(expected.text())),
                wrong => wrong.collect::<Vec<_>>(),
            }
        });
        let anchor = anchor(name);
        let shares = shares.iter().map(|shares| shares.get(name).copied());
        let named = row(name, Some(format!("#{anchor}")), shares.collect());
        let (count, rows) = (of_name.len(), rows.collect::<Vec<_>>());
        context! { anchor, count, rows, whole, ..named }
    });
    let data = context! {
        root => "../",
        title => &group.title,
        engines => all_named(&engines),
        names => names.collect::<Vec<_>>(),
    };
    pages.page("construct.html", data)
}

/// An outcome with its text, and with its kind unless it is a prompt.
fn outcome(kind: OutcomeKind, ink: &str, text: &str) -> Value {
    let word = (kind != OutcomeKind::Rendered).then(|| kind.name());
    context! { outcome => word, ink, text }
}

/// The wrong outcomes of a construct, with the engines that gave each.
fn wrong<'m>(
    engines: &[&'m Measurement],
    row: &Construct,
) -> BTreeMap<(OutcomeKind, &'m str), Vec<&'m Measurement>> {
    let mut wrong: BTreeMap<_, Vec<&Measurement>> = BTreeMap::new();
    for engine in engines {
        let constructs = engine.constructs.as_ref();
        let found = constructs.and_then(|known| known.differ.get(row.id()));
        if let Some((outcome, shown)) = found {
            wrong
                .entry((*outcome, shown.as_str()))
                .or_default()
                .push(engine);
        }
    }
    wrong
}

/// Text with every byte visible, as in transcripts.
fn visible(text: &str) -> String {
    let mut visible = String::new();
    encode_text(text, &mut visible);
    visible
}

/// The template of a construct with every byte visible, without the mark at its end.
fn source(row: &Construct) -> String {
    visible(&row.template.source)
        .trim_end_matches('␃')
        .to_owned()
}
