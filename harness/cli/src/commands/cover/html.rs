//! The page of coverage: the sources of templates in colours, and at each place its branches and
//! the cases that take them.

use rolecall_core::Cut;
use std::io::{self, Write};

use rolecall_core::lines::Lines;
use rolecall_explore::coverage::{CoveredSite, TemplateCoverage};
use rolecall_io::template_file::{line_in_file, place};
use serde_json::{Value, json};

use crate::report::coverage::missing;
use crate::report::html::view;
use crate::report::html::view::{pieces, source_lines};
use crate::report::numbers::{counted, percent};

const SCRIPT: &str = include_str!("html.js");

/// How many cases the page names for each branch.
const MOST_NAMED: usize = 12;

/// What the page says before a place is chosen.
const HELP: &str = "Choose a place to see which cases reach it. Tab goes from part to part, and the \
                    arrow keys from place to place.";

/// Writes the page of the coverage of templates.
pub fn write(out: &mut dyn Write, all: &[TemplateCoverage<'_>]) -> io::Result<()> {
    let title = match all {
        [one] => format!("coverage of {}", one.template.name),
        _ => format!(
            "coverage of {}",
            counted(all.len(), "template", "templates")
        ),
    };
    let index = json!({
        "title": title,
        "help": HELP,
        "templates": all.iter().map(template).collect::<Vec<_>>(),
    });
    view::write(out, &title, &index, SCRIPT)
}

fn template(coverage: &TemplateCoverage<'_>) -> Value {
    let count = coverage.whole();
    let lines = Lines::of(&coverage.template.source);
    let sites = coverage.sites.iter();
    json!({
        "name": coverage.template.name.as_str(),
        "file": place(coverage.template, None),
        "about": format!(
            "{} of {} branches, {}, by {}",
            count.reached,
            count.all,
            percent(count.reached, count.all),
            counted(coverage.cases, "case", "cases"),
        ),
        "share": percent(count.reached, count.all),
        "sites": sites.map(|covered| site(coverage, &lines, covered)).collect::<Vec<_>>(),
        "source": source(coverage),
    })
}

fn site(coverage: &TemplateCoverage<'_>, lines: &Lines, covered: &CoveredSite) -> Value {
    let template = coverage.template;
    let position = lines.position(&template.source, covered.site.span.start);
    let line = line_in_file(template, Some(position.line)).unwrap_or(position.line);
    let branches = covered.branches.iter().map(|branch| {
        json!([
            branch.branch.name(),
            branch.cases,
            coverage.first(branch, MOST_NAMED)
        ])
    });
    json!({
        "kind": covered.site.kind.name(),
        "place": format!("{line}:{}", position.column),
        "state": state(covered),
        "missing": missing(covered),
        "cases": covered.cases,
        "ways": branches.collect::<Vec<_>>(),
    })
}

/// Whether the cases reach a place in every branch, in some, or in none.
fn state(covered: &CoveredSite) -> &'static str {
    match missing(covered) {
        None => "reached",
        Some(_) if covered.cases == 0 => "never",
        Some(_) => "part",
    }
}

/// The source in pieces. Each names the places that it is in, the innermost first.
fn source(coverage: &TemplateCoverage<'_>) -> Vec<Value> {
    let text = &coverage.template.source;
    let spans = || coverage.sites.iter().map(|covered| &covered.site.span);
    let places = spans().flat_map(|span| [span.start, span.end]);
    let parts = pieces(text, places).into_iter().map(|(start, end)| {
        let around = spans().enumerate();
        let around = around.filter(|(_, span)| span.start <= start && end <= span.end);
        let mut around: Vec<(usize, usize)> =
            around.map(|(index, span)| (span.len(), index)).collect();
        // Of places that are alike, the later one is within the other.
        around.sort_by_key(|(length, index)| (*length, usize::MAX - index));
        let around: Vec<usize> = around.into_iter().map(|(_, index)| index).collect();
        json!([source_lines(text.cut(start..end)), around])
    });
    parts.collect()
}
