//! How calls are written.

use rolecall_core::Cut;
use serde_json::{Value, json};

use super::asked::{KEYS, NAME, TOOL, VALUES};
use super::pattern::{common, escaped, loose};

/// Calls that are written as one list in JSON.
pub(super) struct CallList {
    /// The text before the list.
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
        let lists = text.cut(..at).rmatch_indices('[');
        let mut found = lists.filter_map(|(from, _)| {
            let (value, to) = json_at(text, from)?;
            let [first, _] = value.as_array()?.as_slice() else {
                return None;
            };
            let first = first.as_object()?.iter();
            let key = |wanted: &Value| {
                let mut entries = first.clone();
                let found = entries.find(|(_, value)| *value == wanted);
                found.map(|(key, _)| key.clone())
            };
            Some((from, to, [key(&TOOL.into())?, key(&arguments)?]))
        });
        let (from, to, keys) = found.next()?;
        let after = text.cut(to..);
        let end = ends
            .iter()
            .find(|end| after.trim_end().ends_with(end.as_str()));
        let end = end.map_or("", String::as_str);
        let tail = after.trim_end().strip_suffix(end).unwrap_or(after);
        let close = if tail.trim().is_empty() {
            format!("(?<=\\])\\s*{}.*", escaped(end))
        } else {
            format!("{}\\s*", loose(tail.trim_end()))
        };
        Some(CallList {
            opener: text.cut(..from).to_owned(),
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

/// How the arguments of a call are written.
enum Arguments {
    Json,
    /// As JSON, but with other signs around texts, and perhaps with bare keys.
    NearlyJson {
        signs: [String; 2],
        has_bare_keys: bool,
    },
    /// One after the other: the text before a key, between it and its value, and after the value.
    Tagged([String; 3]),
}

/// How calls are written.
pub(super) struct Call {
    /// The text before the name of the first call, and of the next one.
    openers: Vec<String>,
    /// The text between the name and the arguments.
    middle: String,
    /// How arguments are written.
    arguments: Arguments,
    /// What ends a call, as a pattern.
    close: String,
    /// The text after all calls.
    pub(super) tail: String,
}

impl Call {
    pub(super) fn find(one: &str, two: Option<&str>, ends: &[String]) -> Option<Call> {
        let (before, rest) = one.split_once(TOOL)?;
        let (middle, after, arguments) = json(rest)
            .or_else(|| nearly_json(rest))
            .or_else(|| tagged(rest))?;
        // The text between two calls is the end of the first and the beginning of the second.
        let between = two.and_then(|two| {
            let (_, rest) = two.split_once(TOOL)?;
            let first_end = rest.len() - rest.cut(rest.find(VALUES[1])?..).len() + VALUES[1].len();
            let (between, _) = rest.cut(first_end..).split_once(TOOL)?;
            let closing_of_arguments = {
                let whole = one.cut(one.find(VALUES[1])? + VALUES[1].len()..);
                whole.len() - after.len()
            };
            Some(between.get(closing_of_arguments..)?.to_owned())
        });
        let Some(between) = between else {
            let after = after.trim_end();
            let end = ends.iter().find(|end| after.ends_with(end.as_str()));
            let end = end.map_or("", String::as_str);
            let close = after.strip_suffix(end).unwrap_or(after);
            return Some(Call {
                openers: vec![before.to_owned()],
                middle: middle.to_owned(),
                arguments,
                close: closing(close, [end]),
                tail: String::new(),
            });
        };
        let shared = common(&between, after);
        // Servers leave the end token out.
        let tail = after.cut(shared..).trim();
        let mut ends = ends.iter();
        let tail = ends.find_map(|end| tail.strip_suffix(end.as_str()));
        let tail = tail.unwrap_or(after.cut(shared..)).trim();
        let (close, next) = between.split_at(shared);
        let mut openers = vec![before.to_owned()];
        if before.trim() != next.trim() {
            openers.push(next.to_owned());
        }
        Some(Call {
            openers,
            middle: middle.to_owned(),
            arguments,
            close: match close.trim_end() {
                "" => String::new(),
                close => closing(close, [next.trim(), tail]),
            },
            tail: tail.to_owned(),
        })
    }

    #[allow(clippy::indexing_slicing)] // `field` is an object, and so is its `content_args`.
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
        let mut field = json!({
            "open_pattern": format!("\\s*{opener}(?P<name>{NAME}){}", loose(&self.middle)),
            "repeats": true,
            "transform": {
                "type": "function",
                "function": {"name": "{name}", "arguments": "{content}"},
            },
        });
        if !self.close.is_empty() {
            field["close_pattern"] = self.close.as_str().into();
        }
        match &self.arguments {
            Arguments::Json => {
                field["content"] = "json".into();
                field["content_args"] = json!({"allow_non_json": true});
            }
            Arguments::NearlyJson {
                signs,
                has_bare_keys,
            } => {
                field["content"] = "json".into();
                field["content_args"] = json!({"allow_non_json": true, "string_delims": [signs]});
                if *has_bare_keys {
                    field["content_args"]["unquoted_keys"] = true.into();
                }
            }
            Arguments::Tagged([before, between, after]) => {
                let pattern = format!(
                    "{}(?P<key>.*?){}(?P<value>.*?){}",
                    loose(before.trim_start()),
                    loose(between),
                    loose(after.trim_end())
                );
                field["content"] = "xml-inline".into();
                field["content_args"] = json!({"tag_pattern": pattern});
            }
        }
        field
    }
}

/// A pattern for what ends a call. A brace alone ends each object, so one of these texts, or the end
/// of the answer, has to follow.
fn closing<const N: usize>(close: &str, follow: [&str; N]) -> String {
    let pattern = loose(close);
    if close.chars().any(|c| !"}] \n".contains(c)) {
        return format!("{pattern}\\s*");
    }
    let follow = follow.into_iter().filter(|text| !text.is_empty());
    let mut follow: Vec<String> = follow.map(escaped).collect();
    follow.push("\\Z".to_owned());
    format!("{pattern}\\s*(?={})", follow.join("|"))
}

/// The text before the arguments and after them, and how they are written.
type Found<'t> = (&'t str, &'t str, Arguments);

/// Arguments as JSON, after a name.
fn json(text: &str) -> Option<Found<'_>> {
    let expected = json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]});
    text.match_indices('{').find_map(|(from, _)| {
        let (value, to) = json_at(text, from)?;
        (value == expected).then(|| (text.cut(..from), text.cut(to..), Arguments::Json))
    })
}

