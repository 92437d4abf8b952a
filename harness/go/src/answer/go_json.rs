//! Objects in the text of an answer, read as Go's `encoding/json.Unmarshal` reads them into a
//! `map[string]any`.
//!
//! `serde_json` refuses texts that Go takes, such as half of a surrogate pair, and takes numbers
//! that no `float64` can hold.

use rolecall_core::Limit;
use serde_json::{Map, Number, Value as Json};

use crate::error::Error;
use crate::json;
use crate::meter::Meter;

/// How deeply values may nest. Go's own bound is 10,000.
const DEEPEST: usize = 500;

/// The work to read a byte.
const BYTE: usize = 16;

/// Why a text gives no object.
#[derive(Debug)]
pub(super) enum Unread {
    /// Go refuses it, too.
    Invalid,
    /// A limit ran out.
    Limit(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Unread {
        Unread::Limit(error)
    }
}

/// Reads an object; none for `null`, which leaves a Go map nil.
pub(super) fn object(text: &str, meter: &mut Meter) -> Result<Option<Map<String, Json>>, Unread> {
    meter.work(text.len().saturating_mul(BYTE))?;
    let mut reader = Reader {
        text,
        at: 0,
        has_wide_number: false,
    };
    let value = reader.value(0)?;
    reader.space();
    if reader.at < text.len() || reader.has_wide_number {
        return Err(Unread::Invalid);
    }
    match value {
        Json::Object(object) => Ok(Some(object)),
        Json::Null => Ok(None),
        _ => Err(Unread::Invalid),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Whether a number is too large for a `float64`.
    has_wide_number: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Takes a byte if it is the next one.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Unread> {
        if self.takes(byte) {
            Ok(())
        } else {
            Err(Unread::Invalid)
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Unread> {
        if depth > DEEPEST {
            return Err(Error::Limit(Limit::Recursion).into());
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.members(depth),
            Some(b'[') => self.items(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn members(&mut self, depth: usize) -> Result<Json, Unread> {
        let mut members = Map::new();
        self.expect(b'{')?;
        self.space();
        if self.takes(b'}') {
            return Ok(members.into());
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            self.space();
            if self.takes(b'}') {
                return Ok(members.into());
            }
            self.expect(b',')?;
        }
    }

    fn items(&mut self, depth: usize) -> Result<Json, Unread> {
        let mut items = Vec::new();
        self.expect(b'[')?;
        self.space();
        if self.takes(b']') {
            return Ok(items.into());
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.takes(b']') {
                return Ok(items.into());
            }
            self.expect(b',')?;
        }
    }

    fn word(&mut self) -> Result<Json, Unread> {
        let rest = &self.text[self.at..];
        for (word, value) in [
            ("null", Json::Null),
            ("true", true.into()),
            ("false", false.into()),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(Unread::Invalid)
    }

    fn digits(&mut self) -> Result<(), Unread> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == from {
            return Err(Unread::Invalid);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Json, Unread> {
        let from = self.at;
        self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            if !self.takes(b'+') {
                self.takes(b'-');
            }
            self.digits()?;
        }
        let number: f64 = self.text[from..self.at]
            .parse()
            .map_err(|_| Unread::Invalid)?;
        // Go goes on to the end, and then refuses the whole.
        self.has_wide_number |= !number.is_finite();
        Ok(Json::Number(Number::from_string_unchecked(json::float(
            number,
        ))))
    }

    fn string(&mut self) -> Result<String, Unread> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .find(|c| matches!(c, '"' | '\\' | '\0'..='\x1f'))
                .ok_or(Unread::Invalid)?;
            out.push_str(&rest[..plain]);
            self.at += plain;
            if self.takes(b'"') {
                return Ok(out);
            }
            self.expect(b'\\')?;
            let escape = self.peek().ok_or(Unread::Invalid)?;
            self.at += 1;
            out.push(match escape {
                b'"' | b'\\' | b'/' => char::from(escape),
                b'b' => '\x08',
                b'f' => '\x0c',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.unit()?,
                _ => return Err(Unread::Invalid),
            });
        }
    }

    /// The character of `\u` and four digits. Half of a pair is U+FFFD.
    fn unit(&mut self) -> Result<char, Unread> {
        let first = self.hex().ok_or(Unread::Invalid)?;
        self.at += 4;
        if let Some(single) = char::from_u32(first) {
            return Ok(single);
        }
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            if let Some(second @ 0xdc00..0xe000) = self.hex() {
                self.at += 4;
                let both = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(both).ok_or(Unread::Invalid);
            }
            self.at -= 2;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// The next four bytes as digits.
    fn hex(&self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::Limits;

    fn read(text: &str) -> Result<Option<Map<String, Json>>, Unread> {
        object(text, &mut Meter::new(&Limits::default()))
    }

    #[test]
    fn objects_are_read_as_in_go() {
        for (text, expected) in [
            (r#" {"a": 1e3, "b": -0.0, "a": 2} "#, r#"{"a":2,"b":-0}"#),
            (
                r#"{"a": 12345678901234567890}"#,
                r#"{"a":12345678901234567000}"#,
            ),
            (
                r#"{"\ud83d\ude00": "\ud83d", "x": "\ude00\ud83dA"}"#,
                "{\"😀\":\"\u{fffd}\",\"x\":\"\u{fffd}\u{fffd}A\"}",
            ),
            (
                r#"{"a": [true, null, {}, []]}"#,
                r#"{"a":[true,null,{},[]]}"#,
            ),
        ] {
            let found = read(text).unwrap().unwrap();
            assert_eq!(serde_json::to_string(&found).unwrap(), expected);
        }
        assert!(read(" null\n").unwrap().is_none());
        for text in [
            "",
            "{",
            "{}x",
            "[]",
            "1",
            "{'a': 1}",
            "{\"a\": 01}",
            "{\"a\": 1.}",
            "{\"a\": .5}",
            "{\"a\": 1e}",
            "{\"a\": +1}",
            "{\"a\": 1e400}",
            "{\"a\": \"\t\"}",
            "{\"a\": \"\\x\"}",
            "{\"a\": \"\\u12\"}",
            "{\"a\": nil}",
            "{\"a\": 1,}",
            "{,}",
            "{\"a\" 1}",
            "\u{a0}{}",
        ] {
            assert!(matches!(read(text), Err(Unread::Invalid)), "{text}");
        }
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(600), "]".repeat(600));
        assert!(matches!(read(&deep), Err(Unread::Limit(_))));
    }
}
