//! Contracts about words of the programming language that end up in prompts.

use std::ops::Range;

use memchr::memmem;
use rolecall_core::{Cut, Dialect};
use serde_json::json;

use super::definition::Contract;
use super::evidence::{Evidence, common};
use super::judgement::Judgement;
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    CALL_RESULT, EMPTY_ANSWER, EMPTY_CALL, MISSING_ANSWER, MISSING_CALL, NO_IDS, NO_NAME, NO_TYPE,
    NULL_ANSWER, NULL_CALL, NULL_CALLS, OBJECT_ARGUMENTS, PARALLEL, RICH_TOOL,
    TOOL_WITHOUT_DESCRIPTION, TOOL_WITHOUT_PARAMETERS, TOOLS, TYPED_ARGUMENTS, USER,
    USER_ASSISTANT_USER,
};
use crate::probe::input_style::{open, with_tools};
use crate::probe::{Arguments, Probe, ProbeOutcome, Prober, words};

/// What languages print where there is nothing.
pub(crate) const NOTHING: [&str; 7] = [
    "None",
    "none",
    "null",
    "undefined",
    "Undefined",
    "<no value>",
    "<nil>",
];

pub(super) static NO_NULL_LEAK: Contract = Contract {
    id: "no-null-leak",
    meaning: "a null or missing value leaves no `None`, `null` or `<no value>` in the prompt",
    guards_against: "a model that reads `None` as its own words",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/no-null-leak.md"),
    judge: no_null_leak,
};

/// Probes in which something is missing, each with a probe in which it is present. A word that both
/// prompts contain comes from the template itself.
const MISSING: [(Probe, Probe, &str); 10] = [
    (NULL_ANSWER, EMPTY_ANSWER, "an answer that is null"),
    (MISSING_ANSWER, EMPTY_ANSWER, "an answer without content"),
    (NULL_CALL, EMPTY_CALL, "a call whose content is null"),
    (MISSING_CALL, EMPTY_CALL, "a call without content"),
    (
        NULL_CALLS,
        USER_ASSISTANT_USER,
        "an answer whose tool calls are null",
    ),
    (NO_IDS, CALL_RESULT, "a call without an ID"),
    (NO_NAME, CALL_RESULT, "a result that does not name its tool"),
    (TOOL_WITHOUT_PARAMETERS, TOOLS, "a tool without parameters"),
    (
        TOOL_WITHOUT_DESCRIPTION,
        TOOLS,
        "a tool without a description",
    ),
    (NO_TYPE, TOOLS, "a parameter without a type"),
];

fn no_null_leak(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    for (probe, complete, who) in MISSING {
        // Ollama's JSON of a tool has every field, whatever a template does.
        if prober.dialect() == Dialect::Go && complete == TOOLS {
            continue;
        }
        let (seen, complete) = (prober.see(probe), prober.see(complete));
        let (Some(text), Some(complete)) = (tally.text(&seen), complete.text()) else {
            continue;
        };
        let leaked = NOTHING
            .iter()
            .find(|word| occurrences(text, word) > occurrences(complete, word));
        match leaked {
            None => tally.holds(),
            Some(word) => {
                let what = format!("{who} puts `{word}` into the prompt");
                tally.broken(Evidence::one(what, &seen).at(added(text, word, complete)));
            }
        }
    }
    tally.judgement()
}

/// How often a word is in a text as a word of its own.
pub(crate) fn occurrences(text: &str, word: &str) -> usize {
    places(text, word).count()
}

/// Where a word is in a text, and is no part of another.
fn places(text: &str, word: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let places = memmem::find_iter(text.as_bytes(), word);
    let places = places.map(|at| at..at + word.len());
    places.filter(move |place| {
        !text.cut(..place.start).ends_with(is_part) && !text.cut(place.end..).starts_with(is_part)
    })
}

/// The first place of a word that occurs more often than in another text. It cannot be before the
/// place where the texts begin to differ.
fn added(text: &str, word: &str, other: &str) -> Option<Range<usize>> {
    let parts_at = common(text, other);
    places(text, word).find(|place| place.end > parts_at)
}

pub(super) static NO_REPR_LEAK: Contract = Contract {
    id: "no-repr-leak",
    meaning: "no list or object is in the prompt as Python or Go prints it",
    guards_against: "tools and arguments that are not valid JSON",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/no-repr-leak.md"),
    judge: no_repr_leak,
};

/// Quotation marks as HTML writes them.
const QUOTATION_MARKS: [&str; 2] = ["&#34;", "&quot;"];

/// Whether quotation marks are in a prompt as HTML writes them.
pub(super) fn is_html(seen: &ProbeOutcome) -> bool {
    QUOTATION_MARKS.iter().any(|mark| seen.has(mark))
}

