//! `Markup`, a text that counts as escaped (markupsafe, which Jinja2 uses).

use std::cell::Cell;

use minijinja::Error;
use minijinja::value::Value;

use crate::meter::{CHARACTER, produce, work};
use crate::python::characters::is_space;

thread_local! {
    /// Whether the render on this thread escapes what it writes.
    static ESCAPES: Cell<bool> = const { Cell::new(false) };
}

/// Whether the render on this thread escapes what it writes.
pub(crate) fn escapes() -> bool {
    ESCAPES.get()
}

/// Sets whether the render escapes what it writes, and gives what was set.
pub(crate) fn set_escapes(escapes: bool) -> bool {
    ESCAPES.replace(escapes)
}

/// A text of the same kind as the original: a `Markup` that is sliced or stripped stays a
/// `Markup`.
#[inline]
pub(crate) fn like(original: &Value, text: impl Into<String>) -> Value {
    if original.is_safe() {
        Value::from_safe_string(text.into())
    } else {
        Value::from(text.into())
    }
}

/// `markupsafe.escape`, counted before the text is made.
pub(crate) fn escaped(text: &str) -> Result<String, Error> {
    let escape = |byte: u8| match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'\'' => Some("&#39;"),
        b'"' => Some("&#34;"),
        _ => None,
    };
    work(text.len().saturating_mul(CHARACTER))?;
    let longer: usize = text
        .bytes()
        .filter_map(escape)
        .map(|escape| escape.len() - 1)
        .sum();
    produce(text.len() + longer)?;
    let mut out = String::with_capacity(text.len() + longer);
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(escape) = escape(byte) {
            out.push_str(&text[copied..at]);
            out.push_str(escape);
            copied = at + 1;
        }
    }
    out.push_str(&text[copied..]);
    Ok(out)
}

/// `Markup.striptags()`: the text without comments and tags, with single spaces in place of
/// white space, and with characters in place of entities.
pub(crate) fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (mark, end) = if rest[start..].starts_with("<!--") {
            (
                "-->",
                rest[start + 4..].find("-->").map(|at| at + start + 4),
            )
        } else {
            (">", rest[start..].find('>').map(|at| at + start))
        };
        let Some(end) = end else { break };
        kept.push_str(&rest[..start]);
        rest = &rest[end + mark.len()..];
    }
    kept.push_str(rest);
    let words: Vec<&str> = kept
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    unescaped(&words.join(" "))
}

/// A text with characters in place of its entities: those by number, and those by name that
/// templates use (`html.unescape`).
fn unescaped(text: &str) -> String {
    const NAMED: [(&str, &str); 6] = [
        ("lt", "<"),
        ("gt", ">"),
        ("amp", "&"),
        ("quot", "\""),
        ("apos", "'"),
        ("nbsp", "\u{a0}"),
    ];
    /// The longest entity that the search considers. Only leading zeros can make one longer.
    const MOST: usize = 64;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let entity = rest[1..].floor_char_boundary(MOST);
        let entity = rest[1..=entity].split_once(';').map(|(name, _)| name);
        let entity = entity.and_then(|name| {
            let after = &rest[name.len() + 2..];
            let by_name = NAMED.iter().find(|(known, _)| *known == name);
            let text = match by_name {
                Some((_, text)) => (*text).to_owned(),
                None => by_number(name)?.to_string(),
            };
            Some((text, after))
        });
        if let Some((text, after)) = entity {
            out.push_str(&text);
            rest = after;
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// The character of an entity by number: `#39` or `#x27`.
fn by_number(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code)
}
