//! The intention of a conversation that shows a defect: the same conversation without what the
//! template stumbles over.
//!
//! A template gives a conversation another prompt after a fix. That prompt is right if the template
//! already gave it, before the fix, for the same conversation written in the other way.

use rolecall_core::Case;
use serde_json::{Value, json};

use super::wording::Writer;

/// The conversations that mean the same as a case, written without the defect that a contract is
/// about. None of them if the case cannot show the defect.
pub(super) fn meant(contract: &str, case: &Case, writer: &Writer) -> Vec<Case> {
    let changed: Vec<Case> = match contract {
        "no-tools-alike" => vec![without_tools(case)],
        "no-calls-alike" => vec![with_messages(case, &without_calls)],
        "no-null-leak" => nulls(case),
        "arguments-encoded-once" | "arguments-alike" => vec![
            with_arguments(case, &as_object),
            with_arguments(case, &|arguments| as_text(arguments, writer)),
        ],
        "text-part-is-text" | "capabilities-work" => vec![with_messages(case, &with_one_text)],
        _ => Vec::new(),
    };
    let is_other = |other: &Case| {
        other.messages != case.messages
            || other.tools != case.tools
            || other.variables != case.variables
    };
    changed.into_iter().filter(is_other).collect()
}

/// No tools instead of an empty list, which a variable may represent, too.
fn without_tools(case: &Case) -> Case {
    let mut case = case.clone();
    let is_none = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(false) => true,
        _ => false,
    };
    let before = case.variables.len();
    case.variables
        .retain(|name, value| !(name.contains("tools") && is_none(value)));
    if case.variables.len() < before || case.tools.as_ref().is_some_and(Vec::is_empty) {
        case.tools = None;
    }
    case
}

/// A case with each of its messages changed.
fn with_messages(case: &Case, change: &dyn Fn(&mut Value)) -> Case {
    let mut case = case.clone();
    case.messages.iter_mut().for_each(change);
    case
}

/// A message without an empty list of calls.
fn without_calls(message: &mut Value) {
    let Some(fields) = message.as_object_mut() else {
        return;
    };
    let calls = fields.get("tool_calls");
    if calls.is_some_and(|calls| calls.is_null() || *calls == json!([])) {
        fields.shift_remove("tool_calls");
    }
}

/// A message whose text parts are one text.
fn with_one_text(message: &mut Value) {
    let Some(content) = message.get_mut("content") else {
        return;
    };
    let Some(parts) = content.as_array().filter(|parts| !parts.is_empty()) else {
        return;
    };
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| {
            let is_text = part.get("type").and_then(Value::as_str) == Some("text");
            part.get("text")?.as_str().filter(|_| is_text)
        })
        .collect();
    if let Some(texts) = texts {
        *content = texts.concat().into();
    }
}

/// A case with an empty text for the null values of one field, or of all of them.
fn nulls(case: &Case) -> Vec<Case> {
    const FIELDS: [&str; 5] = ["content", "name", "tool_call_id", "id", "type"];
    let replaced = |names: &[&str]| {
        let mut case = with_messages(case, &|message| {
            without_calls(message);
            fill(message, names);
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten() {
                fill(call, names);
                if let Some(function) = call.get_mut("function") {
                    fill(function, names);
                }
            }
        });
        for tool in case.tools.iter_mut().flatten() {
            fill_deeply(tool, names);
        }
        case
    };
    let one = FIELDS.iter().map(|name| replaced(&[name]));
    let mut all: Vec<Case> = one.collect();
    all.push(replaced(&["description"]));
    all.push(replaced(&FIELDS));
    all
}

/// Replaces the null values of some fields by an empty text.
fn fill(value: &mut Value, names: &[&str]) {
    for name in names {
        if let Some(field) = value.get_mut(*name)
            && field.is_null()
        {
            *field = "".into();
        }
    }
}

fn fill_deeply(value: &mut Value, names: &[&str]) {
    fill(value, names);
    match value {
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| fill_deeply(field, names)),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_deeply(item, names)),
        _ => {}
    }
}

