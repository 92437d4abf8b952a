//! The tokens of a prompt, for people or scripts.

use rolecall_core::Cut;
use std::io::{self, Write};

use crate::report::style::{GOOD, NOTE, PLAIN, QUIET, Styled};
use rolecall_check::tokenizer::{Token, TokenKind};
use rolecall_core::transcript;

/// Writes one token on a line: its number, its text in quotation marks with every character
/// visible, and its kind unless it is ordinary text.
pub fn write(out: &mut dyn Write, prompt: &str, tokens: &[Token]) -> io::Result<()> {
    let numbers = tokens.iter().map(|token| number(token).len());
    let width = numbers.max().unwrap_or_default();
    for token in tokens {
        let mut text = String::new();
        for c in prompt.cut(token.range.clone()).chars() {
            match c {
                '\n' => text.push('␊'),
                c => transcript::encode_char(c, &mut text),
            }
        }
        let (style, kind) = match token.kind {
            TokenKind::Special => (GOOD, "  special"),
            TokenKind::Added => (NOTE, "  added"),
            TokenKind::Ordinary => (PLAIN, ""),
        };
        let number = Styled(QUIET, format!("{:>width$}", number(token)));
        // A control token that counts as text becomes several tokens, and the first has its place.
        let text = if text.is_empty() {
            "…".to_owned()
        } else {
            format!("\"{text}\"")
        };
        let text = Styled(style, text);
        writeln!(out, "{number}  {text}{}", Styled(QUIET, kind))?;
    }
    Ok(())
}

/// Writes only the numbers, on one line. Text without a known number is left out.
pub fn write_numbers(out: &mut dyn Write, tokens: &[Token]) -> io::Result<()> {
    let ids = tokens.iter().filter_map(|token| token.id);
    let ids: Vec<_> = ids.map(|id| id.to_string()).collect();
    writeln!(out, "{}", ids.join(" "))
}

fn number(token: &Token) -> String {
    token.id.map_or_else(|| "-".to_owned(), |id| id.to_string())
}
