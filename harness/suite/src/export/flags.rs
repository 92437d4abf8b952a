//! Features of cases that many languages lose before a template sees them.

use std::collections::BTreeSet;

use rolecall_core::named;
use rolecall_core::{Case, Moment};
use serde::Serialize;
use serde_json::{Number, Value};

named! {
    /// Something that is easily lost on the way from JSON to a template.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Flag {
        /// The case sets the clock to another moment than most.
        Clock = "clock",
        /// The last message is to be continued. Applications do that, and no template sees it.
        Continued = "continued",
        /// A text has control characters other than line breaks and tabs.
        ControlCharacters = "control-characters",
        /// A number loses something where it becomes a double: `1.0`, `1e3` and integers beyond
        /// 2^53.
        ExactNumbers = "exact-numbers",
        /// A key of a message is there and null, which is not the same as one that is not there.
        ExplicitNulls = "explicit-nulls",
        /// An object has keys such as `10`, which JavaScript puts before all others.
        KeyOrder = "key-order",
        /// A text has characters beyond U+FFFF, which UTF-16 holds as two surrogates.
        Surrogates = "surrogates",
        /// The arguments of a call are neither an object nor the JSON text of one.
        UnknownArguments = "unknown-arguments",
        /// A message has keys that most clients do not know: not those of the chat completions API.
        UnknownFields = "unknown-fields",
        /// The case gives the template variables of its own.
        Variables = "variables",
    }
}

/// The keys of a message that typed clients know.
const FIELDS: [&str; 7] = [
    "audio",
    "content",
    "name",
    "refusal",
    "role",
    "tool_call_id",
    "tool_calls",
];

/// The largest integer up to which a double holds each.
const EXACT: u64 = 1 << 53;

impl Flag {
    /// What it means, for whoever reads the files.
    pub fn meaning(self) -> &'static str {
        match self {
            Flag::Clock => "sets the clock (now) to another moment than most cases",
            Flag::Continued => "the last message is to be continued: no template sees that",
            Flag::ControlCharacters => "a text has control characters",
            Flag::ExactNumbers => {
                "a number changes where it becomes a double: 1.0, 1e3, integers beyond 2^53"
            }
            Flag::ExplicitNulls => "a message has a key that is null, not absent",
            Flag::KeyOrder => "an object has integer-like keys, which JavaScript puts first",
            Flag::Surrogates => "a text has characters that UTF-16 holds as two surrogates",
            Flag::UnknownArguments => {
                "arguments of a call are neither an object nor the JSON text of one"
            }
            Flag::UnknownFields => "a message has keys that the chat API of OpenAI does not know",
            Flag::Variables => "gives the template variables of its own",
        }
    }

    pub fn of(case: &Case) -> BTreeSet<Flag> {
        let mut flags = BTreeSet::new();
        let mut set = |flag: Flag, holds: bool| {
            if holds {
                flags.insert(flag);
            }
        };
        set(Flag::Clock, case.now != Moment::default());
        set(Flag::Continued, case.continue_final_message.is_some());
        set(Flag::Variables, !case.variables.is_empty());
        for message in &case.messages {
            let Some(fields) = message.as_object() else {
                continue;
            };
            set(Flag::ExplicitNulls, fields.values().any(Value::is_null));
            let is_known = |name: &String| FIELDS.contains(&name.as_str());
            set(Flag::UnknownFields, !fields.keys().all(is_known));
            let calls = fields.get("tool_calls").and_then(Value::as_array);
            let is_odd = |call: &Value| {
                let arguments = call
                    .pointer("/function/arguments")
                    .or_else(|| call.get("arguments"));
                !arguments.is_some_and(are_usual)
            };
            set(
                Flag::UnknownArguments,
                calls.is_some_and(|calls| calls.iter().any(is_odd)),
            );
        }
        let variables = case.variables.values();
        let lists = [&case.tools, &case.documents]
            .into_iter()
            .flatten()
            .flatten();
        for value in case.messages.iter().chain(lists).chain(variables) {
            look(value, &mut set);
        }
        flags
    }
}

