//! The frame of pages that show one thing in panes, such as a trace.

use std::io::{self, Write};

use serde_json::Value;

use super::page_file::{SHARED, STYLE, escaped, in_script, write_frame};
use crate::report::trace::visible;

const FRAME: &str = include_str!("view.html");
const OWN_STYLE: &str = include_str!("view.css");
const SCRIPT: &str = include_str!("view.js");

/// Writes a page. Its script reads what it shows from the index.
pub(crate) fn write(
    out: &mut dyn Write,
    title: &str,
    index: &Value,
    script: &str,
) -> io::Result<()> {
    let parts = [
        ("{{TITLE}}", escaped(title)),
        ("{{STYLE}}", format!("{STYLE}{}", OWN_STYLE.trim_end())),
        ("{{INDEX}}", in_script(index)),
        (
            "{{SCRIPT}}",
            format!("{SHARED}{SCRIPT}\n{}", script.trim_end()),
        ),
    ];
    write_frame(out, FRAME, &parts)
}

/// The pieces of a text between some of its bytes: each with its range. Places within a character
/// are left out.
pub(crate) fn pieces(text: &str, places: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut places: Vec<usize> = places
        .into_iter()
        .chain([0, text.len()])
        .filter(|at| text.is_char_boundary(*at))
        .collect();
    places.sort_unstable();
    places.dedup();
    places.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// A piece of a template's source with every byte visible. The source has lines of its own on the
/// page, so their breaks need no marks.
pub(crate) fn source_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_characters() {
        assert_eq!(pieces("aéb", [1, 2, 9, 3]), [(0, 1), (1, 3), (3, 4)]);
        assert_eq!(pieces("", [0]), []);
    }
}
