//! What is wrong with conversations of a user's own: in themselves, and in what a template makes of
//! them.
//!
//! These are the contracts that need no probe. Whatever is looked for in a prompt can only be missed:
//! a short text that the template says too, or its tools, counts as kept.

use std::collections::HashSet;

mod message;

mod places;
mod symptom;

mod schema;
mod texts;

mod calls;
mod log;

use memchr::memmem;
use rolecall_core::guard;
use rolecall_core::{CONTENT, Case, Dialect, Outcome, Template};
use serde_json::Value;

use crate::contract::{self, NOTHING, occurrences};
use crate::probe::common;
use log::Log;
use message::{MEDIA, calls_of, has_tool, in_message, name_of, shown};
use places::Places;

pub use log::{CUT, ENDINGS, Length};
pub use symptom::{Symptom, Symptoms};

/// The most images of a conversation that are looked at, one render each.
const MOST_MEDIA: usize = 16;

/// How many answers with calls are looked at without these calls, one render each.
const MOST_CALLS: usize = 4;

/// What is wrong with a conversation and a template, and by which rules for logs it was judged. `render`
/// renders this and other conversations, and `length` is what the model takes, if that is known. A panic
/// is a symptom, too: what was found before it stays.
pub fn judge(
    template: &Template,
    case: &Case,
    length: Option<Length<'_>>,
    render: &dyn Fn(&Case) -> Outcome,
) -> Symptoms {
    let mut judged = Judged {
        template,
        case,
        said: case_text(case),
        found: Symptoms::default(),
    };
    if let Err(why) = guard::catch(|| judged.all(length, render)) {
        let what = guard::internal_error("the examination of a conversation", &why);
        judged
            .found
            .add(contract::INTERNAL_ERROR.id, what, String::new());
    }
    judged.found
}

struct Judged<'j> {
    template: &'j Template,
    case: &'j Case,
    /// Every text of the conversation, with its tools and documents.
    said: String,
    found: Symptoms,
}

