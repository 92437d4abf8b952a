//! How Python reads numbers, strips texts, and reads and writes JSON.

use std::fmt::Write;

use crate::characters::{DECIMAL, STRIPPED, is_in};
use crate::failure::{Kind, ParseError, raised};
use crate::text::{Text, same};
use crate::value::{Integer, Object, Value};

/// Python reads no more digits than these into an integer.
const MOST_DIGITS: usize = 4300;

/// How deeply JSON may be nested. Python counts its own frames, too: this is what is left where a
/// program calls the parser from its top level.
const DEEPEST: usize = 988;

/// `str.strip`.
pub(crate) fn strip(text: &[u32]) -> &[u32] {
    let is_kept = |code: &u32| !is_in(*code, STRIPPED);
    let Some(first) = text.iter().position(is_kept) else {
        return &[];
    };
    let last = text.iter().rposition(is_kept).unwrap_or(first);
    &text[first..=last]
}

/// Whether `str.lower` makes one of these words of a text. They consist of letters that no other
/// letter but their capital becomes.
pub(crate) fn is_word(text: &[u32], words: &[&str]) -> bool {
    let lower: Option<String> = text
        .iter()
        .map(|&code| char::from_u32(code).map(|c| c.to_ascii_lowercase()))
        .collect();
    lower.is_some_and(|lower| words.contains(&lower.as_str()))
}

/// The text in ASCII, as Python prepares it for reading a number: digits of other scripts become
/// digits, other white space a blank, and the rest a question mark.
fn in_ascii(text: &[u32]) -> String {
    text.iter()
        .map(|&code| match u8::try_from(code) {
            Ok(byte) if byte.is_ascii() => char::from(byte),
            _ if is_in(code, STRIPPED) => ' ',
            _ => match DECIMAL
                .iter()
                .find(|(first, last)| (*first..=*last).contains(&code))
            {
                Some((first, _)) => char::from_digit((code - first) % 10, 10).unwrap_or('?'),
                None => '?',
            },
        })
        .collect()
}

/// Removes C's white space around a number.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}'])
}

/// Takes the sign away, and says whether it is a minus.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// `int(text)`.
pub(crate) fn integer(text: &[u32]) -> Result<Integer, ParseError> {
    let ascii = in_ascii(text);
    let (negative, number) = signed(trimmed(&ascii));
    let parts = number.split('_');
    if !parts
        .clone()
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err(raised(
            Kind::Value,
            format!("`{}` is no integer", Text::from(text)),
        ));
    }
    integer_of(negative, &parts.collect::<String>())
}

fn integer_of(negative: bool, digits: &str) -> Result<Integer, ParseError> {
    if digits.len() > MOST_DIGITS {
        let message = format!("an integer has more than {MOST_DIGITS} digits");
        return Err(raised(Kind::Value, message));
    }
    Ok(Integer::new(negative, digits))
}

/// `float(text)`.
pub(crate) fn float(text: &[u32]) -> Result<f64, ParseError> {
    let ascii = in_ascii(text);
    let number = trimmed(&ascii);
    float_of(number)
        .ok_or_else(|| raised(Kind::Value, format!("`{}` is no number", Text::from(text))))
}

fn float_of(number: &str) -> Option<f64> {
    let (negative, rest) = signed(number);
    let magnitude = match rest.to_ascii_lowercase().as_str() {
        "nan" => f64::NAN,
        "inf" | "infinity" => f64::INFINITY,
        _ => plain_float(rest)?,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Digits with a point, an exponent and underscores between digits.
fn plain_float(number: &str) -> Option<f64> {
    let bytes = number.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_between_digits = |at: usize| at > 0 && is_digit(at - 1) && is_digit(at + 1);
    if (0..bytes.len()).any(|at| bytes[at] == b'_' && !is_between_digits(at)) {
        return None;
    }
    let digits = number.replace('_', "");
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(signed(exponent).1)),
        None => (digits.as_str(), None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let is_number = (!whole.is_empty() || !fraction.is_empty())
        && all_digits(whole)
        && all_digits(fraction)
        && exponent.is_none_or(|exponent| !exponent.is_empty() && all_digits(exponent));
    is_number.then(|| digits.parse().ok()).flatten()
}

/// `int(number)` of a float without a fraction.
pub(crate) fn whole(number: f64) -> Integer {
    // Rust writes all digits of a float, however large.
    let digits = format!("{:.0}", number.abs());
    Integer::new(number < 0.0, &digits)
}

/// Why a text is no JSON.
pub(crate) enum NotJson {
    /// `json.JSONDecodeError`.
    Decode(String),
    /// What Python does not report as a fault of the JSON.
    Other(ParseError),
}

impl From<NotJson> for ParseError {
    fn from(fault: NotJson) -> ParseError {
        match fault {
            NotJson::Decode(message) => raised(Kind::Value, message),
            NotJson::Other(error) => error,
        }
    }
}

/// `json.loads(text)`.
pub(crate) fn json(text: &[u32]) -> Result<Value, NotJson> {
    let mut reader = JsonReader { text, at: 0 };
    reader.skip_blanks();
    let value = reader.value(0)?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.fault("there is more after the JSON value"));
    }
    Ok(value)
}

struct JsonReader<'t> {
    text: &'t [u32],
    at: usize,
}

