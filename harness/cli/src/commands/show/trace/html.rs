//! The page of a trace: the prompt in colours between what the template was given and its source.

use rolecall_core::Cut;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

use rolecall_core::provenance::{Input, InputKind, Origin};
use rolecall_front::fields::{Field, fields};
use rolecall_front::trace::is_key;
use rolecall_io::template_file::place;
use serde_json::{Value, json};

use crate::report::html::card::with_marks;
use crate::report::html::view;
use crate::report::html::view::{pieces, source_lines};
use crate::report::numbers::percent;
use crate::report::trace::{Known, Source, Trace, visible};

const SCRIPT: &str = include_str!("html.js");

/// What the page says before something is chosen.
const HELP: &str = "Choose a text to see where it comes from, or a field to see where it goes. \
                    Tab goes from part to part, and the arrow keys from text to text.";

/// Writes the page of a trace.
pub fn write(out: &mut dyn Write, trace: &Trace<'_>) -> io::Result<()> {
    let title = format!("{} {}", trace.template.name, trace.case.id);
    let fields = all_fields(trace);
    let known = Known::of(&fields);
    let index = json!({
        "title": title,
        "file": place(trace.template, None),
        "bytes": trace.prompt.len(),
        "help": HELP,
        "legend": legend(trace),
        "spans": spans(trace, &known),
        "fields": field_entries(trace, &fields),
        "source": source(trace),
    });
    view::write(out, &title, &index, SCRIPT)
}

/// The fields that the template was given, and those that only the spans know: the clock, or what an
/// application adds.
fn all_fields(trace: &Trace<'_>) -> Vec<Field> {
    let mut fields = fields(trace.template, trace.case);
    let mut known: BTreeSet<String> = fields.iter().map(|field| field.path.clone()).collect();
    let inputs = trace.spans.iter().flat_map(|span| match &span.origin {
        Origin::Literal { .. } => &[],
        Origin::Input { input, .. } => std::slice::from_ref(input),
        Origin::Made { from } => from.as_ref(),
    });
    for input in inputs {
        if known.insert(input.path.clone()) {
            fields.push(Field {
                kind: input.kind,
                path: input.path.clone(),
                name: input.path.clone(),
                depth: 0,
                text: (input.kind == InputKind::Clock).then(|| trace.case.now.to_string()),
                is_text: false,
            });
        }
    }
    // Fields that only the spans name were added last, and move to the others of their kind. The sort is
    // stable, so all other fields keep the order of the case.
    fields.sort_by_key(|field| field.kind);
    fields
}

/// The sources of the prompt with their shares.
fn legend(trace: &Trace<'_>) -> Vec<Value> {
    let bytes = trace.bytes();
    let used = Source::ALL.into_iter().filter_map(|source| {
        let share = percent(*bytes.get(&source)?, trace.prompt.len());
        let name = source.name();
        Some(json!([format!("of-{name}"), name, share]))
    });
    used.collect()
}

fn spans(trace: &Trace<'_>, known: &Known) -> Vec<Value> {
    let path = |input: &std::sync::Arc<Input>| input.path.clone();
    let spans = trace.spans.iter().map(|span| {
        let (literal, bytes, paths) = match &span.origin {
            Origin::Literal { source } => (Some(source), None, Vec::new()),
            Origin::Input { input, bytes } => (None, Some(bytes), vec![path(input)]),
            Origin::Made { from } => (None, None, from.iter().map(path).collect()),
        };
        json!({
            "text": with_marks(trace.text(span)),
            "range": range(&span.prompt),
            "source": Source::of(span).name(),
            "words": trace.source(span, known),
            "literal": literal.map(range),
            "bytes": bytes.map(range),
            "paths": paths,
            "isKey": is_key(span),
        })
    });
    spans.collect()
}

fn range(range: &Range<usize>) -> Value {
    json!([range.start, range.end])
}

/// The fields, each with its text in pieces: those that reach the prompt, and those between.
fn field_entries(trace: &Trace<'_>, fields: &[Field]) -> Vec<Value> {
    let mut used: BTreeMap<&str, Vec<&Range<usize>>> = BTreeMap::new();
    for span in trace.spans {
        if let Origin::Input { input, bytes } = &span.origin
            && !is_key(span)
        {
            used.entry(&input.path).or_default().push(bytes);
        }
    }
    let entries = fields.iter().map(|field| {
        let ranges = used.get(field.path.as_str()).map_or(&[][..], Vec::as_slice);
        let pieces = field.text.as_ref().map(|text| {
            if !field.is_text {
                return vec![json!([visible(text), 0, text.len(), !ranges.is_empty()])];
            }
            let places = ranges.iter().flat_map(|range| [range.start, range.end]);
            let parts = pieces(text, places).into_iter().map(|(start, end)| {
                let is_used = |range: &&Range<usize>| range.start < end && start < range.end;
                let is_used = ranges.iter().any(is_used);
                json!([with_marks(text.cut(start..end)), start, end, is_used])
            });
            parts.collect()
        });
        json!({
            "group": group(field.kind),
            "kind": field.kind.name(),
            "path": field.path,
            "name": field.name,
            "depth": field.depth,
            "pieces": pieces,
        })
    });
    entries.collect()
}

fn group(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Message => "conversation",
        InputKind::Tool => "tools",
        InputKind::Document => "documents",
        InputKind::Variable => "variables",
        InputKind::Token => "special tokens",
        InputKind::Clock => "the clock",
    }
}

/// The template's source in pieces: the texts that reach the prompt, and the text between.
fn source(trace: &Trace<'_>) -> Vec<Value> {
    let text = &trace.template.source;
    let literals = trace.spans.iter().filter_map(|span| match &span.origin {
        Origin::Literal { source } => Some(source),
        _ => None,
    });
    let literals: Vec<&Range<usize>> = literals.collect();
    let places = literals.iter().flat_map(|range| [range.start, range.end]);
    let parts = pieces(text, places).into_iter().map(|(start, end)| {
        let is_literal = literals
            .iter()
            .any(|range| range.start < end && start < range.end);
        json!([source_lines(text.cut(start..end)), start, end, is_literal])
    });
    parts.collect()
}
