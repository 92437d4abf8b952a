use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::calls::IDS;
use crate::probe::catalogue::{LONG_ID, LONG_IDS, PARALLEL, TWO_ROUNDS};
use crate::probe::{ProbeOutcome, Prober, common, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "call-ids-kept",
    meaning: "the ID of a call is with the call and with its result, or with neither",
    guards_against: "results that cannot be matched with their calls",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("call_ids_kept.md"),
    judge: |tally, prober, _| {
        let seen = prober.see(PARALLEL);
        if tally.text(&seen).is_none() {
            return;
        }
        let places = [
            words::FIRST_VALUE,
            words::THIRD_VALUE,
            words::RESULT,
            words::SECOND_RESULT,
        ];
        if !places.iter().all(|word| seen.has(word)) {
            return tally.skip("not all calls and results are in the prompt");
        }
        cut_alike(tally, prober);
        own_ids(tally, &seen, "at once");
        own_ids(tally, &prober.see(TWO_ROUNDS), "in a row");
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
    },
};

/// Demands that a long ID that is cut is the same with its call and with its result.
fn cut_alike(tally: &mut Tally, prober: &Prober<'_>) {
    /// A shorter text could be there by chance.
    const SHORTEST: usize = 8;
    let seen = prober.see(LONG_IDS);
    let (Some(mut rest), id) = (seen.text(), LONG_ID) else {
        return;
    };
    let mut pieces = BTreeSet::new();
    while !rest.is_empty() {
        let starts = (0..=id.len() - SHORTEST).filter_map(|at| id.get(at..));
        let piece = starts
            .map(|start| common(start, rest))
            .max()
            .unwrap_or_default();
        if piece >= SHORTEST {
            pieces.insert(rest.cut(..piece));
        }
        let next = if piece >= SHORTEST {
            piece
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        rest = rest.cut(next..);
    }
    if pieces.len() > 1 {
        let pieces: Vec<String> = pieces.iter().map(|piece| format!("`{piece}`")).collect();
        let what = format!(
            "of the ID `{id}` there are {}: its call and its result have no ID in common",
            pieces.join(" and ")
        );
        tally.broken(Evidence::one(what, &seen));
    }
}

/// A template may number calls itself. Then two calls have two numbers.
fn own_ids(tally: &mut Tally, seen: &ProbeOutcome, how: &str) {
    static ID: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""\w*call_id"\s*:\s*"(\w+)""#).ok());
    let (Some(id), Some(text)) = (ID.as_ref(), seen.text()) else {
        return;
    };
    let values = [
        words::FIRST_VALUE,
        words::SECOND_VALUE,
        words::THIRD_VALUE,
        words::FOURTH_VALUE,
    ];
    let before = |word: &str, others: &[&str]| {
        let ends = others
            .iter()
            .filter_map(|other| Some(seen.find(other)?.end));
        let between = text.get(ends.max().unwrap_or_default()..seen.find(word)?.start)?;
        let found = id.captures_iter(between).last()?;
        Some(found[1].to_owned())
    };
    let (Some(one), Some(other)) = (
        before(words::FIRST_VALUE, &[]),
        before(words::THIRD_VALUE, &[]),
    ) else {
        return;
    };
    tally.demand(one != other, || {
        let what = format!("two calls {how} have the same ID, `{one}`");
        Evidence::one(what, seen).with(Severity::Error)
    });
    // Where each result comes after an ID, it is that of its call.
    if let (Some(first), Some(second)) = (
        before(words::RESULT, &values),
        before(
            words::SECOND_RESULT,
            &[words::RESULT, words::THIRD_VALUE, words::FOURTH_VALUE],
        ),
    ) {
        tally.demand([&one, &other] == [&first, &second], || {
            let what = format!(
                "two calls {how} have the IDs `{one}` and `{other}`, and their results `{first}` and `{second}`"
            );
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
