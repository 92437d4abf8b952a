//! Splits the text of a template into tokens, like the lexer of Jinja2 3.1.6 (`lexer.py`) with the
//! settings of transformers: `trim_blocks` and `lstrip_blocks`.

use std::borrow::Cow;

use minijinja::machinery::Span;
use minijinja::{Error, Value};

use crate::compile::grammar::escapes::unescaped;
use crate::compile::grammar::tokens::Token;
use crate::python::characters::{is_name, is_name_start, is_space, is_word};
use crate::python::numbers::parse_integer;
use crate::refusal::syntax_error;

/// The text of a template as Jinja2 reads it: every line ends with `\n`, and a line break at
/// the end of the template is dropped.
pub(crate) fn normalised(source: &str) -> Cow<'_, str> {
    if !source.contains('\r') {
        return source.strip_suffix('\n').unwrap_or(source).into();
    }
    let mut text = source.replace("\r\n", "\n").replace('\r', "\n");
    if text.ends_with('\n') {
        text.pop();
    }
    text.into()
}

/// Reads a template whose lines are [`normalised`].
pub(in crate::compile) struct Lexer<'s> {
    source: &'s str,
    /// How far it is read, in bytes.
    at: usize,
    place: TokenPlace,
    /// The closing brackets that are missing. A tag may end only if there is none.
    brackets: Vec<&'static str>,
    /// The line of the byte that was read last, and that byte.
    line: usize,
    counted: usize,
    /// A token that was read together with the one before it.
    waiting: Option<(Token<'s>, Span)>,
}

/// Where in a template the next token is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenPlace {
    Outside,
    /// Between `{{` and `}}`.
    Print,
    /// Between `{%` and `%}`.
    Block,
}

/// What a tag does with the white space before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// `{%-`: takes it away.
    Stripped,
    /// `{%`: takes it away where it is all that is before the tag on its line.
    OnItsLine,
    /// `{%+`, and `{{`: leaves it.
    Kept,
}

impl<'s> Lexer<'s> {
    pub(in crate::compile) fn new(source: &'s str) -> Lexer<'s> {
        Lexer {
            source,
            at: 0,
            place: TokenPlace::Outside,
            brackets: Vec::new(),
            line: 1,
            counted: 0,
            waiting: None,
        }
    }

    /// The next token and its place.
    pub(in crate::compile) fn next(&mut self) -> Result<(Token<'s>, Span), Error> {
        if let Some(waiting) = self.waiting.take() {
            return Ok(waiting);
        }
        if self.place == TokenPlace::Outside {
            return self.outside();
        }
        self.within()
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    /// Goes on by so many bytes, and gives the place of what was read.
    fn take(&mut self, len: usize) -> Span {
        let start = self.at;
        self.at += len;
        self.span(start, self.at)
    }

    /// Goes on within a tag by so many bytes that have no line break, and gives the place of what
    /// was read. All lines before it are counted.
    fn take_within_line(&mut self, len: usize) -> Span {
        let start = self.at;
        self.at += len;
        self.counted = self.at;
        place((self.line, start), (self.line, self.at))
    }

    /// Whether what was read last ended with a line break, or nothing was read.
    fn starts_line(&self) -> bool {
        let before = self.at.checked_sub(1);
        before.is_none_or(|before| self.source.as_bytes().get(before) == Some(&b'\n'))
    }

    fn span(&mut self, start: usize, end: usize) -> Span {
        let start_line = self.line_of(start);
        let end_line = self.line_of(end);
        place((start_line, start), (end_line, end))
    }

    /// The line of a byte, which is not before one that was asked for already.
    fn line_of(&mut self, at: usize) -> usize {
        if self.counted < at
            && let Some(between) = self.source.as_bytes().get(self.counted..at)
        {
            self.line += between
                .iter()
                .map(|byte| usize::from(*byte == b'\n'))
                .sum::<usize>();
            self.counted = at;
        }
        self.line
    }

    fn error(&mut self, message: impl Into<String>) -> Error {
        let line = self.line_of(self.at);
        syntax_error(message, line, self.at)
    }

    /// The next token outside of tags: text, or the beginning of a tag.
    fn outside(&mut self) -> Result<(Token<'s>, Span), Error> {
        while self.at < self.source.len() {
            let start = self.at;
            let starts_line = self.starts_line();
            let Some((len, mark)) = find_mark(self.rest()) else {
                let rest = self.rest();
                let span = self.take(rest.len());
                return Ok((Token::Text(rest), span));
            };
            let text = &self.rest()[..len];
            self.at += len;
            let tag = self.rest();
            let (sign, signed) = sign_after(&tag[2..]);
            let before = match mark {
                '{' if sign != Before::Stripped => Before::Kept,
                _ => sign,
            };
            let text = before.applied_to(text, starts_line);
            let text_span = self.span(start, start + text.len());
            let mut token = None;
            match mark {
                '{' => {
                    token = Some((Token::PrintBegin, self.take(2 + signed)));
                    self.place = TokenPlace::Print;
                }
                '#' => {
                    self.take(2 + signed);
                    self.comment()?;
                }
                _ => {
                    if let Some(raw) = raw_tag(tag) {
                        self.take(raw);
                        token = self.raw_block()?;
                    } else {
                        token = Some((Token::BlockBegin, self.take(2 + signed)));
                        self.place = TokenPlace::Block;
                    }
                }
            }
            match (text.is_empty(), token) {
                (true, Some(token)) => return Ok(token),
                (false, token) => {
                    self.waiting = token;
                    return Ok((Token::Text(text), text_span));
                }
                (true, None) => {}
            }
        }
        Ok((Token::End, self.span(self.at, self.at)))
    }

    /// Skips a comment after its beginning. At the very end of a template a comment may begin
    /// without an end.
    fn comment(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(());
        }
        let Some(end) = rest.find("#}") else {
            return Err(self.error("Missing end of comment tag"));
        };
        let after = &rest[end + 2..];
        let skipped = match rest[..end].chars().next_back() {
            Some('-') => white_space(after),
            Some('+') => 0,
            _ => usize::from(after.starts_with('\n')),
        };
        self.take(end + 2 + skipped);
        Ok(())
    }

    /// The text of a raw block after its beginning. At the very end of a template a raw block may
    /// begin without an end.
    fn raw_block(&mut self) -> Result<Option<(Token<'s>, Span)>, Error> {
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(None);
        }
        let found = rest
            .match_indices("{%")
            .find_map(|(at, _)| end_of_raw(&rest[at..]).map(|(before, len)| (at, before, len)));
        let Some((at, before, len)) = found else {
            return Err(self.error("Missing end of raw directive"));
        };
        let text = before.applied_to(&rest[..at], self.starts_line());
        let span = self.span(self.at, self.at + text.len());
        self.take(at + len);
        Ok((!text.is_empty()).then_some((Token::Text(text), span)))
    }

