//! The intention of a conversation that shows a defect: the same conversation without what the
//! template stumbles over.
//!
//! A template gives a conversation another prompt after a fix. That prompt is right if the template
//! already gave it, before the fix, for the same conversation written in the other way.

use rolecall_core::{Case, Cut, Outcome};
use serde_json::{Value, json};

use super::wording::Writer;

/// The conversations that mean the same as a case, written without the defect that a contract is
/// about. None of them if the case cannot show the defect.
pub(super) fn meant(contract: &str, case: &Case, writer: &Writer) -> Vec<Case> {
    let changed: Vec<Case> = match contract {
        "no-tools-alike" => vec![without_tools(case)],
        "no-calls-alike" => vec![with_messages(case, &without_calls)],
        "no-null-leak" => nulls(case),
        "arguments-encoded-once" | "arguments-alike" | "no-repr-leak" => vec![
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

/// Whether a conversation is better off after a change for a contract, although the template gave no
/// such prompt before: it was refused by the engine, or a text was lost. `given` is what the template
/// made of conversations before.
pub(super) fn is_better(
    contract: &str,
    case: &Case,
    outcomes: [&Outcome; 2],
    given: &dyn Fn(&Case) -> Outcome,
) -> bool {
    let texts = texts(case);
    match outcomes {
        [Outcome::Failed { .. }, Outcome::Rendered { text }] => {
            [&SAID_IN_WORDS[..], &LOSING].concat().contains(&contract)
                && texts.iter().all(|(_, known)| text.contains(known))
                // Jinja2 prints a null as `None`: a prompt with that has a new defect in the place of
                // the failure.
                && !text.contains("None")
        }
        [Outcome::Failed { .. }, _] => SAID_IN_WORDS.contains(&contract),
        [
            Outcome::Rendered { text: old },
            Outcome::Rendered { text: new },
        ] if LOSING.contains(&contract) => {
            let count = |prompt: &str, text: &str| prompt.matches(text).count();
            let mut found = texts;
            found.retain(|(_, text)| count(old, text) < count(new, text));
            let Some((first, text)) = found.first() else {
                return false;
            };
            // Clients write a message without a text in both ways, and a template may treat them
            // differently.
            let is_lost = ["".into(), Value::Null].into_iter().any(|nothing| {
                let mut case = case.clone();
                for (message, _) in &found {
                    if let Some(Value::Object(message)) = case.messages.get_mut(*message) {
                        message.insert("content".to_owned(), nothing.clone());
                    }
                }
                given(&case) == *outcomes[0]
            });
            let is_cut = case.continue_final_message.is_some();
            (is_cut || is_lost)
                && found.iter().all(|(at, text)| {
                    is_written_as_first(case, *at, [old.as_str(), new.as_str()], text, given)
                })
                && is_led_as_alone(new, text, &given(&alone(case, *first)))
                && is_only_added(old, new, &found, is_cut)
        }
        _ => false,
    }
}

/// The contracts about conversations that the engine refuses in its own words.
const SAID_IN_WORDS: [&str; 4] = [
    "refusal-words",
    "arguments-alike",
    "capabilities-work",
    "schema-kept",
];

/// The contracts about texts that are lost.
const LOSING: [&str; 4] = [
    "content-beside-calls",
    "messages-kept",
    "developer-kept",
    "text-part-is-text",
];

/// The signs around a text that was lost: tokens of a turn, at most.
const MOST_SIGNS: usize = 96;

/// The texts of a case, each with the number of its message.
fn texts(case: &Case) -> Vec<(usize, &str)> {
    let contents = case.messages.iter().map(|message| message.get("content"));
    let texts = contents.enumerate().flat_map(|(at, content)| {
        let parts = content.and_then(Value::as_array).into_iter().flatten();
        let parts = parts.filter_map(|part| part.get("text"));
        let texts = content.into_iter().chain(parts).filter_map(Value::as_str);
        texts.map(move |text| (at, text.trim()))
    });
    texts.filter(|(_, text)| !text.is_empty()).collect()
}

/// A conversation up to a message, which says something and calls nothing.
fn alone(case: &Case, last: usize) -> Case {
    let mut case = case.clone();
    case.messages.truncate(last + 1);
    if let Some(fields) = case.messages.last_mut().and_then(Value::as_object_mut) {
        fields.shift_remove("tool_calls");
    }
    case
}

/// Whether a system text that was lost is written as the template writes the first one, if it has signs of its
/// own: no model knows another header. Between two texts there may be a line.
fn is_written_as_first(
    case: &Case,
    at: usize,
    [old, new]: [&str; 2],
    text: &str,
    given: &dyn Fn(&Case) -> Outcome,
) -> bool {
    let Some(message) = case.messages.get(at) else {
        return true;
    };
    if message["role"] != "system" && message["role"] != "developer" {
        return true;
    }
    let same = old
        .chars()
        .zip(new.chars())
        .take_while(|(one, other)| one == other);
    let same: usize = same.map(|(sign, _)| sign.len_utf8()).sum();
    let Some(signs) = new.find(text).and_then(|place| new.get(same..place)) else {
        return true;
    };
    let mut first = case.clone();
    first.messages = vec![message.clone(), json!({"role": "user", "content": "?"})];
    let is_known = |prompt: &str| {
        let mut places = prompt.match_indices(text);
        places.any(|(place, _)| {
            prompt
                .get(..place)
                .is_some_and(|before| before.ends_with(signs))
        })
    };
    signs.trim().is_empty()
        || matches!(given(&first), Outcome::Rendered { text } if is_known(&text))
}

/// Whether a text in a prompt comes after the same signs as where it is alone, so that it is not
/// within a call.
fn is_led_as_alone(new: &str, text: &str, alone: &Outcome) -> bool {
    const SIGNS: usize = 16;
    let before = |prompt: &str| -> Option<Vec<char>> {
        let at = prompt.rfind(text)?;
        Some(prompt.cut(..at).chars().rev().take(SIGNS).collect())
    };
    match alone {
        Outcome::Rendered { text: alone } => {
            let alone = before(alone);
            alone.is_none() || alone == before(new)
        }
        _ => true,
    }
}

/// Whether a prompt is another one, with lost texts and a few signs around them. What comes after the
/// first text still begins a line, if it did, and nobody else begins to speak. A prompt that the model continues is cut after the text.
fn is_only_added(old: &str, new: &str, found: &[(usize, &str)], is_cut: bool) -> bool {
    let mut rest = new.to_owned();
    for (_, text) in found {
        // Once for each: another message, which was never lost, may have the same text.
        rest = rest.replacen(text, "", 1);
    }
    if is_cut && old.starts_with(rest.trim_end()) {
        return true;
    }
    let mut wanted = old.chars().peekable();
    for sign in rest.chars() {
        wanted.next_if_eq(&sign);
    }
    let same = old.chars().rev().zip(new.chars().rev());
    let same = same.take_while(|(one, other)| one == other).count();
    let mut from_there = old.chars().rev().skip(same.saturating_sub(1));
    let begins_a_line = from_there.next() != Some('\n') && from_there.next() == Some('\n');
    let turns = |prompt: &str| {
        let prompt = prompt.to_lowercase();
        // The roles as templates write them; Gemma's name the assistant `model`.
        ["assistant", "model", "user"].map(|role| prompt.matches(role).count())
    };
    wanted.peek().is_none()
        && turns(old) == turns(&rest)
        && rest.len() <= old.len() + MOST_SIGNS * found.len()
        && !(same > 0 && begins_a_line)
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
    let Some(parts) = content.as_array() else {
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
        assert_eq!(text(json!([])), Some(json!("")));
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
