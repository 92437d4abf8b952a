//! The result of a pair, compared with the expected one.

use rolecall::conclusion::Fault;
use rolecall::diff::Diff;
use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::expectations::Expectations;
use rolecall::report::difference::write_diff;
use rolecall::run::{Compared, Expected, RunError, Runner};
use rolecall::suite::Pair;
use rolecall::transcript;
use rolecall::verdict::{Truth, Verdict};
use rolecall_model::Engine;

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
            let mut text = format!("expected {expected}, found {}", outcome.kind()).into_bytes();
            text.push(b'\n');
            if let Some(expected) = &difference.transcript {
                let diff = Diff::new(expected, &transcript::encode(outcome));
                // Writing to memory cannot fail.
                let _ = write_diff(&mut text, &diff, "  ");
            }
            Some(String::from_utf8_lossy(&text).into_owned())
        }
    }
}

/// The name of a pair's test: the filter that matches only this pair.
pub(crate) fn name(pair: &Pair<'_>) -> String {
    format!("{}:{}", pair.template.name, pair.case.id)
}
