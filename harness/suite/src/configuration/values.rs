//! The values of a TOML file, as those of a JSON file are read.

use std::borrow::Cow;
use std::path::Path;

use rolecall_core::document::Document;
use rolecall_core::json::{Field, Node, NodeKind};
use rolecall_core::problem::{Position, Problem};
use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses a text. Invalid TOML is one problem.
pub(super) fn parse<'t>(
    path: &Path,
    text: &'t str,
    document: &mut Document<'_>,
) -> Result<Node<'t>, Problem> {
    let table = DeTable::parse(text).map_err(|error| {
        let message = format!("not TOML: {}", error.message().replace('\n', ", "));
        let problem = Problem::new(path, message);
        match error.span() {
            Some(span) => problem.at(Position::of(text, span.start)),
            None => problem,
        }
    })?;
    Ok(Node {
        range: 0..0,
        kind: object(document, table.into_inner()),
    })
}

fn object<'t>(document: &mut Document<'_>, table: DeTable<'t>) -> NodeKind<'t> {
    let fields = table.into_iter().map(|(key, item)| {
        let range = key.span();
        let mut value = node(document, item);
        // People look for a table where its name is.
        if matches!(value.kind, NodeKind::Object(_)) {
            value.range = range.clone();
        }
        let name = key.into_inner();
        Field { name, range, value }
    });
    NodeKind::Object(fields.collect())
}

/// Dates and times are texts, as in JSON.
fn node<'t>(document: &mut Document<'_>, item: Spanned<DeValue<'t>>) -> Node<'t> {
    let range = item.span();
    let mut number = |number: Option<Number>, text: &str| {
        let message = format!("JSON cannot express the number {text}");
        NodeKind::Number(number.unwrap_or_else(|| {
            document.problem(range.start, message, None);
            0.into()
        }))
    };
    let kind = match item.into_inner() {
        DeValue::String(text) => NodeKind::Text(text),
        DeValue::Boolean(value) => NodeKind::Boolean(value),
        DeValue::Datetime(time) => NodeKind::Text(Cow::Owned(time.to_string())),
        DeValue::Integer(integer) => {
            let read = i64::from_str_radix(integer.as_str(), integer.radix());
            number(read.ok().map(Number::from), integer.as_str())
        }
        DeValue::Float(float) => {
            // TOML has `inf` and `nan`, and JSON has not.
            let read = float.as_str().parse().ok().and_then(Number::from_f64);
            number(read, float.as_str())
        }
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| node(document, item));
            NodeKind::List(items.collect())
        }
        DeValue::Table(table) => object(document, table),
    };
    Node { range, kind }
}
