//! The changes that a served application makes to a request before a template sees it. A front is a
//! list of them, in order.

use std::fmt;
use std::sync::Arc;

use rolecall_core::{CONTENT, Case};
use serde_json::{Map, Value};

use super::facts::TemplateFacts;
use super::preparation::{Opening, Preparation};
use super::template_probes::TemplateProbes;

/// A change that an application makes to requests.
#[derive(Debug)]
pub struct Change {
    /// Its name, in a few words.
    pub name: &'static str,
    /// What happens, in a sentence for users.
    pub sentence: &'static str,
    /// Where the application does it.
    pub source: Source,
    /// What it means for a conversation.
    pub kind: ChangeKind,
    /// Makes it, or returns the application's refusal.
    pub(super) make: fn(&mut Request) -> Result<(), String>,
}

/// A place in an application's source: a file, and in it a line of the front's version, or a function
/// where the version's lines are not known.
#[derive(Debug, Clone, Copy)]
pub struct Source(pub &'static str, pub &'static str);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Source(file, place) = self;
        write!(f, "{file}:{place}")
    }
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
    /// What the application renders besides, and needs a prompt of.
    pub(super) beside: Option<Case>,
    /// Why it refuses the request after the template has made a prompt of it.
    pub(super) late: Option<String>,
    /// How that prompt continues the other.
    pub(super) opening: Option<Opening>,
    /// A text at the end of a prompt, and the one that it writes behind it then.
    pub(super) turn: Option<(&'static str, &'static str)>,
    /// What llama.cpp's server finds out about the template.
    probes: Option<Arc<TemplateProbes>>,
}

/// How an application prepares a request: its own changes, and what it calls then.
pub(super) struct ServedRules {
    pub(super) changes: &'static [Change],
    pub(super) then: fn(&Case) -> Preparation,
    /// Whether it finds out about a template by rendering it.
    pub(super) probes: bool,
}

impl ServedRules {
    /// Prepares a case for a template, perhaps without one of the changes.
    pub(super) fn prepare(
        &self,
        written: Case,
        facts: TemplateFacts,
        probes: Option<Arc<TemplateProbes>>,
        without: Option<&Change>,
    ) -> Preparation {
        let mut request = Request::new(written.clone(), facts, probes);
        let written = Some(Arc::new(written));
        let is_left_out = |change: &&Change| without.is_some_and(|one| one.name == change.name);
        for change in self.changes.iter().filter(|change| !is_left_out(change)) {
            if let Err(why) = (change.make)(&mut request) {
                return Preparation {
                    written,
                    ..Preparation::refused(why)
                };
            }
        }
        let prepared = (self.then)(&request.case);
        let beside = request.beside.map(|case| {
            let prepared = (self.then)(&case);
            prepared.seen().cloned().unwrap_or_else(|| Arc::new(case))
        });
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
            beside,
            late: request.late,
            opening: request.opening,
            turn: request.turn,
            ..prepared
        }
    }

    /// The changes that a case gets. If the application refuses it, the last one says so.
    pub(super) fn taking_effect(
        &self,
        written: Case,
        facts: TemplateFacts,
        probes: Option<Arc<TemplateProbes>>,
    ) -> Vec<&'static Change> {
        let mut request = Request::new(written, facts, probes);
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

    /// What llama.cpp's server has found out about the template.
    pub(super) fn probes(&self) -> Arc<TemplateProbes> {
        let probes = self.probes.as_ref();
        probes.map_or_else(Arc::default, Arc::clone)
    }

    fn new(case: Case, facts: TemplateFacts, probes: Option<Arc<TemplateProbes>>) -> Request {
        Request {
            case,
            facts,
            behind: String::new(),
            is_continued: false,
            other_tools: None,
            beside: None,
            late: None,
            opening: None,
            turn: None,
            probes,
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
            undefined,
            ..
        } = &self.case;
        let conversation = (messages, tools, documents, variables);
        let options = (
            add_generation_prompt,
            continue_final_message,
            undefined,
            &self.behind,
            &self.late,
        );
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

/// Gives a tool a type, a description and parameters; what nobody wrote is null.
pub(super) fn fill_tool(tool: &mut Map<String, Value>, function: &mut Map<String, Value>) {
    tool.entry("type").or_insert_with(|| "function".into());
    for name in ["description", "parameters"] {
        function.entry(name).or_insert(Value::Null);
    }
}

/// Whether a value is missing, null, or of a kind.
pub(super) fn is_null_or(value: Option<&Value>, is: fn(&Value) -> bool) -> bool {
    value.is_none_or(|value| value.is_null() || is(value))
}

/// The refusal of an application.
pub(super) fn refused<T>(why: impl Into<String>) -> Result<T, String> {
    Err(why.into())
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)] // Rows of a table are shorter so.
mod tests {
    use std::collections::BTreeSet;

