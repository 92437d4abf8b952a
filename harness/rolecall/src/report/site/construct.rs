//! The pages of constructs: small templates, by what they use of their language.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rolecall_model::{Dialect, OutcomeKind};

use super::html::{Page, escaped, link, transcript};
use super::parts::{cell, engine_link, heading, ink, label, ranked, table};
use crate::construct::Construct;
use crate::matrix::Matrix;
use crate::measurement::{Found, Measurement, Share};
use crate::report::matrix::by_construct;
use crate::report::numbers::counted;
use crate::transcript::encode_text;

/// Kinds of what templates use: the beginning of their names, and the name of the page.
const KINDS: [(&str, &str, &str); 7] = [
    ("{% ", "statements", "Statements"),
    ("{{ ", "statements", "Statements"),
    ("filter ", "filters", "Filters"),
    ("test ", "tests", "Tests"),
    ("function ", "functions", "Functions"),
    ("method ", "methods", "Methods"),
    ("loop.", "loop", "Attributes of loops"),
];

/// What has none of these beginnings.
const OTHERS: (&str, &str) = ("expressions", "Expressions and whitespace");

/// A page: names of one kind.
pub(super) struct Group {
    /// The page's name.
    pub(super) slug: String,
    title: String,
    /// The names.
    pub(super) names: BTreeSet<String>,
}

/// The page on which a name stands.
fn kind(dialect: Dialect, name: &str) -> (String, &'static str) {
    let known = KINDS
        .iter()
        .find(|(beginning, ..)| name.starts_with(beginning));
    let (slug, title) = known.map_or(OTHERS, |(_, slug, title)| (*slug, *title));
    (format!("{dialect}-{slug}"), title)
}

/// The pages of a dialect.
pub(super) fn groups(matrix: &Matrix, dialect: Dialect) -> Vec<Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let rows = matrix
        .constructs(dialect)
        .map_or(&[][..], |table| &table.rows);
    for name in rows.iter().flat_map(|row| &row.uses) {
        let (slug, title) = kind(dialect, name);
        let group = groups.entry(slug.clone()).or_insert_with(|| Group {
            slug,
            title: title.to_owned(),
            names: BTreeSet::new(),
        });
        group.names.insert(name.clone());
    }
    groups.into_values().collect()
}

