//! How a value of a conversation is written in a prompt: as Python prints it, as JSON, encoded
//! twice, or as HTML.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::guard::{LoadedTemplate, load};
use rolecall_core::{Case, Conversation, Dialect, Engine, Outcome, Template};
use serde_json::Value;

/// The form of something in a prompt that shows a defect, and its form in one that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    pub wrong: String,
    pub right: String,
}

/// The most places at which two prompts are compared in more than one way.
const MOST_TRIED: usize = 100_000;

/// A mark between two values that are written together. No conversation has it.
const BETWEEN: &str = "\u{1}rolecall\u{2}";

/// Writes values as the templates of an engine do.
pub(super) struct Writer {
    printed: LoadedTemplate,
    json: LoadedTemplate,
    /// The wordings of conversations that were asked for before, by the contract and by everything that
    /// they depend on.
    known: Mutex<HashMap<String, Arc<[Wording]>>>,
}

impl Writer {
    /// A writer that uses an engine for Jinja templates.
    pub(super) fn new(engine: &dyn Engine) -> Writer {
        let of = |filter: &str| {
            let source = format!(
                "{{% for value in values %}}{{{{ value{filter} }}}}{BETWEEN}{{% endfor %}}"
            );
            load(
                engine,
                &Template::from_source("values", Dialect::Jinja, &source),
            )
        };
        Writer {
            printed: of(""),
            json: of(" | tojson"),
            known: Mutex::default(),
        }
    }

    /// What may be in a prompt because of the defect that a contract is about, and what belongs
    /// there. Every change that is tried, and every front, asks for it again.
    pub(super) fn wordings(&self, contract: &str, case: &Case) -> Arc<[Wording]> {
        let values = (&case.messages, &case.tools, &case.variables);
        let Ok(values) = serde_json::to_string(&values) else {
            return wordings(contract, case, self).into();
        };
        let key = format!("{contract} {values}");
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).cloned();
        found.unwrap_or_else(|| {
            let all: Arc<[Wording]> = wordings(contract, case, self).into();
            known().insert(key, Arc::clone(&all));
            all
        })
    }

    /// Values as the filter `tojson` writes them. None if the engine cannot.
    pub(super) fn json(&self, values: &[&Value]) -> Option<Vec<String>> {
        written(&self.json, values)
    }

    fn printed(&self, values: &[&Value]) -> Option<Vec<String>> {
        written(&self.printed, values)
    }
}

fn written(template: &LoadedTemplate, values: &[&Value]) -> Option<Vec<String>> {
    let mut case = Case::from_messages(Vec::new());
    let list: Vec<Value> = values.iter().map(|value| (*value).clone()).collect();
    case.variables.insert("values".to_owned(), list.into());
    let Outcome::Rendered { text } = template.render(&Conversation::new(&case)) else {
        return None;
    };
    let mut written: Vec<String> = text.split(BETWEEN).map(str::to_owned).collect();
    written.pop();
    (written.len() == values.len()).then_some(written)
}

/// Whether the template itself gives the right wordings, for the same conversation written in another
/// way. Otherwise a model that was trained with it knows only the wrong ones.
pub(super) fn are_given(contract: &str) -> bool {
    matches!(
        contract,
        "no-null-leak" | "arguments-encoded-once" | "arguments-alike"
    )
}

fn wordings(contract: &str, case: &Case, writer: &Writer) -> Vec<Wording> {
    let pair = |wrong: &str, right: &str| Wording {
        wrong: wrong.to_owned(),
        right: right.to_owned(),
    };
    let mut values = Vec::new();
    case.messages
        .iter()
        .for_each(|message| inside(message, &mut values));
    match contract {
        "no-null-leak" => vec![pair("None", "")],
        "no-repr-leak" => {
            let tools = case.tools.clone().map(Value::from);
            if let Some(tools) = &tools {
                inside(tools, &mut values);
            }
            let variables = Value::from(case.variables.clone());
            inside(&variables, &mut values);
            values.retain(|value| !value.is_string());
            let printed = writer.printed(&values).unwrap_or_default();
            let json = writer.json(&values).unwrap_or_default();
            let both = printed.into_iter().zip(json);
            let all = both.map(|(wrong, right)| Wording { wrong, right });
            // What is joined with a text that is marked as safe is escaped.
            let marks = [
                ("&#34;", "\""),
                ("&#39;", "'"),
                ("&amp;", "&"),
                ("&lt;", "<"),
                ("&gt;", ">"),
            ];
            let marks = marks.map(|(wrong, right)| pair(wrong, right));
            let all = all.chain(marks);
            all.filter(|wording| wording.wrong != wording.right)
                .collect()
        }
        "arguments-encoded-once" | "arguments-alike" => {
            // Another text is no JSON before it is encoded.
            values.retain(|value| is_json(value));
            let json = writer.json(&values).unwrap_or_default();
            let texts = values.into_iter().filter_map(Value::as_str);
            let encoded = texts
                .zip(json)
                .flat_map(|(text, json)| [pair(&ascii(&json), text), pair(&json, text)]);
            encoded.collect()
        }
        // Escaped within quotes. Other signs than these are no different there.
        "calls-whole" | "result-verbatim" | "schema-kept" => {
            let signs = [
                ("\"", "\\\""),
                ("\\", "\\\\"),
                ("\n", "\\n"),
                ("\t", "\\t"),
                ("'", "\\'"),
            ];
            signs.map(|(wrong, right)| pair(wrong, right)).into()
        }
        _ => Vec::new(),
    }
}