/// A case with the arguments of each call changed, if that can be done.
fn with_arguments(case: &Case, change: &dyn Fn(&Value) -> Option<Value>) -> Case {
    with_messages(case, &|message| {
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            let function = call.get_mut("function");
            let Some(arguments) = function.and_then(|function| function.get_mut("arguments"))
            else {
                continue;
            };
            if let Some(changed) = change(arguments) {
                *arguments = changed;
            }
        }
    })
}

/// Arguments as an object, if they are the text of one.
fn as_object(arguments: &Value) -> Option<Value> {
    let value: Value = serde_json::from_str(arguments.as_str()?).ok()?;
    value.is_object().then_some(value)
}

/// Arguments as a text, if they are none.
fn as_text(arguments: &Value, writer: &Writer) -> Option<Value> {
    if arguments.is_string() {
        return None;
    }
    let text = writer.json(&[arguments])?.pop()?;
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_jinja::JinjaEngine;

    fn meant(contract: &str, case: &Case) -> Vec<Case> {
        super::meant(contract, case, &Writer::new(&JinjaEngine::new()))
    }

    fn case(messages: Value, tools: Option<Value>) -> Case {
        let list = |value: Value| value.as_array().unwrap().clone();
        let mut case = Case::from_messages(list(messages));
        case.tools = tools.map(list);
        case
    }

    #[test]
    fn a_conversation_that_shows_nothing_means_nothing_else() {
        let plain = case(json!([{"role": "user", "content": "Hi"}]), None);
        for contract in [
            "no-tools-alike",
            "no-calls-alike",
            "no-null-leak",
            "arguments-alike",
            "text-part-is-text",
            "no-repr-leak",
        ] {
            assert!(meant(contract, &plain).is_empty(), "{contract}");
        }
    }

    #[test]
    fn no_tools_are_meant_by_an_empty_list() {
        let empty = case(json!([]), Some(json!([])));
        let [none] = &meant("no-tools-alike", &empty)[..] else {
            panic!();
        };
        assert_eq!(none.tools, None);
        // A variable of the template's own may represent the tools.
        let mut other = case(json!([]), Some(json!([{"name": "f"}])));
        other
            .variables
            .insert("custom_tools".to_owned(), json!(false));
        let [none] = &meant("no-tools-alike", &other)[..] else {
            panic!();
        };
        assert!(none.tools.is_none() && none.variables.is_empty());
    }

    #[test]
    fn a_text_is_meant_by_text_parts_alone() {
        let text = |content: Value| {
            let case = case(json!([{"role": "user", "content": content}]), None);
            let meant = meant("text-part-is-text", &case);
            meant
                .first()
                .map(|case| case.messages[0]["content"].clone())
        };
        let part = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(text(json!([part("a"), part("b")])), Some(json!("ab")));
        assert_eq!(text(json!([part("a"), {"type": "image"}])), None);
        assert_eq!(text(json!([part("a"), "b"])), None);
        assert_eq!(text(json!([])), None);
    }

    #[test]
    fn arguments_are_meant_in_their_other_form() {
        let of = |arguments: Value| {
            let calls = json!([{"function": {"name": "f", "arguments": arguments}}]);
            let case = case(json!([{"role": "assistant", "tool_calls": calls}]), None);
            let all = meant("arguments-alike", &case);
            let all = all.into_iter().map(|case| {
                let call = &case.messages[0]["tool_calls"][0];
                call["function"]["arguments"].clone()
            });
            all.collect::<Vec<_>>()
        };
        assert_eq!(of(json!("{\"a\": 1}")), [json!({"a": 1})]);
        assert_eq!(of(json!({"a": 1})), [json!("{\"a\": 1}")]);
        assert_eq!(of(json!("no object")), [Value::Null; 0]);
    }

    #[test]
    fn nothing_is_meant_by_null() {
        let case = case(
            json!([{"role": "user", "content": null}, {"role": "tool", "name": null}]),
            None,
        );
        let all = meant("no-null-leak", &case);
        let (one, all) = (&all[0].messages, &all[all.len() - 1].messages);
        assert_eq!(
            (&one[0]["content"], &one[1]["name"]),
            (&json!(""), &Value::Null)
        );
        assert_eq!(
            (&all[0]["content"], &all[1]["name"]),
            (&json!(""), &json!(""))
        );
    }
}