    /// The next token within a tag.
    fn within(&mut self) -> Result<(Token<'s>, Span), Error> {
        let bytes = self.source.as_bytes();
        let first = loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\t') => {}
                Some(b'\n') => self.line += 1,
                Some(byte) if byte.is_ascii_graphic() => break char::from(*byte),
                Some(_) => match white_space(self.rest()) {
                    0 => break self.rest().chars().next().unwrap_or_default(),
                    len => {
                        self.take(len);
                        continue;
                    }
                },
                None => return Ok((Token::End, self.span(self.at, self.at))),
            }
            self.at += 1;
            self.counted = self.at;
        };
        let rest = self.rest();
        if matches!(first, '-' | '+' | '}' | '%')
            && self.brackets.is_empty()
            && let Some((token, len)) = self.end_of_tag(rest)
        {
            self.place = TokenPlace::Outside;
            return Ok((token, self.take(len)));
        }
        if let Some(len) = ascii_name(rest) {
            return Ok((Token::Name(&rest[..len]), self.take_within_line(len)));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if is_word(first) {
            let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let name = &rest[..len];
            if !is_name_start(first) || !name.chars().all(is_name) {
                return Err(self.error("Invalid character in identifier"));
            }
            return Ok((Token::Name(name), self.take(len)));
        }
        if let Some((end, is_plain)) = end_of_string(rest, first) {
            let text = &rest[1..end];
            if is_plain {
                let span = self.take_within_line(end + 1);
                return Ok((Token::String(Cow::Borrowed(text)), span));
            }
            let text = unescaped(text).map_err(|message| self.error(message))?;
            return Ok((Token::String(text), self.take(end + 1)));
        }
        let Some(sign) = sign_at(rest) else {
            let message = format!("unexpected char '{first}' at {}", self.at);
            return Err(self.error(message));
        };
        if matches!(first, '(' | ')' | '[' | ']' | '{' | '}') {
            self.balance(sign)?;
        }
        Ok((Token::Sign(sign), self.take_within_line(sign.len())))
    }

    /// The end of the tag, if it is here, with the white space that it takes away.
    fn end_of_tag(&self, rest: &str) -> Option<(Token<'s>, usize)> {
        if self.place == TokenPlace::Print {
            return match rest.strip_prefix("-}}") {
                Some(after) => Some((Token::PrintEnd, 3 + white_space(after))),
                None => rest.starts_with("}}").then_some((Token::PrintEnd, 2)),
            };
        }
        end_of_block(rest).map(|len| (Token::BlockEnd, len))
    }

    /// Notes a bracket.
    fn balance(&mut self, sign: &'static str) -> Result<(), Error> {
        match sign {
            "(" => self.brackets.push(")"),
            "[" => self.brackets.push("]"),
            "{" => self.brackets.push("}"),
            ")" | "]" | "}" => match self.brackets.pop() {
                None => return Err(self.error(format!("unexpected '{sign}'"))),
                Some(expected) if expected != sign => {
                    let message = format!("unexpected '{sign}', expected '{expected}'");
                    return Err(self.error(message));
                }
                Some(_) => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// A number, which begins here with a digit. After a point there is no float: `a.1.2` is an
    /// item of an item.
    fn number(&mut self) -> Result<(Token<'s>, Span), Error> {
        let rest = self.rest();
        if !self.source[..self.at].ends_with('.')
            && let Some(len) = float_len(rest)
        {
            let float = rest[..len].replace('_', "").parse().unwrap_or(f64::NAN);
            return Ok((Token::Float(float), self.take(len)));
        }
        let len = integer_len(rest);
        let integer: Option<Value> = parse_integer(&rest[..len].replace('_', ""));
        let Some(integer) = integer else {
            return Err(self.error("Exceeds the limit for integer string conversion"));
        };
        Ok((Token::Integer(integer), self.take(len)))
    }
}

/// The place between two bytes, given each with its line.
fn place((start_line, start): (usize, usize), (end_line, end): (usize, usize)) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let number = |line: usize| u16::try_from(line).unwrap_or(u16::MAX);
    Span {
        start_line: number(start_line),
        start_offset: offset(start),
        end_line: number(end_line),
        end_offset: offset(end),
        ..Span::default()
    }
}

impl Before {
    /// The text before a tag, without the white space that the tag takes away.
    fn applied_to(self, text: &str, starts_line: bool) -> &str {
        match self {
            Before::Kept => text,
            Before::Stripped => {
                let usual = text.trim_end_matches([' ', '\n', '\t']);
                if usual.ends_with(|last: char| !last.is_ascii_graphic()) {
                    usual.trim_end_matches(is_space)
                } else {
                    usual
                }
            }
            Before::OnItsLine => {
                let line = text.rfind('\n').map_or(0, |at| at + 1);
                if (line > 0 || starts_line) && text[line..].chars().all(is_space) {
                    &text[..line]
                } else {
                    text
                }
            }
        }
    }
}

/// The operator, the bracket or the mark at the beginning of a text.
fn sign_at(text: &str) -> Option<&'static str> {
    Some(match text.as_bytes() {
        [b'/', b'/', ..] => "//",
        [b'*', b'*', ..] => "**",
        [b'=', b'=', ..] => "==",
        [b'!', b'=', ..] => "!=",
        [b'>', b'=', ..] => ">=",
        [b'<', b'=', ..] => "<=",
        [b'+', ..] => "+",
        [b'-', ..] => "-",
        [b'/', ..] => "/",
        [b'*', ..] => "*",
        [b'%', ..] => "%",
        [b'~', ..] => "~",
        [b'[', ..] => "[",
        [b']', ..] => "]",
        [b'(', ..] => "(",
        [b')', ..] => ")",
        [b'{', ..] => "{",
        [b'}', ..] => "}",
        [b'>', ..] => ">",
        [b'<', ..] => "<",
        [b'=', ..] => "=",
        [b'.', ..] => ".",
        [b':', ..] => ":",
        [b'|', ..] => "|",
        [b',', ..] => ",",
        [b';', ..] => ";",
        _ => return None,
    })
}