impl Judged<'_> {
    fn all(&mut self, length: Option<Length<'_>>, render: &dyn Fn(&Case) -> Outcome) {
        calls::judge(self.case, &mut self.found);
        let mut log = Log {
            template: self.template,
            case: self.case,
            found: &mut self.found,
        };
        log.judge();
        match render(self.case) {
            Outcome::Rendered { text } => {
                let mut places = Places::new(&text);
                let lost = places.lost(&self.case.messages);
                log.reasoning(&mut |thought| places.takes(thought));
                if let Some(length) = length {
                    log.length(&text, length);
                }
                self.texts(&lost);
                self.tools(&text, &places, render);
                self.media(&text, render);
                self.printed(&text);
                self.nothing(&text, render);
                self.cache(&text, render);
            }
            Outcome::Exceeded { limit } => {
                let what = format!("the limit on {limit} runs out");
                let raise = format!("`--limits {limit}=…` raises it");
                self.found.add("renders", what, raise);
            }
            other => self.found.add("renders", other.text(), String::new()),
        }
    }

    /// Says which texts of messages are not in the prompt.
    fn texts(&mut self, lost: &[Option<&str>]) {
        let messages = &self.case.messages;
        let said = messages.iter().zip(lost).enumerate();
        let said = said.filter(|(_, (message, _))| message["role"] != "system");
        let said: Vec<(usize, Option<&str>)> = said.map(|(at, (_, lost))| (at, *lost)).collect();
        let gone = said.iter().take_while(|(_, lost)| lost.is_some()).count();
        let is_cut = gone > 1 && gone < said.len();
        if let (true, Some((_, Some(text)))) = (is_cut, said.first()) {
            let what = "the first messages are not in the prompt";
            self.found.add(
                "long-history-kept",
                what,
                format!("{gone} of them, from {}", shown(text)),
            );
        }
        for (at, (message, lost)) in messages.iter().zip(lost).enumerate() {
            let role = message["role"].as_str().unwrap_or_default();
            let is_reported = is_cut && said.iter().take(gone).any(|(gone, _)| *gone == at);
            if let Some(text) = lost.filter(|_| !is_reported) {
                let is_list = message[CONTENT].is_array();
                let (broken, what) = match (role, is_list) {
                    ("tool", _) => (
                        "tool-results-kept",
                        "a result is not in the prompt".to_owned(),
                    ),
                    (role, true) => (
                        "text-part-is-text",
                        format!("a text part of the role `{role}` is not in the prompt"),
                    ),
                    (_, false) if calls_of(message).next().is_some() => (
                        "content-beside-calls",
                        "the text beside a call is not in the prompt".to_owned(),
                    ),
                    (role, false) => (
                        "messages-kept",
                        format!("a text of the role `{role}` is not in the prompt"),
                    ),
                };
                self.found.add(broken, what, in_message(at, text));
            }
        }
    }

    /// Whether calls and tools are in the prompt, and arguments are encoded once.
    fn tools(&mut self, prompt: &str, places: &Places<'_>, render: &dyn Fn(&Case) -> Outcome) {
        let encoded = keys_between(prompt, "{\\\"", "\\\"");
        // A name that the tools have is in the prompt without its call.
        let called = self.case.messages.iter().enumerate();
        let called = called.filter(|(_, message)| calls_of(message).next().is_some());
        for (at, message) in called.take(MOST_CALLS) {
            let mut names = calls_of(message).map(name_of);
            let Some(name) = names.find(|name| has_tool(self.case, name)) else {
                continue;
            };
            let mut without = self.case.clone();
            let message = without.messages.get_mut(at);
            if let Some(message) = message.and_then(Value::as_object_mut) {
                message.remove("tool_calls");
            }
            if render(&without).text() == prompt {
                let what = "a call is not in the prompt";
                self.found
                    .add("tool-calls-kept", what, in_message(at, name));
            }
        }
        for (at, message) in self.case.messages.iter().enumerate() {
            for call in calls_of(message) {
                let function = &call["function"];
                if let Some(name) = function["name"].as_str().filter(|name| !places.has(name)) {
                    self.found.add(
                        "tool-calls-kept",
                        "a call is not in the prompt",
                        in_message(at, name),
                    );
                }
                let text = function["arguments"].as_str().unwrap_or_default();
                let read: Option<Value> = serde_json::from_str(text).ok();
                let key = read
                    .as_ref()
                    .and_then(Value::as_object)
                    .and_then(|all| all.keys().next())
                    .filter(|key| encoded.contains(key.as_str()));
                let twice = key.map(|key| format!("{{\\\"{key}\\\""));
                if let Some(twice) = twice.filter(|twice| self.only_in(prompt, twice)) {
                    let what = "the arguments of a call are JSON in JSON";
                    self.found
                        .add("arguments-encoded-once", what, in_message(at, &twice));
                }
            }
        }
        let tools = self.case.tools.iter().flatten();
        let names = tools.filter_map(|tool| tool["function"].get("name")?.as_str());
        let gone: Vec<&str> = names.filter(|name| !places.has(name)).collect();
        if let [first, ..] = gone.as_slice() {
            let detail = format!("{} of them, such as `{first}`", gone.len());
            self.found
                .add("tools-kept", "a tool is not in the prompt", detail);
        }
    }

    /// Whether a prompt says something that neither the conversation nor the template says.
    fn only_in(&self, prompt: &str, text: &str) -> bool {
        let is_in = |all: &str| memmem::find(all.as_bytes(), text.as_bytes()).is_some();
        is_in(prompt) && !is_in(&self.said) && !is_in(&self.template.source)
    }

    /// Whether each image, recording and video changes the prompt.
    fn media(&mut self, prompt: &str, render: &dyn Fn(&Case) -> Outcome) {
        // Ollama puts the images in itself.
        if self.template.dialect == Dialect::Go {
            return;
        }
        let mut places = Vec::new();
        for (at, message) in self.case.messages.iter().enumerate() {
            let parts = message[CONTENT]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate();
            places.extend(parts.filter_map(|(part, value)| {
                let kind = value["type"].as_str()?;
                let (_, one) = MEDIA.iter().find(|(known, _)| *known == kind)?;
                Some((at, part, *one))
            }));
        }
        for (at, part, one) in places.into_iter().take(MOST_MEDIA) {
            let mut without = self.case.clone();
            let message = without.messages.get_mut(at);
            let content = message.and_then(|message| message.get_mut(CONTENT));
            if let Some(parts) = content.and_then(Value::as_array_mut) {
                parts.remove(part);
            }
            if render(&without).text() == prompt {
                let what = format!("{one} is not in the prompt");
                self.found
                    .add("images-kept", what, format!("message {}", at + 1));
            }
        }
    }

    /// Whether lists and objects are in the prompt as Python or Go prints them.
    fn printed(&mut self, prompt: &str) {
        let case = self.case;
        let parts = case
            .messages
            .iter()
            .filter_map(|message| message[CONTENT].as_array());
        let arguments = case
            .messages
            .iter()
            .flat_map(calls_of)
            .map(|call| &call["function"]);
        let kinds = [
            (
                "text-part-is-text",
                "parts",
                parts.flatten().collect::<Vec<_>>(),
            ),
            (
                "no-repr-leak",
                "arguments",
                arguments.map(|one| &one["arguments"]).collect(),
            ),
            (
                "no-repr-leak",
                "tools",
                case.tools.iter().flatten().collect(),
            ),
        ];
        let printed = [("{'", "': "), ("map[", ":")].map(|(a, z)| keys_between(prompt, a, z));
        for (rule, name, objects) in kinds {
            let keys = objects.iter().filter_map(|one| {
                let key = one.as_object()?.keys().next()?;
                // Tools and the parts of a result begin with the same key.
                let kind = one[key].as_str().filter(|_| key == "type");
                Some((key, kind))
            });
            let is_printed =
                |(key, _): &(&String, _)| printed.iter().any(|all| all.contains(key.as_str()));
            let mut tried = HashSet::new();
            let mut keys = keys.filter(is_printed).filter(|key| tried.insert(*key));
            let is_python = |key: &String| prompt.contains(&format!("({key}="));
            let mark = keys.find_map(|(key, kind)| {
                let python = kind.map_or_else(String::new, |kind| format!("'{kind}'"));
                let marks = [format!("{{'{key}': {python}"), format!("map[{key}:")];
                let mut marks = marks.into_iter().filter(|_| !is_python(key));
                marks.find(|mark| self.only_in(prompt, mark))
            });
            if let Some(mark) = mark {
                let what =
                    format!("{name} are in the prompt as a programming language prints them");
                self.found.add(rule, what, shown(&mark));
            }
        }
    }

    /// Whether `None` and the like are in the prompt where a content is null.
    fn nothing(&mut self, prompt: &str, render: &dyn Fn(&Case) -> Outcome) {
        let mut filled = self.case.clone();
        let mut is_filled = false;
        for message in filled.messages.iter_mut().filter_map(Value::as_object_mut) {
            let count = message.len();
            message.retain(|key, value| key == CONTENT || !value.is_null());
            let content = message.entry(CONTENT).or_insert(Value::Null);
            is_filled |= content.is_null() || message.len() < count;
            if message[CONTENT].is_null() {
                message[CONTENT] = "".into();
            }
        }
        if !is_filled || !NOTHING.iter().any(|word| prompt.contains(word)) {
            return;
        }
        let other = render(&filled);
        let Outcome::Rendered { text } = &other else {
            return;
        };
        let leaked = NOTHING
            .iter()
            .find(|word| occurrences(prompt, word) > occurrences(text, word));
        if let Some(word) = leaked {
            let what = format!("`{word}` is in the prompt for a content that is null or missing");
            self.found.add("no-null-leak", what, String::new());
        }
    }

    /// Whether the prompt begins with the prompt of the turn before, which a server has in its cache.
    fn cache(&mut self, prompt: &str, render: &dyn Fn(&Case) -> Outcome) {
        let messages = &self.case.messages;
        let role = |at: usize| messages.get(at).map(|message| &message["role"]);
        let is_answer = |at: &usize| role(*at).is_some_and(|role| role == "assistant");
        let Some(at) = (1..messages.len().saturating_sub(1)).rev().find(is_answer) else {
            return;
        };
        let before = |opens: bool| {
            let case = Case {
                messages: messages.iter().take(at).cloned().collect(),
                add_generation_prompt: opens,
                continue_final_message: None,
                ..self.case.clone()
            };
            render(&case).into_prompt().ok()
        };
        let Some(open) = before(true) else {
            return;
        };
        let kept = common(&open, prompt);
        if kept == open.len() {
            return;
        }
        // What opens the answer may differ: the server has it, but it is short.
        let closed = before(false).filter(|closed| open.starts_with(closed.as_str()));
        let until = closed.map_or(open.len(), |closed| closed.len());
        if kept < until {
            let what = "the prompt does not begin with the prompt of the turn before, so a server \
                        cannot reuse its cache";
            self.found.add(
                "history-stable",
                what,
                format!("{} of {until} bytes", until - kept),
            );
            if let Some(last) = self.found.all.last_mut() {
                last.anew = Some((until - kept, until));
            }
        }
    }
}

/// The texts in a prompt between these two marks.
fn keys_between<'p>(prompt: &'p str, start: &str, end: &str) -> HashSet<&'p str> {
    let starts = prompt.split(start).skip(1);
    let keys = starts.filter_map(|rest| Some(rest.split_once(end)?.0));
    keys.collect()
}

/// Every text of a conversation, with its tools and documents.
fn case_text(case: &Case) -> String {
    fn add(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|one| add(one, all)),
            Value::Object(fields) => fields.values().for_each(|one| add(one, all)),
            _ => {}
        }
    }
    let mut all = String::new();
    let others = [&case.tools, &case.documents]
        .into_iter()
        .flatten()
        .flatten();
    case.messages
        .iter()
        .chain(others)
        .for_each(|one| add(one, &mut all));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_as_a_language_prints_them() {
        let printed = keys_between("{'a': 1} and {'b c': {'é': 2}} {'d", "{'", "': ");
        assert_eq!(printed, HashSet::from(["a", "b c", "é"]));
    }
}
