//! Prepares a template's source for gotmpl's parser.
//!
//! gotmpl 0.6.1 differs from Go's text/template/parse in some points. It trims any Unicode space at
//! `{{-` and `-}}`. It trims after a comment that asks for trimming before it. It takes a surplus
//! `{{end}}` as the end of the template, and the end of the template as a missing `{{end}}`. It
//! lets operands touch. So this scanner runs first. It refuses the sources that Go's lexer and
//! block structure refuse, in Go's words. It trims text, drops comments, and keeps every action on
//! its line.

use crate::error::Error;
use crate::places::{Place, PlaceKind, Places};
use rolecall_core::Limit;

/// The most blocks and branches of blocks that may be open at once. gotmpl nests the branches of
/// one `if`, and its own bound on nesting does not count them.
const MOST_OPEN: usize = 500;

/// The most tokens of a template. The tree is much larger than its tokens. The longest honest
/// templates have a hundredth of this number.
const MOST_TOKENS: usize = 250_000;

/// The bytes of a name that count as one more token, because the engine reads a name again and
/// again.
const LONG_NAME: usize = 16;

/// A source as gotmpl may read it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) source: String,
    pub(crate) marks: Marks,
    pub(crate) places: Places,
}

/// The places in a prepared source where Go's tree has other texts than gotmpl's.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Where a comment was, in order.
    comments: Vec<usize>,
    /// Where the text of an action represents a brace, in order. The action begins two bytes
    /// earlier.
    braces: Vec<usize>,
}

impl Marks {
    /// The comments within a text, in order: not those at its ends.
    pub(crate) fn comments_between(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let first = self.comments.partition_point(|at| *at <= from);
        let inside = self.comments[first..].iter().copied();
        inside.take_while(move |at| *at < to)
    }

    /// Whether a comment was at a place.
    pub(crate) fn is_comment(&self, at: usize) -> bool {
        self.comments.binary_search(&at).is_ok()
    }

    /// Whether the action whose pipeline is at a place represents a brace.
    pub(crate) fn is_brace(&self, at: usize) -> bool {
        self.braces.binary_search(&at).is_ok()
    }
}

/// Checks a source and rewrites it so that gotmpl reads it as Go does.
pub(crate) fn prepare(source: &str) -> Result<Prepared, Error> {
    let mut scanner = Scanner {
        source,
        at: 0,
        out: String::with_capacity(source.len()),
        marks: Marks::default(),
        places: Places::default(),
        lost_lines: 0,
        open: Vec::new(),
        branches: 0,
        tokens: 0,
    };
    let refused = scanner.run();
    let before = &source[..scanner.at];
    let line = 1 + before.bytes().filter(|b| *b == b'\n').count();
    let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
    refused.map_err(|refusal| refusal.at(line).in_column(column))?;
    Ok(Prepared {
        source: scanner.out,
        marks: scanner.marks,
        places: scanner.places,
    })
}

struct Scanner<'s> {
    source: &'s str,
    at: usize,
    out: String,
    marks: Marks,
    places: Places,
    /// Line breaks that trimming and comments took away since the last action.
    lost_lines: usize,
    open: Vec<Block>,
    /// The branches of all open blocks.
    branches: usize,
    tokens: usize,
}

/// A block that waits for its `{{end}}`.
struct Block {
    keyword: &'static str,
    has_else: bool,
    branches: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    Word(&'s str),
    Variable,
    Field,
    Dot,
    Literal,
    Open,
    Close,
    Pipe,
    Comma,
    Declare,
}

impl Token<'_> {
    fn begins_operand(self) -> bool {
        !matches!(
            self,
            Token::Close | Token::Pipe | Token::Comma | Token::Declare
        )
    }

    fn ends_operand(self) -> bool {
        !matches!(
            self,
            Token::Open | Token::Pipe | Token::Comma | Token::Declare
        )
    }
}

/// The words that begin a statement, or end it.
pub(crate) const KEYWORDS: [&str; 10] = [
    "block", "break", "continue", "define", "else", "end", "if", "range", "template", "with",
];

/// Go's lexer knows these spaces and no others.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

