//! Contracts about several calls: their order, their IDs, and a second round like the first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use rolecall_core::{Cut, Dialect};

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::control_tokens_in;
use crate::probe::catalogue::{
    CALL_RESULT, PARALLEL, PARALLEL_SWAPPED, TOOLS, TWO_ROUNDS, TWO_TURNS,
};
use crate::probe::{ProbeOutcome, words};

pub(super) static CALLS_IN_ORDER: Contract = Contract {
    id: "calls-in-order",
    meaning: "calls and results are in the prompt in the order in which they came",
    guards_against: "results that a model takes for those of another call",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/calls-in-order.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let turns = prober.see(TWO_TURNS);
        let (first, second) = (turns.find(words::USER), turns.find(words::SECOND_USER));
        if let (Some(first), Some(second)) = (first, second)
            && second.start < first.start
        {
            tally.skip("messages are not in their order either");
            return tally.judgement();
        }
        let calls = [words::FIRST_VALUE, words::THIRD_VALUE];
        let results = [words::RESULT, words::SECOND_RESULT];
        for (probe, words, what) in [
            (PARALLEL, calls.as_slice(), "two calls at once"),
            (
                PARALLEL,
                results.as_slice(),
                "the results of two calls at once",
            ),
            (
                TWO_ROUNDS,
                [calls[0], results[0], calls[1], results[1]].as_slice(),
                "two calls, each with its result,",
            ),
        ] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            let places: Option<Vec<usize>> = words
                .iter()
                .map(|word| seen.find(word).map(|place| place.start))
                .collect();
            match places {
                Some(places) => tally.demand(places.is_sorted(), || {
                    let what = format!("{what} are in the prompt in another order");
                    Evidence::one(what, &seen)
                }),
                // Other contracts report lost texts.
                None => tally.skip("not all calls and results are in the prompt"),
            }
        }
        for probe in [PARALLEL, PARALLEL_SWAPPED] {
            results_have_their_own(&mut tally, &prober.see(probe));
        }
        tally.judgement()
    },
};

/// Demands that what is written right before or after a result names its own call, if it names one: by
/// the name of the tool, or by the ID of the call.
fn results_have_their_own(tally: &mut Tally, seen: &ProbeOutcome) {
    let last_words = [
        words::FIRST_VALUE,
        words::SECOND_VALUE,
        words::THIRD_VALUE,
        words::FOURTH_VALUE,
        words::RESULT,
        words::SECOND_RESULT,
    ];
    let places: Option<Vec<_>> = last_words.iter().map(|word| seen.find(word)).collect();
    let places = places.and_then(|places| <[_; 6]>::try_from(places).ok());
    let (Some(text), Some(places)) = (seen.text(), places) else {
        return;
    };
    let label = |place: &Range<usize>| {
        let ends = places.iter().map(|other| other.end);
        let starts = places.iter().map(|other| other.start);
        let before = ends.filter(|end| *end <= place.start).max();
        let after = starts.filter(|start| *start >= place.end).min();
        text.cut(before.unwrap_or(0)..after.unwrap_or(text.len()))
            .to_ascii_lowercase()
    };
    // If the first call has its name before its arguments, the second call has its own name there.
    let asked = seen.find(words::USER).map_or(0, |user| user.end);
    let lower = text.to_ascii_lowercase();
    let named = |from: usize, until: usize, name| {
        lower
            .get(from..until)
            .is_some_and(|text| text.contains(name))
    };
    let (ends, starts) = (
        places[0].end.max(places[1].end),
        places[2].start.min(places[3].start),
    );
    if named(asked, places[0].start.min(places[1].start), words::TOOL)
        && named(ends, starts, words::TOOL)
    {
        tally.demand(named(ends, starts, words::SECOND_TOOL), || {
            let what = format!(
                "the second call at once has the name of the first, `{}`",
                words::TOOL
            );
            Evidence::one(what, seen).at(Some(places[2].clone()))
        });
    }
    // From the name to the first argument, two calls are alike.
    let head = |name: &str, from: usize, until: usize| {
        let text = lower.get(from..until)?;
        let at = text.rfind(name)? + name.len();
        Some(text.cut(at..).replace(|c: char| c.is_ascii_digit(), ""))
    };
    let firsts = [places[0].start.min(places[1].start), starts];
    if let (Some(one), Some(other)) = (
        head(words::TOOL, asked, firsts[0]),
        head(words::SECOND_TOOL, ends, firsts[1]),
    ) {
        tally.demand_with(Severity::Warning, one == other, || {
            let what = "between the name of a call and its arguments there is another text in the second call at once than in the first";
            Evidence::one(what, seen).at(Some(places[2].clone()))
        });
    }
    let labels = [&places[4], &places[5]].map(label);
    for names in [[words::TOOL, words::SECOND_TOOL], IDS] {
        // Before the first result there may be the end of the last call, with its ID.
        let is_named = |label: &String| names.iter().any(|name| label.contains(name));
        if !labels.iter().all(is_named) {
            continue;
        }
        let [first, second] = names;
        let of_labels = labels.iter().zip([&places[4], &places[5]]);
        for ((label, place), [own, other]) in of_labels.zip([[first, second], [second, first]]) {
            tally.demand(label.contains(own), || {
                let what = format!(
                    "the result of `{own}` is in the prompt with `{other}`: {}",
                    seen.about
                );
                Evidence::one(what, seen).at(Some(place.clone()))
            });
        }
    }
}

