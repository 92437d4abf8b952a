//! Templates as tokens. The tokens give the text back byte for byte.

use rolecall_core::Dialect;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Text between tags.
    Text,
    Comment,
    /// The beginning of a tag, with its whitespace control.
    Open,
    /// The end of a tag, with its whitespace control.
    Close,
    /// White space in a tag.
    Space,
    /// A name or a keyword; in Go with the dot or dollar sign before it.
    Name,
    Number,
    /// A string with its quotation marks, or a character of Go's.
    Quoted,
    Opening,
    Closing,
    Sign,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub text: String,
}

impl Token {
    pub fn new(kind: TokenKind, text: &str) -> Token {
        Token {
            kind,
            text: text.to_owned(),
        }
    }

    /// Whether it is a value by itself.
    pub fn is_operand(&self) -> bool {
        matches!(
            self.kind,
            TokenKind::Name | TokenKind::Number | TokenKind::Quoted
        )
    }
}

pub fn text_of(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

pub fn tokens_of(source: &str, dialect: Dialect) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while !rest.is_empty() {
        let begin = next_tag(rest, dialect);
        if begin > 0 {
            tokens.push(Token::new(TokenKind::Text, &rest[..begin]));
            rest = &rest[begin..];
        } else if let Some(length) = comment(rest, dialect) {
            tokens.push(Token::new(TokenKind::Comment, &rest[..length]));
            rest = &rest[length..];
        } else {
            rest = tag(rest, dialect, &mut tokens);
        }
    }
    tokens
}

fn next_tag(text: &str, dialect: Dialect) -> usize {
    let begins: &[&str] = match dialect {
        Dialect::Jinja => &["{{", "{%", "{#"],
        Dialect::Go => &["{{"],
    };
    let places = begins.iter().filter_map(|begin| text.find(begin));
    places.min().unwrap_or(text.len())
}

/// The length of the comment at the beginning of a text.
fn comment(text: &str, dialect: Dialect) -> Option<usize> {
    let (is_comment, end) = match dialect {
        Dialect::Jinja => (text.starts_with("{#"), "#}"),
        Dialect::Go => {
            let inside = text.trim_start_matches(['{', '-', ' ']);
            (inside.starts_with("/*"), "}}")
        }
    };
    is_comment.then(|| text.find(end).map_or(text.len(), |at| at + end.len()))
}

/// Takes a tag from the beginning of a text and returns what is left.
fn tag<'t>(text: &'t str, dialect: Dialect, tokens: &mut Vec<Token>) -> &'t str {
    let end = match (dialect, text.starts_with("{%")) {
        (Dialect::Jinja, true) => "%}",
        _ => "}}",
    };
    let mut open = 2;
    if text[open..].starts_with(['-', '+'])
        && (dialect == Dialect::Jinja || text[open..].starts_with("- "))
    {
        open += 1;
    }
    tokens.push(Token::new(TokenKind::Open, &text[..open]));
    let mut rest = &text[open..];
    // Braces of a dictionary may come before the end of a tag.
    let mut braces = 0_usize;
    while let Some(first) = rest.chars().next() {
        let controlled = rest
            .strip_prefix(['-', '+'])
            .is_some_and(|r| r.starts_with(end));
        if braces == 0 && (controlled || rest.starts_with(end)) {
            let length = end.len() + usize::from(controlled);
            tokens.push(Token::new(TokenKind::Close, &rest[..length]));
            return &rest[length..];
        }
        let (kind, length) = inside(rest, first, dialect);
        match first {
            '{' if dialect == Dialect::Jinja => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
        tokens.push(Token::new(kind, &rest[..length]));
        rest = &rest[length..];
    }
    rest
}

/// The token at the beginning of a tag's content, and its length.
fn inside(text: &str, first: char, dialect: Dialect) -> (TokenKind, usize) {
    let run = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    if first.is_whitespace() {
        return (TokenKind::Space, run(char::is_whitespace));
    }
    if first.is_ascii_digit() {
        let length = text
            .char_indices()
            .find(|(at, c)| {
                let is_fraction =
                    *c == '.' && text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
                !(is_of_name(*c) || is_fraction)
            })
            .map_or(text.len(), |(at, _)| at);
        return (TokenKind::Number, length);
    }
    if is_of_name(first) || dialect == Dialect::Go && matches!(first, '.' | '$') {
        let rest = &text[first.len_utf8()..];
        let length = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        return (TokenKind::Name, first.len_utf8() + length);
    }
    if matches!(first, '"' | '\'') || dialect == Dialect::Go && first == '`' {
        return (TokenKind::Quoted, quoted(text, first));
    }
    match first {
        '(' | '[' | '{' => (TokenKind::Opening, 1),
        ')' | ']' | '}' => (TokenKind::Closing, 1),
        _ => {
            let double = ["**", "//", "==", "!=", ">=", "<=", ":="];
            let is_double = double.iter().any(|sign| text.starts_with(sign));
            (
                TokenKind::Sign,
                if is_double { 2 } else { first.len_utf8() },
            )
        }
    }
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped && quote != '`';
    }
    text.len()
}

