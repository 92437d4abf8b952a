//! Templates that are too large for a file, each made of a few pieces, with what they give. Smaller ones are in
//! `data/hostile`.

use rolecall_core::file::MOST_TEXT;
use serde_json::Value;

/// A row of `data/large-templates.json`: its name, its outcome in a word, the pieces of its source, and those of its
/// text, if it has one.
pub(crate) struct Large(Value);

/// The rows of a table.
pub(crate) fn table(name: &str) -> Vec<Large> {
    let tables = include_str!("../data/large-templates.json");
    let mut tables: Value = serde_json::from_str(tables).unwrap();
    let Value::Array(rows) = tables[name].take() else {
        panic!("no table {name}");
    };
    rows.into_iter().map(Large).collect()
}

impl Large {
    pub(crate) fn name(&self) -> &str {
        self.0[0].as_str().unwrap()
    }

    pub(crate) fn outcome(&self) -> &str {
        self.0[1].as_str().unwrap()
    }

    pub(crate) fn source(&self) -> String {
        let most = usize::try_from(MOST_TEXT).unwrap();
        written(self.0[2].as_array().unwrap(), most)
    }

    pub(crate) fn text(&self) -> Option<String> {
        let pieces = self.0.get(3)?.as_array()?;
        Some(written(pieces, usize::MAX))
    }
}

/// Pieces, one behind the other. A list repeats what is in it: its last element says how often, or is `null` for as
/// often as fits into `most` bytes.
fn written(pieces: &[Value], most: usize) -> String {
    let before_and_after = |piece: &Value| piece.as_str().map_or(0, str::len);
    let piece = |piece: &Value| match piece {
        Value::Array(repeated) => {
            let (times, inner) = repeated.split_last().unwrap();
            let part = written(inner, most);
            let times = match times.as_u64() {
                Some(times) => usize::try_from(times).unwrap(),
                None => (most - pieces.iter().map(before_and_after).sum::<usize>()) / part.len(),
            };
            if !part.contains("⟦n⟧") {
                return part.repeat(times);
            }
            let numbered = |n: usize| {
                part.replace("⟦n⟧", &n.to_string())
                    .replace("⟦n+1⟧", &(n + 1).to_string())
            };
            (0..times).map(numbered).collect()
        }
        text => text.as_str().unwrap().to_owned(),
    };
    pieces.iter().map(piece).collect()
}