/// The bytes of names that consist of ASCII: most of the text within tags is names.
const IN_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

/// The length of the name at the beginning of a text, if it consists of ASCII.
fn ascii_name(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first()?.is_ascii_digit() {
        return None;
    }
    let is_of_name = |byte: &&u8| IN_NAMES[usize::from(**byte)];
    let len = bytes.iter().take_while(is_of_name).count();
    (len > 0 && bytes.get(len).is_none_or(u8::is_ascii)).then_some(len)
}

/// Where the first tag or comment begins, and its second character.
fn find_mark(text: &str) -> Option<(usize, char)> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let at = from + at;
        match text.as_bytes().get(at + 1) {
            Some(b'{') => return Some((at, '{')),
            Some(b'%') => return Some((at, '%')),
            Some(b'#') => return Some((at, '#')),
            _ => from = at + 1,
        }
    }
    None
}

/// The sign after the two characters that begin a tag, and its length.
fn sign_after(text: &str) -> (Before, usize) {
    match text.as_bytes().first() {
        Some(b'-') => (Before::Stripped, 1),
        Some(b'+') => (Before::Kept, 1),
        _ => (Before::OnItsLine, 0),
    }
}

/// The length of the white space at the beginning of a text.
fn white_space(text: &str) -> usize {
    let usual = text
        .bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\t'))
        .count();
    match text.as_bytes().get(usual) {
        Some(byte) if !byte.is_ascii_graphic() => {
            text.len() - text.trim_start_matches(is_space).len()
        }
        _ => usual,
    }
}

