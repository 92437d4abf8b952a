//! The result of a pair, compared with the expected one.

use rolecall_core::Engine;
use rolecall_core::diff::Diff;
use rolecall_core::transcript;
use rolecall_front::engines::Engines;
use rolecall_suite::conclusion::Fault;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::expectations::Expectations;
use rolecall_suite::run::{Compared, Expected, RunError, Runner};
use rolecall_suite::suite::Pair;
use rolecall_suite::verdict::{Truth, Verdict};

/// A pair with its error, if there is one.
pub(crate) struct JudgedPair {
    pub(crate) name: String,
    pub(crate) template: String,
    pub(crate) case: String,
    pub(crate) wrong: Option<String>,
}

/// Renders pairs and compares them with the references' results.
pub(crate) fn judge(
    engine: &dyn Engine,
    pairs: &[Pair<'_>],
    expectations: &Expectations,
    threads: Option<usize>,
) -> Result<Vec<JudgedPair>, RunError> {
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[engine], threads)?;
    // The listed divergences of our engines say nothing about another engine.
    let none = Divergences::default();
    let expected = Expected {
        truth: Truth::Records {
            records: &expectations.records,
            divergences: &none,
            snapshots: &expectations.snapshots,
        },
        ..Expected::default()
    };
    let mut judged = Vec::with_capacity(pairs.len());
    runner.compare_each(pairs, &expected, |compared| {
        let pair = &compared.rendered.pair;
        judged.push(JudgedPair {
            name: name(pair),
            template: pair.template.name.to_string(),
            case: pair.case.id.to_string(),
            wrong: wrong(&compared),
        });
    });
    Ok(judged)
}

/// What is wrong with a pair, in words and with a diff.
fn wrong(compared: &Compared<'_>) -> Option<String> {
    Fault::of(compared)?;
    let outcome = &compared.rendered.outcome;
    match &compared.verdict {
        Verdict::Agrees => None,
        Verdict::Unverified(why) => Some(format!("there is no verdict: {why}")),
        Verdict::Differs(difference) => {
            let expected = difference.expected.kind();
            let mut text = format!("expected {expected}, found {}\n", outcome.kind());
            if let Some(expected) = &difference.transcript {
                let diff = Diff::new(expected, &transcript::encode(outcome)).to_string();
                text.extend(diff.lines().flat_map(|line| ["  ", line, "\n"]));
            }
            Some(text)
        }
    }
}

/// The name of a pair's test: the filter that matches only this pair.
pub(crate) fn name(pair: &Pair<'_>) -> String {
    format!("{}:{}", pair.template.name, pair.case.id)
}