impl<'s> Scanner<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut trim_start = false;
        loop {
            let rest = self.rest();
            let Some(length) = rest.find("{{") else {
                self.text(rest, trim_start, false, true);
                self.at = self.source.len();
                if self.open.is_empty() {
                    return Ok(());
                }
                return Err(Error::new("unexpected EOF"));
            };
            let after = &rest[length + 2..];
            let trims = after.starts_with('-') && after[1..].starts_with(is_space);
            // The text before it, its opening and its closing mark.
            self.count(3)?;
            self.text(&rest[..length], trim_start, trims, false);
            self.at += length + if trims { 4 } else { 2 };
            trim_start = if self.rest().starts_with("/*") {
                self.comment()?
            } else {
                self.action()?
            };
        }
    }

    /// Writes a piece of text, trimmed.
    fn text(&mut self, text: &str, trim_start: bool, trim_end: bool, last: bool) {
        let mut kept = text;
        if trim_start {
            kept = kept.trim_start_matches(is_space);
        }
        let written = self.at + text.len() - kept.len();
        if trim_end {
            kept = kept.trim_end_matches(is_space);
        }
        if kept.len() < text.len() {
            self.lost_lines += lines(text) - lines(kept);
        }
        match kept.strip_suffix('{') {
            // Together with the next text it would open an action.
            Some(before) if !last => {
                self.places.note_text(self.out.len(), written, before.len());
                self.out.push_str(before);
                self.out.push_str("{{");
                self.marks.braces.push(self.out.len());
                self.places
                    .note_text(self.out.len(), written + before.len(), 1);
                self.out.push_str("\"{\"}}");
            }
            _ => {
                self.places.note_text(self.out.len(), written, kept.len());
                self.out.push_str(kept);
            }
        }
    }

    /// Skips a comment, and returns whether it trims the text after it.
    fn comment(&mut self) -> Result<bool, Error> {
        let rest = self.rest();
        let Some(end) = rest[2..].find("*/") else {
            return Err(Error::new("unclosed comment"));
        };
        let after = &rest[end + 4..];
        let trims = after.starts_with(is_space) && after[1..].starts_with("-}}");
        if !trims && !after.starts_with("}}") {
            return Err(Error::new("comment ends before closing delimiter"));
        }
        let length = end + 4 + if trims { 4 } else { 2 };
        self.lost_lines += lines(&rest[..length]);
        // Two comments in a row are at one place.
        if self.marks.comments.last() != Some(&self.out.len()) {
            self.marks.comments.push(self.out.len());
        }
        self.at += length;
        Ok(trims)
    }

    /// Copies an action, and returns whether it trims the text after it.
    fn action(&mut self) -> Result<bool, Error> {
        self.out.push_str("{{");
        for _ in 0..std::mem::take(&mut self.lost_lines) {
            self.out.push('\n');
        }
        let mut tokens: Vec<Token<'s>> = Vec::new();
        let mut parens = 0_usize;
        // The position of the last pipe in the output.
        let mut pipe = 0;
        // The position of the first comma in the output.
        let mut comma = 0;
        let trims = loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches(is_space).len();
            self.copy(spaces);
            let rest = self.rest();
            let trims = spaces > 0 && rest.starts_with("-}}");
            if trims || rest.starts_with("}}") {
                if parens > 0 {
                    return Err(Error::new("unclosed left paren"));
                }
                self.drop_last_pipe(&tokens, pipe);
                break trims;
            }
            let (token, length) = token(rest)?;
            self.count(match token {
                Token::Literal => 1,
                _ => 1 + length / LONG_NAME,
            })?;
            let text = &rest[..length];
            let unexpected = |place: &str| Error::new(format!("unexpected {text:?} in {place}"));
            match token {
                Token::Open => parens += 1,
                Token::Pipe => pipe = self.out.len(),
                Token::Comma if tokens.len() == 2 => comma = self.out.len(),
                Token::Close => {
                    self.drop_last_pipe(&tokens, pipe);
                    parens = parens
                        .checked_sub(1)
                        .ok_or_else(|| Error::new("unexpected right paren"))?;
                }
                _ => {}
            }
            if let Some(before) = tokens.last()
                && spaces == 0
                && before.ends_operand()
                && token.begins_operand()
            {
                if ends_keyword(&tokens) {
                    // gotmpl wants a space where Go needs none.
                    self.out.push(' ');
                    self.note_place(token, length, tokens.is_empty());
                    tokens.push(token);
                    self.copy(length);
                    continue;
                }
                let chains = token == Token::Field
                    && match before {
                        Token::Word(word) => !matches!(*word, "true" | "false" | "nil"),
                        other => {
                            matches!(other, Token::Variable | Token::Field | Token::Close)
                        }
                    };
                if !chains {
                    return Err(unexpected("operand"));
                }
            }
            if let Token::Word(word) = token
                && KEYWORDS.contains(&word)
                && !tokens.is_empty()
                && !(tokens == [Token::Word("else")] && matches!(word, "if" | "with"))
            {
                return Err(Error::new(format!("unexpected <{word}> in command")));
            }
            self.note_place(token, length, tokens.is_empty());
            tokens.push(token);
            if text.starts_with('`') {
                // Go drops carriage returns from raw strings.
                self.out.push_str(&text.replace('\r', ""));
                self.at += length;
            } else {
                if token == Token::Literal && text.starts_with('+') {
                    // gotmpl reads a sign only before some numbers.
                    self.at += 1;
                    self.copy(length - 1);
                    continue;
                }
                self.copy(length);
            }
        };
        self.declare_first(&mut tokens, comma);
        declarations(&tokens)?;
        self.block(&tokens)?;
        self.out.push_str("}}");
        self.at += if trims { 3 } else { 2 };
        Ok(trims)
    }

    /// Of `range $a, $b` without `:=`, Go declares the first and takes the second for the pipeline's
    /// first operand (text/template/parse, `pipeline`). The comma is at a place of the output.
    fn declare_first(&mut self, tokens: &mut [Token<'s>], comma: usize) {
        const DECLARES: &str = " := ";
        if let [
            Token::Word("range"),
            Token::Variable,
            separator @ Token::Comma,
            Token::Variable,
            rest @ ..,
        ] = tokens
            && rest.first() != Some(&Token::Declare)
        {
            *separator = Token::Declare;
            self.out.replace_range(comma..=comma, DECLARES);
            self.places.shift_after(comma, DECLARES.len() - 1);
        }
    }

    /// Drops a pipe with nothing after it: for Go the pipeline is complete (text/template/parse,
    /// `pipeline`).
    fn drop_last_pipe(&mut self, tokens: &[Token<'_>], pipe: usize) {
        if let [before @ .., last, Token::Pipe] = tokens
            && last.ends_operand()
            && !ends_keyword(&[before, &[*last]].concat())
        {
            self.out.replace_range(pipe..=pipe, " ");
        }
    }

    /// Notes where the next token is.
    fn note_place(&mut self, token: Token<'_>, length: usize, begins_action: bool) {
        self.places.tokens.push(Place {
            prepared: self.out.len(),
            written: self.at..self.at + length,
            kind: match token {
                Token::Open => PlaceKind::Open,
                Token::Close => PlaceKind::Close,
                Token::Field => PlaceKind::Field,
                _ => PlaceKind::Other,
            },
            begins_action,
        });
    }

    fn copy(&mut self, length: usize) {
        self.out.push_str(&self.rest()[..length]);
        self.at += length;
    }

    fn count(&mut self, tokens: usize) -> Result<(), Error> {
        self.tokens += tokens;
        if self.tokens > MOST_TOKENS {
            return Err(Error::Limit(Limit::Fuel));
        }
        Ok(())
    }

    /// Counts one more open branch.
    fn nest(&mut self) -> Result<(), Error> {
        self.branches += 1;
        if self.branches > MOST_OPEN {
            return Err(Error::Limit(Limit::Recursion));
        }
        Ok(())
    }

    /// Keeps track of the blocks that open and close.
    fn block(&mut self, tokens: &[Token<'_>]) -> Result<(), Error> {
        let keyword = match tokens {
            [Token::Word(word), ..] => KEYWORDS.iter().find(|known| *known == word),
            _ => None,
        };
        match keyword.copied() {
            Some("end") => {
                let opened = self.open.pop();
                let opened = opened.ok_or_else(|| Error::new("unexpected {{end}}"))?;
                self.branches -= opened.branches;
            }
            Some("else") => {
                let Some(block) = self.open.last_mut() else {
                    return Err(Error::new("unexpected {{else}}"));
                };
                if matches!(block.keyword, "define" | "block") {
                    return Err(Error::new(format!(
                        "unexpected {{{{else}}}} in {} clause",
                        block.keyword
                    )));
                }
                if block.has_else {
                    return Err(Error::new("expected end; found {{else}}"));
                }
                match tokens.get(1) {
                    Some(Token::Word(word @ ("if" | "with"))) => {
                        if *word != block.keyword {
                            return Err(Error::new(format!("unexpected \"<{word}>\" in input")));
                        }
                        block.branches += 1;
                        self.nest()?;
                    }
                    Some(_) => return Err(Error::new("unexpected token in else")),
                    None => block.has_else = true,
                }
            }
            Some(keyword @ ("if" | "range" | "with" | "block" | "define")) => {
                if keyword == "define" && !self.open.is_empty() {
                    return Err(Error::new("unexpected <define> in command"));
                }
                self.open.push(Block {
                    keyword,
                    has_else: false,
                    branches: 1,
                });
                self.nest()?;
            }
            Some(keyword @ ("break" | "continue")) => {
                // A range's else is outside the range, and a block is a separate template.
                let loops = self
                    .open
                    .iter()
                    .rev()
                    .take_while(|block| block.keyword != "block")
                    .any(|block| block.keyword == "range" && !block.has_else);
                if !loops {
                    return Err(Error::new(format!(
                        "{{{{{keyword}}}}} outside {{{{range}}}}"
                    )));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether tokens end with a keyword or a template's name. A pipeline begins after it, so no
/// operand can touch it.
fn ends_keyword(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [Token::Word(word)] | [Token::Word("else"), Token::Word(word)] => KEYWORDS.contains(word),
        [Token::Word("template" | "block"), Token::Literal] => true,
        _ => false,
    }
}

/// Checks that one or two variables come before each `:=` and `=`, and that there are no other
/// commas.
fn declarations(tokens: &[Token<'_>]) -> Result<(), Error> {
    let mut commas = tokens.iter().filter(|t| **t == Token::Comma).count();
    for (i, _) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| **token == Token::Declare)
    {
        let before = &tokens[..i];
        let before = match before {
            [before @ .., Token::Variable, Token::Comma, Token::Variable] => {
                commas -= 1;
                before
            }
            [before @ .., Token::Variable] => before,
            _ => return Err(Error::new("unexpected \":=\" in operand")),
        };
        let begins = match before {
            [] | [.., Token::Open] => true,
            [.., Token::Word(word)] => KEYWORDS.contains(word),
            _ => false,
        };
        if !begins {
            return Err(Error::new("unexpected \":=\" in operand"));
        }
    }
    if commas > 0 {
        return Err(Error::new("unexpected \",\" in operand"));
    }
    Ok(())
}

/// The token at the beginning of a text, and its length.
pub(crate) fn token(text: &str) -> Result<(Token<'_>, usize), Error> {
    let Some(first) = text.chars().next() else {
        return Err(Error::new("unclosed action"));
    };
    let name = |from: usize| {
        let length = text[from..]
            .find(|c: char| c != '_' && !c.is_alphanumeric())
            .unwrap_or(text.len() - from);
        let end = from + length;
        let after = &text[end..];
        let terminated = after.is_empty()
            || after.starts_with("}}")
            || after.starts_with([' ', '\t', '\r', '\n', '.', ',', '|', ':', '(', ')']);
        if terminated {
            Ok(end)
        } else {
            let found = after.chars().next().unwrap_or_default();
            Err(bad_character("bad character", found))
        }
    };
    match first {
        '"' => quoted(text, '"', "unterminated quoted string"),
        '\'' => quoted(text, '\'', "unterminated character constant"),
        '`' => match text[1..].find('`') {
            Some(length) => Ok((Token::Literal, length + 2)),
            None => Err(Error::new("unterminated raw quoted string")),
        },
        '$' => Ok((Token::Variable, name(1)?)),
        '.' if !text[1..].starts_with(|c: char| c.is_ascii_digit()) => match name(1)? {
            1 => Ok((Token::Dot, 1)),
            end => Ok((Token::Field, end)),
        },
        '.' | '+' | '-' | '0'..='9' => {
            let length = number(text)?;
            let number = &text[..length];
            // `089` is not an octal number, and Go does not read a float without a point as an
            // integer.
            let digits = number.trim_start_matches(['+', '-']);
            if digits.starts_with('0')
                && digits.contains(['8', '9'])
                && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_')
            {
                return Err(Error::new(format!("integer overflow: {number:?}")));
            }
            // A number with a sign is not an unsigned integer (strconv, `ParseUint`).
            if number.starts_with('+')
                && let Ok(size) = digits.replace('_', "").parse::<u64>()
                && i64::try_from(size).is_err()
            {
                return Err(Error::new(format!("integer overflow: {number:?}")));
            }
            // Among the other bases only the hexadecimal one has floats.
            let has_other_base = digits
                .strip_prefix('0')
                .is_some_and(|digits| digits.starts_with(['b', 'B', 'o', 'O']));
            if has_other_base && digits.contains('.') {
                return Err(Error::new(format!("illegal number syntax: {number:?}")));
            }
            // A hexadecimal number with a point is a float, and needs digits and a power.
            if let Some(digits) = digits
                .strip_prefix("0x")
                .or_else(|| digits.strip_prefix("0X"))
                && digits.contains('.')
                && !digits
                    .split_once(['p', 'P'])
                    .is_some_and(|(mantissa, _)| mantissa.contains(|c: char| c.is_ascii_hexdigit()))
            {
                return Err(Error::new(format!("illegal number syntax: {number:?}")));
            }
            Ok((Token::Literal, length))
        }
        '(' => Ok((Token::Open, 1)),
        ')' => Ok((Token::Close, 1)),
        '|' => Ok((Token::Pipe, 1)),
        ',' => Ok((Token::Comma, 1)),
        '=' => Ok((Token::Declare, 1)),
        ':' if text.starts_with(":=") => Ok((Token::Declare, 2)),
        ':' => Err(Error::new("expected :=")),
        c if c == '_' || c.is_alphanumeric() => {
            let end = name(0)?;
            Ok((Token::Word(&text[..end]), end))
        }
        c if c.is_ascii_graphic() => Err(bad_character("unexpected bad character", c)),
        c => Err(bad_character("unrecognized character in action:", c)),
    }
}

/// The length of the number at the beginning of a text (text/template/parse, `scanNumber`).
fn number(text: &str) -> Result<usize, Error> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let is = |at: usize, among: &[u8]| bytes.get(at).is_some_and(|byte| among.contains(byte));
    let run = |mut at: usize, among: &[u8]| {
        while is(at, among) {
            at += 1;
        }
        at
    };
    at += usize::from(is(at, b"+-"));
    let (mut digits, mut power): (&[u8], &[u8]) = (b"0123456789_", b"eE");
    if is(at, b"0") {
        at += 1;
        if is(at, b"xX") {
            (digits, power) = (b"0123456789abcdefABCDEF_", b"pP");
        } else if is(at, b"oO") {
            (digits, power) = (b"01234567_", b"");
        } else if is(at, b"bB") {
            (digits, power) = (b"01_", b"");
        }
        at += usize::from(is(at, b"xXoObB"));
    }
    at = run(at, digits);
    if is(at, b".") {
        at = run(at + 1, digits);
    }
    if is(at, power) {
        at += 1;
        at += usize::from(is(at, b"+-"));
        at = run(at, b"0123456789_");
    }
    at += usize::from(is(at, b"i"));
    let is_number = text[..at].contains(|c: char| c.is_ascii_digit());
    match text[at..].chars().next() {
        Some(c) if c == '_' || c.is_alphanumeric() => {
            let found = &text[..at + c.len_utf8()];
            Err(Error::new(format!("bad number syntax: {found:?}")))
        }
        _ if !is_number => Err(Error::new(format!("bad number syntax: {:?}", &text[..at]))),
        _ => Ok(at),
    }
}

fn bad_character(what: &str, c: char) -> Error {
    Error::new(format!("{what} U+{:04X} '{c}'", u32::from(c)))
}

fn quoted<'t>(text: &'t str, quote: char, unterminated: &str) -> Result<(Token<'t>, usize), Error> {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, '\n')) | None => break,
                Some((at, kind)) => {
                    if !is_escape(&text[at..], kind, quote) {
                        return Err(Error::new("invalid syntax"));
                    }
                }
            },
            '\n' => break,
            c if c == quote => return Ok((Token::Literal, at + 1)),
            _ => {}
        }
    }
    Err(Error::new(unterminated))
}

/// Whether Go knows the escape after a backslash (strconv, `UnquoteChar`).
fn is_escape(text: &str, kind: char, quote: char) -> bool {
    let code = |from: usize, digits: usize, radix: u32| {
        let digits = text.get(from..from + digits)?;
        let is_number = digits.chars().all(|c| c.is_digit(radix));
        is_number.then(|| u32::from_str_radix(digits, radix).ok())?
    };
    match kind {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' => true,
        '0'..='7' => code(0, 3, 8).is_some_and(|code| code < 256),
        'x' => code(1, 2, 16).is_some(),
        'u' => code(1, 4, 16).and_then(char::from_u32).is_some(),
        'U' => code(1, 8, 16).and_then(char::from_u32).is_some(),
        kind => kind == quote,
    }
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> String {
        prepare(text).unwrap().source
    }

    fn refused(source: &str) -> String {
        match prepare(source).unwrap_err() {
            Error::Words { message, line, .. } => format!("{}: {message}", line.unwrap_or(0)),
            Error::Limit(limit) => limit.to_string(),
        }
    }

    #[test]
    fn trimming_is_done_and_lines_are_kept() {
        assert_eq!(source("a \n\t{{- /* x\n */}} b{{.C}}"), "a b{{\n\n.C}}");
        assert_eq!(source("a\u{a0}{{- 1 -}}\n b"), "a\u{a0}{{1 }}b");
        assert_eq!(source("a{ {{- 1}}"), "a{{\"{\"}}{{1}}");
    }

    #[test]
    fn what_gotmpl_does_not_read_is_written_otherwise() {
        for (text, expected) in [
            ("{{if(1)}}{{end}}", "{{if (1)}}{{end}}"),
            ("{{range.A}}{{end}}", "{{range .A}}{{end}}"),
            ("{{template \"a\".}}", "{{template \"a\" .}}"),
            ("{{1|}}", "{{1 }}"),
            ("{{(1 | ) | }}", "{{(1   )   }}"),
            ("{{range $,$ 3}}{{end}}", "{{range $ := $ 3}}{{end}}"),
        ] {
            assert_eq!(prepare(text).unwrap().source, expected, "{text}");
        }
    }

    #[test]
    fn what_go_refuses() {
        for (source, expected) in [
            ("\n{{range .A}}", "2: unexpected EOF"),
            ("a{{end}}", "1: unexpected {{end}}"),
            (
                "{{if 1}}{{else}}{{else}}{{end}}",
                "1: expected end; found {{else}}",
            ),
            ("{{.A.B\"x\"}}", "1: bad character U+0022 '\"'"),
            ("{{break}}", "1: {{break}} outside {{range}}"),
            ("{{ /* x */ }}", "1: unexpected bad character U+002F '/'"),
            ("{{(1}}", "1: unclosed left paren"),
            ("{{1nil}}", "1: bad number syntax: \"1n\""),
            ("{{0b1.e}}", "1: bad number syntax: \"0b1.e\""),
            ("{{0b1.}}", "1: illegal number syntax: \"0b1.\""),
            ("{{2..5}}", "1: unexpected \".5\" in operand"),
            ("{{\"a\nb\"}}", "1: unterminated quoted string"),
            (r#"{{"\xz0"}}"#, "1: invalid syntax"),
            (r#"{{"\400"}}"#, "1: invalid syntax"),
            (r#"{{"\ud800"}}"#, "1: invalid syntax"),
            (r"{{'\U00110000'}}", "1: invalid syntax"),
            (r#"{{"\'"}}"#, "1: invalid syntax"),
        ] {
            assert_eq!(refused(source), expected, "{source}");
        }
    }
}
