//! Report cards and runs as JUnit XML, which CI servers show as test results: a suite for each
//! template, a test for each contract or case.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Value, context};

use super::card::{CardDetail, FindingStyle, write_broken};
use super::clean;
use super::diagnostic::{Diagnostic, SYNTAX};
use super::run_report::RunReport;
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
pub fn write(out: &mut dyn Write, cards: &[Card], others: &[Diagnostic<'_>]) -> io::Result<()> {
    let mut suites = Vec::new();
    for card in cards {
        let tests: io::Result<_> = card.findings.iter().map(|one| test(card, one)).collect();
        suites.push(suite(&card.template, tests?));
    }
    finish(out, "rolecall check", suites, others)
}

/// Writes the results of a run: a suite for each template, a test for each case. What belongs to no
/// pair, such as a file that cannot be read, is in a suite of its own.
pub fn write_run(
    out: &mut dyn Write,
    report: &RunReport<'_, '_>,
    pairs: &[Pair<'_>],
) -> io::Result<()> {
    let (of_pairs, others): (Vec<_>, Vec<_>) = report
        .diagnostics()
        .into_iter()
        .partition(|one| !one.pairs.is_empty());
    let failing = of_pairs.iter().flat_map(|one| {
        let pairs = one.pairs.iter().enumerate();
        pairs.map(move |(at, member)| (member.pair.key(), (one, at)))
    });
    let failing: HashMap<_, _> = failing.collect();
    let uncompared = report.conclusion.uncompared.iter();
    let uncompared: HashMap<_, _> = uncompared.map(|one| (one.pair.key(), one)).collect();
    let unread: HashSet<_> = report.conclusion.unread().collect();
    let test = |pair: &Pair<'_>| {
        let status = match (failing.get(&pair.key()), uncompared.get(&pair.key())) {
            (Some((one, at)), _) => {
                let what = one.what.first().map_or("", String::as_str);
                if *at == 0 {
                    failure(one.rule, what, &one.evidence(MOST_LINES).join("\n"))
                } else {
                    let message = format!("as in {}: {what}", one.subject);
                    context! { element => "failure", kind => one.rule, message }
                }
            }
            (None, Some(one)) => not_compared(one),
            _ if unread.contains(&pair.template.name) => skipped("the template cannot be read"),
            (None, None) => context! {},
        };
        context! {
            name => pair.case.id.to_string(),
            class => pair.template.name.as_str(),
            ..status
        }
    };
    let by_template = pairs.chunk_by(|a, b| a.template.name == b.template.name);
    let suites = by_template.map(|pairs| {
        let name = pairs
            .first()
            .map_or("", |first| first.template.name.as_str());
        suite(name, pairs.iter().map(test).collect())
    });
    finish(out, "rolecall run", suites.collect(), &others)
}

/// A pair without an expectation.
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

/// Writes suites, and in one more what belongs to no test of a template.
fn finish(
    out: &mut dyn Write,
    name: &str,
    mut suites: Vec<Value>,
    others: &[Diagnostic<'_>],
) -> io::Result<()> {
    let tests = others.iter().map(|one| {
        let what = one.sentence();
        let status = failure(one.rule, &what, &one.evidence(MOST_LINES).join("\n"));
        context! { name => what, ..status }
    });
    if !others.is_empty() {
        // A template that cannot be read comes before its pairs, which say nothing without it.
        let is_first = others.first().is_some_and(|one| one.rule == SYNTAX);
        let at = if is_first { 0 } else { suites.len() };
        suites.insert(at, suite("rolecall", tests.collect()));
    }
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
