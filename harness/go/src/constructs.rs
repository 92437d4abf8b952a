//! The constructs of its language that a template uses.
//!
//! Tokens show them, because a template that Go refuses has no tree.

use std::collections::BTreeSet;

use crate::scanner::{KEYWORDS, Token, is_space, token};

/// The names of the constructs in a template, such as `field` and `function len`. It reads as much
/// of the template as it can.
pub fn constructs(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (mark, name) in [
        ("{{- ", "space trimmed"),
        (" -}}", "space trimmed"),
        ("{{/*", "comment"),
        ("{{- /*", "comment"),
    ] {
        if source.contains(mark) {
            found.insert(name.to_owned());
        }
    }
    let mut rest = source;
    while let Some((_, action)) = rest.split_once("{{") {
        let action = action.strip_prefix('-').unwrap_or(action);
        rest = match action.trim_start_matches(is_space).strip_prefix("/*") {
            Some(comment) => comment.split_once("*/").map_or("", |(_, rest)| rest),
            None => words(action, &mut found),
        };
    }
    if found.is_empty() {
        found.insert("text alone".to_owned());
    }
    found
}

/// Collects the constructs of an action, and returns the text after it.
fn words<'s>(action: &'s str, found: &mut BTreeSet<String>) -> &'s str {
    let mut rest = action;
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else {
            break;
        };
        if rest.starts_with("}}") || rest.starts_with("-}}") {
            break;
        }
        let (token, length) = match token(rest) {
            Ok((token, length)) => (Some(token), length),
            Err(_) => (None, unread(rest)),
        };
        let name = match (token, first) {
            (Some(Token::Word("false" | "nil" | "true")), _) => Some("nil, true, false"),
            (Some(Token::Word("end")), _) => None,
            (Some(Token::Word(word)), _) => {
                found.insert(if KEYWORDS.contains(&word) {
                    format!("{{{{ {word} }}}}")
                } else {
                    format!("function {word}")
                });
                None
            }
            (Some(Token::Variable), _) if length == 1 => Some("the root"),
            (Some(Token::Variable), _) => Some("variable"),
            (Some(Token::Field), _) => Some("field"),
            (Some(Token::Dot), _) => Some("the dot"),
            (Some(Token::Open), _) => Some("parentheses"),
            (Some(Token::Pipe), _) => Some("pipeline"),
            (Some(Token::Declare), ':') => Some("declaration"),
            (Some(Token::Declare), _) => Some("assignment"),
            (_, '"' | '`' | '\'') => Some("text"),
            (_, '.' | '+' | '-' | '0'..='9') => Some("number"),
            _ => None,
        };
        found.extend(name.map(str::to_owned));
        rest = &rest[length..];
    }
    let read = &action[..action.len() - rest.len()];
    if read.contains("printf") {
        found.extend(verbs(read).map(|verb| format!("printf %{verb}")));
    }
    rest
}

/// The length of the text up to the next possible token.
fn unread(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let end = chars.find(|(_, c)| !c.is_alphanumeric());
    end.map_or(text.len(), |(at, _)| at)
}

fn verbs(text: &str) -> impl Iterator<Item = char> {
    let verbs = text
        .split('%')
        .skip(1)
        .map(|verb| verb.trim_start_matches(|c: char| c.is_ascii_digit() || "-+# *.".contains(c)));
    verbs.filter_map(|verb| verb.chars().next().filter(char::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_uses_what_it_shows() {
        for (source, expected) in [
            ("hey", "text alone"),
            ("{{ .System }}", "field"),
            ("{{- /* c */ -}}", "comment, space trimmed"),
            ("{{ \"len .X\" }}", "text"),
            (
                "{{ range $i, $m := .Messages }}{{ len $m.Role }}{{ end }}",
                "declaration, field, function len, variable, {{ range }}",
            ),
            (
                "{{ printf \"%-5s\" . }}",
                "function printf, printf %s, text, the dot",
            ),
            (
                "{{ nope 09 | \"a\n",
                "function nope, number, pipeline, text",
            ),
        ] {
            let found: Vec<_> = constructs(source).into_iter().collect();
            assert_eq!(found.join(", "), expected, "{source}");
        }
    }
}
