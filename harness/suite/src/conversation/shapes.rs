//! The shapes of records: by which keys each is known, what reads it, and how one that is not read can
//! be converted.

use rolecall_check::conversations::{CUT, ENDINGS};
use serde_json::{Map, Value};

use super::record::{Read, Record, Wrong, object};
use super::{clients, responses, training};

/// A shape of records that are read.
struct Shape {
    /// The keys of such a record. None of their values is null.
    keys: &'static [&'static str],
    /// What else such a record has.
    fits: fn(&Record) -> bool,
    read: fn(&mut Record) -> Result<Read, Wrong>,
}

/// The shapes that are read. The first one that fits is the shape of a record.
const SHAPES: [Shape; 8] = [
    Shape {
        // Before `prompt` and `messages`, which such a record has, too.
        keys: &["chosen", "rejected"],
        fits: |_| true,
        read: |record| {
            training::answered(record, &[("chosen", "-chosen"), ("rejected", "-rejected")])
        },
    },
    // OpenAI's, whose `input` has the messages before both answers.
    Shape {
        keys: &["preferred_output", "non_preferred_output"],
        fits: |_| true,
        read: |record| {
            let answers = [
                ("preferred_output", "-chosen"),
                ("non_preferred_output", "-rejected"),
            ];
            training::answered(record, &answers)
        },
    },
    Shape {
        keys: &["prompt", "completion"],
        fits: |_| true,
        read: |record| training::answered(record, &[("completion", "")]),
    },
    Shape {
        keys: &["prompt", "response"],
        fits: |record| record.is_text("prompt") && record.is_text("response"),
        read: |record| training::answered(record, &[("response", "")]),
    },
    Shape {
        keys: &["messages"],
        fits: |record| record.is_text("messages") || record.is_list("messages"),
        read: |record| listed("messages", record),
    },
    Shape {
        keys: &["conversations"],
        fits: |record| record.is_text("conversations") || record.is_list("conversations"),
        read: |record| listed("conversations", record),
    },
    Shape {
        // After the lists of messages: data sets have a column `input` beside them.
        keys: &["input"],
        fits: |record| record.is_list("input") || is_request(record),
        read: |record| {
            let input = record.take("input").unwrap_or_default();
            Ok(vec![("", responses::messages(input, record)?)])
        },
    },
    Shape {
        keys: &["prompt"],
        fits: |record| {
            let is_ollamas = [
                "system",
                "options",
                "raw",
                "template",
                "keep_alive",
                "suffix",
            ];
            let is_ollamas = is_ollamas.iter().any(|key| record.has(key));
            record.is_list("prompt") || (record.is_text("prompt") && is_ollamas)
        },
        read: prompt,
    },
];

/// The keys under which logs and batch files keep a request.
const WRAPPERS: [&str; 7] = [
    "body",
    "request",
    "request_body",
    "params",
    "kwargs",
    "input",
    "inputs",
];

/// The keys under which logs keep the answer to a request.
const ANSWERS: [&str; 5] = [
    "response",
    "response_body",
    "output",
    "outputs",
    "completion",
];

/// The keys whose fields belong to the request beside them.
const FURTHER: [&str; 2] = ["optional_params", "extra_body"];

/// The keys that a request to OpenAI's Responses API may have beside a text as `input`. Other data
/// with a column of this name has other columns, too.
const BESIDE_INPUT: [&str; 14] = [
    "input",
    "tools",
    "tool_choice",
    "reasoning",
    "chat_template_kwargs",
    "add_generation_prompt",
    "max_output_tokens",
    "temperature",
    "top_p",
    "stream",
    "store",
    "metadata",
    "text",
    "user",
];

/// The shapes that are not read, one a line, those with the most special keys first: how deep in a record
/// an object with these keys may be, the keys, what it is, and how to convert it. If the depth is 0, no
/// record of a shape that is read looks so.
const UNREAD: &str = include_str!("unread.txt");

