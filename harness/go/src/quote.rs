//! How Go quotes and escapes text: `%q`, `html`, `js` and `urlquery`.
//!
//! Source: strconv/quote.go and text/template/funcs.go of Go 1.26.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::meter::{Sink, WriteResult};

/// The work to look a character up.
const LOOKUP: usize = 100;

/// The work to write a character as a number.
const NUMBER: usize = 500;

/// Letters, marks, numbers, punctuation, symbols, and the plain space.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter
            | GeneralCategoryGroup::Mark
            | GeneralCategoryGroup::Number
            | GeneralCategoryGroup::Punctuation
            | GeneralCategoryGroup::Symbol
    )
}

/// Writes text in long runs, and replaces single characters.
fn in_runs(
    out: &mut Sink<'_>,
    text: &str,
    is_plain: impl Fn(char) -> bool,
    mut escape: impl FnMut(&mut Sink<'_>, char) -> WriteResult,
) -> WriteResult {
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if !c.is_ascii() {
            out.meter.work(LOOKUP)?;
        }
        if !is_plain(c) {
            out.push(&text.as_bytes()[from..at])?;
            from = at + c.len_utf8();
            out.in_place_of(&text.as_bytes()[at..from], |out| escape(out, c))?;
        }
    }
    out.push(&text.as_bytes()[from..])
}

/// Writes bytes in long runs, and replaces single bytes.
fn replaced(
    out: &mut Sink<'_>,
    text: &[u8],
    replacement: impl Fn(u8) -> Option<&'static [u8]>,
) -> WriteResult {
    let mut from = 0;
    for (at, byte) in text.iter().enumerate() {
        if let Some(other) = replacement(*byte) {
            out.push(&text[from..at])?;
            from = at + 1;
            out.in_place_of(&text[at..from], |out| out.escape(other))?;
        }
    }
    out.push(&text[from..])
}

fn is_plain(c: char, quote: char, ascii: bool) -> bool {
    c != quote && c != '\\' && (!ascii || c.is_ascii()) && is_printable(c)
}

fn escape(out: &mut Sink<'_>, c: char, quote: char) -> WriteResult {
    match c {
        c if c == quote || c == '\\' => out.escape(&[b'\\', c as u8]),
        '\u{7}' => out.escape(b"\\a"),
        '\u{8}' => out.escape(b"\\b"),
        '\u{c}' => out.escape(b"\\f"),
        '\n' => out.escape(b"\\n"),
        '\r' => out.escape(b"\\r"),
        '\t' => out.escape(b"\\t"),
        '\u{b}' => out.escape(b"\\v"),
        c if u32::from(c) < 0x80 => {
            let [high, low] = hex(c as u8, false);
            out.escape(&[b'\\', b'x', high, low])
        }
        c => {
            out.meter.work(NUMBER)?;
            match u32::from(c) {
                code @ 0..0x1_0000 => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            }
        }
    }
}

/// A byte in two digits.
pub(crate) fn hex(byte: u8, upper: bool) -> [u8; 2] {
    let digits = if upper {
        b"0123456789ABCDEF"
    } else {
        b"0123456789abcdef"
    };
    [
        digits[usize::from(byte >> 4)],
        digits[usize::from(byte & 15)],
    ]
}

/// `strconv.Quote`. `raw` asks for backquotes where possible; `ascii` escapes all other characters.
pub(crate) fn quote(out: &mut Sink<'_>, text: &[u8], raw: bool, ascii: bool) -> WriteResult {
    if raw
        && let Ok(text) = std::str::from_utf8(text)
        && !text.contains(|c: char| {
            c == '`' || c == '\u{7f}' || c == '\u{feff}' || (c < ' ' && c != '\t')
        })
    {
        out.push(b"`")?;
        out.push_str(text)?;
        return out.push(b"`");
    }
    out.push(b"\"")?;
    for chunk in text.utf8_chunks() {
        in_runs(
            out,
            chunk.valid(),
            |c| is_plain(c, '"', ascii),
            |out, c| escape(out, c, '"'),
        )?;
        for byte in chunk.invalid().chunks(1) {
            let [high, low] = hex(byte[0], false);
            out.in_place_of(byte, |out| out.escape(&[b'\\', b'x', high, low]))?;
        }
    }
    out.push(b"\"")
}

/// `strconv.QuoteRune`.
pub(crate) fn quote_char(out: &mut Sink<'_>, c: char, ascii: bool) -> WriteResult {
    out.push(b"'")?;
    let mut buffer = [0; 4];
    in_runs(
        out,
        c.encode_utf8(&mut buffer),
        |c| is_plain(c, '\'', ascii),
        |out, c| escape(out, c, '\''),
    )?;
    out.push(b"'")
}

/// `html`.
pub(crate) fn html(out: &mut Sink<'_>, text: &[u8]) -> WriteResult {
    replaced(out, text, |byte| {
        Some(match byte {
            0 => "\u{fffd}".as_bytes(),
            b'"' => b"&#34;",
            b'\'' => b"&#39;",
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            _ => return None,
        })
    })
}

/// `js`.
pub(crate) fn js(out: &mut Sink<'_>, text: &[u8]) -> WriteResult {
    let is_plain =
        |c| !matches!(c, '\\' | '\'' | '"' | '<' | '>' | '&' | '=') && is_printable_js(c);
    for chunk in text.utf8_chunks() {
        in_runs(out, chunk.valid(), is_plain, |out, c| match c {
            '\\' | '\'' | '"' => out.escape(&[b'\\', c as u8]),
            c if c.is_ascii() => {
                let [high, low] = hex(c as u8, true);
                out.escape(&[b'\\', b'u', b'0', b'0', high, low])
            }
            c => {
                out.meter.work(NUMBER)?;
                out.push_str(&format!("\\u{:04X}", u32::from(c)))
            }
        })?;
        // Go treats the replacement character as printable and copies the byte. The engine makes
        // the output valid at the end.
        for byte in chunk.invalid().chunks(1) {
            out.in_place_of(byte, |out| out.escape("\u{fffd}".as_bytes()))?;
        }
    }
    Ok(())
}

/// Whether `js` keeps a character that has no special meaning. It keeps DEL too.
fn is_printable_js(c: char) -> bool {
    c == '\u{7f}' || is_printable(c)
}

/// `urlquery`: `url.QueryEscape`.
pub(crate) fn urlquery(out: &mut Sink<'_>, text: &[u8]) -> WriteResult {
    let mut from = 0;
    for (at, byte) in text.iter().enumerate() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            continue;
        }
        out.push(&text[from..at])?;
        from = at + 1;
        out.in_place_of(&text[at..from], |out| {
            if *byte == b' ' {
                return out.escape(b"+");
            }
            let [high, low] = hex(*byte, true);
            out.escape(&[b'%', high, low])
        })?;
    }
    out.push(&text[from..])
}
