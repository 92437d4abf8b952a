//! Error messages reduced to their cause: without positions, numbers and quotations, the
//! messages of one cause are equal for all templates.

use crate::cut::Cut;

/// The most characters of a message that count.
const MOST: usize = 600;

/// A message without positions, numbers and quoted source.
pub fn common(message: &str) -> String {
    let message: String = message.chars().take(MOST).collect();
    let mut lines: Vec<&str> = Vec::new();
    let mut is_after_source = false;
    for line in message.lines() {
        if is_pointer(line) {
            // The line above is a line of the template.
            if !is_after_source {
                lines.pop();
            }
            is_after_source = true;
            continue;
        }
        is_after_source = is_numbered(line);
        if !is_after_source && !line.trim().is_empty() {
            lines.push(line.trim());
        }
    }
    let lines: Vec<String> = lines.into_iter().map(plain).collect();
    lines.join("\n")
}

/// Whether a line points into the line above it: `    ^^^`.
fn is_pointer(line: &str) -> bool {
    line.contains('^') && line.chars().all(|c| " \t^~-|".contains(c))
}

/// Whether a line is one of the template's, with its number: `   3 | {% if x %}`.
fn is_numbered(line: &str) -> bool {
    let rest = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    rest.trim_start().starts_with('|')
}

/// A line with one sign for each number and each quotation.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let after = rest.cut(c.len_utf8()..);
        if let Some(length) = quotation(before, rest) {
            out.push('…');
            rest = rest.cut(length..);
            before = ' ';
            continue;
        }
        // An address in memory.
        if let Some(digits) = rest.strip_prefix("0x") {
            let digits = digits.len()
                - digits
                    .trim_start_matches(|c: char| c.is_ascii_hexdigit())
                    .len();
            out.push('#');
            rest = rest.cut(2 + digits..);
            before = '0';
            continue;
        }
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
        before = c;
        rest = after;
    }
    out
}

/// The length of the quotation that a text begins with, if it begins with one. The apostrophe
/// of a word is no quote.
fn quotation(before: char, text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let close = match open {
        '\'' | '"' | '`' if !before.is_alphanumeric() => open,
        '“' => '”',
        '‘' => '’',
        // Go's position in the template.
        '<' => '>',
        _ => return None,
    };
    let inside = text.cut(open.len_utf8()..);
    let is_end = |(at, c): &(usize, char)| {
        let next = inside.cut(at + c.len_utf8()..).chars().next();
        *c == close && next.is_none_or(|next| !next.is_alphanumeric())
    };
    let (at, _) = inside.char_indices().find(is_end)?;
    Some(open.len_utf8() + at + close.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_with_one_cause_are_one() {
        for (a, b) in [
            (
                "Expected '}' but got 'x' (line 3)",
                "Expected '%' but got \"it's\" (line 128)",
            ),
            (
                "Unknown filter at row 3, column 5:\n{{ x | trim }}\n    ^\n",
                "Unknown filter at row 12, column 50:\n  {{ message | trim }}\n      ^~~\n",
            ),
            (
                "syntax error\n   3 | {% if x %}\n   4 > {{ y }",
                "syntax error\n   9 | {{ z }}\n  4 > {{ y }",
            ),
            (
                "<function f at 0x7f3a> of 0x55cd10b2",
                "<function f at 0x1> of 0x7ffe9d2c1a",
            ),
            ("Unknown\n  3 | {{ x }}\n    ^^^", "Unknown"),
            (
                "template: a:7:3: at <.Tools>: nil",
                "template: a:1:30: at <index .Messages 0>: nil",
            ),
        ] {
            assert_eq!(common(a), common(b));
        }
        assert_ne!(common("can't add"), common("can't subtract"));
        assert_ne!(common("unknown filter"), common("unknown test"));
        assert_eq!(common("it isn't 'x', it's 'y'"), "it isn't …, it's …");
    }
}