/// The conversations of a value.
pub(super) fn read(value: Value, record: &mut Record) -> Result<Read, Wrong> {
    *record = Record::of(match value {
        Value::Array(messages) => object([("messages", messages.into())]),
        Value::Object(object) => object,
        _ => return Err("neither a list nor an object".to_owned()),
    });
    let shape = loop {
        // The user names the model. Whatever has none is no request, but a file for training.
        record.is_request |= record.take("model").is_some();
        for key in FURTHER {
            record.lift(key);
        }
        if record.has("preferred_output") {
            record.lift("input");
        }
        let fits =
            |shape: &&Shape| shape.keys.iter().all(|key| record.has(key)) && (shape.fits)(record);
        match SHAPES.iter().find(fits) {
            Some(shape) => break shape,
            None => unwrap(record)?,
        }
    };
    record.has_shape = true;
    let rest = std::mem::take(&mut record.rest);
    ending(&rest, record);
    record.rest = rest;
    record
        .rest
        .retain(|key, _| !ENDINGS.contains(&key.as_str()));
    clients::tools(record)?;
    clients::settings(record)?;
    let is_request = matches!(shape.keys, ["messages" | "input"]);
    if record.answer.is_empty() && is_request {
        record.answer = take_answer(&mut record.rest);
    }
    let mut all = (shape.read)(record)?;
    if let [(_, messages)] = all.as_mut_slice()
        && is_request
    {
        answer(messages, record);
        let last = messages
            .last_mut()
            .filter(|last| last["role"] == "assistant");
        if let Some((last, why)) = last.and_then(Value::as_object_mut).zip(record.cut.take()) {
            last.insert("finish_reason".to_owned(), why);
        }
    }
    if let Some(first) = clients::instructions(record)? {
        for (_, messages) in &mut all {
            messages.insert(0, first.clone());
        }
    }
    let is_answered = |(_, messages): &(_, Vec<Value>)| {
        let last = messages.last();
        last.is_some_and(|last| last["role"] == "assistant")
    };
    if !record.is_request && all.iter().all(is_answered) {
        let asks = record.fields.entry("add_generation_prompt");
        asks.or_insert(false.into());
    }
    Ok(all)
}

/// Goes on with the request within a record, which may be JSON in a text. What stands beside it is not
/// read.
fn unwrap(record: &mut Record) -> Result<(), Wrong> {
    let found = WRAPPERS.into_iter().find_map(|key| {
        let inner: Map<String, Value> = match record.rest.get_mut(key)? {
            Value::Object(inner) => std::mem::take(inner),
            Value::String(text) => serde_json::from_str(text).ok()?,
            _ => return None,
        };
        record.rest.shift_remove(key);
        Some((key, inner))
    });
    let (key, inner) =
        found.ok_or("it has no `messages`, and nothing else that is read as such")?;
    let mut beside = std::mem::replace(&mut record.rest, inner);
    let url = beside.get("url").and_then(Value::as_str);
    if url.is_some_and(|url| url.ends_with("/embeddings")) {
        return Err("a request for embeddings, which no template sees".to_owned());
    }
    ending(&beside, record);
    // The answer is beside the outermost of several wrappers.
    if record.answer.is_empty() {
        record.answer = take_answer(&mut beside);
    }
    record.leave(&beside, &format!("beside `{key}`"));
    Ok(())
}

/// Notes why an answer was cut off, and that there are others: what servers say beside an answer.
fn ending(said: &Map<String, Value>, record: &mut Record) {
    let incomplete = said
        .get("incomplete_details")
        .and_then(|why| why.get("reason"));
    let all = ENDINGS
        .iter()
        .filter_map(|key| said.get(*key))
        .chain(incomplete);
    let mut cut = all.filter(|why| why.as_str().is_some_and(|why| CUT.contains(&why)));
    if let Some(why) = cut.next() {
        record.cut.get_or_insert_with(|| why.clone());
    }
    for key in ANSWERS.iter().chain(&["body", "choices"]) {
        match said.get(*key) {
            Some(Value::Object(inner)) => ending(inner, record),
            Some(Value::String(text)) => {
                ending(&serde_json::from_str(text).unwrap_or_default(), record);
            }
            Some(Value::Array(list)) if *key == "choices" => {
                if list.len() > 1 {
                    let others = "all `choices` of the answer but the first";
                    record.skipped.insert(others.to_owned());
                }
                if let Some(first) = list.first().and_then(Value::as_object) {
                    ending(first, record);
                }
            }
            _ => {}
        }
    }
}

/// Takes the answer that stands beside a request. Empty if there is none.
fn take_answer(beside: &mut Map<String, Value>) -> Vec<Value> {
    let found = ANSWERS.into_iter().find_map(|key| {
        let items = answer_in(beside.get(key)?)?;
        Some((key, items))
    });
    found.map_or_else(Vec::new, |(key, items)| {
        beside.shift_remove(key);
        items
    })
}

