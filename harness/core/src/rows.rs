//! JSON files with one line per row, so that people can read their diffs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::ser::Error;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::ser::Formatter;
use serde_json::value::RawValue;

/// A value that is written in one line; [`text`] gives everything around it lines of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Row<T>(pub T);

/// In one line, with a space after each comma and each colon.
struct OneLine;

impl Formatter for OneLine {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

impl<T: Serialize> Serialize for Row<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The writer of the whole file copies a raw value as it is, and would break any other into
        // lines.
        let row = RawValue::from_string(line(&self.0)).map_err(S::Error::custom)?;
        row.serialize(serializer)
    }
}

/// A value as JSON in one line.
pub fn line(value: &impl Serialize) -> String {
    let mut line = Vec::new();
    // Rows are plain data, which always has a JSON form.
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut line, OneLine,
    ));
    String::from_utf8(line).unwrap_or_default()
}

/// Writes a value as a [`Row`]: for `#[serde(serialize_with)]`.
pub fn row<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    Row(value).serialize(serializer)
}

/// Writes a map with a [`Row`] for each value: for `#[serde(serialize_with)]`.
pub fn rows<K: Serialize, V: Serialize, S: Serializer>(
    map: &BTreeMap<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(key, value)| (key, Row(value))))
}

/// The text of a file that holds a value with rows.
pub fn text(value: &impl Serialize) -> String {
    // As in `line`.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_line_and_the_rest_is_spread() {
        let rows = vec![
            Row(serde_json::json!({"a": [1, 2.50], "b": {}})),
            Row("x\n".into()),
        ];
        let written = text(&rows);
        assert_eq!(
            written,
            "[\n  {\"a\": [1, 2.5], \"b\": {}},\n  \"x\\n\"\n]\n"
        );
        let read: Vec<Row<serde_json::Value>> = serde_json::from_str(&written).unwrap();
        assert_eq!(read, rows);
    }
}