/// Arguments in braces as in JSON, with other signs around texts: `{zone:<"north">,area:<"west">}`.
fn nearly_json(text: &str) -> Option<Found<'_>> {
    let [key, value, next_key, next_value] = places(text)?;
    let inside = text.cut(..key.start).trim_end_matches(['"', ' ', '\n']);
    let from = inside.strip_suffix('{')?.len();
    let quote = text.cut(inside.len()..key.start).trim();
    let opener = text
        .cut(key.end..value.start)
        .strip_prefix(quote)?
        .trim_start();
    let opener = opener.strip_prefix(':')?.trim_start();
    let between = text.cut(value.end..next_key.start).trim_end();
    let between = between.strip_suffix(quote)?.trim_end();
    let closer = between.strip_suffix(',')?.trim_end();
    let after = text
        .cut(next_value.end..)
        .strip_prefix(closer)?
        .trim_start();
    let signs = [opener, closer].map(str::to_owned);
    let arguments = Arguments::NearlyJson {
        has_bare_keys: quote.is_empty(),
        signs,
    };
    let is_signed = !opener.is_empty() && !closer.is_empty();
    is_signed.then_some((text.cut(..from), after.strip_prefix('}')?, arguments))
}

/// Where the keys and values of a call are, in their order.
fn places(text: &str) -> Option<[std::ops::Range<usize>; 4]> {
    let place = |word: &str| text.find(word).map(|at| at..at + word.len());
    let places = [
        place(KEYS[0])?,
        place(VALUES[0])?,
        place(KEYS[1])?,
        place(VALUES[1])?,
    ];
    let is_ordered = places.is_sorted_by(|one, other| one.end <= other.start);
    is_ordered.then_some(places)
}

/// The JSON value that begins at a place, and where it ends.
fn json_at(text: &str, from: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.cut(from..)).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, from + values.byte_offset()))
}

/// Arguments that are written one after the other, each with its key before its value.
fn tagged(text: &str) -> Option<Found<'_>> {
    let [key, value, next_key, next_value] = places(text)?;
    let (first, second) = (
        text.cut(value.end..next_key.start),
        text.cut(next_value.end..),
    );
    let after = common(first, second);
    let before = first.cut(after..);
    let middle = text.cut(..key.start).strip_suffix(before)?;
    let tags = [before, text.cut(key.end..value.start), first.cut(..after)].map(str::to_owned);
    Some((middle, second.cut(after..), Arguments::Tagged(tags)))
}
