//! Explains what operators, filters and methods do to texts, while a render is traced.
//!
//! An explanation comes after the fact: it says which part of a result comes from which part of
//! which argument. It changes no text, and it counts only if its parts make up the result. Where
//! there is no such explanation, the result is said to be made from the arguments.

use std::ops::Range;
use std::sync::Arc;

use minijinja::Error;
use minijinja::value::{Tuple, Value};
use rolecall_core::provenance::{Input, Spans};

use crate::provenance::{self, Escapes, known, made, spans_of};
use crate::python::dictionaries::entries;
use crate::python::iteration::iterate;
use crate::python::kinds::{is_dictionary, is_list, is_tuple};
use crate::python::slices::part_of_text;
use crate::python::text;

/// The arguments of a call that can be looked at once more: a generator gives its items only once.
pub(crate) fn repeatable(name: &'static str, args: &[Value]) -> Result<Option<Vec<Value>>, Error> {
    let [items, rest @ ..] = args else {
        return Ok(None);
    };
    if name != "join" || items.as_str().is_some() || is_list(items) || is_tuple(items) {
        return Ok(None);
    }
    let items: Value = iterate(items.clone())?.try_iter()?.collect();
    Ok(Some(
        [items].into_iter().chain(rest.iter().cloned()).collect(),
    ))
}

/// What a call gave, with the origin of its texts.
pub(crate) fn watched(name: &'static str, args: &[Value], result: Value) -> Value {
    if !provenance::is_traced() {
        return result;
    }
    if let Some(text) = result.as_str().filter(|_| name != "for") {
        if text.is_empty() || spans_of(text).is_some() {
            return result;
        }
        let spans = explained(name, args, text)
            .filter(|spans| spans.end() == text.len())
            .unwrap_or_else(|| made(text.len(), inputs_of_all(args), name));
        return known(&result, spans);
    }
    texts_within(name, args, &result).unwrap_or(result)
}

/// The names of the methods that are explained.
pub(crate) const METHODS: [&str; 22] = [
    "strip",
    "lstrip",
    "rstrip",
    "removeprefix",
    "removesuffix",
    "split",
    "rsplit",
    "splitlines",
    "partition",
    "rpartition",
    "replace",
    "join",
    "format",
    "upper",
    "lower",
    "capitalize",
    "title",
    "swapcase",
    "casefold",
    "center",
    "ljust",
    "zfill",
];

/// What a method gave. Only the names of methods that are explained stay.
pub(crate) fn watched_method(name: &str, args: &[Value], result: Value) -> Value {
    let known = METHODS.iter().find(|known| **known == name);
    watched(known.copied().unwrap_or("a method"), args, result)
}

/// The spans of a value that is written escaped.
pub(crate) fn written_escaped(value: &Value, text: &str, escaped: &str) -> Spans {
    let spans = written(value, text);
    let spans = provenance::escaped(&spans, text, escaped, Escapes::Html, "escape");
    if spans.end() == escaped.len() {
        return spans;
    }
    made(escaped.len(), inputs_of(value), "escape")
}

/// The spans of `str(value)`, which is this text.
pub(crate) fn written(value: &Value, text: &str) -> Spans {
    let of_text = value.as_str().and_then(spans_of);
    match of_text {
        Some(spans) => Arc::unwrap_or_clone(spans),
        None => made(text.len(), inputs_of(value), ""),
    }
}

/// The spans of `str(value)`, and that text.
fn written_text(value: &Value) -> (Spans, String) {
    let text = text::str(value).into_owned();
    (written(value, &text), text)
}

/// The inputs that a value is or contains.
fn inputs_of(value: &Value) -> Vec<Arc<Input>> {
    /// The most items that are looked at.
    const MOST: usize = 32;
    if let Some(text) = value.as_str() {
        return spans_of(text).map_or_else(Vec::new, |spans| spans.inputs());
    }
    if let Some(input) = provenance::input_of(value) {
        return vec![input];
    }
    if is_dictionary(value) {
        let entries = entries(value).unwrap_or_default();
        return inputs_of_all(entries.iter().take(MOST).map(|(_, item)| item));
    }
    if is_list(value) || is_tuple(value) {
        let items = value.try_iter().into_iter().flatten().take(MOST);
        return inputs_of_all(&items.collect::<Vec<_>>());
    }
    Vec::new()
}

