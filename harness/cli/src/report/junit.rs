//! Report cards and runs as JUnit XML, which CI servers show as test results: a suite for each
//! template, a test for each contract or case.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::card::{CardDetail, FindingStyle, write_broken};
use super::other_fault::OtherFault;
use super::run_report::{RunReport, first_lines};
use super::{checked_texts, clean, markdown};
use rolecall_check::card::Card;
use rolecall_check::contract::{Finding, Judgement};
use rolecall_core::invisible::is_obeyed;
use rolecall_suite::conclusion::Uncompared;
use rolecall_suite::suite::Pair;

/// Writes cards. A broken contract is a failure, unless it is a note or the template's sidecar
/// explains it. A contract that does not apply is skipped. What belongs to no card is in a suite of
/// its own.
pub fn write(out: &mut dyn Write, cards: &[Card], others: &[OtherFault]) -> io::Result<()> {
    let mut report = Report::new("rolecall check");
    for card in cards {
        let mut suite = TestSuite::new(xml(&card.template));
        for finding in &card.findings {
            suite.add_test_case(test(card, finding)?);
        }
        report.add_test_suite(suite);
    }
    add_others(&mut report, others, Vec::new());
    finish(out, &report)
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
    let mut junit = Report::new("rolecall run");
    for of_template in pairs.chunk_by(|a, b| a.template.name == b.template.name) {
        let Some(first) = of_template.first() else {
            continue;
        };
        let mut suite = TestSuite::new(xml(first.template.name.as_str()));
        for pair in of_template {
            let name = (&pair.template.name, &pair.case.id);
            let status = match (failures.get(&name), uncompared.get(&name)) {
                (None, None) => TestCaseStatus::success(),
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
            let mut test = TestCase::new(xml(&pair.case.id.to_string()), status);
            test.set_classname(xml(pair.template.name.as_str()));
            suite.add_test_case(test);
        }
        junit.add_test_suite(suite);
    }
    let mut cards = Vec::new();
    for checked in &report.conclusion.cards {
        let mut text = Vec::new();
        checked_texts::write(&mut text, std::slice::from_ref(checked), true)?;
        let text = clean::plain(&text);
        let status = failure(checked.kind.name(), &checked.template, &text);
        cards.push(TestCase::new(xml(&checked.template), status));
    }
    add_others(&mut junit, &report.others(), cards);
    finish(out, &junit)
}

/// Adds what belongs to no test of a template, in a suite of its own.
fn add_others(report: &mut Report, others: &[OtherFault], tests: Vec<TestCase>) {
    let mut suite = TestSuite::new("rolecall");
    for other in others {
        let what = other.sentence();
        let lines: Vec<String> = other.lines.iter().map(markdown::line).collect();
        let status = failure(other.kind.name(), &what, &lines.join("\n"));
        suite.add_test_case(TestCase::new(xml(&what), status));
    }
    suite.add_test_cases(tests);
    if !suite.test_cases.is_empty() {
        report.add_test_suite(suite);
    }
}

/// The status of a pair of which nothing says what it should give: its outcome, and no success.
fn not_compared(one: &Uncompared<'_>) -> TestCaseStatus {
    let mut what = format!("compared with nothing: {}", one.kind);
    if let Some(message) = &one.message {
        what = format!("{what}: {message}");
    }
    let mut status = TestCaseStatus::skipped();
    status.set_message(xml(&what));
    status
}

/// How many lines of a difference to show.
const MOST_LINES: usize = 60;

fn failure(kind: &str, what: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_type(kind)
        .set_message(xml(what))
        .set_description(xml(text));
    status
}

fn finish(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    // What fails here is the text; writing it fails as any other report does.
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

fn test(card: &Card, finding: &Finding) -> io::Result<TestCase> {
    let contract = finding.contract;
    let is_failure = finding.is_defect() && finding.deliberate.is_none();
    let status = match &finding.judgement {
        Judgement::DoesNotApply(reason) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(xml(reason));
            status
        }
        Judgement::Broken(evidence) if is_failure => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let what = evidence.first().map_or("", |evidence| &evidence.what);
            status
                .set_type(finding.severity().name())
                .set_message(xml(what))
                .set_description(shown(finding)?);
            status
        }
        Judgement::Broken(_) | Judgement::Holds => TestCaseStatus::success(),
    };
    let mut test = TestCase::new(contract.id, status);
    test.set_classname(xml(&card.template));
    if finding.is_broken() && !is_failure {
        test.set_system_out(shown(finding)?);
    }
    Ok(test)
}

fn shown(finding: &Finding) -> io::Result<String> {
    let mut text = Vec::new();
    write_broken(&mut text, finding, FindingStyle::whole(CardDetail::Full))?;
    Ok(xml(clean::plain(&text).trim()))
}

/// A text with only the characters that an XML 1.0 document may have. The others are shown by their
/// code points.
fn xml(text: &str) -> String {
    let is_allowed = |c: char| {
        matches!(c, '\t' | '\n' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
            && !is_obeyed(c)
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_allowed(c) {
            out.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "⟦U+{:04X}⟧", u32::from(c));
        }
    }
    out
}