/// Whether arguments are those of most calls.
fn are_usual(arguments: &Value) -> bool {
    match arguments {
        Value::Object(_) => true,
        Value::String(text) => {
            serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
        }
        _ => false,
    }
}

/// Looks for what may be lost anywhere in a value.
fn look(value: &Value, set: &mut impl FnMut(Flag, bool)) {
    match value {
        Value::Number(number) => set(Flag::ExactNumbers, !survives(number)),
        Value::String(text) => look_at_text(text, set),
        Value::Array(items) => items.iter().for_each(|item| look(item, set)),
        Value::Object(fields) => {
            for (key, value) in fields {
                set(Flag::KeyOrder, fields.len() > 1 && is_index(key));
                look_at_text(key, set);
                look(value, set);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn look_at_text(text: &str, set: &mut impl FnMut(Flag, bool)) {
    set(Flag::Surrogates, text.chars().any(|c| c > '\u{ffff}'));
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    set(Flag::ControlCharacters, text.chars().any(is_control));
}

/// Whether a number is written as before once a double has held it.
fn survives(number: &Number) -> bool {
    let text = number.to_string();
    let is_integer = !text.contains(['.', 'e', 'E']);
    if is_integer {
        let digits = text.trim_start_matches('-');
        // JavaScript writes -0 as `0`.
        return text != "-0" && digits.parse::<u64>().is_ok_and(|number| number <= EXACT);
    }
    // The shortest digits that give the same double, in the way of most languages.
    let double = text.parse::<f64>();
    double.is_ok_and(|double| double.fract() != 0.0 && double.to_string() == text)
}

/// Whether JavaScript takes a key for the index of a list: the digits of an integer.
fn is_index(key: &str) -> bool {
    key.parse::<u32>()
        // The indices of its lists end at 2^32 - 2 (ECMA-262, "array index").
        .is_ok_and(|number| number != u32::MAX && number.to_string() == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(message: &str) -> String {
        let case = Case::from_messages(vec![serde_json::from_str(message).unwrap()]);
        let names: Vec<_> = Flag::of(&case).into_iter().map(Flag::name).collect();
        names.join(", ")
    }

    #[test]
    fn a_case_has_the_flags_of_what_may_be_lost() {
        for (message, expected) in [
            (r#"{"role": "user", "content": "hey"}"#, ""),
            (r#"{"role": "user", "content": [1, 0.5, -7]}"#, ""),
            (r#"{"role": "user", "content": 1.0}"#, "exact-numbers"),
            (
                r#"{"role": "user", "content": 9007199254740993}"#,
                "exact-numbers",
            ),
            (r#"{"role": "user", "content": -0}"#, "exact-numbers"),
            (r#"{"role": "user", "content": 1e-7}"#, "exact-numbers"),
            (r#"{"role": "user", "content": null}"#, "explicit-nulls"),
            (
                r#"{"role": "user", "content": [{"b": 1, "10": 2}]}"#,
                "key-order",
            ),
            (r#"{"role": "user", "content": [{"b": 1, "010": 2}]}"#, ""),
            (r#"{"role": "user", "content": "😀"}"#, "surrogates"),
            (
                r#"{"role": "user", "content": "\u0000"}"#,
                "control-characters",
            ),
            (r#"{"role": "user", "thinking": "hm"}"#, "unknown-fields"),
            (r#"{"tool_calls": [{"function": {"arguments": "{}"}}]}"#, ""),
            (
                r#"{"tool_calls": [{"function": {"arguments": "{"}}]}"#,
                "unknown-arguments",
            ),
            (
                r#"{"tool_calls": [{"function": {"arguments": []}}]}"#,
                "unknown-arguments",
            ),
        ] {
            assert_eq!(flags(message), expected, "{message}");
        }
    }

    #[test]
    fn the_names_are_those_of_the_files() {
        for flag in Flag::ALL {
            assert_eq!(serde_json::to_value(flag).unwrap(), flag.name());
        }
    }
}
