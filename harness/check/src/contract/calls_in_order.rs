use std::ops::Range;

use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::calls::IDS;
use crate::probe::catalogue::{PARALLEL, PARALLEL_SWAPPED, TWO_ROUNDS, TWO_TURNS};
use crate::probe::{ProbeOutcome, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "calls-in-order",
    meaning: "calls and results are in the prompt in the order in which they came",
    guards_against: "results that a model takes for those of another call",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("calls_in_order.md"),
    judge: |tally, prober, _| {
        let turns = prober.see(TWO_TURNS);
        let (first, second) = (turns.find(words::USER), turns.find(words::SECOND_USER));
        if let (Some(first), Some(second)) = (first, second)
            && second.start < first.start
        {
            return tally.skip("messages are not in their order either");
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
            results_have_their_own(tally, &prober.see(probe));
        }
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
