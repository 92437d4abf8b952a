//! Where the texts of a render come from: the literals of the template, and the conversation.
//!
//! The paths of inputs use the names that the conversation has in JSON, in lower case, and the
//! numbers of the messages before Ollama joins neighbours: `messages[2].content`. Arguments of a call
//! that are written as a text have the paths of what the text says. The settings for thinking have
//! the name of the variable that decides, and a date has the name of its function.

use std::sync::Arc;

use gotmpl::parse::{BranchNode, Expr, ListNode, Node, PipeNode};
use rolecall_core::Case;
use rolecall_core::provenance::{Input, InputKind, Origin, Span, Spans};
use serde_json::Value as Json;

use crate::collate::{self, BETWEEN, CollatedCase};
use crate::message::{self, Message, MessageRules};
use crate::places::Places;
use crate::scanner::{self, Marks};
use crate::trace::{self, KEY, KnownTexts, Operations, Pieces, Trace};
use crate::unmarshal;
use crate::values::{Root, Roots, Struct, StructKind, Text, Value};

/// The operation that makes a message's role lower case.
const LOWER: &str = "lower";

/// The operation that replaces bytes that are not UTF-8.
const REPAIR: &str = "utf-8";

/// Collects the texts of a template.
pub(crate) struct LiteralCollector<'s> {
    source: &'s str,
    places: Places,
    marks: Marks,
    texts: KnownTexts,
    untouched: Operations,
}

impl<'s> LiteralCollector<'s> {
    /// Begins with a source that compiles.
    pub(crate) fn of(source: &'s str) -> LiteralCollector<'s> {
        let (places, marks) = scanner::prepare(source)
            .map(|prepared| (prepared.places, prepared.marks))
            .unwrap_or_default();
        LiteralCollector {
            source,
            places,
            marks,
            texts: KnownTexts::default(),
            untouched: Arc::from([]),
        }
    }

    pub(crate) fn into_texts(self) -> KnownTexts {
        self.texts
    }

    fn add(&mut self, text: &str, places: &[std::ops::Range<usize>], is_exact: bool) {
        let mut spans = Spans::default();
        for source in places {
            let length = if is_exact { source.len() } else { text.len() };
            let origin = Origin::Literal {
                source: source.clone(),
            };
            spans.push(length, origin, &self.untouched);
        }
        if !text.is_empty() && spans.end() == text.len() {
            self.texts.add(text.as_bytes(), spans.into_list());
        }
    }

    /// Collects the texts of a list of nodes.
    pub(crate) fn list(&mut self, list: &ListNode) {
        for node in &list.nodes {
            match node {
                Node::Text(text) => {
                    let from = text.pos.offset;
                    let places: Vec<_> = self.places.texts(from..from + text.text.len()).collect();
                    self.add(&text.text, &places, true);
                }
                Node::Action(action) => self.pipe(&action.pipe),
                Node::If(branch) | Node::With(branch) | Node::Range(branch) => self.branch(branch),
                Node::Template(call) => {
                    if let Some(pipe) = &call.pipe {
                        self.pipe(pipe);
                    }
                }
                Node::List(list) => self.list(list),
                Node::Define(define) => self.list(&define.body),
                Node::Break(_) | Node::Continue(_) => {}
            }
        }
    }

    fn branch(&mut self, branch: &BranchNode) {
        self.pipe(&branch.pipe);
        self.list(&branch.body);
        if let Some(otherwise) = &branch.else_body {
            self.list(otherwise);
        }
    }

    fn pipe(&mut self, pipe: &PipeNode) {
        for command in &pipe.commands {
            for argument in &command.args {
                self.expression(argument);
            }
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::String(pos, text) => {
                let at = pos.offset;
                if self.marks.is_brace(at) {
                    let places: Vec<_> = self.places.texts(at..at + 1).collect();
                    return self.add(text, &places, true);
                }
                let written = self.places.token(at);
                let inner = written.start + 1..written.end.saturating_sub(1);
                if self.source.get(inner.clone()) == Some(text) {
                    self.add(text, &[inner], true);
                } else {
                    self.add(text, &[written], false);
                }
            }
            Expr::Pipe(_, pipe) => self.pipe(pipe),
            Expr::Chain(_, inner, _) => self.expression(inner),
            _ => {}
        }
    }
}

/// Adds what a template is given to a trace. `thinking` is the variable that decides whether the
/// model thinks, with its value.
pub(crate) fn add_inputs(
    trace: &mut Trace,
    case: &Case,
    form: &CollatedCase,
    roots: &Roots,
    thinking: Option<(&str, Option<&Json>)>,
) {
    let mut adder = InputAdder {
        trace,
        case,
        none: Arc::from([]),
        key: Arc::from([KEY]),
        lower: Arc::from([LOWER]),
    };
    let (root, others) = match roots {
        Roots::Messages(root) => (root, &[][..]),
        Roots::Turns { full, last } => (last, full.as_slice()),
    };
    for root in others.iter().chain([root]) {
        adder.root(root, thinking);
    }
    let tools = case.tools.as_deref().unwrap_or_default();
    adder.tools(&form.tools, tools);
    // The form exists, so the messages can be read.
    if let Ok(messages) = message::messages(&case.messages, MessageRules::Either) {
        adder.messages(&messages, form);
    }
}

/// Adds the parts of a conversation to a trace.
struct InputAdder<'a> {
    trace: &'a mut Trace,
    case: &'a Case,
    none: Operations,
    key: Operations,
    lower: Operations,
}

