//! First drafts of response templates, made from what a chat template writes.
//!
//! The chat template writes answers of words that nothing else contains. What stands between these
//! words are the delimiters. A draft is right only for ordinary formats, so it has to be proven.

use rolecall_front::program::FrontProgram;
use rolecall_model::{Case, Engine, Template};
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
const CALL_IDS: [&str; 2] = ["callquil1", "callquil2"];
const VALUES: [&str; 4] = ["northquill", "southquill", "eastquill", "westquill"];

/// A prompt, and the answer that the template writes behind it.
struct Seen {
    prompt: String,
    text: String,
}

impl Draft {
    /// Makes a draft for a template.
    ///
    /// # Errors
    ///
    /// The template does not write answers.
    pub fn of(engine: &dyn Engine, template: &Template) -> Result<Draft, NoDraft> {
        let program = FrontProgram::load(engine, template);
        let writer = Writer::new(&program);
        let plain = seen(&writer, json!({"content": TEXT})).map_err(|written| match written {
            Some(Written::DoesNotContinue) => NoDraft::DoesNotContinue,
            _ => NoDraft::NoAnswer,
        })?;
        let (before, end) = plain.text.split_once(TEXT).ok_or(NoDraft::NoAnswer)?;
        let mut draft = Parts {
            anchor: opening(&plain.prompt, end.trim()).to_owned(),
            fields: Map::new(),
            ends: vec![end.trim().to_owned()],
            close_of_thoughts: None,
            unknown: Vec::new(),
        };
        draft.add_thoughts(&writer);
        let calls = draft.calls(&writer);
        draft.add_content(before, end.starts_with(char::is_whitespace));
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
    /// The tag behind thoughts, if it is known.
    close_of_thoughts: Option<String>,
    unknown: Vec<String>,
}

impl Parts {
    fn miss(&mut self, what: &str) {
        self.unknown.push(what.to_owned());
    }

    /// The text outside of all other fields, or between delimiters of its own.
    fn add_content(&mut self, before: &str, is_padded: bool) {
        let before = self.without_thoughts(before);
        let ends: Vec<String> = self
            .ends
            .iter()
            .filter(|end| !end.is_empty())
            .map(|end| escaped(end))
            .collect();
        let mut content = json!({});
        // A template that pads texts with white space says nothing by it.
        let is_padded = is_padded || before.starts_with(char::is_whitespace);
        if !is_padded {
            content["content_args"] = json!({"strip": false});
        }
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

    /// What stands behind the thoughts, if a text begins with empty ones.
    fn without_thoughts<'b>(&self, before: &'b str) -> &'b str {
        let Some(close) = &self.close_of_thoughts else {
            return before;
        };
        let behind = before.rsplit_once(close.as_str());
        behind.map_or(before, |(_, behind)| behind.trim_start())
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
            "open_pattern": format!("\\s*{}", escaped(opener)),
            "close_pattern": format!("{}\\s*", escaped(close)),
        });
        self.close_of_thoughts = Some(close.to_owned());
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
        let two = calls.as_ref().map(|seen| self.without_thoughts(&seen.text));
        let one = self.without_thoughts(&one.text);
        if let Some(list) = two.and_then(|two| CallList::find(two, &self.ends)) {
            return Some(list.field());
        }
        let found = Call::find(one, two, &self.ends);
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

/// Calls that are written as one list in JSON.
struct CallList {
    /// What stands before the list.
    opener: String,
    /// What ends it, as a pattern.
    close: String,
    /// The keys of the name and of the arguments.
    keys: [String; 2],
}

impl CallList {
    fn find(text: &str, ends: &[String]) -> Option<CallList> {
        let at = text.find(TOOL)?;
        let arguments = json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]});
        let lists = text[..at].rmatch_indices('[');
        let mut found = lists.filter_map(|(from, _)| {
            let (value, to) = json_at(text, from)?;
            let calls = value.as_array().filter(|calls| calls.len() == 2)?;
            let first = calls[0].as_object()?.iter();
            let key = |wanted: &Value| {
                let mut entries = first.clone();
                let found = entries.find(|(_, value)| *value == wanted);
                found.map(|(key, _)| key.clone())
            };
            Some((from, to, [key(&TOOL.into())?, key(&arguments)?]))
        });
        let (from, to, keys) = found.next()?;
        let behind = &text[to..];
        let end = ends
            .iter()
            .find(|end| behind.trim_end().ends_with(end.as_str()));
        let end = end.map_or("", String::as_str);
        let tail = behind.trim_end().strip_suffix(end).unwrap_or(behind);
        let close = if tail.trim().is_empty() {
            format!("(?<=\\])\\s*{}.*", escaped(end))
        } else {
            format!("{}\\s*", loose(tail.trim_end()))
        };
        Some(CallList {
            opener: text[..from].to_owned(),
            close,
            keys,
        })
    }

    fn field(&self) -> Value {
        let [name, arguments] = self.keys.each_ref().map(|key| format!("{{{key}}}"));
        json!({
            "open_pattern": format!("\\s*{}(?=\\[\\s*\\{{)", loose(self.opener.trim_start())),
            "close_pattern": self.close,
            "content": "json",
            "transform": {"type": "function", "function": {"name": name, "arguments": arguments}},
            "transform_each": true,
        })
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
    /// What ends a call, as a pattern.
    close: String,
    /// What stands behind all calls.
    tail: String,
}

