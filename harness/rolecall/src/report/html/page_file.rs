//! The one file that a page is: its frame, an index, and what is unpacked when someone looks.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::diff::{Diff, Side};

const PAGE: &str = include_str!("page.html");
pub(in crate::report) const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// A page as a file in the making.
#[derive(Debug, Default)]
pub struct PageFile {
    chunks: Vec<String>,
}

impl PageFile {
    /// Adds what is shown when someone looks at a template. Returns the name that the index has
    /// for it.
    pub fn add(&mut self, value: &Value) -> io::Result<String> {
        let id = format!("chunk-{}", self.chunks.len());
        let chunk = packed(value)?;
        self.chunks.push(format!(
            "<script id=\"{id}\" type=\"text/plain\">{chunk}</script>\n"
        ));
        Ok(id)
    }

    /// Writes the page. The script reads from the index what the overview shows.
    pub fn write(self, out: &mut dyn Write, title: &str, index: &Value) -> io::Result<()> {
        // Each mark stands once in the page, and is replaced by what has marks of its own
        // last, so nothing that a template says is taken for a mark.
        let mut rest = PAGE;
        for (mark, text) in [
            ("{{TITLE}}", escaped(title)),
            ("{{STYLE}}", STYLE.trim_end().to_owned()),
            ("{{INDEX}}", in_script(index)),
            ("{{CHUNKS}}", self.chunks.concat()),
            ("{{SCRIPT}}", SCRIPT.trim_end().to_owned()),
        ] {
            if let Some((before, after)) = rest.split_once(mark) {
                out.write_all(before.as_bytes())?;
                out.write_all(text.as_bytes())?;
                rest = after;
            }
        }
        out.write_all(rest.as_bytes())
    }
}

/// A diff as the page reads it: lines of a side and its pieces.
pub(in crate::report) fn diff(title: &str, diff: &Diff) -> Value {
    let hunks: Vec<Vec<Value>> = diff
        .hunks
        .iter()
        .map(|hunk| {
            hunk.iter()
                .map(|line| {
                    let side = match line.side {
                        Side::Both => " ",
                        Side::Expected => "-",
                        Side::Found => "+",
                    };
                    let pieces: Vec<_> = line
                        .pieces
                        .iter()
                        .map(|piece| json!([piece.text, piece.changed]))
                        .collect();
                    json!([side, pieces])
                })
                .collect()
        })
        .collect();
    json!({"title": title, "first": diff.first, "hunks": hunks})
}

/// JSON, compressed, in letters that a page can hold.
fn packed(value: &Value) -> io::Result<String> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut packer, value)?;
    Ok(STANDARD.encode(packer.finish()?))
}

/// JSON that ends no script element.
fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