/// The ranges of tokens that are tags, from `Open` to `Close`.
pub fn tags(tokens: &[Token]) -> Vec<std::ops::Range<usize>> {
    let mut tags = Vec::new();
    let mut begin = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => begin = Some(at),
            TokenKind::Close => tags.extend(begin.take().map(|begin| begin..at + 1)),
            _ => {}
        }
    }
    tags
}

/// The first name in a tag. In a statement it is the keyword.
pub fn keyword(tag: &[Token]) -> &str {
    let mut inside = tag
        .iter()
        .skip(1)
        .filter(|token| token.kind != TokenKind::Space);
    inside.next().map_or("", |token| token.text.as_str())
}

/// The tags of each block, as indices into `tags`: its beginning, its middle tags such as `else`,
/// and its end.
pub fn blocks(
    tokens: &[Token],
    tags: &[std::ops::Range<usize>],
    dialect: Dialect,
) -> Vec<Vec<usize>> {
    let mut open: Vec<(String, Vec<usize>)> = Vec::new();
    let mut blocks = Vec::new();
    for (index, tag) in tags.iter().enumerate() {
        let is_output = dialect == Dialect::Jinja && tokens[tag.start].text.starts_with("{{");
        let word = keyword(&tokens[tag.clone()]);
        if is_output {
            continue;
        }
        match word {
            "else" | "elif" => {
                if let Some((_, parts)) = open.last_mut() {
                    parts.push(index);
                }
            }
            "end" if dialect == Dialect::Go => {
                blocks.extend(open.pop().map(|(_, parts)| [parts, vec![index]].concat()));
            }
            _ if dialect == Dialect::Jinja && word.starts_with("end") => {
                let at = open.iter().rposition(|(begin, _)| word[3..] == *begin);
                if let Some(at) = at {
                    let (_, parts) = open.remove(at);
                    blocks.push([parts, vec![index]].concat());
                }
            }
            "if" | "range" | "with" | "define" | "block" | "for" | "macro" | "call" | "set"
            | "filter" | "generation" | "raw" => open.push((word.to_owned(), vec![index])),
            _ => {}
        }
    }
    blocks
}

/// The range of the operand that begins at a token, with the calls, subscripts, attributes and
/// filters after it.
pub fn operand(tokens: &[Token], begin: usize) -> std::ops::Range<usize> {
    let mut at = begin;
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.text == sign);
    if tokens
        .get(at)
        .is_some_and(|token| token.kind == TokenKind::Opening)
    {
        at = closing(tokens, at);
    } else {
        at += 1;
    }
    loop {
        let next = after_space(tokens, at);
        let name = after_space(tokens, next + 1);
        if is(at, "(") || is(at, "[") {
            at = closing(tokens, at);
        } else if (is(next, ".") || is(next, "|"))
            && tokens.get(name).is_some_and(Token::is_operand)
        {
            at = name + 1;
        } else {
            return begin..at.min(tokens.len());
        }
    }
}

/// The index of the next token that is not white space.
fn after_space(tokens: &[Token], begin: usize) -> usize {
    let space = tokens
        .iter()
        .skip(begin)
        .take_while(|token| token.kind == TokenKind::Space);
    begin + space.count()
}

/// The index after the bracket that closes the one at an index.
fn closing(tokens: &[Token], begin: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token.kind {
            TokenKind::Opening => depth += 1,
            TokenKind::Closing => depth = depth.saturating_sub(1),
            TokenKind::Close => return at,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_its_tokens() {
        for (dialect, source, count) in [
            (
                Dialect::Jinja,
                "a{%- if x['}}'] == {'a': 1.5} -%}\n{# b #}{{ y|f(1) }}",
                32,
            ),
            (Dialect::Jinja, "{{ 'open", 3),
            (Dialect::Jinja, "{{ {'a': {}}}}", 10),
            (
                Dialect::Go,
                "{{- /* c */ -}}{{ range $i, $m := .Messages }}{{ $m.Role }}`{{ end -}}",
                27,
            ),
            (Dialect::Go, "{{ printf `}}` '}' \"\\\"\" }}", 11),
        ] {
            let tokens = tokens_of(source, dialect);
            assert_eq!(text_of(&tokens), source);
            assert_eq!(tokens.len(), count, "{tokens:#?}");
        }
    }

    #[test]
    fn blocks_are_the_tags_that_belong_together() {
        let source =
            "{% for x in y %}{% if a %}b{% else %}c{% endif %}{{ d }}{% endfor %}{% set e = 1 %}";
        let tokens = tokens_of(source, Dialect::Jinja);
        let tags = tags(&tokens);
        assert_eq!(tags.len(), 7);
        assert_eq!(
            blocks(&tokens, &tags, Dialect::Jinja),
            [vec![1, 2, 3], vec![0, 5]]
        );
    }

    #[test]
    fn an_operand_has_what_follows_it() {
        let tokens = tokens_of("{{ a.b(c, (1))[2] | d('e') + f }}", Dialect::Jinja);
        let range = operand(&tokens, 2);
        assert_eq!(text_of(&tokens[range]), "a.b(c, (1))[2] | d('e')");
    }
}
