use std::rc::Rc;

use rolecall_core::{Case, Cut, Dialect};
use serde_json::{Value, json};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::leaks::is_html;
use crate::probe::catalogue::{QUOTED_TOOL, RICH_TOOL, TOOLS, quoted_about};
use crate::probe::input_style::{open, tool};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "schema-kept",
    meaning: "the whole of a tool's schema is in the prompt",
    guards_against: "a model that does not know which values a tool takes",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("schema_kept.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tools.is_kept() {
            return tally.skip("tools are not in the prompt");
        }
        let (plain, seen) = (prober.see(TOOLS), prober.see(RICH_TOOL));
        if seen.text().is_none() {
            let what = format!("a tool with a richer schema: {}", seen.refusal());
            return tally.broken(Evidence::differ(what, &plain, &seen).with(Severity::Error));
        }
        let missing = [
            (
                words::OBJECT_ABOUT,
                "the description of a parameter that is an object",
            ),
            (
                words::INNER_KEY,
                "the properties of a parameter that is an object",
            ),
            (words::INNER_ABOUT, "the descriptions of these properties"),
            (
                words::INNER_CHOICE,
                "the values that a parameter may have (`enum`)",
            ),
            (words::DEFAULT, "the default of a parameter"),
            ("integer", "the types that a parameter may have (`anyOf`)"),
        ]
        .into_iter()
        // Ollama itself forgets defaults.
        .filter(|(word, _)| prober.dialect() == Dialect::Jinja || *word != words::DEFAULT)
        .filter(|(word, _)| !seen.has(word))
        .map(|(_, name)| (name, seen.clone()));
        let mut missing: Vec<Missing> = missing.collect();
        optional_is_optional(tally, prober, &mut missing);
        nested_schema(tally, prober, &mut missing);
        tally.holds();
        if let Some((_, first)) = missing.first() {
            let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
            let what = format!("not in the prompt: {}", names.join(", "));
            tally.broken(Evidence::one(what, first));
        }
        rarer_words(tally, prober);
        choices_are_apart(tally, &seen);
        description_is_escaped(tally, prober);
        descriptions_are_with_their_own(tally, prober);
    },
};

