//! Texts as Python has them: code points, among them lone surrogates.

use std::fmt::{self, Write};

/// A text of Python: a list of code points.
///
/// A JSON string may hold half of a surrogate pair, `"\ud83d"`. Python keeps it, and a Rust
/// `String` cannot, so this type can.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Vec<u32>);

impl Text {
    /// A text without characters.
    pub fn new() -> Text {
        Text::default()
    }

    /// The text as Unicode code points, by which Python counts characters.
    pub fn codes(&self) -> &[u32] {
        &self.0
    }

    /// The text as a `String`, unless it has a lone surrogate.
    pub fn to_utf8(&self) -> Option<String> {
        self.0.iter().map(|&code| char::from_u32(code)).collect()
    }

    /// Whether there are no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with each backslash doubled and each lone surrogate as `\ud83d`. [`Text::unescape`]
    /// reads it back.
    pub fn escape(&self) -> String {
        let mut out = String::with_capacity(self.0.len());
        for &code in &self.0 {
            match char::from_u32(code) {
                Some('\\') => out.push_str("\\\\"),
                Some(character) => out.push(character),
                None => {
                    // Writing into a `String` cannot fail.
                    let _ = write!(out, "\\u{code:04x}");
                }
            }
        }
        out
    }

    /// The text that [`Text::escape`] wrote, unless it is not of that form.
    pub fn unescape(escaped: &str) -> Option<Text> {
        let mut codes = Vec::with_capacity(escaped.len());
        let mut rest = escaped;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            if character != '\\' {
                codes.push(u32::from(character));
            } else if let Some(after) = rest.strip_prefix('\\') {
                codes.push(u32::from('\\'));
                rest = after;
            } else {
                let digits = rest.strip_prefix('u')?.get(..4)?;
                codes.push(u32::from_str_radix(digits, 16).ok()?);
                rest = &rest[5..];
            }
        }
        Some(Text(codes))
    }

    pub(crate) fn push(&mut self, code: u32) {
        self.0.push(code);
    }

    pub(crate) fn extend(&mut self, codes: &[u32]) {
        self.0.extend_from_slice(codes);
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        same(&self.0, other)
    }
}

/// Whether code points spell a text.
pub(crate) fn same(codes: &[u32], text: &str) -> bool {
    codes.iter().copied().eq(text.chars().map(u32::from))
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.chars().map(u32::from).collect())
    }
}

impl From<Vec<u32>> for Text {
    fn from(codes: Vec<u32>) -> Text {
        Text(codes)
    }
}

impl From<&[u32]> for Text {
    fn from(codes: &[u32]) -> Text {
        Text(codes.to_vec())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&code| {
            write!(
                f,
                "{}",
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            )
        })
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escape())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_text_is_read_back() {
        let text = Text::from(vec![0x5C, 0xD83D, 0x1F600, 0x75]);
        assert_eq!(text.escape(), "\\\\\\ud83d\u{1F600}u");
        assert_eq!(Text::unescape(&text.escape()), Some(text.clone()));
        assert_eq!(text.to_utf8(), None);
        assert_eq!(Text::unescape("\\x"), None);
    }
}
