//! Words, and lines of a certain width.

use crate::python::characters::is_space;

/// How many words a text has, as the regular expression `\w+` finds them.
pub(super) fn words(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .count()
}

/// `textwrap.wrap()` of CPython, for a line without tabs and line breaks to expand.
pub(super) fn wrap(
    line: &str,
    width: usize,
    break_long_words: bool,
    break_on_hyphens: bool,
) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let mut chunks = chunks(&chars, break_on_hyphens);
    chunks.reverse();
    let is_blank = |chunk: &[char]| chunk.iter().all(|c| is_space(*c));
    let mut lines = Vec::new();
    while !chunks.is_empty() {
        let mut current: Vec<char> = Vec::new();
        if !lines.is_empty() && chunks.last().is_some_and(|chunk| is_blank(chunk)) {
            chunks.pop();
        }
        let mut last = 0;
        while let Some(chunk) = chunks.pop_if(|chunk| current.len() + chunk.len() <= width) {
            last = chunk.len();
            current.extend(chunk);
        }
        if let Some(chunk) = chunks.last_mut()
            && chunk.len() > width
        {
            let room = width - current.len();
            if break_long_words {
                last = long_word_break(chunk, room, break_on_hyphens);
                current.extend(&chunk[..last]);
                *chunk = &chunk[last..];
            } else if current.is_empty() {
                last = chunk.len();
                current.extend(*chunk);
                chunks.pop();
            }
        }
        if is_blank(&current[current.len() - last..]) {
            current.truncate(current.len() - last);
        }
        if !current.is_empty() {
            lines.push(current.into_iter().collect());
        }
    }
    lines
}

/// Where a word that is too long for a line is broken: after a hyphen, if there is one.
fn long_word_break(chunk: &[char], room: usize, break_on_hyphens: bool) -> usize {
    let end = room.max(1);
    if break_on_hyphens && chunk.len() > room {
        let hyphen = chunk[..room.min(chunk.len())]
            .iter()
            .rposition(|c| *c == '-');
        if let Some(hyphen) = hyphen
            && hyphen > 0
            && chunk[..hyphen].iter().any(|c| *c != '-')
        {
            return hyphen + 1;
        }
    }
    end
}

/// What parts words for `textwrap`: no other white space than that of ASCII.
fn is_gap(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{B}' | '\u{C}' | '\r' | ' ')
}

/// A line in pieces: words, the space between them, and parts of words that end with a
/// hyphen.
fn chunks(chars: &[char], break_on_hyphens: bool) -> Vec<&[char]> {
    let is_word = |at: usize| {
        chars
            .get(at)
            .is_some_and(|c| c.is_alphanumeric() || *c == '_')
    };
    let is_letter = |at: usize| is_word(at) && !chars[at].is_numeric();
    let mut chunks: Vec<&[char]> = Vec::new();
    let mut start = 0;
    for at in 1..=chars.len() {
        let is_end = at == chars.len() || is_gap(chars[at]) != is_gap(chars[at - 1]);
        let is_hyphen = break_on_hyphens
            && at >= 3
            && at < chars.len()
            && chars[at - 1] == '-'
            && at > start + 2
            && is_letter(at - 2)
            && (is_letter(at - 3) || chars[at - 3] == '-')
            && is_letter(at)
            && (is_letter(at + 1) || chars.get(at + 1) == Some(&'-'));
        if is_end || is_hyphen {
            chunks.push(&chars[start..at]);
            start = at;
        }
    }
    chunks
}
