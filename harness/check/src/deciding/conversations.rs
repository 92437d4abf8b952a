//! The conversations and the texts from which the search begins.

use std::collections::BTreeSet;

use rolecall_core::{Case, Moment};
use serde_json::{Map, Value, json};

use crate::probe::input_style::{InputStyle, open, with_document, with_tools};
use crate::probe::words;

/// The most names that are given to arguments.
const MOST_NAMES: usize = 80;

/// Conversations from which the search begins, the short ones and the long ones. `names` are those that
/// the template compares with something: some of them may be the names of arguments.
#[allow(clippy::indexing_slicing)] // An answer is an object.
pub(super) fn bases<'n>(
    m: InputStyle,
    names: impl Iterator<Item = &'n str>,
) -> (Vec<Case>, Vec<Case>) {
    let mut thinking = m.assistant();
    thinking["reasoning_content"] = words::REASONING.into();
    let turns = vec![m.user(), m.assistant(), m.second_user()];
    let rounds = vec![
        m.system(),
        m.user(),
        m.call(),
        m.result(),
        m.assistant(),
        m.second_user(),
    ];
    let short = vec![
        open(vec![m.user()]),
        open(vec![m.system(), m.user()]),
        open(turns.clone()),
        open([vec![m.system()], turns].concat()),
        open(vec![m.user(), thinking, m.second_user()]),
        open(vec![m.message("developer", words::DEVELOPER), m.user()]),
        with_tools(open(vec![m.user()])),
        with_tools(open(rounds)),
        with_tools(open(vec![m.user(), m.call(), m.result()])),
        with_document(open(vec![m.user()])),
        with_tools(open(vec![
            named(m.system()),
            named(m.user()),
            call_with_names(m, names),
            result_of_tool(m),
            named(m.assistant()),
            named(m.second_user()),
        ])),
    ];
    let long = words::TURNS
        .iter()
        .flat_map(|(user, assistant)| [m.message("user", user), m.message("assistant", assistant)]);
    let mut long: Vec<_> = long.collect();
    long.push(m.user());
    (short, vec![open([vec![m.system()], long].concat())])
}

/// A message with the name of its speaker.
#[allow(clippy::indexing_slicing)] // All messages here are objects.
fn named(mut message: Value) -> Value {
    message["name"] = words::BEFORE.into();
    message
}

/// A result with the name of its tool as Ollama has it.
fn result_of_tool(m: InputStyle) -> Value {
    json!({
        "role": "tool",
        "tool_call_id": "callquil1",
        "tool_name": words::TOOL,
        "content": m.content(words::RESULT),
    })
}

/// A call whose arguments have these names.
fn call_with_names<'n>(m: InputStyle, names: impl Iterator<Item = &'n str>) -> Value {
    let arguments = names.take(MOST_NAMES);
    let arguments: Map<String, Value> = arguments
        .map(|name| (name.to_owned(), words::FIRST_VALUE.into()))
        .collect();
    m.call_with(&m.arguments(&arguments.into()))
}

/// Texts of many kinds, each with what it is.
pub(super) const TEXTS: &[(&str, &str)] = &[
    ("in German", "Wo wächst die größte Eiche des Landes?"),
    ("in Russian", "Где растёт самый большой дуб?"),
    ("in Chinese", "最大的橡树长在哪里？"),
    ("in Arabic", "أين تنمو أكبر شجرة؟"),
    ("a program", "def f(x):\n    return x + 1  # done"),
    ("in capitals", "WHERE IS THE LARGEST OAK"),
    ("a number", "1729"),
    ("an address", "https://example.org/oak?size=1"),
    ("base64", "V2hlcmUgaXMgdGhlIGxhcmdlc3Qgb2FrPw=="),
    ("a single letter", "k"),
    ("a word that reads the same backwards", "level"),
    (
        "a list of many lines",
        "oak\nelm\nash\nyew\nfir\nbox\nfig\nbay\nivy\nrue",
    ),
    ("full of signs", "?! \"'#$%&()*+,-./:;=@\\^_`~ !!"),
];

/// Each day of a leap year, at all hours and minutes, and days of other years. And the hours and minutes
/// with which a template compares the clock.
pub(super) fn moments(texts: &BTreeSet<String>) -> Vec<Moment> {
    let days = (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day)));
    let of_year = days.enumerate().map(|(at, (month, day))| {
        let (hour, minute) = (at % 24, at * 7 % 60);
        // A day that is none is no moment.
        format!("2028-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z")
    });
    let of_years = (2000..2060).chain([2099]);
    let of_years = of_years.map(|year| format!("{year}-07-15T12:00:00Z"));
    let minutes = texts
        .iter()
        .map(|text| format!("2026-07-15T{text:0>5}:00Z"));
    let all = of_year.chain(of_years).chain(minutes);
    all.filter_map(|moment| moment.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_are_of_all_days_and_hours() {
        let moments: Vec<String> = moments(&BTreeSet::new())
            .iter()
            .map(Moment::to_string)
            .collect();
        assert_eq!(moments.len(), 366 + 61);
        let different = |part: std::ops::Range<usize>| {
            let parts = moments.iter().map(|moment| &moment[part.clone()]);
            parts.collect::<BTreeSet<_>>().len()
        };
        assert_eq!(
            (different(5..10), different(8..10), different(11..13)),
            (366, 31, 24)
        );
    }
}