    use rolecall_core::{Dialect, Template};
    use serde_json::json;

    use crate::front::{ChangeKind, Front, ModelProfile};

    use super::*;

    const PARTS: &str =
        "{% for message in messages %}{% for part in message.content %}{% endfor %}{% endfor %}";

    /// A request to a template, and what a change makes of a place in it.
    type Row = (
        Front,
        &'static str,
        &'static str,
        Value,
        &'static str,
        Value,
    );

    fn case(request: &Value) -> Case {
        let list = |name: &str| request.get(name).and_then(Value::as_array).cloned();
        let is = |name: &str| request.get(name).and_then(Value::as_bool);
        let mut case = Case::from_messages(
            list("messages").unwrap_or_else(|| vec![json!({"role": "user", "content": "Hi"})]),
        );
        case.tools = list("tools");
        case.documents = list("documents");
        case.add_generation_prompt = is("add_generation_prompt").unwrap_or(true);
        case.continue_final_message = is("continue").map(|_| CONTENT.to_owned());
        if let Some(Value::Object(variables)) = request.get("variables") {
            case.variables = variables.clone();
        }
        case
    }

    fn message(fields: Value) -> Value {
        json!({"messages": [{"role": "user", "content": "Hi"}, fields, {"role": "user", "content": "x"}]})
    }

    fn called(function: Value) -> Value {
        let call = json!({"id": "c", "type": "function", "function": function});
        message(json!({"role": "assistant", "content": "x", "tool_calls": [call]}))
    }

    fn tool(function: Value) -> Value {
        json!({"tools": [{"type": "function", "function": function}]})
    }

    /// The rows that hold for both.
    fn of_both(front: Front, joint: &str) -> Vec<Row> {
        let texts = json!([{"type": "text", "text": "a", "x": 1}, {"type": "text", "text": "b"}]);
        let image = json!([{"type": "image_url", "image_url": {"url": "u"}}]);
        vec![
            (
                front,
                "",
                "arguments become an object",
                called(json!({"name": "f", "arguments": "{\"a\": 1.0}"})),
                "/messages/1/tool_calls/0/function/arguments",
                json!({"a": 1.0}),
            ),
            (
                front,
                "",
                "no content is an empty one",
                message(json!({"role": "assistant"})),
                "/messages/1/content",
                json!(""),
            ),
            (
                front,
                "",
                "parts become a text",
                message(json!({"role": "system", "content": texts})),
                "/messages/1/content",
                json!(["a", "b"].join(joint)),
            ),
            (
                front,
                PARTS,
                "parts become a text",
                message(json!({"role": "tool", "content": texts})),
                "/messages/1/content",
                json!(["a", "b"].join(joint)),
            ),
            (
                front,
                "{# image #}",
                "media become places",
                message(json!({"role": "user", "content": image})),
                "/messages/1/content",
                if front == Front::SgLang {
                    json!([{"type": "image"}])
                } else {
                    json!("")
                },
            ),
            (
                front,
                PARTS,
                "media become places",
                message(json!({"role": "user", "content": image})),
                "",
                json!(null),
            ),
            (
                front,
                "",
                "fields have an order",
                message(json!({"content": "x", "role": "assistant"})),
                "/messages/1",
                json!({"role": "assistant", "content": "x"}),
            ),
            (
                front,
                "",
                "tools are filled in",
                tool(json!({"name": "f"})),
                "/tools/0/function",
                json!({"name": "f", "description": null, "parameters": null}),
            ),
            (
                front,
                "",
                "effort turns thinking on",
                json!({"variables": {"reasoning_effort": "none"}}),
                "/variables/enable_thinking",
                json!(false),
            ),
        ]
    }

