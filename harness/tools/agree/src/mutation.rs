//! Real templates with a few changed tokens.

use rolecall_core::Dialect;

use crate::grammar::{self, Start};
use crate::tokens::{Token, TokenKind, blocks, operand, tags, text_of, tokens_of};
use rolecall_core::chance::Chance;

/// The most tags that are taken from a template. The references take long to compile large
/// templates.
const LONGEST: usize = 60;

const SIGNS: [&str; 20] = [
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "|", ".", ",", ":",
    "=", "is",
];

const WORDS: [&str; 16] = [
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "none",
    "true",
    "loop",
    "undef",
    "messages",
    "not in",
    "is not",
    "for",
    "recursive",
];

const SPACES: [&str; 10] = [
    " ", "\n", "\t", "  ", "\r\n", "\u{a0}", "\u{b}", "\u{c}", "\u{85}", "\u{2028}",
];

/// A template with one to four changes. Spliced tokens come from the other template.
pub fn mutate(source: &str, other: &str, dialect: Dialect, chance: &mut Chance) -> String {
    let mut tokens = tokens_of(source, dialect);
    let mut other = tokens_of(other, dialect);
    if chance.percent(60) {
        tokens = part(&tokens, dialect, chance);
    }
    other = part(&other, dialect, chance);
    for _ in 0..=chance.below(4) {
        change(&mut tokens, &other, dialect, chance);
    }
    text_of(&tokens)
}

/// A complete part of a long template: a block or a few tags.
fn part(tokens: &[Token], dialect: Dialect, chance: &mut Chance) -> Vec<Token> {
    let tags = tags(tokens);
    if tags.len() <= LONGEST / 4 {
        return tokens.to_vec();
    }
    let blocks = blocks(tokens, &tags, dialect);
    let short: Vec<_> = blocks
        .iter()
        .filter_map(|parts| Some(*parts.first()?..*parts.last()? + 1))
        .filter(|range| range.len() <= LONGEST)
        .collect();
    match chance.any(&short) {
        Some(range) => tokens[tags[range.start].start..tags[range.end - 1].end].to_vec(),
        None => tokens.to_vec(),
    }
}

/// The index of a random token for which `is` is true.
fn one(tokens: &[Token], chance: &mut Chance, is: impl Fn(&Token) -> bool) -> Option<usize> {
    let found: Vec<usize> = (0..tokens.len()).filter(|at| is(&tokens[*at])).collect();
    chance.any(&found).copied()
}

fn is_inside(token: &Token) -> bool {
    !matches!(
        token.kind,
        TokenKind::Text | TokenKind::Comment | TokenKind::Open | TokenKind::Close
    )
}

