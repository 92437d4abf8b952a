//! The file of a page: its frame, an index, and compressed details that the script unpacks when
//! somebody looks.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use rolecall_core::diff::{Diff, Side};

const PAGE: &str = include_str!("page.html");
pub const STYLE: &str = concat!(include_str!("shared.css"), include_str!("style.css"));
pub const THEME: &str = include_str!("theme.js");
/// What the scripts of all pages begin with.
pub(crate) const SHARED: &str = concat!(include_str!("theme.js"), include_str!("shared.js"));
const SCRIPT: &str = include_str!("page.js");

/// A page as a file in the making.
#[derive(Debug, Default)]
pub struct PageFile {
    chunks: Vec<String>,
}

impl PageFile {
    /// Adds the details of a template. Returns the name for them in the index.
    pub fn add(&mut self, value: &Value) -> io::Result<String> {
        let id = format!("chunk-{}", self.chunks.len());
        let chunk = packed(value)?;
        self.chunks.push(format!(
            "<script id=\"{id}\" type=\"text/plain\">{chunk}</script>\n"
        ));
        Ok(id)
    }

    /// Writes the page. The script reads the overview's data from the index.
    pub fn write(self, out: &mut dyn Write, title: &str, index: &Value) -> io::Result<()> {
        let parts = [
            ("{{TITLE}}", escaped(title)),
            ("{{STYLE}}", STYLE.trim_end().to_owned()),
            ("{{INDEX}}", in_script(index)),
            ("{{CHUNKS}}", self.chunks.concat()),
            ("{{SCRIPT}}", format!("{SHARED}{}", SCRIPT.trim_end())),
        ];
        write_frame(out, PAGE, &parts)
    }
}

/// Writes the frame of a page with its parts in the places of their marks.
pub(crate) fn write_frame(
    out: &mut dyn Write,
    frame: &str,
    parts: &[(&str, String)],
) -> io::Result<()> {
    // Each mark occurs once in the frame. Only the rest of the frame is searched for marks, so
    // nothing that a template says is taken for one.
    let mut rest = frame;
    for (mark, text) in parts {
        if let Some((before, after)) = rest.split_once(mark) {
            out.write_all(before.as_bytes())?;
            out.write_all(text.as_bytes())?;
            rest = after;
        }
    }
    out.write_all(rest.as_bytes())
}

/// A diff in the page's form: lines with their side and their pieces.
pub fn diff(title: &str, diff: &Diff) -> Value {
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

/// JSON, compressed, and encoded in letters that a page can hold.
fn packed(value: &Value) -> io::Result<String> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    serde_json::to_writer(&mut packer, value)?;
    // Base64 has no `<`, so no text in it can end the script element.
    Ok(STANDARD.encode(packer.finish()?))
}

/// JSON that cannot end a script element.
pub(crate) fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
