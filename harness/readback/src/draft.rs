//! First drafts of response templates, made from what a chat template writes.
//!
//! The chat template writes answers of words that nothing else contains. What stands between these
//! words are the delimiters. A draft is right only for ordinary formats, so it has to be proven.

use rolecall_front::program::FrontProgram;
use rolecall_model::Case;
use serde_json::{Map, Value, json};

use crate::written::{Writer, Written};

/// A draft, and what could not be found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The response template.
    pub response_template: Value,
    /// What the draft lacks, in sentences.
    pub unknown: Vec<String>,
}

/// Why there is no draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDraft {
    /// The template gives no prompt for a question, or its answer is not in the prompt.
    #[error("the template does not write a question and its answer")]
    NoAnswer,
    /// The finished turn does not begin with the prompt.
    #[error("the finished turn does not begin with the prompt that asks for it")]
    DoesNotContinue,
}

const QUESTION: &str = "askquill";
const TEXT: &str = "saidquill";
const THOUGHTS: &str = "mindquill";
const TOOL: &str = "find_quill";
const KEYS: [&str; 2] = ["zonequill", "areaquill"];
const VALUES: [&str; 4] = ["northquill", "southquill", "eastquill", "westquill"];

/// A prompt, and the answer that the template writes behind it.
struct Seen {
    prompt: String,
    text: String,
}

impl Draft {
    /// Makes a draft for a template that was loaded.
    ///
    /// # Errors
    ///
    /// The template does not write answers.
    pub fn of(program: &FrontProgram<'_>) -> Result<Draft, NoDraft> {
        let writer = Writer::new(program);
        let plain = seen(&writer, json!({"content": TEXT})).map_err(|written| match written {
            Some(Written::DoesNotContinue) => NoDraft::DoesNotContinue,
            _ => NoDraft::NoAnswer,
        })?;
        let (before, end) = plain.text.split_once(TEXT).ok_or(NoDraft::NoAnswer)?;
        let mut draft = Parts {
            anchor: opening(&plain.prompt, end.trim()).to_owned(),
            fields: Map::new(),
            ends: vec![end.trim().to_owned()],
            unknown: Vec::new(),
        };
        draft.add_thoughts(&writer);
        let calls = draft.calls(&writer);
        draft.add_content(before);
        draft
            .fields
            .extend(calls.map(|calls| ("tool_calls".to_owned(), calls)));
        Ok(Draft {
            response_template: json!({
                "version": 1,
                "defaults": {"role": "assistant"},
                "start_anchor": draft.anchor,
                "fields": draft.fields,
            }),
            unknown: draft.unknown,
        })
    }
}

/// A draft in the making.
struct Parts {
    anchor: String,
    fields: Map<String, Value>,
    /// The texts that end a text, the end token among them.
    ends: Vec<String>,
    unknown: Vec<String>,
}

impl Parts {
    fn miss(&mut self, what: &str) {
        self.unknown.push(what.to_owned());
    }

    /// The text outside of all other fields, or between delimiters of its own.
    fn add_content(&mut self, before: &str) {
        let ends: Vec<String> = self
            .ends
            .iter()
            .filter(|end| !end.is_empty())
            .map(|end| escaped(end))
            .collect();
        let mut content = json!({"content_args": {"strip": false}});
        if ends.is_empty() {
            self.miss("No end token is known: a text runs to the end of the answer.");
        } else {
            content["close_pattern"] = format!("(?:{}).*", ends.join("|")).into();
        }
        if !before.trim().is_empty() {
            content["open"] = before.trim().into();
        }
        self.fields.insert("content".to_owned(), content);
    }

    fn add_thoughts(&mut self, writer: &Writer<'_, '_>) {
        let message = json!({"content": TEXT, "reasoning_content": THOUGHTS});
        let Ok(seen) = seen(writer, message) else {
            return self.miss("The template gives no prompt for an answer with thoughts.");
        };
        let Some((opener, rest)) = seen.text.split_once(THOUGHTS) else {
            return self.miss("The template writes no thoughts.");
        };
        let Some((between, _)) = rest.split_once(TEXT) else {
            return self.miss("The text behind the thoughts is not found.");
        };
        let mut opener = opener.trim();
        let tail = opening(&seen.prompt, self.ends[0].as_str()).to_owned();
        if opener.is_empty() {
            // The prompt opens the thoughts. What it has of them is a part of the answer.
            let at = tail.trim_end().rfind(['<', '[']).unwrap_or(0);
            opener = tail[at..].trim();
            tail[..at].clone_into(&mut self.anchor);
        }
        let close = between.trim();
        if opener.is_empty() || close.is_empty() {
            return self
                .miss("No text stands around thoughts, so they are not told from the answer.");
        }
        // A format with channels opens the text behind the thoughts with a tag of its own.
        let close = close.split_inclusive('>').next().unwrap_or(close).trim();
        let field = json!({
            "open": opener,
            "close_pattern": format!("{}\\s*", escaped(close)),
        });
        self.fields.insert("thinking".to_owned(), field);
    }