fn no_repr_leak(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let key = words::FIRST_KEY;
    let tool = words::TOOL;
    let tools = [
        "'type': 'function'".to_owned(),
        format!("'name': '{tool}'"),
        format!("{{{tool} "),
        "map[".to_owned(),
        "%!".to_owned(),
        "<nil>".to_owned(),
    ];
    marked(
        &mut tally,
        &prober.see(TOOLS),
        &tools.each_ref().map(String::as_str),
        &|mark| format!("a tool is not in the prompt as JSON, but with `{mark}`"),
    );
    defaults(&mut tally, prober);
    for (probe, what) in [(TOOLS, "a tool is"), (OBJECT_ARGUMENTS, "a call is")] {
        marked(&mut tally, &prober.see(probe), &QUOTATION_MARKS, &|mark| {
            format!("{what} in the prompt as HTML has it, with `{mark}` for a quotation mark")
        });
    }
    // A list of tools may hold the same marks: only what the call adds counts.
    let python = format!("{{'{key}': '{}'", words::FIRST_VALUE);
    let go = format!("map[{}", words::SECOND_KEY);
    if prober.input_style().arguments == Arguments::Object {
        for probe in [OBJECT_ARGUMENTS, PARALLEL] {
            marked(&mut tally, &prober.see(probe), &[&python, &go], &|mark| {
                format!("arguments are not in the prompt as JSON, but with `{mark}`")
            });
        }
        values(&mut tally, prober);
    }
    marked(&mut tally, &prober.see(USER), &["%!", "map["], &|mark| {
        format!("the prompt holds `{mark}`")
    });
    tally.judgement()
}

fn marked(tally: &mut Tally, seen: &ProbeOutcome, marks: &[&str], what: &dyn Fn(&str) -> String) {
    if tally.text(seen).is_none() {
        return;
    }
    match marks.iter().find(|mark| seen.has(mark)) {
        None => tally.holds(),
        Some(mark) => tally.broken(Evidence::one(what(mark), seen).at(seen.find(mark))),
    }
}

/// A parameter's default that is true, where the tool around it is not as Python prints it.
fn defaults(tally: &mut Tally, prober: &Prober<'_>) {
    let (plain, rich) = (prober.see(TOOLS), prober.see(RICH_TOOL));
    let (Some(plain), Some(text)) = (plain.text(), tally.text(&rich)) else {
        return;
    };
    if plain.contains("'type': 'function'") {
        return;
    }
    let is_printed = occurrences(text, "True") > occurrences(plain, "True");
    tally.demand(!is_printed, || {
        let what = "a default that is true is in the prompt as `True`";
        Evidence::one(what, &rich).at(added(text, "True", plain))
    });
}

/// Arguments that are no strings: true, null, a list, an object.
fn values(tally: &mut Tally, prober: &Prober<'_>) {
    let (typed, plain) = (prober.see(TYPED_ARGUMENTS), prober.see(OBJECT_ARGUMENTS));
    let (Some(text), Some(plain)) = (tally.text(&typed), plain.text()) else {
        return;
    };
    // Some models write their calls as Python does, and so do their templates.
    if typed.has(&format!("{}=true", words::FIRST_KEY)) {
        tally.skip("calls are written in Python");
        return;
    }
    let m = prober.input_style();
    let nested = json!({words::FIRST_KEY: [{words::INNER_KEY: words::FIRST_VALUE}]});
    let call = with_tools(open(vec![
        m.user(),
        m.call_with(&m.arguments(&nested)),
        m.result(),
    ]));
    let seen = prober.ask("nested-arguments", "a call with an object in a list", call);
    let marks = [
        format!("{{'{}'", words::INNER_KEY),
        format!("map[{}", words::INNER_KEY),
    ];
    let mark = marks.iter().find(|mark| seen.has(mark));
    tally.demand(mark.is_none(), || {
        let mark = mark.map_or("", String::as_str);
        let what = format!(
            "an object in a list of arguments is not in the prompt as JSON, but with `{mark}`"
        );
        Evidence::one(what, &seen).at(seen.find(mark))
    });
    let list = format!("['{}']", words::FIRST_VALUE);
    let object = format!("{{'{}': 1}}", words::SECOND_VALUE);
    let go_list = format!("[{}]", words::FIRST_VALUE);
    let printed: Vec<&str> = ["True", "None", &list, &object, &go_list, "map[", "<nil>"]
        .into_iter()
        .filter(|word| occurrences(text, word) > occurrences(plain, word))
        .collect();
    tally.demand(printed.is_empty(), || {
        let what = format!(
            "arguments that are no strings are not in the prompt as JSON: `{}`",
            printed.join("`, `")
        );
        let first = printed.iter().filter_map(|word| added(text, word, plain));
        Evidence::one(what, &typed).at(first.min_by_key(|place| place.start))
    });
}
