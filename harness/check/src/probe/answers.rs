//! Probes whose last message is an answer, to be written by the template and parsed.

use rolecall_core::Case;
use serde_json::{Value, json};

use super::definition::Probe;
use super::input_style::{InputStyle, closed, tool, tool_call, with_tools};
use super::words;

/// The ID of the first call.
const FIRST_ID: &str = "callquil1";
/// The ID of the second call.
const SECOND_ID: &str = "callquil2";

macro_rules! probes {
    ($(#[doc = $about:literal] $name:ident = $id:literal, |$input_style:pat_param| $case:expr;)*) => {
        $(
            #[doc = concat!("`", $id, "`:", $about)]
            pub(crate) const $name: Probe = Probe::new($id, $about.trim_ascii(), |$input_style: InputStyle| $case);
        )*
        /// Every one of them.
        pub(crate) const ALL: &[Probe] = &[$($name),*];
    };
}

probes! {
    /// a text
    TEXT = "answer-text", |m| says(m, words::ASSISTANT);
    /// a text of several paragraphs, with an indented line
    PARAGRAPHS = "answer-paragraphs", |m| says(m, PARAGRAPHS_TEXT);
    /// a text with white space around it
    SPACED = "answer-spaced", |m| says(m, "\n\n  saidquill\n\n");
    /// JSON as a text
    JSON = "answer-json", |m| with_tools(says(m, "{\"saidquill\": [1, true]}"));
    /// a call
    CALL = "answer-call", |m| calls(m, "", &[usual()]);
    /// a text, then a call
    TEXT_CALL = "answer-text-call", |m| calls(m, words::ASSISTANT, &[usual()]);
    /// a call without arguments
    NO_ARGUMENTS = "answer-no-arguments", |m| calls(m, "", &[json!({})]);
    /// a program as an argument
    PROGRAM = "answer-program", |m| calls(m, "", &[json!({
        words::FIRST_KEY: "def f(x):\n    return {\"a\": [x, 'b']}\n\nprint(f(1) < 2 & 3)\n\\d+\t\u{e9}",
    })]);

    /// two calls at once
    PARALLEL = "answer-parallel", |m| calls(m, "", &[usual(), other()]);
    /// a text, then two calls
    TEXT_PARALLEL = "answer-text-parallel", |m| calls(m, words::ASSISTANT, &[usual(), other()]);
    /// the same call twice
    TWICE = "answer-twice", |m| calls(m, "", &[usual(), usual()]);
    /// three calls, the one in the middle without arguments
    THREE = "answer-three", |m| calls(m, "", &[usual(), json!({}), other()]);

    /// arguments of every type of JSON
    TYPED = "answer-typed", |m| calls_typed(m, &json!({
        "count": 3, "ratio": 2.5, "flag": true, "nothing": null, "rows": ["northquill", 2],
        "options": {"deepquill": {"depth": 1}}, "note": words::FIRST_VALUE,
    }));
    /// numbers without a fraction, large and small ones
    NUMBERS = "answer-numbers", |m| calls_typed(m, &json!({
        "count": 9_007_199_254_740_993_u64, "ratio": 2.0, "other": -40,
    }));
    /// texts that look like other types
    TEXTS = "answer-texts", |m| calls_typed(m, &json!({
        "note": "42", "second_note": "true", "third_note": "null", "fourth_note": "[1]",
    }));
    /// a text that looks like a number, where the schema allows both
    TEXT_OR_NUMBER = "answer-text-or-number", |m| calls_typed(m, &json!({"either": "42"}));
    /// the word null, where the schema allows a text and null
    TEXT_OR_NULL = "answer-text-or-null", |m| calls_typed(m, &json!({"perhaps": "null"}));

    /// reasoning, then a text
    REASONING = "answer-thoughts", |m| thinks(says(m, words::ASSISTANT), words::REASONING);
    /// reasoning of several paragraphs, then a text
    LONG_REASONING = "answer-long-thoughts", |m| thinks(says(m, words::ASSISTANT), REASONING_TEXT);
    /// reasoning, then a call
    REASONING_CALL = "answer-thoughts-call", |m| thinks(calls(m, "", &[usual()]), words::REASONING);
    /// reasoning, a text, then a call
    REASONING_TEXT_CALL = "answer-thoughts-text-call", |m| {
        thinks(calls(m, words::ASSISTANT, &[usual()]), words::REASONING)
    };
}

/// An answer of several paragraphs.
const PARAGRAPHS_TEXT: &str = "saidquill: \"one\"\n\n    indented\n\n- a < b & c\n\nthenquill";

/// Reasoning of several paragraphs.
const REASONING_TEXT: &str = "mindquill\n\n    indented\n\nthoughtquill";

/// A case with a question and a text as its answer.
pub(crate) fn says(m: InputStyle, text: &str) -> Case {
    closed(vec![m.user(), m.message("assistant", text)])
}

/// A case whose answer is a text and calls of the first tool, with these arguments.
#[allow(clippy::indexing_slicing)] // An answer is an object.
pub(crate) fn calls(m: InputStyle, text: &str, arguments: &[Value]) -> Case {
    let mut answer = m.message("assistant", text);
    let ids = [FIRST_ID, SECOND_ID, "callquil3"];
    let calls = arguments.iter().zip(ids);
    let calls = calls.map(|(arguments, id)| tool_call(id, words::TOOL, &m.arguments(arguments)));
    answer["tool_calls"] = calls.collect();
    with_tools(closed(vec![m.user(), answer]))
}

/// The same case, its answer with reasoning before it.
pub(crate) fn thinks(mut case: Case, reasoning: &str) -> Case {
    if let Some(answer) = case.messages.last_mut() {
        answer["reasoning_content"] = json!(reasoning);
    }
    case
}

/// A call of a tool whose parameters have all types.
#[allow(clippy::indexing_slicing)] // A tool is an object with a function.
fn calls_typed(m: InputStyle, arguments: &Value) -> Case {
    let mut typed = tool(words::TOOL);
    typed["function"]["parameters"] = json!({
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "other": {"type": "number"},
            "flag": {"type": "boolean"},
            "nothing": {"type": "null"},
            "rows": {"type": "array"},
            "options": {"type": "object"},
            "note": {"type": "string"},
            "second_note": {"type": "string"},
            "third_note": {"type": "string"},
            "fourth_note": {"type": "string"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "perhaps": {"type": ["string", "null"]},
        },
    });
    Case {
        tools: Some(vec![typed]),
        ..calls(m, "", std::slice::from_ref(arguments))
    }
}

fn usual() -> Value {
    json!({words::FIRST_KEY: words::FIRST_VALUE, words::SECOND_KEY: words::SECOND_VALUE})
}

fn other() -> Value {
    json!({words::FIRST_KEY: words::THIRD_VALUE, words::SECOND_KEY: words::FOURTH_VALUE})
}

#[cfg(test)]
mod tests {
    use rolecall_answers::meaning::Meaning;

    use super::*;
    use crate::probe::catalogue;

    #[test]
    fn each_ends_with_an_answer_and_has_a_name_of_its_own() {
        let mut names: Vec<_> = ALL.iter().map(|probe| probe.name).collect();
        for probe in ALL {
            let case = probe.case(InputStyle::PLAIN);
            let answer = case.messages.last().unwrap();
            assert_eq!(answer["role"], "assistant", "{probe:?}");
            assert!(!Meaning::of(answer).unwrap().is_empty(), "{probe:?}");
        }
        names.extend(catalogue::ALL.iter().map(|probe| probe.name));
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