    fn calls(&mut self, writer: &Writer<'_, '_>) -> Option<Value> {
        let arguments = |first: usize| json!({KEYS[0]: VALUES[first], KEYS[1]: VALUES[first + 1]});
        let one = seen(writer, calling(&[arguments(0)]));
        let two = seen(writer, calling(&[arguments(0), arguments(2)]));
        let Some(one) = one.ok().filter(|seen| seen.text.contains(TOOL)) else {
            self.miss("The template writes no calls.");
            return None;
        };
        let calls = two.ok().filter(|seen| seen.text.matches(TOOL).count() == 2);
        if calls.is_none() {
            self.miss("The template does not write two calls at once: one call is read.");
        }
        let found = Call::find(&one.text, calls.as_ref().map(|seen| seen.text.as_str()));
        let Some(call) = found else {
            self.miss(
                "How calls are written is not found: the name has to stand before the arguments.",
            );
            return None;
        };
        if !call.tail.trim().is_empty() {
            // The text behind the last call ends the answer.
            self.ends.insert(0, call.tail.trim().to_owned());
        }
        Some(call.field())
    }
}

/// How calls are written.
struct Call {
    /// What stands before the name of the first call, and of the next one.
    openers: Vec<String>,
    /// What stands between the name and the arguments.
    middle: String,
    /// How arguments are written, if not as JSON: the text before a key, between it and its value,
    /// and behind the value.
    tags: Option<[String; 3]>,
    /// What stands behind a call.
    close: String,
    /// What stands behind all calls.
    tail: String,
}

impl Call {
    fn find(one: &str, two: Option<&str>) -> Option<Call> {
        let (before, rest) = one.split_once(TOOL)?;
        let json = json_range(rest);
        let (middle, behind, tags) = match json {
            Some((from, to)) => (&rest[..from], &rest[to..], None),
            None => tagged(rest)?,
        };
        // What stands between two calls is the end of the first and the beginning of the second.
        let between = two.and_then(|two| {
            let (_, rest) = two.split_once(TOOL)?;
            let first_end = rest.len() - rest[rest.find(VALUES[1])?..].len() + VALUES[1].len();
            let (between, _) = rest[first_end..].split_once(TOOL)?;
            let closing_of_arguments = {
                let whole = &one[one.find(VALUES[1])? + VALUES[1].len()..];
                whole.len() - behind.len()
            };
            Some(between.get(closing_of_arguments..)?.to_owned())
        });
        let Some(between) = between else {
            let close = behind.trim_end();
            let close = close
                .split_inclusive('>')
                .next()
                .unwrap_or(close)
                .to_owned();
            return Some(Call {
                openers: vec![before.to_owned()],
                middle: middle.to_owned(),
                tags,
                tail: behind[close.len().min(behind.len())..].to_owned(),
                close,
            });
        };
        let shared = common(&between, behind);
        let (close, next) = between.split_at(shared);
        let mut openers = vec![before.to_owned()];
        if before.trim() != next.trim() {
            openers.push(next.to_owned());
        }
        Some(Call {
            openers,
            middle: middle.to_owned(),
            tags,
            close: close.to_owned(),
            tail: behind[shared..].to_owned(),
        })
    }

    fn field(&self) -> Value {
        let openers: Vec<String> = self
            .openers
            .iter()
            .map(|opener| escaped(opener.trim()))
            .collect();
        let opener = match openers.as_slice() {
            [one] => one.clone(),
            several => format!("(?:{})", several.join("|")),
        };
        let name = "(?P<name>[^\\s\"'<>{}()]+)";
        let mut field = json!({
            "open_pattern": format!("\\s*{opener}{name}{}", loose(&self.middle)),
            "repeats": true,
            "transform": {
                "type": "function",
                "function": {"name": "{name}", "arguments": "{content}"},
            },
        });
        if !self.close.is_empty() {
            field["close_pattern"] = format!("{}\\s*", loose(self.close.trim_end())).into();
        }
        match &self.tags {
            None => {
                field["content"] = "json".into();
                field["content_args"] = json!({"allow_non_json": true});
            }
            Some([before, between, behind]) => {
                let pattern = format!(
                    "{}(?P<key>.*?){}(?P<value>.*?){}",
                    loose(before.trim_start()),
                    loose(between),
                    loose(behind.trim_end())
                );
                field["content"] = "xml-inline".into();
                field["content_args"] = json!({"tag_pattern": pattern});
            }
        }
        field
    }
}