/// The inputs of several values, each once.
fn inputs_of_all<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<Arc<Input>> {
    let mut inputs: Vec<Arc<Input>> = Vec::new();
    for input in values.into_iter().flat_map(inputs_of) {
        if !inputs.contains(&input) {
            inputs.push(input);
        }
    }
    inputs
}

/// Which parts of the arguments make up the text that a call gave.
fn explained(name: &'static str, args: &[Value], result: &str) -> Option<Spans> {
    let first = args.first()?;
    match name {
        "+" | "~" => return concatenated(args, result),
        "join" => return joined(args, result),
        "tojson" => return Some(provenance::json_spans(result, inputs_of_all(args), name)),
        _ => {}
    }
    let text = first.as_str()?;
    let of_text = written(first, text);
    if text == result {
        return Some(of_text);
    }
    let part = |part: Range<usize>| {
        (text.get(part.clone()) == Some(result)).then(|| of_text.cut(part).after(name))
    };
    match name {
        "[:]" => part(part_of_text(
            text,
            args.get(1)?,
            args.get(2)?,
            args.get(3)?,
        )?),
        "[]" | "first" | "last" | "random" => part(character(text, args.get(1), name, result)?),
        "strip" | "trim" => {
            // What is stripped does not contain the first character that is left.
            let start = text.find(result.chars().next()?)?;
            part(start..start + result.len())
        }
        "rstrip" | "removesuffix" => part(0..result.len()),
        "lstrip" | "removeprefix" => part(text.len().checked_sub(result.len())?..text.len()),
        "replace" => replaced(args, text, &of_text, result),
        "upper" | "lower" | "capitalize" | "title" | "swapcase" | "casefold" => {
            spelt(text, &of_text, result, name)
        }
        "e" | "escape" | "forceescape" => Some(provenance::escaped(
            &of_text,
            text,
            result,
            Escapes::Html,
            name,
        )),
        "indent" => indented(text, &of_text, result, name),
        "*" => repeated(text, &of_text, result),
        "%" | "format" => formatted(args, text, &of_text, result),
        _ => None,
    }
}

/// `a + b`, `a ~ b`
fn concatenated(args: &[Value], result: &str) -> Option<Spans> {
    let mut spans = Spans::default();
    let mut rest = result;
    for value in args {
        let (of_value, text) = written_text(value);
        rest = rest.strip_prefix(text.as_str())?;
        spans.extend(&of_value);
    }
    Some(spans)
}

/// `join` of a list with a text between its items: the filter has the list first, the method the
/// text.
fn joined(args: &[Value], result: &str) -> Option<Spans> {
    let (items, between) = match args {
        [text, items] if text.as_str().is_some() && items.as_str().is_none() => (items, Some(text)),
        [items, rest @ ..] => (items, rest.first().filter(|first| first.as_str().is_some())),
        [] => return None,
    };
    let between = between.map(written_text).unwrap_or_default();
    let mut spans = Spans::default();
    let mut rest = result;
    for (at, item) in items.try_iter().ok()?.enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(between.1.as_str())?;
            spans.extend(&between.0);
        }
        let (of_item, text) = written_text(&item);
        rest = rest.strip_prefix(text.as_str())?;
        spans.extend(&of_item);
    }
    rest.is_empty().then_some(spans)
}

/// Where a single character of a text is.
fn character(
    text: &str,
    index: Option<&Value>,
    name: &'static str,
    result: &str,
) -> Option<Range<usize>> {
    let count = || text.chars().count();
    let at = match name {
        "first" => 0,
        "last" => count().checked_sub(1)?,
        "[]" => {
            let index = i64::try_from(index?.clone()).ok()?;
            let from_end = usize::try_from(index.unsigned_abs()).ok()?;
            if index < 0 {
                count().checked_sub(from_end)?
            } else {
                from_end
            }
        }
        _ => text[..text.find(result)?].chars().count(),
    };
    let (start, c) = text.char_indices().nth(at)?;
    Some(start..start + c.len_utf8())
}

/// `text.replace(old, new, count)`
fn replaced(args: &[Value], text: &str, of_text: &Spans, result: &str) -> Option<Spans> {
    let old = args.get(1)?.as_str().filter(|old| !old.is_empty())?;
    let (of_new, new) = written_text(args.get(2)?);
    let mut spans = Spans::default();
    let mut kept = 0;
    let of_text = of_text.after("replace");
    let of_new = of_new.after("replace");
    let count = args
        .get(3)
        .and_then(|count| usize::try_from(count.clone()).ok());
    for (at, _) in text.match_indices(old).take(count.unwrap_or(usize::MAX)) {
        spans.extend(&of_text.cut(kept..at));
        spans.extend(&of_new);
        kept = at + old.len();
    }
    spans.extend(&of_text.cut(kept..text.len()));
    let count = count.map_or_else(
        || text.replace(old, &new),
        |count| text.replacen(old, &new, count),
    );
    (count == result).then_some(spans)
}

