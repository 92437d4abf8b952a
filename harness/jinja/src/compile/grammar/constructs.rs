//! The constructs of its language that a template uses.
//!
//! Tokens show them, because a template that Jinja2 refuses has no tree.

use std::collections::BTreeSet;

use crate::compile::grammar::lexer::{Lexer, normalised};
use crate::compile::grammar::tokens::Token;

/// The constructs that a template uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constructs {
    /// The constructs by name, such as `filter tojson` and `{% for %}`.
    pub names: BTreeSet<String>,
    /// How the template uses them, such as `filter tojson with indent` and `subscript [-1]`.
    pub details: BTreeSet<String>,
}

/// Words that are between operands, or before one.
const BEFORE_OPERANDS: [&str; 9] = [
    "and", "elif", "else", "if", "in", "is", "not", "or", "print",
];

/// The construct for square brackets after an operand.
const SUBSCRIPT: &str = "subscript";

/// The construct whose brackets have parameters.
const MACRO: &str = "{% macro %}";

/// The most words of a subscript that is a detail.
const LONG_SUBSCRIPT: usize = 8;

/// The functions that every template has.
const FUNCTIONS: [&str; 8] = [
    "cycler",
    "dict",
    "joiner",
    "lipsum",
    "namespace",
    "raise_exception",
    "range",
    "strftime_now",
];

struct Bracket {
    /// Where it begins, counted in the words of its tag.
    begin: usize,
    /// The name of the called construct, or `subscript`. Other brackets have none.
    of: Option<String>,
    /// Whether an argument in it has a name.
    has_names: bool,
}

impl Constructs {
    /// Collects the constructs that a template uses. It reads as much of the template as it can.
    pub fn of(source: &str) -> Constructs {
        let mut found = Constructs::default();
        found.source(source);
        let normalised = normalised(source);
        let words = found.words(&normalised);
        let mut open = Vec::new();
        for tag in words.split_inclusive(|word| ["}}", "%}"].contains(word)) {
            found.blocks(tag, &mut open);
            found.tag(tag);
            found.expressions(tag);
        }
        if found.names.is_empty() {
            found.name("text and variables");
        }
        found
    }

