//! What the report cards of several templates say together: which contracts how many of them break.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::{Value, context};

use super::card::{ALONE, style_of};
use super::diagnostic::Diagnostic;
use super::markdown::{cell, escaped, part, whole};
use super::numbers::{counted, thousands};
use super::screen;
use super::text::text;
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
    if let Some(downloads) = reach.downloads {
        let _ = write!(words, "; {}", counted(downloads, "download", "downloads"));
    }
    words
}

/// How many errors and warnings report cards have, in words, with what else fails the check.
pub(super) fn headline(cards: &[Card], others: &[Diagnostic<'_>]) -> String {
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
        _ => usize::MAX,
    };
    let of = |severity| {
        reach
            .contracts
            .iter()
            .filter(move |one| one.severity == severity)
    };
    let defects = [Severity::Error, Severity::Warning];
    let more = defects.map(|severity| {
        let count = of(severity).count().saturating_sub(most);
        let name = format!("more {}", severity.name());
        (count > 0).then(|| counted(count, &name, &format!("{name}s")))
    });
    let defects = defects
        .into_iter()
        .flat_map(|severity| of(severity).take(most));
    let contracts = defects.map(|one| {
        context! {
            id => one.contract.id,
            severity => one.severity.name(),
            style => style_of(one.severity),
            templates => one.templates,
            percent => format!("{:.1} %", one.percent),
            downloads => one.downloads_percent.map(|percent| format!("{percent:.1} %")),
            judged => one.judged,
            meaning => one.contract.meaning,
        }
    });
    let facts = [Severity::Limitation, Severity::Note].map(|severity| {
        let counts =
            of(severity).map(|one| format!("{} {}", one.contract.id, thousands(one.templates)));
        vec![
            severity.name().to_owned() + "s",
            counts.collect::<Vec<_>>().join(", "),
        ]
    });
    let mut alone: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in cards.iter().flat_map(|card| &card.without_front) {
        *alone.entry(finding.contract.id).or_default() += 1;
    }
    let alone = alone.iter();
    let alone = alone.map(|(id, count)| format!("{id} {}", thousands(*count)));
    text!(out, include_str!("reach.txt"), {
        words => in_words(reach),
        is_weighed => reach.downloads.is_some(),
        has_judged => screen::width() >= WITH_JUDGED,
        has_meaning => screen::width() >= WITH_MEANING,
        contracts => contracts.collect::<Value>(),
        more => more.into_iter().flatten().collect::<Vec<_>>(),
        facts => facts.to_vec(),
        heading => ALONE,
        alone => alone.collect::<Vec<_>>(),
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
    let is_weighed = reach.downloads.is_some();
    if !reach.contracts.is_empty() {
        head += &row(
            is_weighed,
            [
                "contract",
                "severity",
                "templates",
                "share",
                "downloads",
                "meaning",
            ]
            .map(str::to_owned),
        );
        head += &row(
            is_weighed,
            ["---", "---", "--:", "--:", "--:", "---"].map(str::to_owned),
        );
    }
    let contracts = reach.contracts.iter().map(|one| {
        row(
            is_weighed,
            [
                cell(one.contract.id),
                one.severity.name().to_owned(),
                thousands(one.templates),
                format!("{:.1} %", one.percent),
                one.downloads_percent
                    .map_or_else(String::new, |percent| format!("{percent:.1} %")),
                escaped(one.contract.meaning),
            ],
        )
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

/// A row of the table of contracts. The column of downloads is there only if there are some.
fn row(is_weighed: bool, cells: [String; 6]) -> String {
    let cells = cells.into_iter().enumerate();
    let cells = cells.filter(|(at, _)| is_weighed || *at != 4);
    let cells: Vec<String> = cells.map(|(_, cell)| cell).collect();
    format!("\n| {} |", cells.join(" | "))
}