/// Makes one change, or none if the tokens have no place for it.
#[allow(clippy::too_many_lines)] // one arm for each kind of change
fn change(
    tokens: &mut Vec<Token>,
    other: &[Token],
    dialect: Dialect,
    chance: &mut Chance,
) -> Option<()> {
    match chance.below(100) {
        0..=9 => {
            let at = one(tokens, chance, is_inside)?;
            tokens.remove(at);
        }
        10..=13 => {
            let at = one(tokens, chance, is_inside)?;
            tokens.insert(at, tokens[at].clone());
        }
        14..=19 => {
            let first = one(tokens, chance, |token| {
                is_inside(token) && token.kind != TokenKind::Space
            })?;
            let kind = tokens[first].kind;
            let second = one(tokens, chance, |token| token.kind == kind)?;
            tokens.swap(first, second);
        }
        20..=34 => {
            let at = one(tokens, chance, Token::is_operand)?;
            let expression = grammar::text(Start::Expression, dialect, chance);
            let end = if chance.one_in(2) {
                operand(tokens, at).end
            } else {
                at + 1
            };
            tokens.splice(at..end, [Token::new(TokenKind::Name, &expression)]);
        }
        35..=44 => {
            let at = one(tokens, chance, Token::is_operand)?;
            let range = operand(tokens, at);
            let from = if chance.one_in(2) { &*tokens } else { other };
            let found = one(from, chance, Token::is_operand)?;
            let new = from[operand(from, found)].to_vec();
            tokens.splice(range, new);
        }
        45..=54 => {
            let at = one(tokens, chance, |token| {
                matches!(token.kind, TokenKind::Open | TokenKind::Close)
            })?;
            let text = controlled(&tokens[at], dialect, chance);
            tokens[at].text = text;
        }
        55..=61 => {
            let at = one(tokens, chance, |token| token.kind == TokenKind::Sign)?;
            let sign = chance.word(&SIGNS);
            tokens[at].text = format!(" {sign} ");
        }
        62..=71 => {
            let at = one(tokens, chance, Token::is_operand)?;
            let end = operand(tokens, at).end;
            let suffix = grammar::text(Start::Suffix, dialect, chance);
            tokens.insert(end, Token::new(TokenKind::Name, &suffix));
        }
        72..=77 => {
            let tags = tags(tokens);
            let range = chance.any(&tags)?.clone();
            if chance.one_in(2) {
                tokens.drain(range);
            } else {
                let again = tokens[range.clone()].to_vec();
                tokens.splice(range.start..range.start, again);
            }
        }
        78..=83 => {
            let at = one(tokens, chance, |token| {
                matches!(token.kind, TokenKind::Open | TokenKind::Text)
            })?;
            tokens.splice(at..at, other.iter().cloned());
        }
        84..=88 => {
            let at = one(tokens, chance, |token| {
                matches!(token.kind, TokenKind::Open | TokenKind::Text)
            })?;
            let statements = grammar::text(Start::Statements, dialect, chance);
            tokens.splice(at..at, tokens_of(&statements, dialect));
        }
        89..=92 => {
            let at = one(tokens, chance, |token| token.kind != TokenKind::Open)?;
            let space = chance.word(&SPACES);
            tokens.insert(at, Token::new(TokenKind::Space, space));
        }
        93..=95 => {
            let at = one(tokens, chance, is_inside)?;
            let word = chance.word(&WORDS);
            tokens.insert(at, Token::new(TokenKind::Name, &format!(" {word} ")));
        }
        96 | 97 => {
            let at = one(tokens, chance, |token| {
                matches!(token.kind, TokenKind::Quoted | TokenKind::Text)
            })?;
            let new = one(other, chance, |token| token.kind == tokens[at].kind)?;
            tokens[at] = other[new].clone();
        }
        98 => {
            let at = chance.below(tokens.len());
            tokens.truncate(at.max(1));
        }
        _ => {
            let first = chance.below(tokens.len());
            let end = (first + chance.below(6)).min(tokens.len());
            tokens.drain(first..end);
        }
    }
    Some(())
}

/// The beginning or the end of a tag with other whitespace control.
fn controlled(token: &Token, dialect: Dialect, chance: &mut Chance) -> String {
    let bare: String = token
        .text
        .chars()
        .filter(|c| !matches!(c, '-' | '+'))
        .collect();
    let control = match dialect {
        Dialect::Jinja => chance.word(&["-", "-", "+", ""]),
        Dialect::Go => chance.word(&["-", "-", ""]),
    };
    match (token.kind, dialect, control) {
        (TokenKind::Open, Dialect::Go, "-") => format!("{bare}- "),
        (_, Dialect::Go, "-") => format!(" -{bare}"),
        (TokenKind::Open, ..) => format!("{bare}{control}"),
        _ => format!("{control}{bare}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn changes_are_many_and_those_of_the_seed() {
        let source = "{% for x in [1, 2] %}{{ x ~ 'a' }}{% endfor %}";
        let other = "{% if messages %}{{ messages[0].role|upper }}{% endif %}";
        let made = |seed| -> Vec<String> {
            let mutated =
                |number| mutate(source, other, Dialect::Jinja, &mut Chance::of(seed, number));
            (0..200).map(mutated).collect()
        };
        assert_eq!(made(1), made(1));
        let different: BTreeSet<String> = made(1).into_iter().collect();
        assert!(different.len() > 150, "{} different ones", different.len());
        for dialect in Dialect::ALL {
            // Even an empty template has mutations.
            for number in 0..300 {
                mutate("", "", dialect, &mut Chance::of(1, number));
                mutate("{{", "{%", dialect, &mut Chance::of(1, number));
            }
        }
    }
}
