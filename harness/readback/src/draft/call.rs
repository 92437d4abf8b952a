//! How calls are written.

use serde_json::{Value, json};

use super::asked::{KEYS, TOOL, VALUES};
use super::pattern::{common, escaped, loose};

/// Calls that are written as one list in JSON.
pub(super) struct CallList {
    /// What stands before the list.
    opener: String,
    /// What ends it, as a pattern.
    close: String,
    /// The keys of the name and of the arguments.
    keys: [String; 2],
}

impl CallList {
    pub(super) fn find(text: &str, ends: &[String]) -> Option<CallList> {
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

    pub(super) fn field(&self) -> Value {
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
pub(super) struct Call {
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
    pub(super) tail: String,
}

impl Call {
    pub(super) fn find(one: &str, two: Option<&str>, ends: &[String]) -> Option<Call> {
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

    pub(super) fn field(&self) -> Value {
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