/// Where the arguments stand as JSON, behind a name.
fn json_range(text: &str) -> Option<(usize, usize)> {
    let expected = json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]});
    text.match_indices('{').find_map(|(from, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let to = from + values.byte_offset();
        (value == expected).then_some((from, to))
    })
}

/// What stands before the arguments and behind them, and the tags of each.
type Tagged<'t> = (&'t str, &'t str, Option<[String; 3]>);

/// Arguments that are written one after the other, each with its key before its value.
fn tagged(text: &str) -> Option<Tagged<'_>> {
    let place = |word: &str| text.find(word).map(|at| (at, at + word.len()));
    let (key, key_end) = place(KEYS[0])?;
    let (value, value_end) = place(VALUES[0])?;
    let (next_key, next_key_end) = place(KEYS[1])?;
    let (next_value, next_value_end) = place(VALUES[1])?;
    let is_ordered = key_end <= value && value_end <= next_key && next_key_end <= next_value;
    if !is_ordered {
        return None;
    }
    let (first, second) = (&text[value_end..next_key], &text[next_value_end..]);
    let behind = common(first, second);
    let before = &first[behind..];
    let middle = text[..key].strip_suffix(before)?;
    let tags = [before, &text[key_end..value], &first[..behind]].map(str::to_owned);
    Some((middle, &second[behind..], Some(tags)))
}

/// What a template writes of an answer.
fn seen(writer: &Writer<'_, '_>, mut message: Value) -> Result<Seen, Option<Written>> {
    message["role"] = "assistant".into();
    let with_calls = !message["tool_calls"].is_null();
    let mut case = Case::from_messages(vec![json!({"role": "user", "content": QUESTION}), message]);
    case.tools = with_calls.then(|| vec![tool()]);
    match writer.answers(&case).last().map(|answer| answer.outcome) {
        Some(Written::Text { prompt, text, .. }) => Ok(Seen { prompt, text }),
        other => Err(other),
    }
}

fn tool() -> Value {
    json!({"type": "function", "function": {
        "name": TOOL,
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {
            KEYS[0]: {"type": "string", "description": "the first"},
            KEYS[1]: {"type": "string", "description": "the second"},
        }},
    }})
}

fn calling(arguments: &[Value]) -> Value {
    let calls = arguments.iter().zip(["callquil1", "callquil2"]);
    let calls = calls.map(|(arguments, id)| {
        let function = json!({"name": TOOL, "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    });
    json!({"content": "", "tool_calls": calls.collect::<Vec<_>>()})
}

/// The text that opens the answer: what stands behind the question, without the end of its turn.
fn opening<'p>(prompt: &'p str, end: &str) -> &'p str {
    let behind = prompt.rsplit(QUESTION).next().unwrap_or(prompt);
    let without_end = behind
        .trim_start()
        .strip_prefix(end)
        .filter(|_| !end.is_empty());
    let opening = without_end.unwrap_or(behind).trim_start();
    if opening.is_empty() { behind } else { opening }
}

/// A text as a pattern that matches it alone.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => pattern.push_str("\\n"),
            '\t' => pattern.push_str("\\t"),
            c if "\\.+*?()|[]{}^$#&-~".contains(c) => {
                pattern.push('\\');
                pattern.push(c);
            }
            c => pattern.push(c),
        }
    }
    pattern
}

/// A pattern for a text whose white space may be another one.
fn loose(text: &str) -> String {
    let mut pattern = String::new();
    let mut words = text.split_whitespace();
    if text.starts_with(char::is_whitespace) {
        pattern.push_str("\\s*");
    }
    if let Some(first) = words.next() {
        pattern.push_str(&escaped(first));
    }
    for word in words {
        pattern.push_str("\\s*");
        pattern.push_str(&escaped(word));
    }
    if text.trim_start().ends_with(char::is_whitespace) {
        pattern.push_str("\\s*");
    }
    pattern
}

/// The length of the common beginning of two texts.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
    one.floor_char_boundary(same.count())
}
