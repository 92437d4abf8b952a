//! The page of an engine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rolecall_model::{OutcomeKind, TemplateName};

use super::construct;
use super::html::{Page, escaped, link};
use super::parts::{cell, difference, grade, ink, label, slug, table};
use crate::matrix::Matrix;
use crate::measurement::{Group, Measurement, Share};
use crate::report::matrix::by_construct;
use crate::report::numbers::{counted, percent, thousands};

/// Differences that are open from the beginning.
const OPEN: usize = 3;

/// The page.
pub(super) fn page(matrix: &Matrix, engine: &Measurement) -> String {
    let title = label(engine);
    let mut main = format!("<h1>{}</h1>\n", escaped(&title));
    let components = engine.engine.components.iter();
    let made_of: Vec<_> = components
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let made_of = match made_of.as_slice() {
        [] => String::new(),
        parts => format!(" with {}", parts.join(", ")),
    };
    let _ = writeln!(
        main,
        "<p class=\"quiet\">{} templates{}, judged by {} · {} pairs a second where it was measured \
         · <a href=\"../badges/{}.json\">badge</a></p>",
        engine.dialect,
        escaped(&made_of),
        escaped(&engine.asked.reference.to_string()),
        thousands(engine.pairs_per_second),
        escaped(&slug(engine)),
    );
    let staleness = matrix.staleness(engine);
    if !staleness.is_none() {
        let text = escaped(&staleness.to_string());
        let _ = writeln!(
            main,
            "<p class=\"note\">Measured before {text} changed.</p>"
        );
    }
    main += &figures(engine);
    main += "<h2>By template</h2>\n";
    let templates = engine.templates.iter().map(|(name, template)| {
        let refused = template.refused.as_ref();
        let refused = refused.map(|refused| refused.message.as_str());
        let to = link(&format!("../templates/{name}.html"), name.as_str());
        (to, engine.of_template(name), refused.unwrap_or_default())
    });
    main += &shares("template", templates.collect());
    main += "<h2>By family of conversations</h2>\n";
    let families = engine.families.keys();
    let families = families.map(|name| (escaped(name), engine.of_family(name), ""));
    main += &shares("family", families.collect());
    let constructs = by_construct(matrix, engine);
    if !constructs.is_empty() {
        let whole = constructs.values().filter(|share| share.is_whole()).count();
        let _ = writeln!(
            main,
            "<h2>By construct</h2>\n<p class=\"quiet\">Those of which it gets something wrong; {} \
             in which everything agrees.</p>",
            counted(whole, "other", "others")
        );
        let rows = constructs
            .into_iter()
            .filter(|(_, share)| !share.is_whole());
        let rows = rows.map(|(name, share)| {
            let to = construct::address("../", engine.dialect, &name);
            (link(&to, &name), Some(share), "")
        });
        main += &shares("construct", rows.collect());
    }
    main += &differences(engine);
    let page = Page {
        root: "../",
        title: &title,
        main,
        index: None,
    };
    page.text()
}

fn figures(engine: &Measurement) -> String {
    let mut out = String::from("<dl class=\"figures\">");
    let shares = [
        ("templates load", Some(engine.loaded())),
        ("prompts", Some(engine.prompts())),
        ("prompts of loaded", Some(engine.prompts_of_loaded())),
        ("refusals", Some(engine.refusals())),
        ("constructs", engine.construct_share()),
    ];
    for (name, share) in shares {
        if let Some(share) = share {
            let Share { agree, all } = share;
            let _ = write!(
                out,
                "<div class=\"{}\"><dt>{name}</dt><dd>{}</dd><dd class=\"quiet\">{} of {}</dd></div>",
                grade(share),
                percent(agree, all),
                thousands(agree),
                thousands(all),
            );
        }
    }
    out + "</dl>\n"
}

/// A table of shares, the worst first.
fn shares(what: &str, mut rows: Vec<(String, Option<Share>, &str)>) -> String {
    let key = |share: &Option<Share>| {
        let share = share.unwrap_or_default();
        share.agree.saturating_mul(1_000_000) / share.all.max(1)
    };
    rows.sort_by_key(|(_, share, _)| key(share));
    let mut text = String::new();
    let has_words = rows.iter().any(|(_, _, words)| !words.is_empty());
    let words_cell = |words: &str| match (has_words, words) {
        (false, _) => String::new(),
        (true, "") => "<td></td>".to_owned(),
        (true, words) => format!(
            "<td class=\"words\"><span class=\"bad\">does not load:</span> {}</td>",
            escaped(words)
        ),
    };
    for (name, share, words) in rows {
        let counts = share.unwrap_or_default();
        let words = words_cell(words);
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\">{name}</th>{}<td class=\"number quiet\" data-value=\"{}\">{} of \
             {}</td>{words}</tr>",
            cell(share),
            counts.all,
            thousands(counts.agree),
            thousands(counts.all),
        );
    }
    let last = if has_words { "<td></td>" } else { "" };
    let head = format!(
        "<th scope=\"col\">{what}</th><th scope=\"col\" class=\"number\">agree</th><th scope=\"col\" \
         class=\"number\">pairs</th>{last}"
    );
    table(&format!("By {what}"), &head, &text)
}

/// All differences, those with most pairs first.
fn differences(engine: &Measurement) -> String {
    let groups = engine.by_size();
    let count = counted(groups.len(), "difference", "differences");
    let mut out = format!(
        "<h2 id=\"differences\">{count}</h2>\n<p class=\"quiet\">Pairs with one cause stand \
         together; shown is the one with the shortest conversation. − what the reference gave, + \
         what the engine gave.</p>\n"
    );
    for (at, group) in groups.iter().enumerate() {
        let open = if at < OPEN { " open" } else { "" };
        let _ = writeln!(
            out,
            "<details class=\"finding\" id=\"d{at}\"{open}><summary><b>{}</b><span class=\"{}\">{}\
             </span> {}</summary>\n<p class=\"quiet\">{} {}</p>{}{}</details>",
            counted(group.pairs.len(), "pair", "pairs"),
            ink(group.found),
            group.found,
            escaped(&group.cause),
            link(
                &format!("../templates/{}.html", group.example.template),
                group.example.template.as_str()
            ),
            escaped(&group.example.case.to_string()),
            difference(&group.example),
            pairs(group),
        );
    }
    out
}

/// The pairs of a group, by template and what the reference did.
fn pairs(group: &Group) -> String {
    let mut lines: BTreeMap<(&TemplateName, OutcomeKind), Vec<String>> = BTreeMap::new();
    for pair in &group.pairs {
        let line = lines.entry((&pair.template, pair.expected)).or_default();
        line.push(pair.case.to_string());
    }
    let count = counted(lines.len(), "line", "lines");
    let mut out = format!("<details><summary class=\"quiet\">the pairs, {count}</summary><ul>");
    for ((template, expected), cases) in lines {
        let _ = write!(
            out,
            "<li><b>{}</b> <span class=\"quiet\">where the reference has {expected}:</span> \
             {}</li>",
            escaped(template.as_str()),
            escaped(&cases.join(", ")),
        );
    }
    out + "</ul></details>"
}
