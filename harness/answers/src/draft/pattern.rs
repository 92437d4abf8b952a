//! Patterns for texts.

use super::asked::in_place_of_words;
use rolecall_core::Cut;

/// A text as a pattern that matches it alone, with any other words in the place of those that were
/// tried.
pub(super) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => pattern.push_str("\\n"),
            '\t' => pattern.push_str("\\t"),
            c if "\\.+*?()|[]{}^$#&-~".contains(c) => {
                pattern.push('\\');
                pattern.push(c);
            }
            c => pattern.push(c),
        }
    }
    for (word, other) in in_place_of_words() {
        pattern = pattern.replace(word, other);
    }
    pattern
}

/// A text for a key such as `open`, or a pattern for `open_pattern` if words that were tried are in
/// it.
pub(super) fn literal(key: &str, text: &str) -> (String, String) {
    if in_place_of_words().any(|(word, _)| text.contains(word)) {
        (format!("{key}_pattern"), escaped(text))
    } else {
        (key.to_owned(), text.to_owned())
    }
}

/// A pattern for a text whose white space may be another one.
pub(super) fn loose(text: &str) -> String {
    let mut pattern = String::new();
    let mut words = text.split_whitespace();
    if text.starts_with(char::is_whitespace) {
        pattern.push_str("\\s*");
    }
    if let Some(first) = words.next() {
        pattern.push_str(&escaped(first));
    }
    for word in words {
        pattern.push_str("\\s*");
        pattern.push_str(&escaped(word));
    }
    if text.trim_start().ends_with(char::is_whitespace) {
        pattern.push_str("\\s*");
    }
    pattern
}

/// The length of the common beginning of two texts, up to a tag that only begins alike.
pub(super) fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
    let shared = one.floor_char_boundary(same.count());
    // A tag is shared as a whole or not at all.
    let last = one.cut(..shared).rfind('<');
    let is_open = |at: &usize| !one.cut(*at..shared).contains('>');
    last.filter(is_open).unwrap_or(shared)
}
