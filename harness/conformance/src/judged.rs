//! What came of a pair, and how that stands to what is expected.

use rolecall::baseline::Baseline;
use rolecall::diff::Diff;
use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::report::difference::write_diff;
use rolecall::run::{Compared, Expected, RunError, Runner};
use rolecall::suite::Pair;
use rolecall::transcript;
use rolecall::verdict::{Truth, Verdict};
use rolecall_model::Engine;

/// A pair with what is wrong with it, if anything is.
pub(crate) struct Judged {
    pub(crate) name: String,
    pub(crate) template: String,
    pub(crate) case: String,
    pub(crate) wrong: Option<String>,
}

/// Renders pairs and compares them with what the references did.
pub(crate) fn judge(
    engine: &dyn Engine,
    pairs: &[Pair<'_>],
    baseline: &Baseline,
    threads: Option<usize>,
) -> Result<Vec<Judged>, RunError> {
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[engine], threads)?;
    // What is listed about one of our engines says nothing about another.
    let none = Divergences::default();
    let expected = Expected {
        truth: Truth::Records {
            records: &baseline.records,
            divergences: &none,
            snapshots: &baseline.snapshots,
        },
        ..Expected::default()
    };
    let mut judged = Vec::with_capacity(pairs.len());
    runner.compare_each(pairs, &expected, |compared| {
        let pair = &compared.rendered.pair;
        judged.push(Judged {
            name: name(pair),
            template: pair.template.name.to_string(),
            case: pair.case.id.to_string(),
            wrong: wrong(&compared),
        });
    });
    Ok(judged)
}

/// What is wrong with a pair, in words and with the diff.
fn wrong(compared: &Compared<'_>) -> Option<String> {
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
                // Nothing goes wrong in memory.
                let _ = write_diff(&mut text, &diff, "  ");
            }
            Some(String::from_utf8_lossy(&text).into_owned())
        }
    }
}

/// The name of a pair's test: the filter that matches it and nothing else.
pub(crate) fn name(pair: &Pair<'_>) -> String {
    format!("{}:{}", pair.template.name, pair.case.id)
}