    fn name(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    fn detail(&mut self, detail: &str) {
        self.details.insert(detail.to_owned());
    }

    /// Collects the constructs that leave no token.
    fn source(&mut self, source: &str) {
        let has = |marks: &[&str]| marks.iter().any(|mark| source.contains(mark));
        let mut tags = source.split("{%").skip(1);
        let is_raw = tags.any(|tag| {
            let name = tag.trim_start_matches(['-', '+']).trim_start();
            let end = name.strip_prefix("raw").map(str::trim_start);
            end.is_some_and(|end| end.trim_start_matches(['-', '+']).starts_with("%}"))
        });
        let mut lines = source.split('\n').skip(1);
        let is_indented = lines.any(|line| {
            let tag = line.trim_start_matches([' ', '\t']);
            tag.len() < line.len() && tag.starts_with("{%")
        });
        for (name, is_used) in [
            ("raw block", is_raw),
            ("comment", has(&["{#"])),
            (
                "whitespace control",
                has(&["{{-", "{%-", "{#-", "-#}", "-%}", "-}}"]),
            ),
            ("blocks' whitespace kept", has(&["{%+", "+%}"])),
            ("escape in a text", has(&["\\"])),
            ("CRLF", has(&["\r\n"])),
            ("trimmed line", is_indented || has(&["%}\n"])),
        ] {
            if is_used {
                self.name(name);
            }
        }
        for (detail, is_used) in [
            (
                "comment with whitespace control",
                has(&["{#-"]) && has(&["-#}"]),
            ),
            ("whitespace kept before a block", has(&["{%+"])),
            ("no line break at the end", !source.ends_with('\n')),
        ] {
            if is_used {
                self.detail(detail);
            }
        }
    }

    /// The words of a template's tags. The content of a string does not count, so every string is
    /// `''`.
    fn words<'s>(&mut self, source: &'s str) -> Vec<&'s str> {
        let mut words = Vec::new();
        let mut lexer = Lexer::new(source);
        // The text of the tag's beginning, and its name.
        let mut begin = ("", "");
        while let Ok((token, span)) = lexer.next() {
            let text = source.get(span.start_offset as usize..span.end_offset as usize);
            let text = text.unwrap_or_default();
            words.push(match token {
                Token::Text(_) => continue,
                Token::End => break,
                Token::PrintBegin => "{{",
                Token::BlockBegin => "{%",
                Token::PrintEnd => "}}",
                Token::BlockEnd => "%}",
                Token::Name(name) => name,
                Token::Sign(sign) => sign,
                Token::String(_) => {
                    if text.contains('\n') {
                        self.detail("text over several lines");
                    }
                    "''"
                }
                Token::Float(_) if text.contains('.') => {
                    self.name("number with a point");
                    text
                }
                Token::Integer(_) | Token::Float(_) => text,
            });
            match token {
                Token::PrintBegin => begin = (text, "{{ }}"),
                Token::BlockBegin => begin = (text, ""),
                Token::Name(name) if begin.1.is_empty() => begin.1 = name,
                Token::PrintEnd | Token::BlockEnd
                    if begin.0.ends_with('-') && text.starts_with('-') =>
                {
                    self.detail(&format!("{} with whitespace control", begin.1));
                }
                _ => {}
            }
        }
        words
    }

    /// Keeps track of the blocks that are open.
    fn blocks<'s>(&mut self, tag: &[&'s str], open: &mut Vec<&'s str>) {
        match tag {
            ["{%", name @ ("for" | "if"), ..] => open.push(name),
            ["{%", "endfor" | "endif", ..] => {
                open.pop();
            }
            ["{%", "else", ..] if open.last() == Some(&"for") => {
                self.detail("{% for %} with else");
            }
            _ => {}
        }
    }

    fn tag(&mut self, tag: &[&str]) {
        match tag {
            ["{%", "set", _, "%}"] => self.name("set block"),
            ["{%", "set", _, "|", ..] => {
                self.name("set block");
                self.detail("set block with a filter");
            }
            ["{%", "set", _, ".", _, "=", ..] => self.name("assignment to a namespace"),
            ["{%", tag @ ("for" | "set"), _, ",", ..]
            | ["{%", tag @ ("for" | "set"), "(", _, ",", ..] => {
                self.name("unpacking");
                self.detail(&format!("unpacking in {{% {tag} %}}"));
            }
            ["{{", "''", ..] => self.name("text"),
            _ => {}
        }
        match tag {
            ["{%", "for", .., "recursive", "%}"] => self.name("recursive for"),
            ["{{", ..] | ["{%", "set", ..] if tag.contains(&"if") => {
                let rest = if tag.contains(&"else") {
                    "with"
                } else {
                    "without"
                };
                self.name("inline if");
                self.detail(&format!("inline if {rest} else"));
            }
            _ => {}
        }
    }

    /// What is in a tag's expressions.
    fn expressions(&mut self, tag: &[&str]) {
        let mut open: Vec<Bracket> = Vec::new();
        for (at, word) in tag.iter().enumerate() {
            let (before, after) = (&tag[..at], &tag[at + 1..]);
            if let Some(name) = named(before, word, after) {
                self.names.insert(name);
            }
            match *word {
                "(" | "[" | "{" => {
                    let of = self.opened(before, word, after);
                    open.push(Bracket {
                        begin: at,
                        of,
                        has_names: false,
                    });
                }
                ")" | "]" | "}" => {
                    if let Some(bracket) = open.pop()
                        && bracket.of.is_some_and(|of| of == SUBSCRIPT)
                    {
                        self.subscript(&tag[bracket.begin..=at]);
                    }
                }
                "if" if tag.starts_with(&["{%", "for"]) && open.is_empty() => {
                    self.name("for with a condition");
                }
                "in" if tag.first() == Some(&"{{") => self.name("in"),
                _ => {}
            }
            if let Some(bracket) = open.last_mut() {
                self.argument(bracket, before, word);
            }
            self.operator(before, word, after);
        }
    }

    /// The construct that begins with a bracket, if the bracket calls or indexes something.
    fn opened(&mut self, before: &[&str], bracket: &str, after: &[&str]) -> Option<String> {
        let is_operand = before.last().is_some_and(|last| {
            let is_word = last.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let is_closed = ["''", ")", "]", "}"].contains(last);
            is_closed || is_word && !BEFORE_OPERANDS.contains(last)
        });
        let of = match (bracket, before) {
            ("(", ["{%", "macro", _]) => MACRO.to_owned(),
            ("(", [before @ .., last]) if is_operand => {
                if *last == "caller" {
                    self.detail("call of caller");
                }
                named(before, last, &["("]).unwrap_or_else(|| "call".to_owned())
            }
            ("[", _) if is_operand => SUBSCRIPT.to_owned(),
            (_, _) => {
                match bracket {
                    "[" => self.name("list"),
                    "{" => self.name("dict"),
                    _ => {}
                }
                return None;
            }
        };
        if after.first() == Some(&"''") {
            self.detail(&format!("{of} of a text"));
        }
        if let [.., "''", ".", _] = before {
            self.detail(&format!("{of} on a text"));
        }
        Some(of)
    }

    /// What an argument is, by a word of it.
    fn argument(&mut self, bracket: &mut Bracket, before: &[&str], word: &str) {
        let Some(of) = &bracket.of else {
            return;
        };
        match (before, word) {
            ([.., "(" | ",", name], "=") => {
                self.name("keyword argument");
                let name = if of == MACRO { "a default" } else { name };
                self.detail(&format!("{of} with {name}"));
                if std::mem::replace(&mut bracket.has_names, true) {
                    self.detail(&format!("{of} with several names"));
                }
            }
            ([.., "(" | ","], "*" | "**") => self.name("arguments with a star"),
            ([.., "," | "="], "true") => self.detail(&format!("{of} with true")),
            _ => {}
        }
    }

    /// What a subscript is, given the words from its bracket to the other.
    fn subscript(&mut self, words: &[&str]) {
        let colons = words.iter().filter(|word| **word == ":").count();
        if colons > 0 {
            self.name("slice");
        }
        if colons > 1 {
            self.name("slice with a step");
        }
        if words.len() <= LONG_SUBSCRIPT {
            self.detail(&format!("subscript {}", words.concat()));
        }
    }

    fn operator(&mut self, before: &[&str], word: &str, after: &[&str]) {
        match word {
            "~" => self.name("concatenation with ~"),
            "//" => self.name("integer division"),
            "%" => self.name("remainder"),
            "**" => self.name("power"),
            "+" | "-" | "*" | "/" => self.name("arithmetic"),
            "==" | "!=" | "<" | ">" | "<=" | ">=" => self.name("comparison"),
            "and" | "or" | "not" => self.name("and, or, not"),
            _ => {}
        }
        let is_integer = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        match (before, word, after) {
            ([.., "''"], "+", _) => self.detail("+ after a text"),
            ([.., "not"], "in", _) => self.detail("not in"),
            (_, "in", ["[", ..]) if before.get(1) != Some(&"for") => self.detail("in a list"),
            ([.., "."], index, _) if is_integer(index) => self.detail("index with a point"),
            ([.., left], "-" | "*" | "/" | "%", [right, ..])
                if is_integer(right) && left.starts_with(char::is_alphanumeric) =>
            {
                self.detail("arithmetic with a number");
            }
            _ => {}
        }
    }
}