/// A text whose letters are spelt otherwise, if each takes as much space as before.
fn spelt(text: &str, of_text: &Spans, result: &str, name: &'static str) -> Option<Spans> {
    let lengths = |text: &str| text.chars().map(char::len_utf8).collect::<Vec<_>>();
    (lengths(text) == lengths(result)).then(|| of_text.after(name))
}

/// `text * count`. A text that is repeated many times is made from the one text.
fn repeated(text: &str, of_text: &Spans, result: &str) -> Option<Spans> {
    const MANY: usize = 10_000;
    if result.len() / text.len().max(1) > MANY {
        return None;
    }
    let of_text = of_text.after("*");
    let mut spans = Spans::default();
    let mut rest = result;
    while let Some(after) = rest.strip_prefix(text).filter(|_| !text.is_empty()) {
        spans.extend(&of_text);
        rest = after;
    }
    rest.is_empty().then_some(spans)
}

/// A text whose lines have something before them.
fn indented(text: &str, of_text: &Spans, result: &str, name: &'static str) -> Option<Spans> {
    let of_text = of_text.after(name);
    let mut spans = Spans::default();
    let mut rest = result;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let before = rest.find(line)?;
        if rest[..before].contains('\n') {
            return None;
        }
        spans.extend(&made(before, of_text.inputs(), name));
        spans.extend(&of_text.cut(at..at + line.len()));
        at += line.len();
        rest = &rest[before + line.len()..];
    }
    rest.is_empty().then_some(spans)
}

/// `text % values` and `text.format(values)` with plain places only: `%s` and `{}`.
fn formatted(args: &[Value], text: &str, of_text: &Spans, result: &str) -> Option<Spans> {
    let (_, values) = args.split_first()?;
    let values: Vec<Value> = match values {
        [values] if is_tuple(values) => values.try_iter().ok()?.collect(),
        values => values.to_vec(),
    };
    ["%s", "{}"].into_iter().find_map(|place| {
        let mut spans = Spans::default();
        let mut rest = result;
        let mut values = values.iter();
        let mut at = 0;
        for (number, plain) in text.split(place).enumerate() {
            if number > 0 {
                let (of_value, value) = written_text(values.next()?);
                rest = rest.strip_prefix(value.as_str())?;
                spans.extend(&of_value);
                at += place.len();
            }
            rest = rest.strip_prefix(plain)?;
            spans.extend(&of_text.cut(at..at + plain.len()));
            at += plain.len();
        }
        rest.is_empty().then_some(spans)
    })
}

/// A list of texts that a call gave, whose origin is known: the parts of a text that was split, or
/// its characters.
fn texts_within(name: &'static str, args: &[Value], result: &Value) -> Option<Value> {
    let of = args.first()?;
    let text = of.as_str()?;
    let is_split = ["split", "rsplit", "splitlines", "partition", "rpartition"].contains(&name);
    let is_spelt = ["list", "for"].contains(&name);
    let is_sequence = is_list(result) || is_tuple(result) || result.as_str().is_some();
    if !is_sequence || !(is_split || is_spelt) {
        return None;
    }
    let of_text = written(of, text);
    let separator = match name {
        "split" | "rsplit" => args.get(1).and_then(|separator| separator.as_str()),
        _ => None,
    };
    let mut at = 0;
    let mut items = Vec::new();
    for (number, item) in result.try_iter().ok()?.enumerate() {
        let part = item.as_str()?;
        let start = match separator {
            Some(separator) if number > 0 => at + separator.len(),
            Some(_) => at,
            None => at + text.get(at..)?.find(part)?,
        };
        let place = start..start + part.len();
        if text.get(place.clone()) != Some(part) {
            return None;
        }
        at = place.end;
        let of_part = of_text.cut(place);
        items.push(known(
            &item,
            if is_split {
                of_part.after(name)
            } else {
                of_part
            },
        ));
    }
    Some(if is_tuple(result) {
        Value::from(Tuple::from(items))
    } else {
        Value::from(items)
    })
}