    fn rows() -> Vec<Row> {
        use Front::{SgLang, Vllm};
        let mut rows = of_both(Vllm, "\n");
        rows.extend(of_both(SgLang, " "));
        let more = json!({"name": "f", "description": "d", "parameters": {"type": "object"}, "x": 1, "strict": null});
        let known = json!({"name": "f", "description": "d", "parameters": {"type": "object"}});
        let shuffled = json!({"parameters": {"type": "object"}, "description": "d", "name": "f"});
        let last = json!({"role": "assistant", "content": "It is"});
        let ending = json!({"messages": [{"role": "user", "content": "Hi"}, last]});
        let mut continued = ending.clone();
        continued["continue"] = json!(true);
        let choice = |choice: Value| {
            json!({"variables": {"tool_choice": choice}, "tools": [
            {"type": "function", "function": known}, {"type": "function", "function": {"name": "g"}}]})
        };
        let thought = json!([{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]);
        let developers = json!({"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "Hi"},
            {"role": "developer", "content": "b"}]});
        let header = "x-anthropic-billing-header: 1\nrest";
        rows.extend([
            (Vllm, "", "no empty list of tools", json!({"tools": []}), "", json!(null)),
            (Vllm, "", "one end of the prompt", continued.clone(), "", json!(null)),
            (Vllm, "", "the shape of options", tool(json!({"description": "d"})), "", json!(null)),
            (Vllm, "", "the shape of options", json!({"documents": [{"n": 1}]}), "", json!(null)),
            (Vllm, "", "the shape of options", json!({"variables": {"reasoning_effort": "odd"}}), "", json!(null)),
            (Vllm, "", "the shape of options", json!({"variables": {"tool_choice": "auto"}}), "", json!(null)),
            (Vllm, "", "the shape of messages", message(json!({"role": "user", "content": null})), "", json!(null)),
            (Vllm, "", "the shape of messages", message(json!({"role": "user", "content": ["a"]})), "", json!(null)),
            (Vllm, "", "the shape of messages", message(json!({"role": "assistant", "tool_calls": [
                {"type": "function", "function": {"name": "f", "arguments": "{}"}}]})), "", json!(null)),
            (Vllm, "", "arguments in variables", json!({"variables": {"documents": [{"a": "b"}]}}),
                "/documents", json!([{"a": "b"}])),
            (Vllm, "", "arguments in variables", json!({"variables": {"tokenize": true}}), "", json!(null)),
            (Vllm, "", "reasoning has two names", message(json!({"role": "assistant", "content": "x", "reasoning_content": "R"})),
                "/messages/1", json!({"role": "assistant", "content": "x", "reasoning": "R", "reasoning_content": "R"})),
            (Vllm, "", "other fields are lost", message(json!({"role": "assistant", "content": "x", "thinking": "T"})),
                "/messages/1", json!({"role": "assistant", "content": "x"})),
            (Vllm, "", "no list of no calls", message(json!({"role": "assistant", "content": "x", "tool_calls": []})),
                "/messages/1", json!({"role": "assistant", "content": "x"})),
            (Vllm, "", "bad arguments are lost", called(json!({"name": "f", "arguments": "[1]"})),
                "/messages/1/tool_calls/0/function/arguments", json!({})),
            (Vllm, PARTS, "texts become parts", message(json!({"role": "assistant", "content": "x"})),
                "/messages/1/content", json!([{"type": "text", "text": "x"}])),
            (Vllm, "", "Claude Code's header is lost", message(json!({"role": "system", "content": header})),
                "/messages/1/content", json!("rest")),
            (Vllm, PARTS, "parts have one form", message(json!({"role": "assistant", "content": thought})),
                "/messages/1/content/0", json!({"type": "text", "text": "t"})),
            (Vllm, "", "developer becomes system", developers.clone(),
                "/messages/0", json!({"role": "system", "content": "a\n\nb"})),
            (Vllm, "{{ 'developer' }}", "fields have an order", developers,
                "/messages/2", json!({"role": "developer", "content": "b", "tools": null})),
            (Vllm, "", "fields have an order", called(json!({"name": "f", "arguments": "{}"})),
                "/messages/1/tool_calls/0", json!({"id": "c", "function": {"arguments": {}, "name": "f"}, "type": "function"})),
            (Vllm, "", "other fields of tools are lost", tool(more.clone()), "/tools/0/function", known.clone()),
            (Vllm, "", "tools have an order", tool(shuffled.clone()), "/tools/0/function", known.clone()),
            (Vllm, "", "null and auto are lost", json!({"variables": {"a": null, "b": "auto", "c": 0}}),
                "/variables", json!({"c": 0})),
            (Vllm, "", "the choice of a tool stays outside", choice(json!("none")), "/variables", json!({})),
            (SgLang, "", "the shape of a request", json!({"messages": []}), "", json!(null)),
            (SgLang, "", "the shape of a request", message(json!({"role": "critic", "content": "x"})), "", json!(null)),
            (SgLang, "", "the shape of a request", json!({"variables": {"tools": []}}), "", json!(null)),
            (SgLang, "", "roles in small letters", message(json!({"role": "System", "content": "x"})),
                "/messages/1/role", json!("system")),
            (Vllm, "", "parts become a text", message(json!({"role": "user", "content": [
                {"type": "text", "text": ""}, {"type": "text", "text": "x"}]})), "/messages/1/content", json!("x")),
            (Vllm, PARTS, "parts become a text", message(json!({"role": "tool", "content": [
                {"type": "text", "text": ""}, {"type": "text", "text": "x"}]})), "/messages/1/content", json!("\nx")),
            (SgLang, "", "other fields are lost", message(json!({"role": "assistant", "content": "x", "reasoning": "R", "name": "n"})),
                "/messages/1", json!({"role": "assistant", "content": "x", "name": "n"})),
            (SgLang, "", "other fields are lost", message(json!({"role": "user", "content": "x", "name": "n"})),
                "/messages/1", json!({"role": "user", "content": "x"})),
            (SgLang, "", "arguments become an object", called(json!({"name": "f", "arguments": "[1]"})), "", json!(null)),
            (SgLang, "", "calls are filled in", called(json!({"name": "f", "arguments": "{}"})),
                "/messages/1/tool_calls/0", json!({"id": "c", "index": null, "type": "function",
                    "function": {"name": "f", "arguments": {}}})),
            (SgLang, PARTS, "thoughts are lost", message(json!({"role": "assistant", "content": thought})),
                "/messages/1/content", json!([{"type": "text", "text": "a"}])),
            (SgLang, PARTS, "other fields of parts are lost", message(json!({"role": "user", "content": [
                {"type": "text", "text": "a", "x": 1}]})), "/messages/1/content", json!([{"type": "text", "text": "a"}])),
            (SgLang, "", "the last message is continued behind", continued, "/behind", json!("It is")),
            (SgLang, "", "the last answer becomes the user's", ending,
                "/messages/1", json!({"role": "user", "content": "It is"})),
            (SgLang, "", "a new message always begins", json!({"add_generation_prompt": false}),
                "/add_generation_prompt", json!(true)),
            (SgLang, "", "documents are lost", json!({"documents": [{"a": "b"}]}), "/documents", json!(null)),
            (SgLang, "", "documents in variables", json!({"variables": {"documents": [{"a": "b"}]}}),
                "/documents", json!([{"a": "b"}])),
            (SgLang, "", "tools only if they may be called", choice(json!("none")), "/tools", json!(null)),
            (SgLang, "", "tools only if they may be called", choice(json!({"function": {"name": "g"}})),
                "/tools/0/function/name", json!("g")),
            (SgLang, "", "a key that nobody wrote", tool(known.clone()),
                "/tools/0", json!({"type": "function", "function": known, "defer_loading": null})),
            (SgLang, "", "other fields of tools are lost", tool(more), "/tools/0/function", known.clone()),
            (SgLang, "", "types of schemas are corrected", tool(json!({"name": "f", "parameters": {"type": "dict"}})),
                "/tools/0/function/parameters/type", json!("object")),
            (SgLang, "", "wrong schemas are refused", tool(json!({"name": "f", "parameters": {"type": "any"}})), "", json!(null)),
            (SgLang, "", "effort turns thinking on", json!({"variables": {"reasoning_effort": 0.5}}),
                "/variables/thinking", json!(true)),
        ]);
        rows
    }

