//! Report cards and runs as JUnit XML, which CI servers show as test results: a suite for each
//! template, a test for each contract or case.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Value, context};

use super::card::{CardDetail, FindingStyle, write_broken};
use super::other_fault::OtherFault;
use super::run_report::{RunReport, first_lines};
use super::{checked_texts, clean, markdown};
use rolecall_check::card::Card;
use rolecall_check::contract::{Finding, Judgement};
use rolecall_core::invisible::is_obeyed;
use rolecall_suite::conclusion::Uncompared;
use rolecall_suite::suite::Pair;

const TEMPLATE: &str = include_str!("junit.xml");

/// A suite for the template. A test has passed if it has no element `failure` or `skipped`.
fn suite(name: &str, tests: Vec<Value>) -> Value {
    let count = |element: &str| {
        let elements = tests
            .iter()
            .filter_map(|test| test.get_attr("element").ok());
        elements.filter(|one| one.as_str() == Some(element)).count()
    };
    let (skipped, failures) = (count("skipped"), count("failure"));
    context! { name, count => tests.len(), skipped, failures, tests }
}

/// Writes cards. A broken contract is a failure, unless it is a note or the template's sidecar
/// explains it. A contract that does not apply is skipped. What belongs to no card is in a suite of
/// its own.
pub fn write(out: &mut dyn Write, cards: &[Card], others: &[OtherFault]) -> io::Result<()> {
    let mut suites = Vec::new();
    for card in cards {
        let tests: io::Result<_> = card.findings.iter().map(|one| test(card, one)).collect();
        suites.push(suite(&card.template, tests?));
    }
    add_others(&mut suites, others, Vec::new());
    finish(out, "rolecall check", suites)
}

/// Writes the results of a run: a suite for each template, a test for each case. What belongs to no
/// pair, such as a file that cannot be read, is in a suite of its own.
pub fn write_run(
    out: &mut dyn Write,
    report: &RunReport<'_, '_>,
    pairs: &[Pair<'_>],
) -> io::Result<()> {
    let mut failures = HashMap::new();
    for group in report.groups {
        for member in &group.pairs {
            failures.insert((&member.pair.template.name, &member.pair.case.id), group);
        }
    }
    let mut uncompared = HashMap::new();
    for one in &report.conclusion.uncompared {
        uncompared.insert((&one.pair.template.name, &one.pair.case.id), one);
    }
    let mut suites = Vec::new();
    for of_template in pairs.chunk_by(|a, b| a.template.name == b.template.name) {
        let Some(first) = of_template.first() else {
            continue;
        };
        let mut tests = Vec::new();
        for pair in of_template {
            let name = (&pair.template.name, &pair.case.id);
            let test = match (failures.get(&name), uncompared.get(&name)) {
                (None, None) => context! {},
                (None, Some(one)) => not_compared(one),
                (Some(group), _) => {
                    let what = group.diff().and_then(|diff| diff.first.as_deref());
                    let what = what.or(group.word()).unwrap_or_default();
                    let is_example = group.pairs.first().is_some_and(|first| {
                        std::ptr::eq(first.pair.case, pair.case)
                            && first.pair.template.name == pair.template.name
                    });
                    let what = match group.pairs.first() {
                        Some(first) if !is_example => format!(
                            "as in {} {}: {what}",
                            first.pair.template.name, first.pair.case.id
                        ),
                        _ => what.to_owned(),
                    };
                    let lines = first_lines(group, MOST_LINES);
                    let lines: Vec<String> = lines.iter().map(markdown::line).collect();
                    failure(group.fault().name(), &what, &lines.join("\n"))
                }
            };
            tests.push(context! {
                name => pair.case.id.to_string(),
                class => pair.template.name.as_str(),
                ..test
            });
        }
        suites.push(suite(first.template.name.as_str(), tests));
    }
    let mut cards = Vec::new();
    for checked in &report.conclusion.cards {
        let mut text = Vec::new();
        checked_texts::write(&mut text, std::slice::from_ref(checked), true)?;
        let text = clean::plain(&text);
        let status = failure(checked.kind.name(), &checked.template, &text);
        cards.push(context! { name => &checked.template, ..status });
    }
    add_others(&mut suites, &report.others(), cards);
    finish(out, "rolecall run", suites)
}

/// Adds what belongs to no test of a template, in a suite of its own.
fn add_others(suites: &mut Vec<Value>, others: &[OtherFault], cards: Vec<Value>) {
    let mut tests = Vec::new();
    for other in others {
        let what = other.sentence();
        let lines: Vec<String> = other.lines.iter().map(markdown::line).collect();
        let status = failure(other.kind.name(), &what, &lines.join("\n"));
        tests.push(context! { name => what, ..status });
    }
    tests.extend(cards);
    if !tests.is_empty() {
        suites.push(suite("rolecall", tests));
    }
}

/// A pair of which nothing says what it should give.
fn not_compared(one: &Uncompared<'_>) -> Value {
    let mut what = format!("compared with nothing: {}", one.kind);
    if let Some(message) = &one.message {
        what = format!("{what}: {message}");
    }
    skipped(&what)
}

/// How many lines of a difference to show.
const MOST_LINES: usize = 60;

fn skipped(message: &str) -> Value {
    context! { element => "skipped", message }
}

fn failure(kind: &str, message: &str, text: &str) -> Value {
    context! { element => "failure", kind, message, text }
}

fn finish(out: &mut dyn Write, name: &str, suites: Vec<Value>) -> io::Result<()> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    let syntax = syntax.trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(io::Error::other)?);
    // Its own escapes would replace the `/` in the names of cases, too.
    environment.set_formatter(|out, _, value| Ok(out.write_str(&xml(&value.to_string()))?));
    let text = environment.render_str(TEMPLATE, context! { name, suites });
    out.write_all(text.map_err(io::Error::other)?.as_bytes())
}

fn test(card: &Card, finding: &Finding) -> io::Result<Value> {
    let is_failure = finding.is_defect() && finding.deliberate.is_none();
    let status = match &finding.judgement {
        Judgement::DoesNotApply(reason) => skipped(reason),
        Judgement::Broken(evidence) if is_failure => {
            let what = evidence.first().map_or("", |evidence| &evidence.what);
            failure(finding.severity().name(), what, &shown(finding)?)
        }
        Judgement::Broken(_) => context! { output => shown(finding)? },
        Judgement::Holds => context! {},
    };
    Ok(context! { name => finding.contract.id, class => &card.template, ..status })
}

fn shown(finding: &Finding) -> io::Result<String> {
    let mut text = Vec::new();
    write_broken(&mut text, finding, FindingStyle::whole(CardDetail::Full))?;
    Ok(clean::plain(&text).trim().to_owned())
}

/// A text within elements and attributes. Characters that an XML 1.0 document may not have are shown
/// by their code points.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..
                if !is_obeyed(c) =>
            {
                out.push(c);
            }
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "⟦U+{:04X}⟧", u32::from(c));
            }
        }
    }
    out
}