#[derive(Clone)]
struct Part {
    kind: InputKind,
    path: String,
}

impl Part {
    fn new(kind: InputKind, path: String) -> Part {
        Part { kind, path }
    }

    fn input(&self) -> Arc<Input> {
        Arc::new(Input {
            kind: self.kind,
            path: self.path.clone(),
        })
    }

    fn member(&self, name: &str) -> Part {
        let path = Input::entry_path(&self.path, name);
        Part::new(self.kind, path)
    }

    fn item(&self, number: usize) -> Part {
        Part::new(self.kind, format!("{}[{number}]", self.path))
    }
}

impl InputAdder<'_> {
    fn root(&mut self, root: &Root, thinking: Option<(&str, Option<&Json>)>) {
        for (name, value) in root.iter() {
            let part = match &**name {
                b"Messages" => Part::new(InputKind::Message, "messages".to_owned()),
                b"Tools" => Part::new(InputKind::Tool, "tools".to_owned()),
                b"System" | b"Prompt" | b"Response" => {
                    let name = String::from_utf8_lossy(name).to_lowercase();
                    Part::new(InputKind::Message, name)
                }
                _ => match thinking {
                    Some((name, _)) => Part::new(InputKind::Variable, name.to_owned()),
                    None => continue,
                },
            };
            let input = part.input();
            self.trace.add_part(value, &input);
            let Value::Text(text) = value else { continue };
            if part.kind == InputKind::Variable {
                let said = thinking.and_then(|(_, value)| value?.as_str());
                let is_said = said.is_some_and(|said| said.as_bytes() == &**text);
                let span = if is_said {
                    trace::whole(&input, text.len(), &self.none)
                } else {
                    self.made(text.len(), &[input])
                };
                self.trace.add_text(text, vec![span]);
            }
        }
    }

    fn made(&self, length: usize, from: &[Arc<Input>]) -> Span {
        Span {
            prompt: 0..length,
            origin: Origin::Made {
                from: Arc::from(from),
            },
            operations: Arc::clone(&self.none),
        }
    }

    fn tools(&mut self, tools: &Value, written: &[Json]) {
        let part = Part::new(InputKind::Tool, "tools".to_owned());
        self.trace.add_part(tools, &part.input());
        let Value::List(list) = tools else { return };
        for (number, (tool, json)) in list.items().iter().zip(written).enumerate() {
            self.value(tool, &part.item(number), Some(json));
        }
    }

    /// Adds a value with all that is in it. `json` is what was written for it.
    fn value(&mut self, value: &Value, part: &Part, json: Option<&Json>) {
        let input = part.input();
        self.trace.add_part(value, &input);
        match value {
            Value::Text(text) => {
                let span = trace::whole(&input, text.len(), &self.none);
                self.trace.add_text(text, vec![span]);
            }
            Value::List(list) => {
                let is_list = json.is_none_or(Json::is_array);
                for (number, item) in list.items().iter().enumerate() {
                    let of = json.and_then(|json| json.get(number));
                    // One type may be written without a list.
                    if is_list {
                        self.value(item, &part.item(number), of);
                    } else {
                        self.value(item, part, json);
                    }
                }
            }
            Value::Map(map) => {
                for (key, item) in map.iter() {
                    self.entry(key, item, part, json);
                }
            }
            Value::Ordered(Some(entries)) => {
                for (key, item) in entries.iter() {
                    self.entry(key, item, part, json);
                }
            }
            Value::Struct(structure) => self.fields(structure, part, json),
            _ => {}
        }
    }

    fn entry(&mut self, key: &Text, value: &Value, part: &Part, json: Option<&Json>) {
        let name = String::from_utf8_lossy(key);
        let part = part.member(&name);
        let span = trace::whole(&part.input(), key.len(), &self.key);
        self.trace.add_text(key, vec![span]);
        self.value(value, &part, json.and_then(|json| json.get(&*name)));
    }

    /// Adds the fields of a struct. Go finds members without regard to case.
    fn fields(&mut self, structure: &Struct, part: &Part, json: Option<&Json>) {
        let object = json.and_then(Json::as_object);
        for (field, value) in structure.kind.fields().iter().zip(&structure.fields) {
            let written = object.and_then(|object| unmarshal::member(object, field.json));
            self.value(value, &part.member(field.json), written);
            if object.is_some_and(|object| object.contains_key(field.json)) {
                self.trace.add_name(value);
            }
        }
    }

    fn messages(&mut self, read: &[Message], form: &CollatedCase) {
        let part = Part::new(InputKind::Message, "messages".to_owned());
        self.trace.add_part(&form.messages, &part.input());
        let Value::List(list) = &form.messages else {
            return;
        };
        let runs = read.chunk_by(collate::are_one);
        for ((run, value), (_, content)) in runs.zip(list.items()).zip(&form.turns) {
            let spans = self.joined(run.iter());
            self.trace.add_text(content, spans.clone());
            let (Value::Struct(structure), Some(first)) = (value, run.first()) else {
                continue;
            };
            let whole = part.item(first.written.message);
            self.trace.add_part(value, &whole.input());
            self.message(structure, first, &spans);
        }
        let system = read.iter().filter(|message| message.role == "system");
        let spans = self.joined(system);
        if let Value::Text(text) = &form.system {
            self.trace.add_text(text, spans);
        }
    }

    /// The spans of contents that Ollama joins.
    fn joined<'m>(&self, messages: impl Iterator<Item = &'m Message>) -> Vec<Span> {
        let mut spans = Spans::default();
        let mut before: Option<&Message> = None;
        for message in messages {
            if let Some(before) = before {
                let sides = [before, message].map(|side| content(side).input());
                let from = Arc::from(sides);
                spans.push(BETWEEN.len(), Origin::Made { from }, &self.none);
            }
            self.content(message, &mut spans);
            before = Some(message);
        }
        spans.into_list()
    }

    /// The spans of a content. Ollama has put a mark into it for each image.
    fn content(&self, message: &Message, spans: &mut Spans) {
        const WANTED: &str = "[img]";
        let text = message.content.as_str();
        let input = content(message).input();
        let piece = |from: usize, to: usize| Origin::Input {
            input: Arc::clone(&input),
            bytes: from..to,
        };
        let images = message.images.as_ref().map_or(0, Vec::len);
        let Some(written) = self.written(message).filter(|_| images > 0) else {
            return spans.push(text.len(), piece(0, text.len()), &self.none);
        };
        let replaced: Vec<usize> = written.match_indices(WANTED).map(|(at, _)| at).collect();
        let replaced = &replaced[..replaced.len().min(images)];
        // The first images have the marks in the text, the others those at its front.
        let mut at = 0;
        let mark = |at: &mut usize, image: usize, spans: &mut Spans| {
            let length = text[*at..].find(']').map_or(0, |end| end + 1);
            let origin = Origin::Made {
                from: Arc::from([image_of(message, image).input()]),
            };
            spans.push(length, origin, &self.none);
            *at += length;
        };
        for image in replaced.len()..images {
            mark(&mut at, image, spans);
        }
        let mut done = 0;
        for (image, place) in replaced.iter().enumerate() {
            spans.push(place - done, piece(done, *place), &self.none);
            at += place - done;
            mark(&mut at, image, spans);
            done = place + WANTED.len();
        }
        spans.push(written.len() - done, piece(done, written.len()), &self.none);
    }

    /// The content of a message as written.
    fn written(&self, message: &Message) -> Option<&str> {
        let object = self.case.messages.get(message.written.message)?;
        let content = unmarshal::member(object.as_object()?, "content");
        match (content, message.written.part) {
            (Some(Json::Array(parts)), Some(part)) => {
                let text = parts.get(part)?.get("text");
                Some(text.and_then(Json::as_str).unwrap_or_default())
            }
            (Some(Json::String(text)), None) => Some(text),
            _ => Some(""),
        }
    }

    fn message(&mut self, structure: &Struct, message: &Message, spans: &[Span]) {
        let role = Part::new(
            InputKind::Message,
            format!("messages[{}].role", message.written.message),
        );
        let fields = Part::new(
            InputKind::Message,
            format!("messages[{}]", message.written.fields),
        );
        let json = self.case.messages.get(message.written.fields);
        let object = json.and_then(Json::as_object);
        let kinds = StructKind::Message.fields();
        for (field, value) in kinds.iter().zip(&structure.fields) {
            match (field.name, value) {
                ("Content", Value::Text(text)) => {
                    self.trace.add_part(value, &content(message).input());
                    self.trace.add_text(text, spans.to_vec());
                }
                ("Role", Value::Text(text)) => {
                    let input = role.input();
                    self.trace.add_part(value, &input);
                    let written = self.case.messages.get(message.written.message);
                    let written = written.and_then(|written| {
                        unmarshal::member(written.as_object()?, "role")?.as_str()
                    });
                    let written = written.unwrap_or_default();
                    let span = if written.as_bytes() == &**text {
                        trace::whole(&input, text.len(), &self.none)
                    } else {
                        Span {
                            prompt: 0..text.len(),
                            origin: Origin::Input {
                                input,
                                bytes: 0..written.len(),
                            },
                            operations: Arc::clone(&self.lower),
                        }
                    };
                    self.trace.add_text(text, vec![span]);
                }
                ("Thinking", _) => {
                    let names = ["reasoning", "reasoning_content", "thinking"];
                    let is_said = |name: &&str| {
                        let said = object.and_then(|object| unmarshal::member(object, name));
                        said.is_some_and(|said| said.as_str() != Some(""))
                    };
                    let name = names.into_iter().find(is_said).unwrap_or("thinking");
                    self.value(value, &fields.member(name), None);
                }
                ("ToolName", _) => {
                    // Where the message has no name, or an empty one, Ollama takes the name of the call.
                    let has = |name: &&str| {
                        let said = object.and_then(|object| unmarshal::member(object, name));
                        said.and_then(Json::as_str) == Some(message.tool_name.as_str())
                    };
                    let part = match ["tool_name", "name"].into_iter().find(has) {
                        Some(name) => fields.member(name),
                        None => self.called(&message.tool_call_id).unwrap_or(fields.clone()),
                    };
                    self.value(value, &part, None);
                }
                ("ToolCallID", _) => self.value(value, &fields.member("tool_call_id"), None),
                ("Images", Value::List(list)) => {
                    self.trace.add_part(value, &fields.member("images").input());
                    for (number, image) in list.items().iter().enumerate() {
                        let input = image_of(message, number).input();
                        self.trace.add_part(image, &input);
                    }
                }
                ("ToolCalls", Value::List(list)) => {
                    let calls = fields.member("tool_calls");
                    self.trace.add_part(value, &calls.input());
                    for (number, call) in list.items().iter().enumerate() {
                        self.call(call, &calls.item(number));
                    }
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &Value, part: &Part) {
        self.trace.add_part(call, &part.input());
        let Value::Struct(call) = call else { return };
        let function = part.member("function");
        for (name, part) in [("ID", part.member("id")), ("Function", function.clone())] {
            match call.get(name) {
                Some(value @ Value::Struct(_)) => self.trace.add_part(value, &part.input()),
                Some(value) => self.value(value, &part, None),
                None => {}
            }
        }
        let Some(Value::Struct(called)) = call.get("Function") else {
            return;
        };
        for (name, written) in [
            ("Index", "index"),
            ("Name", "name"),
            ("Arguments", "arguments"),
        ] {
            if let Some(value) = called.get(name) {
                self.value(value, &function.member(written), None);
            }
        }
    }

    /// The name of the call with this ID: the last message that has it, and within it the first call.
    fn called(&self, id: &str) -> Option<Part> {
        let messages = self.case.messages.iter().enumerate().rev();
        for (number, message) in messages {
            let calls = message
                .as_object()
                .and_then(|object| unmarshal::member(object, "tool_calls")?.as_array());
            let has_id = |call: &Json| {
                let found = call
                    .as_object()
                    .and_then(|call| unmarshal::member(call, "id")?.as_str());
                found.unwrap_or_default() == id
            };
            let found = calls.and_then(|calls| calls.iter().position(has_id));
            if let Some(call) = found {
                let path = format!("messages[{number}].tool_calls[{call}].function.name");
                return Some(Part::new(InputKind::Message, path));
            }
        }
        None
    }
}

/// Where the content of a message is.
fn content(message: &Message) -> Part {
    let written = message.written;
    let path = match written.part {
        None => format!("messages[{}].content", written.message),
        Some(part) => format!("messages[{}].content[{part}].text", written.message),
    };
    Part::new(InputKind::Message, path)
}

/// Where an image of a message is.
fn image_of(message: &Message, number: usize) -> Part {
    let written = message.written;
    let path = match written.part {
        None => format!("messages[{}].images[{number}]", written.message),
        Some(part) => format!("messages[{}].content[{part}]", written.message),
    };
    Part::new(InputKind::Message, path)
}

/// The spans of a prompt. In it each byte that is not UTF-8 is U+FFFD, which has three bytes.
pub(crate) fn of_prompt(pieces: Pieces, bytes: &[u8]) -> Vec<Span> {
    let spans = pieces.into_spans();
    if std::str::from_utf8(bytes).is_ok() {
        return spans;
    }
    let mut made = Spans::default();
    let mut rest = spans.iter();
    let mut span = rest.next();
    let mut at = 0;
    let mut push = |until: usize, is_broken: bool| {
        while at < until
            && let Some(current) = span
        {
            let to = current.prompt.end.min(until);
            let origin = trace::part_of(current, at, to);
            if is_broken {
                let done = current.operations.iter().copied();
                let operations: Operations = done.chain([REPAIR]).collect();
                made.push('\u{fffd}'.len_utf8(), origin, &operations);
            } else {
                made.push(to - at, origin, &current.operations);
            }
            at = to;
            if at == current.prompt.end {
                span = rest.next();
            }
        }
    };
    let mut end = 0;
    for chunk in bytes.utf8_chunks() {
        end += chunk.valid().len();
        push(end, false);
        for _ in chunk.invalid() {
            end += 1;
            push(end, true);
        }
    }
    made.into_list()
}
