//! The changes that a served application makes to a request before a template sees it. A front is a
//! list of them, in order.

use std::sync::Arc;

use rolecall_core::{CONTENT, Case};
use serde_json::{Map, Value};

use super::model::TemplateFacts;
use super::preparation::Preparation;

/// A change that an application makes to requests.
#[derive(Debug)]
pub struct Change {
    /// Its name, in a few words.
    pub name: &'static str,
    /// What happens, in a sentence for users.
    pub sentence: &'static str,
    /// The file of the application that does it.
    pub source: &'static str,
    /// What it means for a conversation.
    pub kind: ChangeKind,
    /// Makes it, or returns the application's refusal.
    pub(super) make: fn(&mut Request) -> Result<(), String>,
}

rolecall_core::named! {
    /// What a change means for a conversation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum ChangeKind {
        /// The application means to do it, and says the same in another way.
        Intended = "intended",
        /// Something of the conversation does not reach the template.
        Lost = "lost",
        /// The template sees something that nobody has written.
        Invented = "invented",
        /// The application refuses the conversation.
        Refused = "refused",
    }
}

/// A request while an application works on it.
pub(super) struct Request {
    /// The conversation.
    pub(super) case: Case,
    /// What the application has read in the template.
    pub(super) facts: TemplateFacts,
    /// The text that it writes behind the prompt.
    pub(super) behind: String,
    /// Whether the last message should have been continued.
    pub(super) is_continued: bool,
    /// The tools for a second try, if no prompt came out of the first.
    pub(super) other_tools: Option<Vec<Value>>,
}

/// How an application prepares a request: its own changes, and what it calls then.
pub(super) struct ServedRules {
    pub(super) changes: &'static [Change],
    pub(super) then: fn(&Case) -> Preparation,
}

impl ServedRules {
    /// Prepares a case for a template.
    pub(super) fn prepare(&self, written: Case, facts: TemplateFacts) -> Preparation {
        let mut request = Request::new(written.clone(), facts);
        let written = Some(Arc::new(written));
        for change in self.changes {
            if let Err(why) = (change.make)(&mut request) {
                return Preparation {
                    written,
                    ..Preparation::refused(why)
                };
            }
        }
        let prepared = (self.then)(&request.case);
        let again = request.other_tools.map(|tools| Case {
            tools: Some(tools),
            ..request.case.clone()
        });
        Preparation {
            case: prepared
                .case
                .map(|seen| seen.or_else(|| Some(Arc::new(request.case)))),
            written,
            behind: request.behind,
            again: again.map(Arc::new),
            ..prepared
        }
    }

    /// The changes that a case gets. If the application refuses it, the last one says so.
    pub(super) fn taking_effect(
        &self,
        written: Case,
        facts: TemplateFacts,
    ) -> Vec<&'static Change> {
        let mut request = Request::new(written, facts);
        let mut before = request.text();
        let mut found = Vec::new();
        for change in self.changes {
            let made = (change.make)(&mut request);
            let after = request.text();
            if made.is_err() || before != after {
                found.push(change);
            }
            if made.is_err() {
                break;
            }
            before = after;
        }
        found
    }
}

impl Request {
    /// Does something with each message that is an object.
    pub(super) fn each(
        &mut self,
        mut make: impl FnMut(&mut Map<String, Value>) -> Result<(), String>,
    ) -> Result<(), String> {
        let messages = self.case.messages.iter_mut();
        let mut messages = messages.filter_map(Value::as_object_mut);
        messages.try_for_each(&mut make)
    }

    /// Does something with each tool that has a function, and with the function.
    pub(super) fn each_tool(
        &mut self,
        mut make: impl FnMut(&mut Map<String, Value>, &mut Map<String, Value>),
    ) {
        let tools = self.case.tools.iter_mut().flatten();
        for tool in tools.filter_map(Value::as_object_mut) {
            if let Some(Value::Object(mut function)) = tool.get_mut("function").map(Value::take) {
                make(tool, &mut function);
                tool["function"] = function.into();
            }
        }
    }

    /// Replaces the arguments of the assistant's calls that are texts, where something takes their place.
    pub(super) fn arguments(
        &mut self,
        mut read: impl FnMut(&str) -> Result<Option<Value>, String>,
    ) -> Result<(), String> {
        self.each(|message| {
            let is_own = is_from(message, "assistant");
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            for call in calls.into_iter().flatten().filter(|_| is_own) {
                if let Some(arguments) = call.pointer_mut("/function/arguments")
                    && let Some(text) = arguments.as_str()
                    && let Some(other) = read(text)?
                {
                    *arguments = other;
                }
            }
            Ok(())
        })
    }

    fn new(case: Case, facts: TemplateFacts) -> Request {
        Request {
            case,
            facts,
            behind: String::new(),
            is_continued: false,
            other_tools: None,
        }
    }

    /// All that a template sees, as one text: two values may be equal although they are written
    /// otherwise.
    fn text(&self) -> String {
        let Case {
            messages,
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            variables,
            ..
        } = &self.case;
        let conversation = (messages, tools, documents, variables);
        let options = (add_generation_prompt, continue_final_message, &self.behind);
        serde_json::to_string(&(conversation, options)).unwrap_or_default()
    }
}

/// Whether a message has a role.
pub(super) fn is_from(message: &Map<String, Value>, role: &str) -> bool {
    message.get("role").is_some_and(|own| own == role)
}

/// The text of a part of a content.
pub(super) fn text_of(part: &Value) -> Option<&str> {
    let text = part
        .get("text")
        .filter(|_| part.get("type").is_some_and(|kind| kind == "text"));
    text?.as_str()
}

/// The parts of a message's content, if it is a list.
pub(super) fn parts(message: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    message.get_mut(CONTENT)?.as_array_mut()
}

/// Puts known fields first, in this order.
pub(super) fn sort(fields: &mut Map<String, Value>, order: &[&str]) {
    let mut sorted = Map::new();
    for name in order {
        sorted.extend(fields.shift_remove_entry(*name));
    }
    sorted.append(fields);
    *fields = sorted;
}

/// The refusal of an application.
pub(super) fn refused<T>(why: impl Into<String>) -> Result<T, String> {
    Err(why.into())
}
