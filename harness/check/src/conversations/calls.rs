//! Whether calls, their results and the tools of a conversation belong together.

use std::collections::HashSet;

use rolecall_core::Case;
use rolecall_core::json::repeated_key;
use serde_json::{Map, Value};

use super::message::{calls_of, in_message, name_of, shown, texts_of};
use super::schema;
use super::symptom::Symptoms;

/// The rules by which calls and their results are judged, and the calls alone.
const RESULTS: &str = "calls-answered call-ids-match";
const CALLS: &str = "arguments-are-json calls-fit-tools";

const NO_TOOLS: &str = "there is a call, and the conversation has no tools";
const NO_TOOL: &str = "a call names a tool that the conversation does not have";

/// The calls of an answer, while their results come.
#[derive(Default)]
struct Asked<'c> {
    /// The number of the answer among the messages.
    at: usize,
    /// The calls, and whether each has a result.
    calls: Vec<(&'c Value, bool)>,
    /// The first question that came after them.
    question: Option<usize>,
}

/// Judges the calls, results and tools of a conversation.
pub(super) fn judge(case: &Case, found: &mut Symptoms) {
    let tools: Vec<&Value> = case.tools.iter().flatten().collect();
    judge_tools(&tools, found);
    let mut asked = Asked::default();
    let mut earlier: HashSet<&str> = HashSet::new();
    for (at, message) in case.messages.iter().enumerate() {
        if message["role"] == "tool" {
            found.judges(RESULTS);
            asked.result(at, message, found);
            continue;
        }
        // A user may say something before the result comes: whether it comes is seen later.
        if message["role"] == "user" {
            asked.question = asked.question.or(Some(at));
            continue;
        }
        asked.end(found);
        let calls: Vec<&Value> = calls_of(message).collect();
        let mut beside = HashSet::new();
        for call in &calls {
            found.judges(RESULTS);
            found.judges(CALLS);
            judge_call(case, &tools, at, call, found);
            let id = call["id"].as_str().unwrap_or_default();
            if !id.is_empty() && !beside.insert(id) {
                found.say("two calls have the same id", in_message(at, id));
            } else if earlier.contains(id) {
                found.say("a call has the id of an earlier one", in_message(at, id));
            }
        }
        earlier.extend(calls.iter().filter_map(|call| call["id"].as_str()));
        let calls = calls.into_iter().map(|call| (call, false)).collect();
        asked = Asked {
            at,
            calls,
            question: None,
        };
    }
    // The calls of the last message may still get their results.
    if asked.at + 1 < case.messages.len() {
        asked.end(found);
    }
}

impl Asked<'_> {
    /// Takes a result of one of the calls.
    fn result(&mut self, at: usize, message: &Value, found: &mut Symptoms) {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        let text = texts_of(message).concat();
        let has_id = |call: &Value| !id.is_empty() && call["id"] == id;
        let mut open = self.calls.iter().filter(|(_, is_done)| !is_done).peekable();
        if open.peek().is_none() {
            return found.say("a result has no call", in_message(at, &text));
        }
        if let Some(question) = self.question.take() {
            let detail = format!("message {}", question + 1);
            found.say("a question stands between a call and its result", detail);
        }
        let is_named = open.any(|(call, _)| has_id(call));
        let have_ids = self.calls.iter().any(|(call, _)| call["id"].is_string());
        let what = match id {
            _ if is_named || !have_ids => None,
            "" if self.calls.len() < 2 || !message["name"].is_null() => None,
            "" => Some("a result does not say which of several calls it answers"),
            _ if self.calls.iter().any(|(call, _)| has_id(call)) => {
                Some("two results have the id of one call")
            }
            _ => Some("a result has an id that no call before it has"),
        };
        if let Some(what) = what {
            let shows = if id.is_empty() { text.as_str() } else { id };
            found.say(what, in_message(at, shows));
        }
        let mut calls = self.calls.iter_mut().filter(|(_, is_done)| !is_done);
        let Some((call, is_done)) = calls.find(|(call, _)| !is_named || has_id(call)) else {
            return;
        };
        *is_done = true;
        let call = *call;
        let name = message["name"].as_str().unwrap_or_default();
        let is_known = is_named || self.calls.len() == 1 || !have_ids;
        if is_known && ![name_of(call), ""].contains(&name) {
            let is_later = !is_named && self.calls.iter().any(|(call, _)| name_of(call) == name);
            let what = if is_later {
                "results without ids come in another order than their calls"
            } else {
                "a result has another name than its call"
            };
            let called = shown(name_of(call));
            let detail = format!("{}, called as {called}", in_message(at, name));
            found.say(what, detail);
        }
    }

    /// Judges whether all calls have results, when no more can come.
    fn end(&self, found: &mut Symptoms) {
        if let Some((call, _)) = self.calls.iter().find(|(_, is_done)| !is_done) {
            let detail = in_message(self.at, name_of(call));
            found.say("a call has no result", detail);
        }
    }
}

fn schema_of(tool: &Value) -> Option<&Value> {
    tool["function"].get("parameters")
}

fn judge_tools(tools: &[&Value], found: &mut Symptoms) {
    let mut names = HashSet::new();
    for tool in tools {
        found.judges("tools-are-schemas");
        let name = name_of(tool);
        if let Some((what, detail)) = schema_of(tool).and_then(schema::fault) {
            found.say(what, format!("tool {}{detail}", shown(name)));
        }
        if !names.insert(name) {
            found.say("two tools have the same name", shown(name));
        }
    }
}

/// Judges a call by the tools of its conversation. A system message may describe them itself.
fn judge_call(case: &Case, tools: &[&Value], at: usize, call: &Value, found: &mut Symptoms) {
    let name = name_of(call);
    let said = call["function"].get("arguments");
    let read: Option<Value> = match said {
        Some(Value::String(text)) => {
            let read = serde_json::from_str(text).ok();
            let twice = read.as_ref().and_then(|read| repeated_key(text, read));
            if let Some(key) = twice {
                let what = "an object in the arguments of a call has a key twice";
                found.say(what, in_message(at, &key));
            }
            read
        }
        said => Some(said.cloned().unwrap_or_else(|| Map::new().into())),
    };
    let Some(read) = read.filter(Value::is_object) else {
        let text = said.map(Value::to_string).unwrap_or_default();
        let text = said.and_then(Value::as_str).unwrap_or(&text);
        let what = "the arguments of a call are no JSON object";
        return found.say(what, in_message(at, text));
    };
    let tool = tools.iter().find(|tool| name_of(tool) == name);
    let mut system = case.messages.iter().filter(|one| one["role"] == "system");
    let misfit = match tool {
        Some(tool) => schema_of(tool).and_then(|schema| schema::misfit(schema, &read)),
        None if tools.is_empty() => {
            let is_described = system.any(|one| texts_of(one).concat().contains(name));
            (!is_described).then_some((NO_TOOLS, String::new()))
        }
        None => Some((NO_TOOL, String::new())),
    };
    if let Some((what, detail)) = misfit {
        found.say(what, in_message(at, name) + &detail);
    }
}
