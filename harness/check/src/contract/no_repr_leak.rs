use rolecall_core::{Cut, Dialect};
use serde_json::json;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::leaks::{QUOTATION_MARKS, added, occurrences};
use crate::probe::catalogue::{
    CALL_RESULT, OBJECT_ARGUMENTS, PARALLEL, RICH_TOOL, TOOLS, TYPED_ARGUMENTS, UNION_TYPE, USER,
};
use crate::probe::input_style::{open, with_tools};
use crate::probe::{Arguments, ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "no-repr-leak",
    meaning: "no list or object is in the prompt as Python or Go prints it",
    guards_against: "tools and arguments that are not valid JSON",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("no_repr_leak.md"),
    judge: |tally, prober, _| {
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
            tally,
            &prober.see(TOOLS),
            &tools.each_ref().map(String::as_str),
            &|mark| format!("a tool is not in the prompt as JSON, but with `{mark}`"),
        );
        defaults(tally, prober);
        for (probe, what) in [(TOOLS, "a tool is"), (OBJECT_ARGUMENTS, "a call is")] {
            // The marks of a tool are not those of a call beside it.
            let is_of_tools = |mark: &&str| probe != TOOLS && prober.see(TOOLS).has(mark);
            let marks: Vec<_> = QUOTATION_MARKS
                .into_iter()
                .filter(|mark| !is_of_tools(mark))
                .collect();
            marked(tally, &prober.see(probe), &marks, &|mark| {
                format!("{what} in the prompt as HTML has it, with `{mark}` for a quotation mark")
            });
        }
        // A list of tools may hold the same marks: only what the call adds counts.
        let python = format!("{{'{key}': '{}'", words::FIRST_VALUE);
        let go = format!("map[{}", words::SECOND_KEY);
        if prober.input_style().arguments == Arguments::Object {
            for probe in [OBJECT_ARGUMENTS, PARALLEL] {
                marked(tally, &prober.see(probe), &[&python, &go], &|mark| {
                    format!("arguments are not in the prompt as JSON, but with `{mark}`")
                });
            }
            values(tally, prober);
        }
        let results = ["'", "\"", ""].map(|quote| format!("': {quote}{}{quote}", words::RESULT));
        marked(
            tally,
            &prober.see(CALL_RESULT),
            &results.each_ref().map(String::as_str),
            &|mark| format!("a result is not in the prompt as JSON, but with `{mark}`"),
        );
        marked(tally, &prober.see(USER), &["%!", "map["], &|mark| {
            format!("the prompt holds `{mark}`")
        });
    },
};

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
    let union = prober.see(UNION_TYPE);
    let (Some(plain), Some(text)) = (plain.text(), tally.text(&rich)) else {
        return;
    };
    if plain.contains("'type': 'function'") {
        return;
    }
    let (severity, _) = words_of_python(&prober.see(OBJECT_ARGUMENTS));
    let list = "['string', 'null']";
    if let (Some(place), Some(types)) = (union.find(list), union.text()) {
        let types = types.cut(place.clone());
        let what = format!("the types that a parameter may have are in the prompt as `{types}`");
        let severity = severity.max(Severity::Warning);
        tally.broken(Evidence::one(what, &union).at(Some(place)).with(severity));
    }
    // Between the types of a list of tools that is no JSON, it is a comment.
    let is_json = text.contains(&format!("\"{}\"", words::TOOL));
    let severity = if is_json { severity } else { Severity::Note };
    let is_printed = occurrences(text, "True") > occurrences(plain, "True");
    tally.demand_with(severity, !is_printed, || {
        let what = "a default that is true is in the prompt as `True`";
        Evidence::one(what, &rich).at(added(text, "True", plain))
    });
}

/// How bad `True` and `None` are, and why. Models that write `<parameter=…>` were trained with them: Qwen's
/// own templates print everything there as Python does that is no list and no object.
fn words_of_python(call: &ProbeOutcome) -> (Severity, &'static str) {
    if call.has(&format!("<parameter={}>", words::FIRST_KEY)) {
        (
            Severity::Note,
            ", as models with `<parameter=…>` were trained",
        )
    } else {
        (Severity::Error, "")
    }
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
    let is_worse = printed.iter().any(|word| !["True", "None"].contains(word));
    let trained = words_of_python(&typed);
    let (severity, why) = if is_worse {
        (Severity::Error, "")
    } else {
        trained
    };
    tally.demand_with(severity, printed.is_empty(), || {
        let what = format!(
            "arguments that are no strings are not in the prompt as JSON: `{}`{why}",
            printed.join("`, `")
        );
        let first = printed.iter().filter_map(|word| added(text, word, plain));
        Evidence::one(what, &typed).at(first.min_by_key(|place| place.start))
    });
}