    /// A template that prints the thoughts of answers, and those of calls.
    const THOUGHTS: &str = "{% for m in messages %}{{ m.role }}<think>{{ m.reasoning_content }}</think>{{ m.content \
        }}{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}";
    /// One that ignores the system, and one that loops over contents.
    const NO_SYSTEM: &str =
        "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}";
    const LOOPS: &str =
        "{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}";

    const REFUSES_NOTHING: &str = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% elif m.content %}\
        {% for part in m.content %}{{ part.text }}{% endfor %}{% else %}{{ raise_exception('none') }}\
        {% endif %}{% endfor %}";

    #[rustfmt::skip]
    fn of_mlx_lm() -> Vec<Row> {
        use Front::MlxLm;
        let texts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        let user = |content: &Value| message(json!({"role": "user", "content": content}));
        vec![
            (MlxLm, "", "an empty list of tools is none", json!({"tools": []}), "/tools", json!(null)),
            (MlxLm, "", "only messages and tools", json!({"documents": []}), "/documents", json!(null)),
            (MlxLm, "", "always a new message", json!({"add_generation_prompt": false}), "/add_generation_prompt", json!(true)),
            (MlxLm, "", "arguments in variables", json!({"variables": {"tools": []}}), "", json!(null)),
            (MlxLm, "", "only texts", user(&json!([{"type": "image"}])), "", json!(null)),
            (MlxLm, "", "parts become a text", user(&texts), "/messages/1/content", json!("ab")),
            (MlxLm, "", "no content is an empty one", user(&json!(null)), "/messages/1/content", json!("")),
            (MlxLm, "", "arguments become values", called(json!({"name": "f", "arguments": "[1.0]"})),
                "/messages/1/tool_calls/0/function/arguments", json!([1.0])),
            (MlxLm, "", "arguments become values", called(json!({"name": "f", "arguments": "{"})), "", json!(null)),
            (MlxLm, THOUGHTS, "thinking is on or off", json!({}), "/variables/enable_thinking", json!(true)),
            (MlxLm, "", "thinking is on or off", json!({}), "/variables/enable_thinking", json!(false)),
            (MlxLm, "", "every message needs a role", json!({"messages": [{"content": "x"}]}), "/late", json!("'role'")),
        ]
    }

    #[rustfmt::skip]
    fn of_llama_server() -> Vec<Row> {
        use Front::LlamaServer;
        let texts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        let user = |content: &Value| message(json!({"role": "user", "content": content}));
        let answer = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]);
        let two = json!([{"role": "assistant", "content": "x"}, {"role": "assistant", "content": "y"}]);
        let system = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "x"}]);
        let arguments = "/messages/1/tool_calls/0/function/arguments";
        let effort = |effort: &str| json!({"variables": {"reasoning_effort": effort}});
        let channel = "<|channel|>{{ messages[0].content }}";
        let more = json!({"name": "f", "strict": true, "description": "d", "parameters": {"minimum": 1.0}});
        vec![
            (LlamaServer, "{{ raise_exception('x') }}", "a template that renders", json!({}), "", json!(null)),
            (LlamaServer, THOUGHTS, "the shape of messages", message(json!({"role": "user"})), "", json!(null)),
            (LlamaServer, THOUGHTS, "the shape of messages", message(json!({"content": "x"})), "", json!(null)),
            (LlamaServer, THOUGHTS, "the shape of messages", message(json!({"role": "user", "content": "x", "name": null})), "", json!(null)),
            (LlamaServer, THOUGHTS, "the shape of tools", json!({"tools": [{"name": "f"}]}), "", json!(null)),
            (LlamaServer, THOUGHTS, "the choice of a tool stays outside", json!({"variables": {"tool_choice": "f"}}), "", json!(null)),
            (LlamaServer, THOUGHTS, "an answer at the end is continued", json!({"messages": two}), "", json!(null)),
            (LlamaServer, THOUGHTS, "an answer at the end is continued", json!({"messages": answer}), "/add_generation_prompt", json!(false)),
            (LlamaServer, THOUGHTS, "the last message stays outside", json!({"messages": answer}), "/behind", json!("<think></think>y")),
            (LlamaServer, channel, "the last message stays outside", json!({"messages": answer}), "/behind",
                json!("<|start|>assistant<|channel|>analysis<|message|><|end|><|start|>assistant<|channel|>final<|message|>y")),
            (LlamaServer, THOUGHTS, "effort `none` switches thinking off", effort("none"), "/variables/enable_thinking", json!(false)),
            (LlamaServer, THOUGHTS, "effort `none` switches thinking off", effort("low"), "/variables/reasoning_strength", json!("low")),
            (LlamaServer, THOUGHTS, "only known fields", message(json!({"role": "user", "content": "x", "reasoning": "r"})),
                "/messages/1", json!({"role": "user", "content": "x"})),
            (LlamaServer, "{{ messages[0].content }}{# You have access to the following functions in JSONSchema format #}",
                "StepFun's texts are trimmed", user(&json!(" x\n")), "/messages/1/content", json!("x")),
            (LlamaServer, THOUGHTS, "parts become a text", user(&texts), "/messages/1/content", json!("a\nb")),
            // A template that refuses an empty list of parts takes no parts for the server.
            (LlamaServer, REFUSES_NOTHING, "parts become a text", user(&texts), "/messages/1/content", json!("a\nb")),
            (LlamaServer, LOOPS, "texts become parts", json!({}), "/messages/0/content", json!([{"type": "text", "text": "Hi"}])),
            (LlamaServer, THOUGHTS, "developer becomes system", message(json!({"role": "developer", "content": "x"})), "/messages/1/role", json!("system")),
            (LlamaServer, NO_SYSTEM, "the system's text joins the next message", json!({"messages": system}), "/messages/0/content", json!("s\nx")),
            (LlamaServer, THOUGHTS, "arguments become values", called(json!({"name": "f", "arguments": {"a": 1}})), arguments, json!({"a": 1})),
            (LlamaServer, THOUGHTS, "tools have three fields", tool(more.clone()), "/tools/0/function/strict", json!("no such field")),
            (LlamaServer, THOUGHTS, "numbers are rewritten", tool(more), "/tools/0/function/parameters/minimum", json!(1)),
            (LlamaServer, THOUGHTS, "tools are filled in", tool(json!({"name": "f"})),
                "/tools/0/function", json!({"name": "f", "description": "", "parameters": {}})),
            (LlamaServer, channel, "messages of some families",
                message(json!({"role": "assistant", "content": "x", "reasoning_content": "r"})), "/messages/1/thinking", json!("r")),
            (LlamaServer, THOUGHTS, "thinking is on or off", json!({}), "/variables/enable_thinking", json!(true)),
            (LlamaServer, NO_SYSTEM, "thinking is on or off", json!({}), "/variables/enable_thinking", json!(false)),
            (LlamaServer, THOUGHTS, "the date is known", json!({}), "/variables/date_string", json!("02 Jan 2026")),
            (LlamaServer, THOUGHTS, "tokens are always there", json!({}), "/variables/bos_token", json!("")),
            (LlamaServer, THOUGHTS, "only what is there", json!({}), "/undefined", json!(["documents", "tools"])),
        ]
    }

    #[test]
    fn every_change_does_what_it_says() {
        let mut tried = BTreeSet::new();
        for (front, source, name, request, place, expected) in
            [rows(), of_mlx_lm(), of_llama_server()].concat()
        {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let model = ModelProfile::of(&template);
            let case = case(&request);
            let changes = front.changes(&case, &model);
            let found = changes.iter().find(|change| change.name == name);
            let found =
                found.unwrap_or_else(|| panic!("{front}: `{name}` changes nothing in {request}"));
            let prepared = front.prepare(&case, &model);
            if place.is_empty() {
                assert!(
                    prepared.case.is_err(),
                    "{front}: `{name}` refuses {request}"
                );
                assert!(std::ptr::eq(*found, changes[changes.len() - 1]), "{name}");
            } else {
                let seen = prepared.seen().unwrap();
                let whole = json!({
                    "messages": seen.messages, "tools": seen.tools, "documents": seen.documents,
                    "variables": seen.variables, "add_generation_prompt": seen.add_generation_prompt,
                    "behind": prepared.behind, "late": prepared.late, "undefined": seen.undefined,
                });
                let found = whole.pointer(place).map(Value::to_string);
                let missing = json!("no such field").to_string();
                assert_eq!(
                    found.unwrap_or(missing),
                    expected.to_string(),
                    "{front}: {name}: {request}"
                );
            }
            tried.insert((front, name));
        }
        for front in Front::ALL.into_iter().filter(|front| front.is_served()) {
            for change in front.all_changes() {
                // Whether these matter is known only to whoever renders.
                let is_seen = ![
                    "bare functions in a second try",
                    "the system's text has to stand alone",
                ]
                .contains(&change.name);
                assert_eq!(
                    tried.contains(&(front, change.name)),
                    is_seen,
                    "{front}: {}",
                    change.name
                );
                assert!(change.sentence.ends_with('.'), "{}", change.sentence);
            }
        }
    }

    #[test]
    fn a_change_behind_another_is_named_only_if_it_changes_something() {
        let case = case(&message(json!({"role": "System", "content": "x"})));
        let changes = Front::SgLang.changes(&case, &ModelProfile::able());
        let names: Vec<&str> = changes.iter().map(|change| change.name).collect();
        assert_eq!(names, ["roles in small letters"]);
    }

    /// A change that is left out may have made what a later one relies on.
    #[test]
    fn each_change_can_be_left_out() {
        let odd = [
            message(json!({"role": "assistant"})),
            message(json!({"content": "Hi"})),
            message(json!({"role": "assistant", "tool_calls": [{"function": "f"}, 3]})),
        ];
        for (front, source, _, request, ..) in [rows(), of_mlx_lm(), of_llama_server()].concat() {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let model = ModelProfile::of(&template);
            for request in [&request].into_iter().chain(&odd) {
                let case = case(request);
                for change in front.all_changes() {
                    let prepared = front.prepare_without(&case, &model, Some(change));
                    assert!(prepared.case.is_ok() || prepared.seen().is_none());
                }
            }
        }
    }

    #[test]
    fn mlx_lm_renders_the_system_before_an_empty_question() {
        let model = ModelProfile::able();
        let mut case = Case::from_messages(vec![json!({"role": "system", "content": "s"})]);
        assert!(Front::MlxLm.prepare(&case, &model).beside.is_none());
        case.messages.push(json!({"role": "user", "content": "x"}));
        let prepared = Front::MlxLm.prepare(&case, &model);
        let beside = prepared.beside.unwrap();
        assert_eq!(beside.messages[1], json!({"role": "user", "content": ""}));
        assert!(!beside.add_generation_prompt);
    }

    #[test]
    fn a_template_that_fails_with_tools_gets_their_functions() {
        use crate::engines::Engines;
        use crate::prepared_case::PreparedCase;
        use crate::program::FrontProgram;

        let source = "{{ tools[0].name.upper() }}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let engines = Engines::default();
        let program = FrontProgram::load(engines.for_dialect(Dialect::Jinja), &template);
        let case = case(&tool(json!({"name": "f"})));
        let prompt = |front| {
            let input = PreparedCase::new(&case, front, &program.model);
            program.outcome(&input).into_prompt().ok()
        };
        assert_eq!(prompt(Front::SgLang).as_deref(), Some("F"));
        assert_eq!(prompt(Front::Vllm), None);
        assert_eq!(ChangeKind::Invented.name(), "invented");
    }
}
