//! Parses a list of calls in the notation of Python: `[get_weather(city="Oslo", days=3)]`.
//!
//! The grammar is strict: only named arguments, no comma at the end, no name twice, and values that JSON
//! can hold. `_python_call_list` of transformers is its source.

use indexmap::map::Entry;

use crate::failure::{Kind, ParseError, raised};
use crate::python;
use crate::text::Text;
use crate::value::{Object, Value};

/// How deeply lists and objects may be nested.
const DEEPEST: usize = 100;

/// The largest integer that every reader of JSON keeps exactly: 2^53 - 1.
const LARGEST: u64 = (1 << 53) - 1;

/// Parses a text that is one list of calls.
pub(crate) fn parse(text: &[u32]) -> Result<Value, ParseError> {
    let mut reader = Reader { text, at: 0 };
    reader.expect('[')?;
    let calls = reader.items(']', Reader::call)?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.fault("there is more after the list"));
    }
    Ok(Value::List(calls))
}

struct Reader<'t> {
    text: &'t [u32],
    at: usize,
}

impl Reader<'_> {
    fn fault(&self, what: &str) -> ParseError {
        let message = format!("not a list of calls: {what}, at character {}", self.at);
        raised(Kind::Value, message)
    }

    /// The character at some distance. One that is not in ASCII means nothing outside of strings.
    fn ahead(&self, distance: usize) -> Option<char> {
        char::from_u32(*self.text.get(self.at + distance)?)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.ahead(0), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    /// Whether a character is next, after blanks.
    fn next_is(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        self.ahead(0) == Some(wanted)
    }

    fn expect(&mut self, wanted: char) -> Result<(), ParseError> {
        if !self.next_is(wanted) {
            return Err(self.fault(&format!("`{wanted}` is missing")));
        }
        self.at += 1;
        Ok(())
    }

    /// The text between commas, up to the end of the list.
    fn items<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        if !self.next_is(close) {
            loop {
                items.push(item(self)?);
                if self.next_is(close) {
                    break;
                }
                self.expect(',')?;
            }
        }
        self.at += 1;
        Ok(items)
    }

    fn object(&self, entries: Vec<(Text, Value)>) -> Result<Value, ParseError> {
        let mut object = Object::new();
        for (key, value) in entries {
            match object.entry(key) {
                Entry::Vacant(place) => place.insert(value),
                Entry::Occupied(known) => {
                    return Err(self.fault(&format!("the name `{}` is there twice", known.key())));
                }
            };
        }
        Ok(Value::Object(object))
    }

    fn call(&mut self) -> Result<Value, ParseError> {
        let name = self.name("the name of a function")?;
        self.expect('(')?;
        let arguments = self.items(')', |reader| {
            let key = reader.name("the name of an argument")?;
            reader.expect('=')?;
            Ok((key, reader.value(0)?))
        })?;
        let entries = [
            ("name", Value::Text(name)),
            ("arguments", self.object(arguments)?),
        ];
        let entries = entries.map(|(key, value)| (Text::from(key), value));
        Ok(Value::Object(Object::from(entries)))
    }

    fn name(&mut self, what: &str) -> Result<Text, ParseError> {
        self.skip_blanks();
        let length = self.name_length();
        if length == 0 {
            return Err(self.fault(&format!("{what} is missing")));
        }
        Ok(Text::from(self.take(length)))
    }

    /// How long the name is that begins here: words with a dash or a point between them.
    fn name_length(&self) -> usize {
        let is_word = |distance| {
            self.ahead(distance)
                .is_some_and(|one| one.is_ascii_alphanumeric() || one == '_')
        };
        if !is_word(0) || self.ahead(0).is_some_and(|one| one.is_ascii_digit()) {
            return 0;
        }
        let mut length = 1;
        loop {
            if is_word(length) {
                length += 1;
            } else if matches!(self.ahead(length), Some('-' | '.')) && is_word(length + 1) {
                length += 2;
            } else {
                return length;
            }
        }
    }

    fn take(&mut self, length: usize) -> &[u32] {
        self.at += length;
        &self.text[self.at - length..self.at]
    }

    /// A value inside of `depth` lists and objects.
    fn value(&mut self, depth: usize) -> Result<Value, ParseError> {
        self.skip_blanks();
        match self.ahead(0) {
            Some('\'' | '"') => self.string().map(Value::Text),
            Some('[' | '{') if depth == DEEPEST => Err(self.fault("the nesting is too deep")),
            Some('[') => {
                self.at += 1;
                let items = self.items(']', |reader| reader.value(depth + 1))?;
                Ok(Value::List(items))
            }
            Some('{') => {
                self.at += 1;
                let entries = self.items('}', |reader| {
                    if !reader.next_is('\'') && !reader.next_is('"') {
                        return Err(reader.fault("a key is a string"));
                    }
                    let key = reader.string()?;
                    reader.expect(':')?;
                    Ok((key, reader.value(depth + 1)?))
                })?;
                self.object(entries)
            }
            _ => match self.number()? {
                Some(number) => Ok(number),
                None => self.constant(),
            },
        }
    }

    fn constant(&mut self) -> Result<Value, ParseError> {
        let length = self.name_length();
        let word = Text::from(&self.text[self.at..self.at + length]).to_string();
        let value = match word.as_str() {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => return Err(self.fault("a value is missing")),
        };
        self.at += length;
        Ok(value)
    }

    /// The number that begins here, if one does.
    fn number(&mut self) -> Result<Option<Value>, ParseError> {
        let digits = |from: usize| {
            let rest = self.text.get(self.at + from..).unwrap_or_default();
            let is_digit =
                |code: &&u32| char::from_u32(**code).is_some_and(|one| one.is_ascii_digit());
            rest.iter().take_while(is_digit).count()
        };
        let sign = usize::from(self.ahead(0) == Some('-'));
        let whole = if self.ahead(sign) == Some('0') {
            1
        } else {
            digits(sign)
        };
        if whole == 0 {
            return Ok(None);
        }
        let integer = sign + whole;
        let mut length = integer;
        if self.ahead(length) == Some('.') && digits(length + 1) > 0 {
            length += 1 + digits(length + 1);
        }
        if matches!(self.ahead(length), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.ahead(length + 1), Some('+' | '-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let text = &self.text[self.at..self.at + length];
        let number = if length == integer {
            let number = python::integer(text)?;
            let magnitude: Option<u64> = number.digits().trim_start_matches('-').parse().ok();
            if magnitude.is_none_or(|magnitude| magnitude > LARGEST) {
                return Err(self.fault("an integer is beyond 2^53 - 1"));
            }
            Value::Integer(number)
        } else {
            let number = python::float(text)?;
            if number.is_infinite() {
                return Err(self.fault("a number is too large"));
            }
            Value::Float(number)
        };
        self.at += length;
        Ok(Some(number))
    }

    /// The string that begins here.
    fn string(&mut self) -> Result<Text, ParseError> {
        let quote = self.ahead(0);
        self.at += 1;
        let mut codes = Vec::new();
        loop {
            match self.ahead(0) {
                None | Some('\n' | '\r') => return Err(self.fault("a string has no end")),
                end if end == quote => break,
                Some('\\') => {
                    self.at += 1;
                    codes.push(u32::from(self.escape()?));
                }
                Some(one) => {
                    self.at += 1;
                    codes.push(u32::from(one));
                }
            }
        }
        self.at += 1;
        Ok(Text::from(codes))
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char, ParseError> {
        let escaped = match self.ahead(0) {
            Some(one @ ('\\' | '\'' | '"' | '/')) => one,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode_escape(),
            _ => return Err(self.fault("an escape is unknown")),
        };
        self.at += 1;
        Ok(escaped)
    }

    /// A character by its number, or by two that make a pair.
    fn unicode_escape(&mut self) -> Result<char, ParseError> {
        let first = self.hexadecimal(1);
        let code = first.ok_or_else(|| self.fault("`\\u` needs four digits"))?;
        self.at += 5;
        let code = match code {
            0xD800..0xDC00 if self.ahead(0) == Some('\\') && self.ahead(1) == Some('u') => {
                match self.hexadecimal(2) {
                    Some(low @ 0xDC00..0xE000) => {
                        self.at += 6;
                        0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                    }
                    _ => code,
                }
            }
            _ => code,
        };
        char::from_u32(code).ok_or_else(|| self.fault("half of a pair is alone"))
    }

    fn hexadecimal(&self, distance: usize) -> Option<u32> {
        (distance..distance + 4).try_fold(0, |code, distance| {
            Some(code * 16 + self.ahead(distance)?.to_digit(16)?)
        })
    }
}
