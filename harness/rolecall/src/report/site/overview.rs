//! The first page: every engine in one table, and every engine with every template.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rolecall_model::Dialect;
use serde_json::json;

use super::construct;
use super::html::{Page, escaped, link};
use super::parts::{cell, engine_link, grade, heading, label, ranked, slug, table, templates};
use crate::matrix::Matrix;
use crate::measurement::{Measurement, Share};
use crate::report::numbers::{counted, thousands};

/// The page.
pub(super) fn page(matrix: &Matrix) -> String {
    let mut main = String::from(
        "<h1>Engines of chat templates, measured</h1>\n<p class=\"quiet\">Every engine was given \
         every conversation of the suite with every template of its dialect. What counts as right \
         is what the reference did, byte by byte.</p>\n<section id=\"found\" aria-live=\"polite\" \
         hidden></section>\n<div id=\"overall\">\n",
    );
    for (at, dialect) in matrix.dialects().into_iter().enumerate() {
        let engines = ranked(matrix, dialect);
        let anchor = |name: &str| match at {
            0 => format!(" id=\"{name}\""),
            _ => String::new(),
        };
        let _ = writeln!(
            main,
            "<h2{}>Engines of {dialect} templates</h2>\n{}",
            anchor("engines"),
            about(&engines)
        );
        main += &all(matrix, &engines);
        let _ = writeln!(
            main,
            "<h2{}>By template</h2>\n<p class=\"quiet\">All pairs, prompts and refusals. A line \
             below the figure: the template does not load.</p>",
            anchor("templates")
        );
        main += &by_template(matrix, dialect, &engines);
        let _ = writeln!(
            main,
            "<h2{}>By family of conversations</h2>\n<p class=\"quiet\">All pairs, with whatever \
             template.</p>",
            anchor("families")
        );
        main += &by_family(&engines);
        let groups = construct::groups(matrix, dialect);
        if !groups.is_empty() {
            let _ = writeln!(
                main,
                "<h2{}>By construct</h2>\n<p class=\"quiet\">Small templates of one construct \
                 each, by what they use of the language.</p>",
                anchor("constructs")
            );
            main += &construct::overview(matrix, &engines, &groups);
        }
        main += &together(matrix, dialect);
    }
    main += "</div>\n";
    let page = Page {
        root: "",
        title: "Engines of chat templates, measured",
        main,
        index: Some(index(matrix)),
    };
    page.text()
}

/// What the engines of a dialect were asked.
fn about(engines: &[&Measurement]) -> String {
    let Some(first) = engines.first() else {
        return String::new();
    };
    format!(
        "<p class=\"quiet\">{}, {} and {}, judged by {}. “Of loaded” leaves out the templates that \
         an engine cannot load.</p>\n",
        counted(first.templates.len(), "template", "templates"),
        counted(first.prompts().all, "prompt", "prompts"),
        counted(first.refusals().all, "refusal", "refusals"),
        escaped(&first.asked.reference.to_string()),
    )
}

fn all(matrix: &Matrix, engines: &[&Measurement]) -> String {
    let headings = [
        "engine",
        "templates that load",
        "prompts",
        "of loaded",
        "refusals",
        "constructs",
        "pairs/s",
    ];
    let head = headings.iter().enumerate().map(|(at, heading)| {
        let class = if at == 0 { "" } else { " class=\"number\"" };
        format!("<th scope=\"col\"{class}>{heading}</th>")
    });
    let head = head.collect::<Vec<_>>().concat();
    let mut rows = String::new();
    for engine in engines {
        let Share { agree, all } = engine.loaded();
        let staleness = matrix.staleness(engine);
        let stale = if staleness.is_none() {
            String::new()
        } else {
            let text = format!("measured before {staleness} changed");
            format!(
                " <span class=\"note\" title=\"{}\">stale</span>",
                escaped(&text)
            )
        };
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}{stale}</th><td class=\"number\" data-value=\"{agree}\">\
             {agree} of {all}</td>{}{}{}{}<td class=\"number quiet\" data-value=\"{}\">{}</td></tr>",
            engine_link("", engine),
            cell(Some(engine.prompts())),
            cell(Some(engine.prompts_of_loaded())),
            cell(Some(engine.refusals())),
            cell(engine.construct_share()),
            engine.pairs_per_second,
            thousands(engine.pairs_per_second),
        );
    }
    table("All engines", &head, &rows)
}