/// The messages or items of an answer: of OpenAI's, Anthropic's or Ollama's, perhaps as JSON in a text, or
/// a text alone.
fn answer_in(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            answer_in(&serde_json::from_str(text).ok()?)
        }
        Value::String(text) if !text.is_empty() => {
            let message = object([("role", "assistant".into()), ("content", value.clone())]);
            Some(vec![message.into()])
        }
        Value::Array(items) => {
            let is_item = |item: &Value| item["role"] == "assistant" || item["call_id"].is_string();
            items.iter().any(is_item).then(|| items.clone())
        }
        Value::Object(one) if one.get("role").is_some_and(|role| role == "assistant") => {
            Some(vec![value.clone()])
        }
        Value::Object(_) => {
            let places = [
                "/body",
                "/choices/0/message",
                "/message",
                "/output",
                "/messages",
            ];
            let mut places = places.iter().filter_map(|place| value.pointer(place));
            places.find_map(|inner| (!inner.is_string()).then(|| answer_in(inner))?)
        }
        _ => None,
    }
}

/// Adds the answer to the messages of its request, unless they end with one or it cannot be read.
fn answer(messages: &mut Vec<Value>, record: &mut Record) {
    let items = std::mem::take(&mut record.answer);
    let is_open = messages
        .last()
        .is_none_or(|last| last["role"] != "assistant");
    if items.is_empty() {
        return;
    }
    match responses::of_items(items, record).ok().filter(|_| is_open) {
        Some(more) => {
            messages.extend(more);
            record.is_request = false;
            record
                .became
                .insert("the answer beside the request became its last message");
        }
        None => {
            record
                .skipped
                .insert("the answer beside the messages".to_owned());
        }
    }
}

/// Whether a text under `input` is what a client asks: nothing says otherwise.
fn is_request(record: &Record) -> bool {
    let keys = || record.rest.keys().map(String::as_str);
    let is_data = keys().any(|key| matches!(key, "instruction" | "context"));
    let is_asked = record.is_request || record.has("instructions");
    record.is_text("input")
        && !is_data
        && (is_asked || keys().all(|key| BESIDE_INPUT.contains(&key)))
}

/// The messages of a list.
fn listed(key: &str, record: &mut Record) -> Result<Read, Wrong> {
    let list = record.take_list(key)?.unwrap_or_default();
    Ok(vec![("", clients::messages(list, record)?)])
}

/// The messages of a prompt alone: those of a file for training, or the question of a request to
/// Ollama's `/api/generate`.
fn prompt(record: &mut Record) -> Result<Read, Wrong> {
    if record.is_list("prompt") {
        return listed("prompt", record);
    }
    let text = record.take("prompt").unwrap_or_default();
    let mut message = object([("role", "user".into()), ("content", text)]);
    if let Some(images) = record.take("images") {
        message.insert("images".to_owned(), images);
    }
    Ok(vec![("", clients::messages(vec![message.into()], record)?)])
}

/// What a record that cannot be read looks like, and how to convert it. `has_shape` is whether it has a
/// shape that is read.
pub(super) fn hint(record: &Value, has_shape: bool) -> Option<String> {
    UNREAD.lines().find_map(|line| {
        let mut columns = line.splitn(4, " | ");
        let depth: u8 = columns.next()?.parse().ok()?;
        let keys: Vec<&str> = columns.next()?.split(", ").collect();
        let (name, how) = (columns.next()?, columns.next()?);
        let is_it = (depth > 0 || !has_shape) && has(record, &keys, depth);
        is_it.then(|| format!("it looks like {name}: {how}"))
    })
}

/// Whether an object in a value has some keys, or the first element of a list in it. What messages say
/// is not looked at.
fn has(value: &Value, keys: &[&str], depth: u8) -> bool {
    match value {
        Value::Object(object) => {
            keys.iter()
                .all(|key| object.get(*key).is_some_and(|value| !value.is_null()))
                || (depth > 0
                    && object.iter().any(|(key, value)| {
                        !matches!(key.as_str(), "content" | "tools") && has(value, keys, depth - 1)
                    }))
        }
        Value::Array(list) => list.first().is_some_and(|first| has(first, keys, depth)),
        _ => false,
    }
}
