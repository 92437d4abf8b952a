//! How ordinary a conversation is: what everybody sends comes first in a report.

use rolecall_core::Case;
use serde_json::Value;

use crate::cause;

/// How ordinary the conversation of a case is, and how long: the first of several is shown.
pub(crate) type Rank = (Ordinary, bool, usize);

/// The rank of a case. Of chats that look alike, those come last that are about something else, such
/// as a filter. Probes and plain cases keep their order, in which the most ordinary come first.
pub(crate) fn rank(case: Option<&Case>) -> Rank {
    // A probe is anonymous.
    let is_plain = |case: &Case| ["anonymous", "plain", "tool-use"].contains(&case.id.family());
    let special = case.filter(|case| !is_plain(case));
    (
        Ordinary::of(case),
        special.is_some(),
        special.map_or(0, cause::size),
    )
}

/// How ordinary a conversation is; the most ordinary comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ordinary {
    /// Questions and answers in turn, perhaps after a system message.
    Chat,
    /// The same with tools and calls that have arguments, with results or reasoning.
    Tools,
    /// Anything else, such as two questions in a row, or parts of a content.
    Rare,
}

impl Ordinary {
    /// How ordinary the conversation of a case is. An unknown one is rare.
    pub(super) fn of(case: Option<&Case>) -> Ordinary {
        let Some(case) = case.filter(|case| is_usual(case)) else {
            return Ordinary::Rare;
        };
        let is_chat = |message: &Value| {
            let fields = message
                .as_object()
                .into_iter()
                .flat_map(|fields| fields.keys());
            fields
                .filter(|field| *field != "role" && *field != "content")
                .count()
                == 0
        };
        if case.tools.is_none() && case.messages.iter().all(is_chat) {
            Ordinary::Chat
        } else {
            Ordinary::Tools
        }
    }
}

/// Whether a tool has a description and parameters, or a call arguments.
fn is_filled(function: &Value) -> bool {
    let function = function.get("function").unwrap_or(function);
    match function.get("arguments") {
        Some(Value::Object(arguments)) => !arguments.is_empty(),
        Some(arguments) => arguments.as_str().is_some_and(|text| text.contains(':')),
        None => {
            let properties = function.pointer("/parameters/properties");
            let properties = properties.and_then(Value::as_object);
            let is_described = function["description"].is_string();
            is_described && properties.is_some_and(|properties| !properties.is_empty())
        }
    }
}

/// Whether the messages follow each other as they do in applications, and say something.
fn is_usual(case: &Case) -> bool {
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let mut before = "start".to_owned();
    for message in &case.messages {
        let role = role(message);
        let says = message["content"]
            .as_str()
            .is_some_and(|text| !text.trim().is_empty());
        let is_said = match role.as_str() {
            "assistant" => says || message["tool_calls"].is_array(),
            _ => says,
        };
        let follows = match role.as_str() {
            "system" => before == "start",
            "user" => ["start", "system", "assistant"].contains(&before.as_str()),
            "assistant" => ["user", "tool"].contains(&before.as_str()),
            "tool" => ["assistant", "tool"].contains(&before.as_str()),
            _ => false,
        };
        if !is_said || !follows {
            return false;
        }
        before = role;
    }
    let calls = case
        .messages
        .iter()
        .filter_map(|message| message["tool_calls"].as_array());
    if !calls.chain(case.tools.as_ref()).flatten().all(is_filled) {
        return false;
    }
    let waits = before == "user" || before == "tool";
    waits == case.add_generation_prompt
        && case.documents.is_none()
        && case.continue_final_message.is_none()
        && case.front.is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chats_come_before_tools_and_both_before_the_rest() {
        let user = json!({"role": "user", "content": "Hi"});
        let call = json!({"role": "assistant", "content": null, "tool_calls":
            [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]});
        let empty = json!({"role": "assistant", "content": null, "tool_calls":
            [{"type": "function", "function": {"name": "f", "arguments": {}}}]});
        let result = json!({"role": "tool", "content": "3"});
        let of = |messages: &[&Value]| {
            let messages = messages.iter().map(|one| (*one).clone()).collect();
            Ordinary::of(Some(&Case::from_messages(messages)))
        };
        assert_eq!(of(&[&user]), Ordinary::Chat);
        assert_eq!(of(&[&user, &call, &result]), Ordinary::Tools);
        assert_eq!(of(&[&user, &empty, &result]), Ordinary::Rare);
        assert_eq!(of(&[&user, &user]), Ordinary::Rare);
        assert_eq!(of(&[]), Ordinary::Rare);
        assert_eq!(
            of(&[&json!({"role": "user", "content": [{}]})]),
            Ordinary::Rare
        );
        assert_eq!(Ordinary::of(None), Ordinary::Rare);
        assert!(Ordinary::Chat < Ordinary::Tools && Ordinary::Tools < Ordinary::Rare);
    }
}