/// The place of a name on its page.
pub(super) fn anchor(name: &str) -> String {
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

/// The address of a name.
pub(super) fn address(root: &str, dialect: Dialect, name: &str) -> String {
    format!(
        "{root}constructs/{}.html#{}",
        kind(dialect, name).0,
        anchor(name)
    )
}

/// How engines do in the constructs of each page.
pub(super) fn overview(matrix: &Matrix, engines: &[&Measurement], groups: &[Group]) -> String {
    let mut head = String::from("<th scope=\"col\">constructs</th>");
    head.extend(engines.iter().map(|engine| heading("", engine)));
    let mut rows = String::new();
    for group in groups {
        let to = format!("constructs/{}.html", group.slug);
        let _ = write!(
            rows,
            "<tr><th scope=\"row\">{}</th>",
            link(&to, &group.title)
        );
        for engine in engines {
            rows += &cell(share(matrix, engine, group));
        }
        rows += "</tr>\n";
    }
    table("Every engine with every kind of construct", &head, &rows)
}

/// How an engine does in the rows that use a name of a page.
fn share(matrix: &Matrix, engine: &Measurement, group: &Group) -> Option<Share> {
    let known = engine.constructs.as_ref()?;
    let table = matrix.constructs(engine.dialect)?;
    let mut share = Share::default();
    for row in table.rows.iter().filter(|row| group.has(row)) {
        share.all += 1;
        share.agree += usize::from(!known.differ.contains_key(row.id()));
    }
    Some(share)
}

impl Group {
    fn has(&self, row: &Construct) -> bool {
        !row.uses.is_disjoint(&self.names)
    }
}

/// The page.
pub(super) fn page(matrix: &Matrix, dialect: Dialect, group: &Group) -> String {
    let engines = ranked(matrix, dialect);
    let mut main = format!("<h1>{}</h1>\n", escaped(&group.title));
    let shares: Vec<_> = engines
        .iter()
        .map(|engine| by_construct(matrix, engine))
        .collect();
    let mut head = String::from("<th scope=\"col\">construct</th>");
    head.extend(engines.iter().map(|engine| heading("../", engine)));
    let mut rows = String::new();
    for name in &group.names {
        let to = format!("#{}", anchor(name));
        let _ = write!(rows, "<tr><th scope=\"row\">{}</th>", link(&to, name));
        for shares in &shares {
            rows += &cell(shares.get(name).copied());
        }
        rows += "</tr>\n";
    }
    main += &table(
        "Every engine with every construct of this kind",
        &head,
        &rows,
    );
    let table = matrix
        .constructs(dialect)
        .map_or(&[][..], |table| &table.rows);
    let mut seen = BTreeSet::new();
    for name in &group.names {
        let of_name: Vec<_> = table.iter().filter(|row| row.uses.contains(name)).collect();
        let _ = writeln!(
            main,
            "<h2 id=\"{}\">{}</h2>\n<p class=\"quiet\">{}</p>",
            anchor(name),
            escaped(name),
            counted(of_name.len(), "template", "templates"),
        );
        let mut whole = 0;
        for row in of_name {
            let wrong = wrong(&engines, row);
            if wrong.is_empty() {
                whole += 1;
            } else if seen.insert(row.id()) {
                main += &shown(row, &wrong);
            } else {
                let _ = writeln!(
                    main,
                    "<p class=\"construct\">{} <span class=\"quiet\">above</span></p>",
                    link(&format!("#{}", row.id()), &source(row))
                );
            }
        }
        if whole > 0 {
            let _ = writeln!(
                main,
                "<p class=\"quiet\">{whole} that no engine gets wrong</p>"
            );
        }
    }
    let page = Page {
        root: "../",
        title: &group.title,
        main,
        index: None,
    };
    page.text()
}

/// What came of a row where an engine differs, with the engines that gave it.
fn wrong<'m>(
    engines: &[&'m Measurement],
    row: &Construct,
) -> BTreeMap<(OutcomeKind, &'m str), Vec<&'m Measurement>> {
    let mut wrong: BTreeMap<_, Vec<&Measurement>> = BTreeMap::new();
    for engine in engines {
        let constructs = engine.constructs.as_ref();
        let found = constructs.and_then(|known| known.differ.get(row.id()));
        if let Some(Found { outcome, shown }) = found {
            wrong
                .entry((*outcome, shown.as_str()))
                .or_default()
                .push(engine);
        }
    }
    wrong
}

fn shown(row: &Construct, wrong: &BTreeMap<(OutcomeKind, &str), Vec<&Measurement>>) -> String {
    let expected = transcript(&visible(row.expected.text()));
    let expected = match row.expected.kind() {
        OutcomeKind::Rendered => expected,
        other => format!("<span class=\"cool\">{other}</span> {expected}"),
    };
    let mut out = format!(
        "<div class=\"construct\" id=\"{}\"><pre>{}</pre><dl><dt class=\"quiet\">reference</dt><dd \
         class=\"mono\">{expected}</dd>",
        escaped(row.id()),
        transcript(&source(row)),
    );
    for ((outcome, shown), engines) in wrong {
        let names: Vec<_> = engines.iter().map(|engine| label(engine)).collect();
        let links: Vec<_> = engines
            .iter()
            .map(|engine| engine_link("../", engine))
            .collect();
        let links = match names.len() {
            0..=3 => links.join(", "),
            count => format!(
                "<span title=\"{}\">{}</span>",
                escaped(&names.join(", ")),
                counted(count, "engine", "engines")
            ),
        };
        let outcome_word = match outcome {
            OutcomeKind::Rendered => String::new(),
            other => format!("<span class=\"{}\">{other}</span> ", ink(*other)),
        };
        let _ = write!(
            out,
            "<dt>{links}</dt><dd class=\"mono\">{outcome_word}{}</dd>",
            transcript(shown)
        );
    }
    out + "</dl></div>\n"
}

/// Text with every byte visible, as in transcripts.
fn visible(text: &str) -> String {
    let mut visible = String::new();
    encode_text(text, &mut visible);
    visible
}

/// The template of a row, likewise, without the mark of its end.
fn source(row: &Construct) -> String {
    visible(&row.template.source)
        .trim_end_matches('␃')
        .to_owned()
}