/// The length of the end of a block's tag, with the white space that it takes away.
fn end_of_block(text: &str) -> Option<usize> {
    if let Some(after) = text.strip_prefix("-%}") {
        return Some(3 + white_space(after));
    }
    if text.starts_with("+%}") {
        return Some(3);
    }
    let after = text.strip_prefix("%}")?;
    Some(2 + usize::from(after.starts_with('\n')))
}

/// The length of `{% raw %}` at the beginning of a text. A line break after it stays. Jinja2 does
/// not allow a `+` before its end.
fn raw_tag(text: &str) -> Option<usize> {
    let (_, signed) = sign_after(&text[2..]);
    let after = text[2 + signed..].trim_start_matches(is_space);
    let after = after.strip_prefix("raw")?.trim_start_matches(is_space);
    let after = match after.strip_prefix("-%}") {
        Some(after) => after.trim_start_matches(is_space),
        None => after.strip_prefix("%}")?,
    };
    Some(text.len() - after.len())
}

/// What `{% endraw %}` at the beginning of a text does before it, and its length.
fn end_of_raw(text: &str) -> Option<(Before, usize)> {
    let (before, signed) = sign_after(&text[2..]);
    let after = text[2 + signed..].trim_start_matches(is_space);
    let after = after.strip_prefix("endraw")?.trim_start_matches(is_space);
    Some((before, text.len() - after.len() + end_of_block(after)?))
}

/// The end of the string that begins with this character, if it is a string and has an end, and
/// whether it is as it stands there, on one line.
fn end_of_string(text: &str, quote: char) -> Option<(usize, bool)> {
    if quote != '\'' && quote != '"' {
        return None;
    }
    // Neither mark is a part of another character in UTF-8.
    let bytes = text.as_bytes();
    let (mut at, mut is_plain) = (1, true);
    loop {
        match bytes.get(at)? {
            b'\\' => (at, is_plain) = (at + 2, false),
            b'\n' => (at, is_plain) = (at + 1, false),
            byte if char::from(*byte) == quote => return Some((at, is_plain)),
            _ => at += 1,
        }
    }
}

/// The length of digits, with single underscores between them.
fn digits_len(text: &str, is_digit: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).copied().is_some_and(&is_digit);
    let mut len = 0;
    loop {
        if is_digit(len) {
            len += 1;
        } else if len > 0 && bytes.get(len) == Some(&b'_') && is_digit(len + 1) {
            len += 2;
        } else {
            return len;
        }
    }
}

/// The length of a float, which has a fraction, an exponent, or both.
fn float_len(text: &str) -> Option<usize> {
    let decimal = |at: usize| digits_len(&text[at..], |byte| byte.is_ascii_digit());
    let whole = decimal(0);
    let fraction = match text[whole..].strip_prefix('.') {
        Some(_) => match decimal(whole + 1) {
            0 => 0,
            digits => 1 + digits,
        },
        None => 0,
    };
    let end = whole + fraction;
    let exponent = text[end..].strip_prefix(['e', 'E']).map_or(0, |after| {
        let signed = usize::from(after.starts_with(['+', '-']));
        match decimal(end + 1 + signed) {
            0 => 0,
            digits => 1 + signed + digits,
        }
    });
    (fraction + exponent > 0).then_some(end + exponent)
}

/// The length of an integer. A number with other digits than zeros does not begin with a
/// zero, unless it says its base.
fn integer_len(text: &str) -> usize {
    let based = |marks: [char; 2], base: u32| -> Option<usize> {
        let after = text.strip_prefix('0')?.strip_prefix(marks)?;
        let underscore = usize::from(after.starts_with('_'));
        let is_digit = |byte: u8| char::from(byte).is_digit(base);
        match digits_len(&after[underscore..], is_digit) {
            0 => None,
            digits => Some(2 + underscore + digits),
        }
    };
    based(['b', 'B'], 2)
        .or_else(|| based(['o', 'O'], 8))
        .or_else(|| based(['x', 'X'], 16))
        .unwrap_or_else(|| {
            if text.starts_with('0') {
                digits_len(text, |byte| byte == b'0')
            } else {
                digits_len(text, |byte| byte.is_ascii_digit())
            }
        })
}
