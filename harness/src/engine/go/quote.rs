//! How Go quotes and escapes text: `%q`, `html`, `js` and `urlquery`.
//!
//! Source: strconv/quote.go and text/template/funcs.go of Go 1.26.

use std::fmt::Write as _;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Letters, marks, numbers, punctuation, symbols, and the plain space.
fn is_printable(c: char) -> bool {
    c == ' '
        || matches!(
            c.general_category_group(),
            GeneralCategoryGroup::Letter
                | GeneralCategoryGroup::Mark
                | GeneralCategoryGroup::Number
                | GeneralCategoryGroup::Punctuation
                | GeneralCategoryGroup::Symbol
        )
}

fn escape(out: &mut String, c: char, quote: char, ascii: bool) {
    match c {
        c if c == quote || c == '\\' => {
            out.push('\\');
            out.push(c);
        }
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if is_printable(c) && (!ascii || c.is_ascii()) => out.push(c),
        c => {
            let code = u32::from(c);
            // Writing to a string cannot fail.
            let _ = match code {
                0..0x20 | 0x7f => write!(out, "\\x{code:02x}"),
                0..0x1_0000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
    }
}

/// `strconv.Quote`; with `raw` in backquotes where that is possible, with `ascii`
/// without other characters.
pub(super) fn quote(text: &[u8], raw: bool, ascii: bool) -> Vec<u8> {
    if raw
        && let Ok(text) = std::str::from_utf8(text)
        && !text.contains(|c: char| {
            c == '`' || c == '\u{7f}' || c == '\u{feff}' || (c < ' ' && c != '\t')
        })
    {
        return format!("`{text}`").into_bytes();
    }
    let mut out = String::from("\"");
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            escape(&mut out, c, '"', ascii);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out.into_bytes()
}

/// `strconv.QuoteRune`.
pub(super) fn quote_char(c: char, ascii: bool) -> String {
    let mut out = String::from("'");
    escape(&mut out, c, '\'', ascii);
    out.push('\'');
    out
}

/// `html`.
pub(super) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(*byte),
        }
    }
    out
}

/// `js`.
pub(super) fn js(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let _ = match c {
                '\\' | '\'' | '"' => write!(out, "\\{c}"),
                '<' | '>' | '&' | '=' | '\0'..='\u{1f}' => {
                    write!(out, "\\u{:04X}", u32::from(c))
                }
                c if c.is_ascii() || is_printable(c) => write!(out, "{c}"),
                c => write!(out, "\\u{:04X}", u32::from(c)),
            };
        }
        // Go takes the replacement character for printable and copies the byte; the
        // output is made valid at the end.
        for _ in chunk.invalid() {
            out.push('\u{fffd}');
        }
    }
    out.into_bytes()
}

/// `urlquery`: `url.QueryEscape`.
pub(super) fn urlquery(text: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte));
            }
            b' ' => out.push('+'),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out.into_bytes()
}