/// The name of the statement, filter, test, function, method or attribute of a loop that a word
/// of a tag names.
fn named(before: &[&str], name: &str, after: &[&str]) -> Option<String> {
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let is_called = after.first() == Some(&"(");
    match before {
        ["{%"] if name.starts_with("end") || ["elif", "else"].contains(&name) => None,
        ["{%"] => Some(format!("{{% {name} %}}")),
        [.., "|"] => Some(format!("filter {name}")),
        [.., "is"] if name == "not" => None,
        [.., "is"] | [.., "is", "not"] => Some(format!("test {name}")),
        [.., "loop", "."] => Some(format!("loop.{name}")),
        [.., "."] if is_called => Some(format!("method {name}")),
        _ if is_called && FUNCTIONS.contains(&name) => Some(format!("function {name}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_uses_what_it_shows() {
        for (source, expected) in [
            ("hey", "text and variables"),
            ("{{ x.y }}", "text and variables"),
            ("{{ 'if|trim' }}", "text"),
            ("{{ x|trim }}", "filter trim"),
            ("{{ x is not none }}", "and, or, not, test none"),
            ("{{ x[::-1] }}", "arithmetic, slice, slice with a step"),
            ("{{ x[1:] }}", "slice"),
            (
                "{{ ns.f(1) ~ range(2) }}",
                "concatenation with ~, function range, method f",
            ),
            (
                "{% for a, b in x if a %}{{ loop.first }}{% else %}{% endfor %}",
                "for with a condition, loop.first, unpacking, {% for %}",
            ),
            (
                "{%- set x %}{% endset %}{# c #}",
                "comment, set block, whitespace control, {% set %}",
            ),
            ("{{ f(a=1) // 2", "integer division, keyword argument"),
        ] {
            let found: Vec<_> = Constructs::of(source).names.into_iter().collect();
            assert_eq!(found.join(", "), expected, "{source}");
        }
    }
}