/// Whether a value is the JSON text of an object.
fn is_json(value: &Value) -> bool {
    let parsed = value.as_str().map(serde_json::from_str::<Value>);
    parsed.is_some_and(|parsed| parsed.is_ok_and(|value| value.is_object()))
}

/// All values in a value, itself included.
fn inside<'v>(value: &'v Value, all: &mut Vec<&'v Value>) {
    all.push(value);
    match value {
        Value::Object(fields) => fields.values().for_each(|field| inside(field, all)),
        Value::Array(items) => items.iter().for_each(|item| inside(item, all)),
        _ => {}
    }
}

/// JSON with other characters than those of ASCII escaped, as `json.dumps` writes it.
fn ascii(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// Whether a prompt is another one in which some of the wrong wordings are right, and nothing else
/// differs.
#[allow(clippy::indexing_slicing)] // A byte is less than 256, and no place is behind its text.
pub(super) fn is_reworded(old: &str, new: &str, wordings: &[Wording]) -> bool {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    // Most bytes begin no wording.
    let mut by_first: [Vec<&Wording>; 256] = std::array::from_fn(|_| Vec::new());
    for wording in wordings {
        if let Some(first) = wording.wrong.bytes().next() {
            by_first[usize::from(first)].push(wording);
        }
    }
    let mut seen = HashSet::new();
    let mut tried = vec![(0, 0)];
    while let Some((mut at, mut to)) = tried.pop() {
        loop {
            let Some(first) = old.get(at) else {
                if to == new.len() {
                    return true;
                }
                break;
            };
            for Wording { wrong, right } in &by_first[usize::from(*first)] {
                let (wrong, right) = (wrong.as_bytes(), right.as_bytes());
                if old[at..].starts_with(wrong) && new[to..].starts_with(right) {
                    let next = (at + wrong.len(), to + right.len());
                    if seen.len() < MOST_TRIED && seen.insert(next) {
                        tried.push(next);
                    }
                }
            }
            if new.get(to) != Some(first) {
                break;
            }
            (at, to) = (at + 1, to + 1);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_jinja::JinjaEngine;
    use serde_json::json;

    #[test]
    fn values_are_written_as_templates_write_them() {
        let writer = Writer::new(&JinjaEngine::new());
        let value = json!({"a": [true, null, 1e2], "it's": "\"x\"\n\u{2028}"});
        assert_eq!(
            writer.printed(&[&value, &json!(null)]).unwrap(),
            [
                "{'a': [True, None, 100.0], \"it's\": '\"x\"\\n\\u2028'}",
                "None"
            ]
        );
        assert_eq!(writer.json(&[&json!([1, "é"])]).unwrap(), ["[1, \"é\"]"]);
        assert_eq!(ascii("\"é😀\""), "\"\\u00e9\\ud83d\\ude00\"");
    }

    #[test]
    fn only_what_is_wrong_may_differ() {
        let nothing = [Wording {
            wrong: "None".to_owned(),
            right: String::new(),
        }];
        assert!(is_reworded("a None b", "a  b", &nothing));
        assert!(is_reworded("NoneNo None", "No None", &nothing));
        assert!(is_reworded("None None", "None ", &nothing));
        assert!(!is_reworded("a None b", "a b", &nothing));
        assert!(!is_reworded("a", "b", &nothing));
    }

    #[test]
    fn a_case_knows_its_values() {
        let writer = Writer::new(&JinjaEngine::new());
        let mut case = Case::from_messages(vec![json!({"tool_calls": [
            {"function": {"name": "f", "arguments": {"x": [1, "a"]}}}
        ]})]);
        case.tools = Some(vec![json!({"name": "f", "strict": true})]);
        let is = |contract: &str, old: &str, new: &str| {
            is_reworded(old, new, &wordings(contract, &case, &writer))
        };
        assert!(is(
            "no-repr-leak",
            "<{'x': [1, 'a']}>",
            "<{\"x\": [1, \"a\"]}>"
        ));
        assert!(is(
            "no-repr-leak",
            "[{'name': 'f', 'strict': True}] True",
            "[{\"name\": \"f\", \"strict\": true}] true"
        ));
        assert!(is("no-repr-leak", "{&#34;x&#34;", "{\"x\""));
        assert!(!is("no-repr-leak", "{'y': 1}", "{\"y\": 1}"));
        assert!(!is("no-null-leak", "{'x': 1}", "{\"x\": 1}"));
        let text = Case::from_messages(vec![json!({"arguments": "{\"é\": 1}"})]);
        let all = wordings("arguments-encoded-once", &text, &writer);
        assert!(is_reworded(
            "x \"{\\\"é\\\": 1}\" y",
            "x {\"é\": 1} y",
            &all
        ));
        assert!(is_reworded("\"{\\\"\\u00e9\\\": 1}\"", "{\"é\": 1}", &all));
        for text in ["", "ping", "{\"a\": "] {
            let no_json = Case::from_messages(vec![json!({"arguments": text})]);
            let all = wordings("arguments-encoded-once", &no_json, &writer);
            assert!(all.is_empty(), "{text}: {all:?}");
        }
    }
}
