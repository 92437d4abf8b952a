//! Answers that a response template reads: what a model would write for each field.

use crate::event::Message;
use crate::inspection::sample::{samples, text_of};
use crate::inspection::trial::Bench;
use crate::template::{Delimiter, Field};
use crate::text::Text;
use crate::transform::Transform;
use crate::value::Value;

/// A region of a field: what opens it, its text, and what closes it.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) field: usize,
    pub(super) open: String,
    pub(super) body: String,
    pub(super) close: String,
}

impl Region {
    pub(super) fn text(&self) -> String {
        [&*self.open, &*self.body, &*self.close].concat()
    }
}

/// The texts that a delimiter may match.
pub(super) fn texts(delimiter: Option<&Delimiter>) -> Vec<String> {
    delimiter.map_or_else(
        || vec![String::new()],
        |delimiter| {
            let found = samples(delimiter.pattern.tree());
            found.iter().map(|sample| text_of(sample)).collect()
        },
    )
}

/// For each field a region that the parser reads, if one is found.
pub(super) fn regions(bench: &Bench<'_>) -> Vec<Region> {
    let fields = (0..bench.fields().len()).take_while(|_| !bench.is_spent());
    fields.filter_map(|field| region(bench, field)).collect()
}

/// How many texts of a delimiter are tried.
const TRIED: usize = 6;

fn region(bench: &Bench<'_>, number: usize) -> Option<Region> {
    let field = &bench.fields()[number];
    let opens = texts(field.open.as_ref());
    let closes = texts(field.close.as_ref());
    let bodies = bodies(field);
    let name = Text::from(field.name.as_str());
    for close in closes.iter().take(TRIED) {
        for open in opens.iter().take(TRIED) {
            for body in &bodies {
                if bench.is_spent() {
                    return None;
                }
                let region = Region {
                    field: number,
                    open: open.clone(),
                    body: body.clone(),
                    close: close.clone(),
                };
                let trial = bench.whole(&region.text());
                let closes = trial
                    .seen
                    .iter()
                    .any(|seen| !seen.opens && seen.field == number);
                let has_field = |message: &Message| message.fields.contains_key(&name);
                if (closes || close.is_empty()) && trial.outcome.as_ref().is_ok_and(has_field) {
                    return Some(region);
                }
            }
        }
    }
    None
}

/// Texts that a field's parser may be able to read, the likeliest first.
fn bodies(field: &Field) -> Vec<String> {
    let texts: &[&str] = match field.parser.as_str() {
        "int" | "float" => &["1"],
        "bool" => &["true"],
        "json" => return json_bodies(field),
        "xml-inline" => {
            let tags = field.patterns.usable().next();
            let tags = tags.map(|tags| samples(tags.tree())).unwrap_or_default();
            let tags = tags.iter().map(|tag| text_of(tag)).take(TRIED);
            // A closer may need a line of its own.
            return tags
                .flat_map(|tag| [tag.clone(), format!("\n{tag}")])
                .collect();
        }
        "kv-lines" => &["x: y", "x=y"],
        "python-call-list" => &["[f(x=1)]"],
        _ => &["Hi"],
    };
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn json_bodies(field: &Field) -> Vec<String> {
    let arguments = r#"{"x": 1}"#.to_owned();
    let call = r#"{"name": "f", "arguments": {"x": 1}}"#.to_owned();
    let mut names = Vec::new();
    if let Some(transform) = &field.transform {
        placeholders(transform, &mut names);
    }
    if field.each {
        let entries = names.iter().map(|name| {
            let value = if name.contains("arg") || name.contains("param") {
                &arguments
            } else {
                "\"f\""
            };
            format!("\"{name}\": {value}")
        });
        let entries: Vec<String> = entries.collect();
        return vec![format!("[{{{}}}]", entries.join(", "))];
    }
    let opener_has_name = field
        .open
        .as_ref()
        .is_some_and(|open| open.pattern.names().next().is_some());
    if opener_has_name {
        vec![arguments, call]
    } else {
        vec![call, arguments]
    }
}

fn placeholders(transform: &Transform, names: &mut Vec<String>) {
    match transform {
        Transform::Placeholder(path) => names.extend(path.first().map(Text::to_string)),
        Transform::List(items) => {
            for item in items {
                placeholders(item, names);
            }
        }
        Transform::Object(entries) => {
            for (_, value) in entries {
                placeholders(value, names);
            }
        }
        Transform::Plain(_) => {}
    }
}

/// What a message has in a field.
pub(super) fn value_in<'m>(message: &'m Message, field: &Field) -> Option<&'m Value> {
    message.fields.get(&Text::from(field.name.as_str()))
}

/// The texts that end an answer: those that are known, and those that close the implicit region.
pub(super) fn end_tokens(bench: &Bench<'_>, known: &[String]) -> Vec<String> {
    let implicit = bench.template.parts.implicit.map(|at| &bench.fields()[at]);
    let closer = implicit.and_then(|field| field.close.as_ref());
    let closing = closer.map(|closer| texts(Some(closer))).unwrap_or_default();
    let closing = closing.iter().map(|text| text.trim());
    let mut tokens: Vec<String> = Vec::new();
    for token in known.iter().map(String::as_str).chain(closing) {
        if !token.is_empty() && !tokens.iter().any(|other| other == token) {
            tokens.push(token.to_owned());
        }
    }
    tokens
}
