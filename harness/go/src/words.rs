//! The words in the code of a template: names, literals, and which of them are compared.
//!
//! Tokens show them, so a piece of a template has words, too.

use rolecall_core::Words;

use crate::scanner::{KEYWORDS, Token, is_space, token};

/// The words of a template. Names are spelled as in conversations: `.ToolCalls` is `tool_calls`.
pub fn words(source: &str) -> Words {
    let mut found = Words::default();
    if !source.contains("{{") {
        of_action(source, &mut found);
        return found;
    }
    let mut rest = source;
    while let Some((_, action)) = rest.split_once("{{") {
        let action = action.strip_prefix('-').unwrap_or(action);
        rest = match action.trim_start_matches(is_space).strip_prefix("/*") {
            Some(comment) => comment.split_once("*/").map_or("", |(_, rest)| rest),
            None => of_action(action, &mut found),
        };
    }
    found
}

/// Collects the words of an action, and returns the text after it. All names and texts within one
/// pair of parentheses, or outside of all, belong together.
fn of_action<'s>(action: &'s str, found: &mut Words) -> &'s str {
    let mut rest = action;
    let mut open = vec![Words::default()];
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else {
            break;
        };
        if rest.starts_with("}}") || rest.starts_with("-}}") {
            break;
        }
        let Ok((read, length)) = token(rest) else {
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let text = &rest[..length];
        rest = &rest[length..];
        match read {
            Token::Open => open.push(Words::default()),
            Token::Close if open.len() > 1 => close(&mut open, found),
            _ => {
                if let Some(own) = open.last_mut() {
                    note(read, text, own);
                }
            }
        }
    }
    while !open.is_empty() {
        close(&mut open, found);
    }
    rest
}

/// Adds the word that a token is.
fn note(token: Token<'_>, text: &str, own: &mut Words) {
    match token {
        Token::Field => {
            own.names.insert(spelled(text.trim_start_matches('.')));
        }
        // In `$call.Function`, each field of the variable is a separate token.
        Token::Word(word) if !KEYWORDS.contains(&word) => {
            // A name of a function is no key of a conversation, and does no harm.
            own.names.insert(word.to_owned());
        }
        Token::Literal => literal(text, own),
        _ => {}
    }
}

/// Ends the innermost group.
fn close(open: &mut Vec<Words>, found: &mut Words) {
    if let Some(own) = open.pop() {
        found.compare(&own.names, &own.texts);
        found.numbers.extend(own.numbers);
    }
}

fn literal(text: &str, own: &mut Words) {
    let raw = text
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'));
    // Go's escapes that templates use are those of JSON.
    let quoted = || serde_json::from_str::<String>(text).ok();
    if let Some(text) = raw.map(str::to_owned).or_else(quoted) {
        own.texts.insert(text);
    } else if let Ok(number) = text.parse() {
        own.numbers.insert(number);
    }
}

/// A field of Go as a key of JSON: `ToolCallID` is `tool_call_id`.
fn spelled(field: &str) -> String {
    let mut name = String::new();
    let mut is_low = false;
    for letter in field.chars() {
        if letter.is_uppercase() && is_low {
            name.push('_');
        }
        is_low = !letter.is_uppercase();
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_keep_names_and_literals_together() {
        let source = "a {{- if and (eq .Role \"tool\") .ToolCalls }}b{{ end }}\
            {{/* eq .X \"no\" */}}{{ if gt (len $.Messages) 3 }}{{ end }}{{ eq .ToolCallID `id` }}";
        let words = words(source);
        assert_eq!(words.compared_with("role"), ["tool"]);
        assert_eq!(words.compared_with("tool_calls"), [] as [&str; 0]);
        assert_eq!(words.compared_with("tool_call_id"), ["id"]);
        let texts: Vec<&str> = words.texts.iter().map(String::as_str).collect();
        assert_eq!(texts, ["id", "tool"]);
        assert!(words.names.contains("messages"), "{:?}", words.names);
        assert!(words.numbers.contains(&3));
        assert_eq!(super::words("eq .Role \"x\"").compared_with("role"), ["x"]);
    }
}
