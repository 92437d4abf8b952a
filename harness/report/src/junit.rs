//! Report cards as `JUnit` XML, which CI servers show as test results: a suite for each template, a
//! test for each contract.

use std::fmt::Write as _;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::card::{CardDetail, FindingStyle, write_broken};
use super::clean;
use rolecall_base::invisible::is_obeyed;
use rolecall_card::card::Card;
use rolecall_card::contract::{Finding, Judgement};

/// Writes cards. A broken contract is a failure, unless it is a note or the template's sidecar
/// explains it. A contract that does not apply is skipped.
pub fn write(out: &mut dyn Write, cards: &[Card]) -> io::Result<()> {
    let mut report = Report::new("rolecall check");
    for card in cards {
        let mut suite = TestSuite::new(xml(&card.template));
        for finding in &card.findings {
            suite.add_test_case(test(card, finding)?);
        }
        report.add_test_suite(suite);
    }
    report.serialize(&mut *out).map_err(io::Error::other)?;
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