/// A part of a schema that is not in the prompt, and the prompt without it. The parts are reported together.
type Missing = (&'static str, Rc<ProbeOutcome>);

/// Demands that a description is in the prompt as it was sent, or as JSON writes it.
fn description_is_escaped(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(QUOTED_TOOL);
    let (Some(text), Some(start)) = (tally.text(&seen), seen.find(words::TOOL_ABOUT)) else {
        return;
    };
    let rest = text.cut(start.start..);
    let is_quoted = text.cut(..start.start).ends_with('"');
    let after = rest.strip_prefix(&quoted_about());
    if is_html(&prober.see(TOOLS)) {
        return tally.skip("no-repr-leak reports that tools are written as HTML");
    }
    let mut severity = None;
    let what = if is_quoted && after.is_some_and(|after| after.starts_with('"')) {
        "a tool's description stands in quotes that the template writes, and a quote in it is not \
         escaped"
    } else if rest.starts_with(&format!("{} &#34;", words::TOOL_ABOUT))
        || rest.starts_with(&format!("{} &quot;", words::TOOL_ABOUT))
        || text.contains("&lt;b&gt;")
        || text.contains("\\u003cb\\u003e") && prober.dialect() == Dialect::Jinja
    {
        "a tool's description is escaped for HTML"
    } else if text.contains("\\u00e9") && prober.dialect() == Dialect::Jinja {
        // Only a template that asks for ASCII gets it.
        severity = Some(Severity::Note);
        "letters of a tool's description that are not in ASCII are written as `\\u00e9`"
    } else if !rest.cut(..rest.len().min(200)).contains("next") {
        "of a tool's description only the first line is in the prompt"
    } else {
        tally.holds();
        return;
    };
    let evidence = Evidence::one(what, &seen).at(Some(start));
    tally.broken(Evidence {
        severity,
        ..evidence
    });
}

/// Demands that the description of a tool or of a parameter is next to its own name.
fn descriptions_are_with_their_own(tally: &mut Tally, prober: &Prober<'_>) {
    let [first, second, third, fourth, ..] = words::TURNS;
    #[allow(clippy::indexing_slicing)] // `tool` makes an object with these fields.
    let about = |[name, about]: [&str; 2], parameters: [(&str, &str); 2]| {
        let mut tool = tool(name);
        tool["function"]["description"] = json!(about);
        let parameters = parameters.map(|(key, about)| {
            (
                key.to_owned(),
                json!({"type": "string", "description": about}),
            )
        });
        let keys = parameters.each_ref().map(|(key, _)| key.clone());
        tool["function"]["parameters"]["properties"] =
            Value::Object(parameters.into_iter().collect());
        tool["function"]["parameters"]["required"] = json!(keys);
        tool
    };
    let [one, other] = [
        [words::TOOL, words::OBJECT_ABOUT],
        [words::SECOND_TOOL, words::INNER_ABOUT],
    ];
    let case = Case {
        tools: Some(vec![
            about(one, [first, second]),
            about(other, [third, fourth]),
        ]),
        ..open(vec![prober.input_style().user()])
    };
    let seen = prober.ask(
        "described-tools",
        "two tools with different descriptions",
        case,
    );
    let pairs: [&[(&str, &str)]; 2] = [
        &[(one[0], one[1]), (other[0], other[1])],
        &[first, second, third, fourth],
    ];
    for (pairs, of) in pairs.into_iter().zip(["a tool", "a parameter"]) {
        if !pairs
            .iter()
            .all(|(name, about)| seen.has(name) && seen.has(about))
        {
            continue;
        }
        // Names come before their descriptions, or after them.
        let is_own = |nearest: &dyn Fn(&str, usize) -> Option<usize>| {
            pairs.iter().all(|(name, about)| {
                let at = seen.find(about).map_or(0, |place| place.start);
                let mut others = pairs.iter().filter(|(other, _)| other != name);
                let own = nearest(name, at);
                own.is_some()
                    && others
                        .all(|(other, _)| nearest(other, at).is_none_or(|other| own < Some(other)))
            })
        };
        let lower = seen.text().unwrap_or_default().to_ascii_lowercase();
        let before = |name: &str, at: usize| Some(at - lower.cut(..at).rfind(name)?);
        let after = |name: &str, at: usize| lower.cut(at..).find(name);
        tally.demand(is_own(&before) || is_own(&after), || {
            let what = format!("the description of {of} stands with another one");
            let first = pairs.first().and_then(|(_, about)| seen.find(about));
            Evidence::one(what, &seen).at(first)
        });
    }
}

/// Demands that a change deep in a schema changes the prompt, where the schema around it is there.
fn nested_schema(tally: &mut Tally, prober: &Prober<'_>, missing: &mut Vec<Missing>) {
    let with = |name, about, parameter| with_parameter(prober, name, about, parameter);
    let list =
        |of: &str| json!({"type": "array", "description": "some entries", "items": {"type": of}});
    let nested = |required: Value| {
        let inner = json!({words::INNER_KEY: {"type": "string"}, "other": {"type": "string"}});
        json!({"type": "object", "description": "an object", "properties": inner, "required": required})
    };
    let plain = |of: &str| json!({"type": of, "description": "a value"});
    let chosen =
        |of: &str| json!({"type": "string", "description": "a choice", "enum": ["one", of]});
    let values = "a parameter with a type";
    let choices = "a parameter with a choice of values";
    let lists = "a parameter that is a list";
    let objects = "a parameter that is an object with a required property";
    let unions = "a parameter that may be null";
    let union = |of: &str| json!({"type": [of, "null"], "description": "a value"});
    let declared = [
        (
            "a parameter that is true or false is declared as a text is",
            with("text-parameter", values, plain("string")),
            with("switch-parameter", values, plain("boolean")),
        ),
        (
            "a parameter that is a list is declared as a single value is",
            with("list-of-texts", lists, list("string")),
            with(
                "text-in-place-of-list",
                lists,
                json!({"type": "string", "description": "some entries"}),
            ),
        ),
    ];
    let parts = [
        (
            "the type beside null of a parameter",
            with("text-or-null", unions, union("string")),
            with("number-or-null", unions, union("number")),
        ),
        (
            "the types of parameters",
            with("text-parameter", values, plain("string")),
            with("number-parameter", values, plain("number")),
        ),
        (
            "the values that a parameter may have (`enum`)",
            with("choice", choices, chosen("two")),
            with("other-choice", choices, chosen("three")),
        ),
        (
            "the type of the items of a list",
            with("list-of-texts", lists, list("string")),
            with("list-of-numbers", lists, list("integer")),
        ),
        (
            "which properties of a parameter are required",
            with("inner-required", objects, nested(json!([words::INNER_KEY]))),
            with("other-required", objects, nested(json!(["other"]))),
        ),
    ];
    // Without the types or the properties themselves, what they are told apart by is missing, too.
    let is_there = [
        "array",
        words::INNER_KEY,
        "a value",
        "a choice",
        "some entries",
    ];
    let are_same = |tally: &mut Tally, one: &ProbeOutcome, other: &ProbeOutcome| {
        let texts = is_there.iter().any(|word| one.has(word));
        let texts = texts.then(|| tally.text(one).zip(tally.text(other)));
        texts.flatten().is_some_and(|(one, other)| one == other)
    };
    for (what, one, other) in declared {
        if are_same(tally, &one, &other) {
            tally.broken(Evidence::one(what, &one));
        }
    }
    for (what, one, other) in parts {
        if are_same(tally, &one, &other) && !missing.iter().any(|(known, _)| *known == what) {
            missing.push((what, one));
        }
    }
}

/// What a template makes of a tool with this parameter.
#[allow(clippy::indexing_slicing)] // `tool` makes an object with these fields.
fn with_parameter(
    prober: &Prober<'_>,
    name: &'static str,
    about: &'static str,
    parameter: Value,
) -> Rc<ProbeOutcome> {
    let mut tool = tool(words::TOOL);
    tool["function"]["parameters"]["properties"][words::FIRST_KEY] = parameter;
    let case = Case {
        tools: Some(vec![tool]),
        ..open(vec![prober.input_style().user()])
    };
    prober.ask(name, about, case)
}

/// Tells what generators of schemas write, too, and is not in the prompt. Ollama itself forgets it.
fn rarer_words(tally: &mut Tally, prober: &Prober<'_>) {
    let [(one_of, all_of), ..] = words::TURNS;
    let rare = json!({
        "description": "a value",
        "oneOf": [{"type": "string", "description": one_of}],
        "allOf": [{"type": "string", "description": all_of}],
        "const": words::FIRST_VALUE,
        "$ref": format!("#/$defs/{}", words::SECOND_VALUE),
    });
    let about = "a parameter with `oneOf`, `allOf`, `const` and `$ref`";
    let seen = &with_parameter(prober, "rarer-schema", about, rare);
    let names = ["`oneOf`", "`allOf`", "`const`", "`$ref`"].into_iter();
    let words = names.zip([one_of, all_of, words::FIRST_VALUE, words::SECOND_VALUE]);
    let missing = words.filter(|(_, word)| !seen.has(word));
    let missing: Vec<&str> = missing.map(|(name, _)| name).collect();
    if prober.dialect() == Dialect::Jinja && tally.text(seen).is_some() {
        tally.demand_with(Severity::Limitation, missing.is_empty(), || {
            let what = format!("not in the prompt: {} of a parameter", missing.join(", "));
            Evidence::one(what, seen)
        });
    }
}

/// Demands that two values of an `enum` do not stand in one pair of quotes, or in a Python list.
fn choices_are_apart(tally: &mut Tally, rich: &ProbeOutcome) {
    let values = format!("['{}', 'other']", words::INNER_CHOICE);
    // Where a whole tool is printed in this way, `no-repr-leak` says so.
    let text = rich.text().filter(|text| !text.contains("{'"));
    if let Some(at) = text.and_then(|text| text.find(&values)) {
        let what = "the values that a parameter may have are printed as a Python list";
        tally.broken(Evidence::one(what, rich).at(Some(at..at + values.len())));
    }
    let (Some(before), Some(after)) = (
        rich.before(words::INNER_CHOICE),
        rich.after(words::INNER_CHOICE),
    ) else {
        return;
    };
    let Some((between, rest)) = after.split_once("other") else {
        return;
    };
    let is_one = ['"', '\''].iter().any(|quote| {
        before.ends_with(*quote) && rest.starts_with(*quote) && !between.contains(*quote)
    });
    tally.demand(!is_one, || {
        let what = "two values that a parameter may have (`enum`) stand in one pair of quotes";
        Evidence::one(what, rich).at(rich.find(words::INNER_CHOICE))
    });
}

/// Demands that a parameter that is required is not marked as optional, and the other one is not
/// either.
fn optional_is_optional(tally: &mut Tally, prober: &Prober<'_>, missing: &mut Vec<Missing>) {
    #[allow(clippy::indexing_slicing)] // `tool` makes an object with these fields.
    let of_two = |required: &str| {
        let mut tool = tool(words::TOOL);
        tool["function"]["parameters"]["required"] = json!([required]);
        let case = Case {
            tools: Some(vec![tool]),
            ..open(vec![prober.input_style().user()])
        };
        let about = "a tool with a parameter that is required and one that is not";
        prober.ask("one-required", about, case)
    };
    let (first, second) = (of_two(words::FIRST_KEY), of_two(words::SECOND_KEY));
    let (Some(one), Some(other)) = (tally.text(&first), tally.text(&second)) else {
        return;
    };
    if first.has(words::FIRST_KEY) {
        if one == other {
            missing.push(("which parameters are required", first.clone()));
        }
        let more = first.count(words::FIRST_KEY) > second.count(words::FIRST_KEY) + 1;
        tally.demand(!more, || {
            let what = "a required parameter is listed as required twice";
            Evidence::one(what, &first).at(first.find_again(words::FIRST_KEY))
        });
    }
    // What the template says about the first parameter wherever it names it, up to the end of the line
    // or entry.
    let about = |text: &str| -> Vec<String> {
        let text = text.to_lowercase();
        let names = text.match_indices(words::FIRST_KEY);
        let after = names.map(|(at, name)| text.cut(at + name.len()..));
        let entries = after.map(|rest| {
            let end = rest.find(['\n', ',', '}']).unwrap_or(rest.len());
            rest.cut(..end).to_owned()
        });
        entries.collect()
    };
    let (required, optional) = (about(one), about(other));
    let words = [
        "optional",
        "= none",
        "选填",
        "可选",
        "необязательн",
        "facultati",
        "opcional",
    ];
    let says = |entries: &[String]| {
        let mut entries = entries.iter();
        entries.any(|text| text.starts_with('?') || words.iter().any(|word| text.contains(word)))
    };
    if says(&required) == says(&optional) {
        return;
    }
    tally.demand_with(Severity::Error, says(&optional), || {
        let what = "a parameter that is required is marked as optional, or the reverse";
        Evidence::differ(what, &first, &second)
    });
}