impl JsonReader<'_> {
    fn fault(&self, what: &str) -> NotJson {
        NotJson::Decode(format!("not JSON: {what}, at character {}", self.at))
    }

    fn peek(&self) -> Option<char> {
        // A lone surrogate is no character that JSON has a use for outside of strings.
        let code = *self.text.get(self.at)?;
        Some(char::from_u32(code).unwrap_or('\u{fffd}'))
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let end = self.at + word.len();
        let found = self
            .text
            .get(self.at..end)
            .is_some_and(|part| same(part, word));
        if found {
            self.at = end;
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, NotJson> {
        match self.peek() {
            Some('"') => Ok(Value::Text(self.string()?)),
            Some('{' | '[') if depth >= DEEPEST => {
                let message = "the JSON is nested too deeply";
                Err(NotJson::Other(raised(Kind::Recursion, message)))
            }
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            _ if self.word("null") => Ok(Value::Null),
            _ if self.word("true") => Ok(Value::Bool(true)),
            _ if self.word("false") => Ok(Value::Bool(false)),
            _ if self.word("NaN") => Ok(Value::Float(f64::NAN)),
            _ if self.word("Infinity") => Ok(Value::Float(f64::INFINITY)),
            _ if self.word("-Infinity") => Ok(Value::Float(f64::NEG_INFINITY)),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, NotJson> {
        self.at += 1;
        let mut entries = Object::new();
        self.skip_blanks();
        if self.take('}') {
            return Ok(Value::Object(entries));
        }
        loop {
            if self.peek() != Some('"') {
                return Err(self.fault("a key in double quotes is expected"));
            }
            let key = self.string()?;
            self.skip_blanks();
            if !self.take(':') {
                return Err(self.fault("`:` is expected"));
            }
            self.skip_blanks();
            let value = self.value(depth + 1)?;
            // The key keeps its first place and gets its last value.
            entries.insert(key, value);
            self.skip_blanks();
            if self.take('}') {
                return Ok(Value::Object(entries));
            }
            if !self.take(',') {
                return Err(self.fault("`,` or `}` is expected"));
            }
            self.skip_blanks();
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, NotJson> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.take(']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.take(']') {
                return Ok(Value::List(items));
            }
            if !self.take(',') {
                return Err(self.fault("`,` or `]` is expected"));
            }
            self.skip_blanks();
        }
    }

    fn string(&mut self) -> Result<Text, NotJson> {
        self.at += 1;
        let mut text = Text::new();
        loop {
            let Some(&code) = self.text.get(self.at) else {
                return Err(self.fault("a string has no end"));
            };
            if code < 0x20 {
                return Err(self.fault("a string has a raw control character"));
            }
            self.at += 1;
            match char::from_u32(code) {
                Some('"') => return Ok(text),
                Some('\\') => {
                    let code = self.escape()?;
                    text.push(code);
                }
                _ => text.push(code),
            }
        }
    }

    fn escape(&mut self) -> Result<u32, NotJson> {
        let escaped = self.peek();
        self.at += 1;
        let plain = match escaped {
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let code = self.four_digits()?;
                return Ok(self.with_low_half(code));
            }
            _ => return Err(self.fault("an escape in a string is unknown")),
        };
        Ok(u32::from(plain))
    }

    fn four_digits(&mut self) -> Result<u32, NotJson> {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits.and_then(|digits| {
            digits.iter().try_fold(0, |code, &digit| {
                Some(code * 16 + char::from_u32(digit)?.to_digit(16)?)
            })
        });
        let code = code.ok_or_else(|| self.fault("four hexadecimal digits are expected"))?;
        self.at += 4;
        Ok(code)
    }

    /// The character of two halves, if an escape for the lower half follows.
    fn with_low_half(&mut self, high: u32) -> u32 {
        let before = self.at;
        if (0xD800..0xDC00).contains(&high)
            && self.take('\\')
            && self.take('u')
            && let Ok(low) = self.four_digits()
            && (0xDC00..0xE000).contains(&low)
        {
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        }
        self.at = before;
        high
    }

    fn number(&mut self) -> Result<Value, NotJson> {
        let start = self.at;
        let negative = self.take('-');
        let digits_start = self.at;
        if !self.take('0') && self.digits() == 0 {
            self.at = start;
            return Err(self.fault("a value is expected"));
        }
        let whole = self.at;
        if self.take('.') && self.digits() == 0 {
            self.at = whole;
        }
        let before_exponent = self.at;
        if self.take('e') || self.take('E') {
            let _sign = self.take('-') || self.take('+');
            if self.digits() == 0 {
                self.at = before_exponent;
            }
        }
        let spelled = |from: usize| Text::from(&self.text[from..self.at]).to_string();
        if self.at == whole {
            let integer = integer_of(negative, &spelled(digits_start)).map_err(NotJson::Other)?;
            return Ok(Value::Integer(integer));
        }
        spelled(start)
            .parse()
            .map(Value::Float)
            .map_err(|_| self.fault("a value is expected"))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }
}

/// `json.dumps(text)`: in ASCII.
pub(crate) fn quoted(text: &[u32]) -> Text {
    let mut out = String::from("\"");
    for &code in text {
        match char::from_u32(code) {
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(c @ ' '..='\u{7f}') => out.push(c),
            Some(c) => {
                for half in c.encode_utf16(&mut [0; 2]) {
                    // Writing into a `String` cannot fail.
                    let _ = write!(out, "\\u{half:04x}");
                }
            }
            None => {
                let _ = write!(out, "\\u{code:04x}");
            }
        }
    }
    out.push('"');
    Text::from(out.as_str())
}

/// `text.split()`: what is between white space.
pub(crate) fn words(text: &[u32]) -> Vec<&[u32]> {
    let words = text.split(|code| is_in(*code, STRIPPED));
    words.filter(|word| !word.is_empty()).collect()
}
