//! What filters know of markup and addresses.

// minijinja hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::fmt::Write as _;

use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Error, ErrorKind};

use super::arguments::Arguments;
use super::meter::{CHARACTER, ITEM, SLOT, produce, work};
use super::methods::is_dictionary;
use super::pytext::{self, is_space};

/// `markupsafe.escape`, counted before it is there.
pub(super) fn escaped(text: &str) -> Result<String, Error> {
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

/// `Markup.striptags()`: without comments and tags, white space as single spaces,
/// entities as what they stand for.
pub(super) fn without_tags(text: &str) -> String {
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

/// The entities that templates meet, and those by number (`html.unescape`).
fn unescaped(text: &str) -> String {
    const NAMED: [(&str, &str); 6] = [
        ("lt", "<"),
        ("gt", ">"),
        ("amp", "&"),
        ("quot", "\""),
        ("apos", "'"),
        ("nbsp", "\u{a0}"),
    ];
    /// Leading zeros are the only thing that makes a longer one.
    const MOST: usize = 64;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        // No entity that is known has a longer name.
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

fn by_number(name: &str) -> Option<char> {
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code)
}

/// `urlencode(value)`: of a text, or of a dictionary's or a list's pairs.
pub(super) fn url_encode(value: &Value) -> Result<String, Error> {
    if value.as_str().is_some() || value.try_iter().is_err() || value.is_none() {
        return Ok(quoted(&pytext::str(value), false));
    }
    let mut parts = Vec::new();
    for item in value.try_iter()? {
        work(ITEM + item.as_str().map_or(0, str::len) * 4)?;
        let (key, item) = if is_dictionary(value) {
            let found = value.get_item(&item)?;
            (item, found)
        } else {
            let pair: Vec<Value> = item.try_iter()?.take(3).collect();
            let [key, item] = pair.as_slice() else {
                return Err(Error::from(ErrorKind::CannotUnpack));
            };
            (key.clone(), item.clone())
        };
        let (key, item) = (pytext::str(&key), pytext::str(&item));
        work((key.len() + item.len()) * CHARACTER)?;
        produce(SLOT + 4 * (key.len() + item.len()))?;
        parts.push(format!("{}={}", quoted(&key, true), quoted(&item, true)));
    }
    Ok(parts.join("&"))
}

/// Jinja2's `url_quote`.
fn quoted(text: &str, in_query: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if !in_query => out.push('/'),
            b' ' if in_query => out.push('+'),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// `xmlattr(d, autospace=True)`.
pub(super) fn attributes(
    value: &Value,
    args: Rest<Value>,
    kwargs: Kwargs,
) -> Result<String, Error> {
    let args = Arguments::of(["autospace"], &args, &kwargs)?;
    if !is_dictionary(value) {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{} has no items", value.kind()),
        ));
    }
    let mut parts = Vec::new();
    for (key, item) in pytext::pairs(value)? {
        if item.is_none() || item.is_undefined() {
            continue;
        }
        let name = key.as_str().unwrap_or(" ");
        if name.contains(|c: char| is_space(c) || "/>=".contains(c)) {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "a character that no attribute's name may have",
            ));
        }
        let text = pytext::str(&item);
        let text = if item.is_safe() {
            text.into_owned()
        } else {
            escaped(&text)?
        };
        work(name.len() * CHARACTER)?;
        produce(SLOT + 2 * (name.len() + text.len()))?;
        parts.push(format!("{}=\"{text}\"", escaped(name)?));
    }
    let text = parts.join(" ");
    Ok(if args.truth(0, true) && !text.is_empty() {
        format!(" {text}")
    } else {
        text
    })
}
