use std::rc::Rc;

use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::calls::unread_json_around;
use crate::probe::catalogue::{CALL_RESULT, PARALLEL, QUOTED_RESULT, quoted_result};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "result-verbatim",
    meaning: "a tool's result arrives as it was sent",
    guards_against: "results full of backslashes, files that come back as one line",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("result_verbatim.md"),
    judge: |tally, prober, _| {
        let seen = prober.see(QUOTED_RESULT);
        if let Some(text) = tally.text(&seen) {
            if !seen.has(words::RESULT) {
                tally.skip("results are not in the prompt");
            } else if let Some((plain, at, why)) = unread_around_result(prober) {
                let is_quoted = plain
                    .before(words::RESULT)
                    .is_some_and(|text| text.ends_with('"'));
                let what = if is_quoted {
                    format!("a result stands in text that begins as JSON and is none: {why}")
                } else {
                    "a result that is a plain text stands in JSON without quotes".to_owned()
                };
                tally.broken(Evidence::one(what, &plain).at(Some(at..at + 1)));
            } else if let Some(at) = text.find(&quoted_result()) {
                let after = text.cut(at + quoted_result().len()..);
                let is_bare = !(is_in_json(text.cut(..at)) && after.starts_with('"'));
                tally.demand(is_bare, || {
                    let what = "a result stands in quotes that the template writes, and a quote in \
                                it is not escaped";
                    Evidence::one(what, &seen).at(Some(at..at + quoted_result().len()))
                });
            } else if let Some(at) = text.find(r#"\\\"C"#) {
                let what = "quotes and line breaks of a result are escaped twice";
                let evidence = Evidence::one(what, &seen).at(Some(at..at + 5));
                tally.broken(evidence.with(Severity::Error));
            } else if let Some(at) = text.find("\\\"C\\\"") {
                let what = "quotes and line breaks of a result are escaped";
                let evidence = Evidence::one(what, &seen).at(Some(at..at + "\\\"C\\\"".len()));
                tally.broken(if is_in_json(text.cut(..at)) {
                    evidence.with(Severity::Note)
                } else {
                    evidence
                });
            } else {
                tally.skip("the result is written differently");
            }
        }
    },
};

/// The first JSON around a result that is no JSON: the prompt, the place and why. It begins after the
/// calls, which may be broken themselves.
fn unread_around_result(prober: &Prober<'_>) -> Option<(Rc<ProbeOutcome>, usize, String)> {
    [CALL_RESULT, PARALLEL].iter().find_map(|probe| {
        let seen = prober.see(*probe);
        let called = [
            words::FIRST_VALUE,
            words::SECOND_VALUE,
            words::THIRD_VALUE,
            words::FOURTH_VALUE,
        ];
        let ends = called.iter().filter_map(|word| Some(seen.find(word)?.end));
        let from = ends.max()?;
        let (at, why) = unread_json_around(seen.text()?.get(from..)?, words::RESULT)?;
        Some((seen, from + at, why))
    })
}

/// Whether a prompt ends inside a JSON string. Such a template writes results into an object or a
/// list, and its model was trained that way.
fn is_in_json(before: &str) -> bool {
    let outside = before.rsplit_once('"').map_or("", |(outside, _)| outside);
    outside.trim_end().ends_with([':', '[', ','])
}
