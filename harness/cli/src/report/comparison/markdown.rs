//! A comparison in Markdown, for the comment on a pull request.

use std::fmt::Write as _;
use std::io;

use crate::report::comparison::first_place::FirstPlace;
use crate::report::comparison::words;
use crate::report::diagnostic::signed;
use crate::report::markdown::{cell, code, escaped, fenced, html, whole};
use crate::report::numbers::{counted, thousands};
use rolecall_core::problem::shown;
use rolecall_suite::comparison::{CardChange, CaseGroup, CaseTally, Comparison};

/// How many names to put on a line.
const MOST_NAMES: usize = 8;
/// How many changed lines of a side to show.
const MOST_LINES: usize = 8;
/// How many columns to show on either side of a line's first difference.
const REACH: usize = 60;
/// How many templates, contracts or names a table or a list shows.
const MOST_ROWS: usize = 40;

/// Writes a line that sums up the comparison, a table, and the differences as sections that readers
/// open. It leaves out the parts that would make a comment too long, and says so.
pub fn write(out: &mut dyn io::Write, comparison: &Comparison) -> io::Result<()> {
    out.write_all(whole(head(comparison), parts(comparison)).as_bytes())
}

/// The beginning, which is always there: the summary, the names of A and B, the table.
fn head(comparison: &Comparison) -> String {
    let [a, b] = &comparison.sides;
    let tally = comparison.tally();
    let mut page = format!("**{}.**\n\n", words::sentence(tally));
    let _ = write!(page, "A is {}, B is {}.\n\n", code(a), code(b));
    if let Some(sentence) = words::warning(comparison) {
        let _ = write!(page, "{}\n\n", escaped(&sentence));
    }
    page.push_str("| template | differ | same prompt | both refuse | both fail |\n");
    page.push_str("|---|--:|--:|--:|--:|\n");
    let mut row = |name: &str, tally: CaseTally| {
        let CaseTally {
            same,
            refuse,
            fail,
            differ,
        } = tally;
        let counts = [differ, same, refuse, fail].map(thousands).join(" | ");
        let _ = writeln!(page, "| {name} | {counts} |");
    };
    // The templates that differ come first, as far as there is room.
    let mut pairings: Vec<_> = comparison.pairings.iter().collect();
    pairings.sort_by_key(|pairing| std::cmp::Reverse(pairing.tally.differ));
    for pairing in pairings.iter().take(MOST_ROWS) {
        row(&cell(&comparison.name_of(pairing)), pairing.tally);
    }
    let more = pairings.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        let mut rest = CaseTally::default();
        for pairing in &pairings[MOST_ROWS..] {
            rest.add(pairing.tally);
        }
        row(&format!("{} more", thousands(more)), rest);
    }
    if pairings.len() > 1 {
        row("all", tally);
    }
    page
}

/// The rest, in parts that can be left out.
fn parts(comparison: &Comparison) -> Vec<String> {
    let mut parts = Vec::new();
    for (what, names) in words::only(comparison) {
        let list = listed(&names);
        parts.push(format!("\n{what}: {list}\n"));
    }
    for pairing in &comparison.pairings {
        if let Some(change) = &pairing.card
            && !change.is_empty()
        {
            let of = if comparison.is_single() {
                String::new()
            } else {
                format!(" of {}", code(&comparison.name_of(pairing)))
            };
            parts.push(format!("\nThe report card{of}:\n\n{}", card(change)));
        }
    }
    let differences = comparison.differences().iter();
    parts.extend(differences.map(|one| difference(comparison, one)));
    let failures = comparison.failures().iter();
    parts.extend(failures.map(|one| failure(comparison, one)));
    parts
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(|name| code(name));
    let mut shown: Vec<String> = shown.collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    if more > 0 {
        shown.push(format!("… and {} more", thousands(more)));
    }
    shown.join(", ")
}

fn difference(comparison: &Comparison, group: &CaseGroup) -> String {
    let title = words::title(group);
    let source = ["-", "+"].into_iter().zip(words::source(group));
    let source = source.filter_map(|(sign, text)| Some(format!("{sign} {}\n", text?)));
    let source: String = source.collect();
    let source = match source.trim_end() {
        "" => String::new(),
        source => fenced("diff", source) + "\n",
    };
    let consequences = words::consequences(comparison, group).into_iter();
    let consequences = consequences.map(|line| format!("\n- {}", escaped(&line)));
    let text = if words::has_diff(group) {
        let window = FirstPlace::of(&group.diff, REACH, MOST_LINES);
        let mut lines: Vec<String> = window.lines.iter().map(signed).collect();
        lines.extend(words::more(&window));
        let first = group.diff.first.as_deref().unwrap_or_default();
        format!(
            "{}\n\n{}",
            escaped(first),
            fenced("diff", &lines.join("\n"))
        )
    } else {
        outcomes(group)
    };
    let text = source + &text + &consequences.collect::<String>();
    details(comparison, group, &title, &text)
}

fn failure(comparison: &Comparison, group: &CaseGroup) -> String {
    details(comparison, group, "both sides fail", &outcomes(group))
}

fn outcomes(group: &CaseGroup) -> String {
    let [a, b] = [&group.outcomes[0], &group.outcomes[1]].map(words::outcome);
    if a == b {
        return fenced("text", &format!("each {a}"));
    }
    fenced("diff", &format!("- {a}\n+ {b}"))
}

/// A section that is closed until somebody opens it.
fn details(comparison: &Comparison, group: &CaseGroup, title: &str, text: &str) -> String {
    let Some(first) = group.members.first() else {
        return String::new();
    };
    let count = counted(group.members.len(), "case", "cases");
    let name = html(&words::member(comparison, first));
    let about = group.about.as_ref().map_or_else(String::new, |about| {
        format!("{}\n\n", escaped(&shown(about)))
    });
    let others = words::others(comparison, group, MOST_NAMES);
    let others = if others.is_empty() {
        String::new()
    } else {
        let lines = others.iter().map(|line| escaped(&shown(line)));
        format!("\n{}\n", lines.collect::<Vec<_>>().join("\\\n"))
    };
    format!(
        "\n<details><summary>{count}: {title}, as in <code>{name}</code></summary>\n\n\
         {about}{text}{others}\n</details>\n"
    )
}

fn card(change: &CardChange) -> String {
    let mut list = String::new();
    for (verb, findings) in [("fixed", &change.fixed), ("broken", &change.broken)] {
        for finding in findings {
            let alone = words::alone(finding);
            let _ = writeln!(
                list,
                "- {verb} {} ({}{alone}): {}",
                code(finding.contract.id),
                finding.severity.name(),
                escaped(&shown(&finding.what)),
            );
        }
    }
    for one in &change.changed {
        let alone = words::alone(&one.finding);
        let _ = writeln!(
            list,
            "- {} {} ({}{alone}): {}",
            one.degree.name(),
            code(one.finding.contract.id),
            words::degree(one),
            escaped(&shown(&one.finding.what)),
        );
    }
    for change in &change.capabilities {
        let (a, b) = (code(&change.a), code(&change.b));
        let _ = writeln!(list, "- {}: {a} → {b}", change.name);
    }
    list
}