impl Call {
    fn find(one: &str, two: Option<&str>, ends: &[String]) -> Option<Call> {
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
            let behind = behind.trim_end();
            let end = ends.iter().find(|end| behind.ends_with(end.as_str()));
            let end = end.map_or("", String::as_str);
            let close = behind.strip_suffix(end).unwrap_or(behind);
            // A brace alone ends each object, so the end of the answer has to follow.
            let is_brace = close.chars().all(|c| "}] \n".contains(c));
            let follows = format!("(?={}|\\Z)", escaped(end));
            return Some(Call {
                openers: vec![before.to_owned()],
                middle: middle.to_owned(),
                tags,
                close: format!(
                    "{}{}",
                    loose(close),
                    if is_brace { &follows } else { "\\s*" }
                ),
                tail: String::new(),
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
            close: match close.trim_end() {
                "" => String::new(),
                close => format!("{}\\s*", loose(close)),
            },
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
            field["close_pattern"] = self.close.as_str().into();
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
        let (value, to) = json_at(text, from)?;
        (value == expected).then_some((from, to))
    })
}

/// The JSON value that begins at a place, and where it ends.
fn json_at(text: &str, from: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, from + values.byte_offset()))
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
    let calls = arguments.iter().zip(CALL_IDS);
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
    // Each call has an ID of its own.
    for id in CALL_IDS {
        pattern = pattern.replace(id, "[^\\s\"<]*");
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

/// The length of the common beginning of two texts, up to a tag that only begins alike.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
    let shared = one.floor_char_boundary(same.count());
    // A tag is shared as a whole or not at all.
    let last = one[..shared].rfind('<');
    let is_open = |at: &usize| !one[*at..shared].contains('>');
    last.filter(is_open).unwrap_or(shared)
}

#[cfg(test)]
mod tests {
    use rolecall_front::engines::Engines;
    use rolecall_model::Dialect;

    use super::*;
    use crate::comparison::Verdict;
    use crate::reader::OwnReader;
    use crate::reading::{WithResponseTemplate, read_case};

    fn draft(source: &str) -> Result<(Template, Draft), NoDraft> {
        let template = Template::from_source("t", Dialect::Jinja, source)
            .with_special_token("eos_token", "<end>");
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja).unwrap();
        let draft = Draft::of(engine, &template)?;
        Ok((template, draft))
    }

    /// A template that writes thoughts, text and calls in this way.
    fn chat(calls: &str) -> String {
        "{% for m in messages %}<{{ m.role }}>\n\
         {% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}\
         {{ m.content }}CALLS<end>\n{% endfor %}\
         {% if add_generation_prompt %}<assistant>\n{% endif %}"
            .replace("CALLS", calls)
    }

    #[test]
    fn drafts_of_ordinary_formats_read_all_back() {
        let tagged = "{% for c in m.tool_calls %}\n<tool_call>\n\
            {\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}\n\
            </tool_call>{% endfor %}";
        let list = "{% if m.tool_calls %}[CALLS] [{% for c in m.tool_calls %}\
            {\"tool\": \"{{ c.function.name }}\", \"with\": {{ c.function.arguments | tojson }}, \
            \"id\": \"{{ c.id }}\"}{{ ', ' if not loop.last }}{% endfor %}]{% endif %}";
        let xml = "{% for c in m.tool_calls %}<call>\n<function={{ c.function.name }}>\n\
            {% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\n{{ v }}\n</parameter>\n\
            {% endfor %}</function>\n</call>{% endfor %}";
        for calls in [tagged, list, xml] {
            let (template, draft) = draft(&chat(calls)).unwrap();
            assert_eq!(draft.unknown, [""; 0]);
            let engines = Engines::default();
            let engine = engines.for_dialect(Dialect::Jinja).unwrap();
            let program = FrontProgram::load(engine, &template);
            let writer = Writer::new(&program);
            let reader = WithResponseTemplate {
                reader: &OwnReader::default(),
                response_template: &draft.response_template,
            };
            let call = |city: &str| {
                let function = json!({"name": "weather", "arguments": {"city": city, "unit": "C"}});
                json!({"id": "abc", "type": "function", "function": function})
            };
            let answers = [
                json!({"content": "It is so."}),
                json!({"content": "Yes.", "reasoning_content": "Is it?\n\nIt is."}),
                json!({"content": "", "tool_calls": [call("Oslo")]}),
                json!({"content": "Two.", "tool_calls": [call("Oslo"), call("São Paulo")]}),
                json!({"content": "", "reasoning_content": "Call.", "tool_calls": [call("a")]}),
            ];
            for mut answer in answers {
                answer["role"] = "assistant".into();
                let question = json!({"role": "user", "content": "Is it?"});
                let mut case = Case::from_messages(vec![question, answer.clone()]);
                case.tools = Some(vec![tool()]);
                let reading = read_case(&writer, &reader, &case).last().unwrap();
                assert_eq!(
                    reading.verdict(),
                    Some(Verdict::ReadBack),
                    "{answer}\n{}\n{reading:?}",
                    draft.response_template
                );
            }
        }
    }

    #[test]
    fn what_is_not_found_is_said() {
        let (_, plain) = draft(&chat("")).unwrap();
        assert_eq!(plain.unknown, ["The template writes no calls."]);
        assert!(plain.response_template["fields"]["tool_calls"].is_null());
        assert_eq!(
            draft("{{ messages | length }}").unwrap_err(),
            NoDraft::DoesNotContinue
        );
        assert_eq!(
            draft("{{ raise_exception('no') }}").unwrap_err(),
            NoDraft::NoAnswer
        );
    }
}