/// The IDs of the calls in the probes.
const IDS: [&str; 2] = ["callquil1", "callquil2"];

pub(super) static CALL_IDS_KEPT: Contract = Contract {
    id: "call-ids-kept",
    meaning: "the ID of a call is with the call and with its result, or with neither",
    guards_against: "results that cannot be matched with their calls",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/call-ids-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let seen = prober.see(PARALLEL);
        if tally.text(&seen).is_none() {
            return tally.judgement();
        }
        let places = [
            words::FIRST_VALUE,
            words::THIRD_VALUE,
            words::RESULT,
            words::SECOND_RESULT,
        ];
        if !places.iter().all(|word| seen.has(word)) {
            tally.skip("not all calls and results are in the prompt");
            return tally.judgement();
        }
        own_ids(&mut tally, &seen, "at once");
        own_ids(&mut tally, &prober.see(TWO_ROUNDS), "in a row");
        match IDS.map(|id| seen.count(id)) {
            [0, 0] => tally.skip("the template does not write the IDs of calls"),
            [one, other] if one != other => {
                let what = format!(
                    "of two calls at once, the ID of the first is in the prompt {}, that of the \
                     second {}",
                    times(one),
                    times(other)
                );
                tally.broken(Evidence::one(what, &seen).with(Severity::Error));
            }
            [1, _] => {
                // The ID of a call comes before its arguments or after them, that of a result not
                // before all calls are over.
                let last_call = seen.find(words::THIRD_VALUE).map_or(0, |place| place.start);
                let first = seen.find(IDS[0]).map_or(0, |place| place.start);
                let (there, missing) = if first < last_call {
                    ("call", "result")
                } else {
                    ("result", "call")
                };
                let what =
                    format!("the ID of a {there} is in the prompt, but not that of its {missing}");
                tally.broken(Evidence::one(what, &seen).at(seen.find(IDS[0])));
            }
            _ => tally.holds(),
        }
        tally.judgement()
    },
};

/// A template may number calls itself. Then two calls have two numbers.
fn own_ids(tally: &mut Tally, seen: &ProbeOutcome, how: &str) {
    static ID: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""\w*call_id"\s*:\s*"(\w+)""#).ok());
    let (Some(id), Some(text)) = (ID.as_ref(), seen.text()) else {
        return;
    };
    let before = |word: &str| {
        let at = seen.find(word)?.start;
        let all = id.captures_iter(text.cut(..at));
        all.last().map(|found| found[1].to_owned())
    };
    if let (Some(one), Some(other)) = (before(words::FIRST_VALUE), before(words::THIRD_VALUE)) {
        tally.demand(one != other, || {
            let what = format!("two calls {how} have the same ID, `{one}`");
            Evidence::one(what, seen).with(Severity::Error)
        });
    }
}

fn times(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

pub(super) static SECOND_ROUND_ALIKE: Contract = Contract {
    id: "second-round-alike",
    meaning: "a second round of calls has the control tokens that the first one has",
    guards_against: "agents whose first call is well formed, and no other",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/second-round-alike.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let (none, one, two) = (
            prober.see(TOOLS),
            prober.see(CALL_RESULT),
            prober.see(TWO_ROUNDS),
        );
        let (Some(before), Some(first), Some(second)) =
            (tally.text(&none), tally.text(&one), tally.text(&two))
        else {
            return tally.judgement();
        };
        if !two.has(words::THIRD_VALUE) || !one.has(words::FIRST_VALUE) {
            tally.skip("calls are not in the prompt");
            return tally.judgement();
        }
        // Some models stay in one turn through all rounds.
        let turns = prober.see(TWO_TURNS);
        let turns = counts(turns.text().unwrap_or_default());
        // The text after the result in both opens the answer that is asked for.
        let ends = (one.after(words::RESULT), two.after(words::SECOND_RESULT));
        let end = match ends {
            (Some(end), Some(other)) if end == other => end.len(),
            _ => 0,
        };
        let first = first.cut(..first.len() - end);
        let [before, first, second] = [before, first, second].map(counts);
        let count = |of: &BTreeMap<&str, usize>, token: &str| of.get(token).copied().unwrap_or(0);
        let missing: Vec<&str> = first
            .iter()
            .filter(|(token, found)| {
                **found > count(&before, token)
                    && count(&second, token) <= **found
                    && count(&turns, token) == 0
            })
            .map(|(token, _)| *token)
            .collect();
        tally.demand(missing.is_empty(), || {
            let missing: Vec<String> = missing.iter().map(|token| format!("`{token}`")).collect();
            let what = format!(
                "the first round of calls has {}, the second has not",
                missing.join(", ")
            );
            Evidence::one(what, &two)
        });
        tally.judgement()
    },
};

/// How often each control token is in a prompt.
fn counts(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for token in control_tokens_in(text) {
        *counts.entry(token).or_default() += 1;
    }
    counts
}