fn by_template(matrix: &Matrix, dialect: Dialect, engines: &[&Measurement]) -> String {
    let mut head = String::from("<th scope=\"col\">template</th>");
    head.extend(engines.iter().map(|engine| heading("", engine)));
    let mut rows = String::new();
    for name in templates(matrix, dialect) {
        let to = format!("templates/{name}.html");
        let _ = write!(
            rows,
            "<tr><th scope=\"row\">{}</th>",
            link(&to, name.as_str())
        );
        for engine in engines {
            let share = engine.of_template(&name);
            let is_refused = engine
                .templates
                .get(&name)
                .is_some_and(|template| template.refused.is_some());
            let cell = cell(share);
            rows += &if is_refused {
                let class = share.map_or("", grade);
                cell.replacen(class, &format!("{class} refused"), 1)
            } else {
                cell
            };
        }
        rows += "</tr>\n";
    }
    table("Every engine with every template", &head, &rows)
}

fn by_family(engines: &[&Measurement]) -> String {
    let mut head = String::from("<th scope=\"col\">family</th>");
    head.extend(engines.iter().map(|engine| heading("", engine)));
    let families = engines.iter().flat_map(|engine| engine.families.keys());
    let families: BTreeSet<&String> = families.collect();
    let mut rows = String::new();
    for name in families {
        let _ = write!(rows, "<tr><th scope=\"row\">{}</th>", escaped(name));
        for engine in engines {
            rows += &cell(engine.of_family(name));
        }
        rows += "</tr>\n";
    }
    table("Every engine with every family", &head, &rows)
}

/// What the engines of a dialect get wrong together, and alone.
fn together(matrix: &Matrix, dialect: Dialect) -> String {
    let common = matrix.common(dialect);
    if common.engines.len() < 2 {
        return String::new();
    }
    let mut out = String::from(
        "<h2>Wrong together, wrong alone</h2>\n<p class=\"quiet\">The last version of each engine \
         that gets anything wrong.</p>\n<dl class=\"totals\">",
    );
    let counts = common.counts();
    for (at, pairs) in counts.iter().enumerate().rev() {
        let who = match at + 1 {
            1 => "in one engine alone".to_owned(),
            count if count == counts.len() => format!("in all {count}"),
            count => format!("in {count}"),
        };
        let _ = write!(
            out,
            "<div><dt>{who}</dt><dd>{}</dd></div>",
            thousands(*pairs)
        );
    }
    out += "</dl>\n";
    let mut rows = String::new();
    for (at, engine) in common.engines.iter().enumerate() {
        let (alone, all) = (common.only(at), engine.differing().count());
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\">{}</th><td class=\"number\" data-value=\"{alone}\">{}</td>\
             <td class=\"number\" data-value=\"{all}\">{}</td></tr>",
            engine_link("", engine),
            thousands(alone),
            thousands(all),
        );
    }
    let head = "<th scope=\"col\">engine</th><th scope=\"col\" class=\"number\">pairs it alone gets \
                wrong</th><th scope=\"col\" class=\"number\">pairs it gets wrong</th>";
    out + &table("Pairs that one engine alone gets wrong", head, &rows)
}

/// What the search finds: kind, name and address.
fn index(matrix: &Matrix) -> String {
    let mut entries = Vec::new();
    for engine in matrix.measurements() {
        let slug = slug(engine);
        entries.push(json!([
            "engine",
            label(engine),
            format!("engines/{slug}.html")
        ]));
        for (at, group) in engine.by_size().iter().enumerate() {
            let name = format!("{}: {} {}", engine.engine.engine, group.found, group.cause);
            let to = format!("engines/{slug}.html#d{at}");
            entries.push(json!(["difference", name, to]));
        }
    }
    for dialect in matrix.dialects() {
        for name in templates(matrix, dialect) {
            let to = format!("templates/{name}.html");
            entries.push(json!(["template", name.as_str(), to]));
        }
        for group in construct::groups(matrix, dialect) {
            for name in group.names {
                let to = format!(
                    "constructs/{}.html#{}",
                    group.slug,
                    construct::anchor(&name)
                );
                entries.push(json!(["construct", name, to]));
            }
        }
    }
    json!(entries).to_string()
}
