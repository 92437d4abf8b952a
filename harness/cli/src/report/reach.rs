//! What the report cards of several templates say together: which contracts how many of them break.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::card::ALONE;
use super::diagnostic::Diagnostic;
use super::markdown::{cell, escaped, part, whole};
use super::numbers::{counted, thousands};
use super::screen;
use super::text::{data, text};
use rolecall_check::card::Card;
use rolecall_check::contract::Severity;
use rolecall_check::reach::Reach;

/// How many errors, and how many warnings, are shown at once on a screen.
const MOST_CONTRACTS: usize = 10;

/// How wide a screen has to be for the column with the templates to which a contract applies.
const WITH_JUDGED: usize = 72;

/// How wide a screen has to be for the meanings beside the counts.
const WITH_MEANING: usize = 120;

/// `138 templates: 21 clean, 3 cannot be read`
pub fn in_words(reach: &Reach) -> String {
    let mut words = format!(
        "{}: {} clean",
        counted(reach.templates, "template", "templates"),
        thousands(reach.clean)
    );
    // Writing to a string cannot fail.
    if reach.unreadable > 0 {
        let _ = write!(words, ", {} cannot be read", thousands(reach.unreadable));
    }
    words
}

/// How many errors and warnings report cards have, in words, with what else fails the check.
pub(crate) fn headline(cards: &[Card], others: &[Diagnostic<'_>]) -> String {
    let count = |severity| -> usize { cards.iter().map(|card| card.count(severity)).sum() };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let with_errors = cards.iter().filter(|card| card.count(Severity::Error) > 0);
    let what = format!(
        "{}, {}",
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings")
    );
    let templates = counted(cards.len(), "template", "templates");
    let mut headline = match with_errors.count() {
        0 => format!("{what} in {templates}"),
        some => format!("{what}; {some} of {templates} with errors"),
    };
    if !others.is_empty() {
        headline = format!(
            "{headline}; {}",
            counted(others.len(), "other problem", "other problems")
        );
    }
    headline
}

/// Writes the counts, then a line for each contract that some template breaks, by severity. Limitations
/// and notes share a paragraph.
pub fn write(out: &mut dyn Write, reach: &Reach, cards: &[Card], is_all: bool) -> io::Result<()> {
    let most = match screen::limit() {
        Some(_) if !is_all => MOST_CONTRACTS,
        _ => reach.contracts.len(),
    };
    let mut alone: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in cards.iter().flat_map(|card| &card.without_front) {
        *alone.entry(finding.contract.id).or_default() += 1;
    }
    let alone = alone.iter();
    let alone = alone.map(|(id, count)| format!("{id} {}", thousands(*count)));
    let meanings = reach.contracts.iter();
    let meanings = meanings.map(|one| (one.contract.id, one.contract.meaning));
    text!(out, include_str!("reach.txt"), {
        words => in_words(reach),
        most,
        has_judged => screen::width() >= WITH_JUDGED,
        has_meaning => screen::width() >= WITH_MEANING,
        meanings => meanings.collect::<BTreeMap<_, _>>(),
        heading => ALONE,
        alone => alone.collect::<Vec<_>>(),
        ..data(reach)
    })
}

/// Writes the cards for the comment on a pull request: the counts, the contracts, and the templates.
pub fn write_markdown(
    out: &mut dyn Write,
    reach: &Reach,
    cards: &[Card],
    others: &[Diagnostic<'_>],
) -> io::Result<()> {
    let mut head = format!(
        "**{}.**\n\n{}.\n",
        escaped(&headline(cards, others)),
        in_words(reach)
    );
    let row = |cells: [&str; 5]| format!("\n| {} |", cells.join(" | "));
    if !reach.contracts.is_empty() {
        head += &row(["contract", "severity", "templates", "share", "meaning"]);
        head += &row(["---", "---", "--:", "--:", "---"]);
    }
    let contracts = reach.contracts.iter().map(|one| {
        row([
            &cell(one.contract.id),
            one.severity.name(),
            &thousands(one.templates),
            &format!("{:.1} %", one.percent),
            &escaped(one.contract.meaning),
        ])
    });
    let mut parts: Vec<String> = contracts.collect();
    parts.extend(others.iter().map(part));
    let templates = cards.iter().map(|card| {
        let ids = card.unexplained().map(|finding| cell(finding.contract.id));
        format!(
            "\n| {} | {} | {} | {} |",
            cell(&card.template),
            thousands(card.count(Severity::Error)),
            thousands(card.count(Severity::Warning)),
            ids.collect::<Vec<_>>().join(", ")
        )
    });
    let table: String = templates.collect();
    parts.push(format!(
        "\n\n<details><summary>{}</summary>\n\n| template | errors | warnings | broken |\n\
         | --- | --: | --: | --- |{table}\n\n</details>\n",
        counted(cards.len(), "template", "templates")
    ));
    out.write_all(whole(head, parts).as_bytes())
}
