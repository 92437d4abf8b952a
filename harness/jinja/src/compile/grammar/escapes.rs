//! The escapes in the strings of a template.

use std::borrow::Cow;

use crate::python::text::write_escape;

/// The text of a string, given what is between its quotes.
///
/// Jinja2 (`lexer.py`, `Lexer.wrap`) first escapes every character beyond ASCII. Then CPython's
/// codec `unicode-escape` reads the string. So a backslash before `é` comes before `\xe9`, and
/// gives a backslash and `xe9`.
pub(in crate::compile) fn unescaped(string: &str) -> Result<Cow<'_, str>, &'static str> {
    if !string.contains('\\') {
        return Ok(string.into());
    }
    let mut out = String::with_capacity(string.len());
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        let Some(c) = chars.next() else {
            return Err("\\ at end of string");
        };
        rest = chars.as_str();
        match c {
            '\n' => {}
            '\\' | '\'' | '"' => out.push(c),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{C}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\u{B}'),
            '0'..='7' => {
                let more = rest
                    .bytes()
                    .take(2)
                    .take_while(|b| (b'0'..=b'7').contains(b));
                let (digits, after) = rest.split_at(more.count());
                let first = u32::from(c) - u32::from('0');
                let code = digits
                    .bytes()
                    .fold(first, |code, digit| code * 8 + u32::from(digit - b'0'));
                out.extend(char::from_u32(code));
                rest = after;
            }
            'u' if is_half_pair(rest) => {
                return Err(
                    "half of a pair of surrogates is no character here: write the character \
                            itself, or \\U and eight digits",
                );
            }
            'x' => rest = by_code(rest, 2, &mut out).ok_or("truncated \\xXX escape")?,
            'u' => rest = by_code(rest, 4, &mut out).ok_or("truncated \\uXXXX escape")?,
            'U' => rest = by_code(rest, 8, &mut out).ok_or("illegal Unicode character")?,
            'N' => {
                return Err(
                    "this engine does not know the names of Unicode characters (\\N{…}): \
                            write the character itself",
                );
            }
            c if c.is_ascii() => {
                out.push('\\');
                out.push(c);
            }
            c => {
                write_escape(c, &mut out);
            }
        }
    }
    out.push_str(rest);
    Ok(out.into())
}

/// Whether the digits of `\u` are half of a pair of surrogates. Python reads it as a character of its
/// own, which no prompt can have.
fn is_half_pair(text: &str) -> bool {
    let code = text.get(..4).map(|digits| u32::from_str_radix(digits, 16));
    matches!(code, Some(Ok(0xD800..=0xDFFF)))
}

/// Reads a character's code from so many digits, appends the character, and returns the rest.
fn by_code<'t>(text: &'t str, digits: usize, out: &mut String) -> Option<&'t str> {
    let code = text.get(..digits)?;
    if !code.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    out.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
    Some(&text[digits..])
}
