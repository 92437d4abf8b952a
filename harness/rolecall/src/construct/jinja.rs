//! What a Jinja template uses of its language.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use regex::Regex;

/// Patterns over a template's words, one space between each two: see [`words`].
const WORDS: &[(&str, &str)] = &[
    ("set block", r"<% set \w+ (\| [^%]*)?%>"),
    ("unpacking", r"<% (for|set) (\( )?\w+ , "),
    ("assignment to a namespace", r"<% set \w+ \. \w+ ="),
    ("for with a condition", r"<% for [^%]* in [^%]* if "),
    ("recursive for", r"<% for [^%]* recursive %>"),
    ("inline if", r"<(\{|% set)[^%}]* if "),
    ("slice", r"\[ [^\[\]]*: [^\[\]]*\]"),
    ("slice with a step", r"\[ [^\[\]]*: [^\[\]]*: [^\[\]]*\]"),
    ("concatenation with ~", r" ~ "),
    ("integer division", r" // "),
    ("remainder", r" % "),
    ("power", r" \*\* "),
    ("arithmetic", r" [-+*/] "),
    ("comparison", r" (==|!=|<|>|<=|>=) "),
    ("in", r" in (?:[^%]*\}>)"),
    ("and, or, not", r" (and|or|not) "),
    ("keyword argument", r"[(,] \w+ = "),
    ("arguments with a star", r"[(,] \*\*? "),
    ("list", r"(^|[({\[=,:+] |<\{ |in |\w+ \( )\["),
    ("dict", r" \{ "),
    ("number with a point", r" \d+\.\d"),
    ("text", r"<\{ '"),
];

/// Patterns over the source, for what leaves no word.
const SOURCE: &[(&str, &str)] = &[
    ("raw block", r"\{%[-+]?\s*raw\s*[-+]?%\}"),
    ("comment", r"\{#"),
    ("whitespace control", r"\{[{%#]-|-[#%}]\}"),
    ("blocks' whitespace kept", r"\{%\+|\+%\}"),
    ("escape in a text", r"\\"),
    ("CRLF", r"\r\n"),
    ("trimmed line", r"%\}\n|\n[ \t]+\{%"),
];

/// The functions that a template has of itself.
const FUNCTIONS: &[&str] = &[
    "cycler",
    "dict",
    "joiner",
    "lipsum",
    "namespace",
    "raise_exception",
    "range",
    "strftime_now",
];

/// The names of what a template uses.
pub(super) fn uses(source: &str) -> BTreeSet<String> {
    static PATTERNS: LazyLock<Vec<(&str, Regex, bool)>> = LazyLock::new(|| {
        let rows = WORDS.iter().map(|row| (row, true));
        rows.chain(SOURCE.iter().map(|row| (row, false)))
            .filter_map(|((name, pattern), is_of_words)| {
                Some((*name, Regex::new(pattern).ok()?, is_of_words))
            })
            .collect()
    });
    let words = words(source);
    let mut uses: BTreeSet<String> = named(&words).collect();
    let text = format!(" {} ", words.join(" "));
    for (name, pattern, is_of_words) in PATTERNS.iter() {
        if pattern.is_match(if *is_of_words { &text } else { source }) {
            uses.insert((*name).to_owned());
        }
    }
    if uses.is_empty() {
        uses.insert("text and variables".to_owned());
    }
    uses
}

/// Statements, filters, tests, functions, methods and attributes of loops, by their names.
fn named(words: &[String]) -> impl Iterator<Item = String> {
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    (0..words.len()).filter_map(move |index| {
        let name = word(index);
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !is_name {
            return None;
        }
        let before = word(index.wrapping_sub(1));
        let is_called = word(index + 1) == "(";
        match before {
            "<%" if name.starts_with("end") || name == "else" || name == "elif" => None,
            "<%" => Some(format!("{{% {name} %}}")),
            "|" => Some(format!("filter {name}")),
            "is" if name != "not" => Some(format!("test {name}")),
            "not" if word(index.wrapping_sub(2)) == "is" => Some(format!("test {name}")),
            "." if word(index.wrapping_sub(2)) == "loop" => Some(format!("loop.{name}")),
            "." if is_called => Some(format!("method {name}")),
            _ if is_called && FUNCTIONS.contains(&name) => Some(format!("function {name}")),
            _ => None,
        }
    })
}

/// The words of a template's statements and expressions as far as it can be read: `<%` and
/// `%>` around the first, `<{` and `}>` around the others, texts in single quotes.
fn words(source: &str) -> Vec<String> {
    let Ok(syntax) = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
    else {
        return Vec::new();
    };
    let tokens = tokenize(source, false, syntax).map_while(Result::ok);
    tokens
        .filter_map(|(token, _)| {
            Some(match token {
                Token::TemplateData(_) => return None,
                Token::VariableStart => "<{".to_owned(),
                Token::VariableEnd => "}>".to_owned(),
                Token::BlockStart => "<%".to_owned(),
                Token::BlockEnd => "%>".to_owned(),
                Token::Ident(name) => name.to_owned(),
                // What stands in a text is none of the template's words.
                Token::Str(_) | Token::String(_) => "'text'".to_owned(),
                Token::Int(number) => number.to_string(),
                Token::Float(number) => format!("{number:?}"),
                other => other.to_string().trim_matches('`').to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        for (name, pattern) in WORDS.iter().chain(SOURCE) {
            assert!(Regex::new(pattern).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_template_uses_what_it_shows() {
        for (source, expected) in [
            ("hey", "text and variables"),
            ("{{ x.y }}", "text and variables"),
            ("{{ 'if|trim' }}", "text"),
            ("{{ x|trim }}", "filter trim"),
            ("{{ x is not none }}", "and, or, not, test none"),
            ("{{ x[::-1] }}", "arithmetic, slice, slice with a step"),
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
            let found: Vec<_> = uses(source).into_iter().collect();
            assert_eq!(found.join(", "), expected, "{source}");
        }
    }
}
