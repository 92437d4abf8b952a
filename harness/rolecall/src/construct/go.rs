//! What a Go template uses of its language.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Words that begin a statement.
const KEYWORDS: &[&str] = &[
    "block", "break", "continue", "define", "else", "end", "if", "range", "template", "with",
];

/// Words that are values.
const VALUES: &[&str] = &["false", "nil", "true"];

/// Patterns over the actions of a template, without what is in texts.
const ACTIONS: &[(&str, &str)] = &[
    ("declaration", r"\$\w*\s*:="),
    ("assignment", r"\$\w*\s*="),
    ("variable", r"\$\w"),
    ("the root", r"\$[^\w]"),
    ("pipeline", r"\|"),
    ("parentheses", r"\("),
    ("field", r"\.[A-Z]"),
    ("the dot", r"(^|[\s(])\.([\s)]|$)"),
    ("number", r"(^|[\s(])[-+]?\.?\d"),
    ("text", r#""|`"#),
    ("nil, true, false", r"\b(nil|true|false)\b"),
];

/// Patterns over the source of a template.
const SOURCE: &[(&str, &str)] = &[
    ("space trimmed", r"\{\{- | -\}\}"),
    ("comment", r"\{\{(- )?/\*"),
];

/// What a template is taken apart with.
struct Patterns {
    action: Regex,
    text: Regex,
    word: Regex,
    verb: Regex,
    of_actions: Vec<(&'static str, Regex)>,
    of_source: Vec<(&'static str, Regex)>,
}

impl Patterns {
    fn new() -> Result<Patterns, regex::Error> {
        let row = |(name, pattern): &(&'static str, &str)| {
            let pattern = Regex::new(pattern)?;
            Ok::<_, regex::Error>((*name, pattern))
        };
        Ok(Patterns {
            action: Regex::new(r"(?s)\{\{-?(.*?)-?\}\}")?,
            text: Regex::new(r#"(?s)/\*.*?\*/|"(\\.|[^"\\])*"|`[^`]*`|'(\\.|[^'\\])*'"#)?,
            word: Regex::new(r"[.$]?\w+")?,
            verb: Regex::new(r"%[-+# 0]*[\d*]*(?:\.[\d*]*)?([a-zA-Z])")?,
            of_actions: ACTIONS.iter().map(row).collect::<Result<_, _>>()?,
            of_source: SOURCE.iter().map(row).collect::<Result<_, _>>()?,
        })
    }
}

/// The names of what a template uses.
pub(super) fn uses(source: &str) -> BTreeSet<String> {
    static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| Patterns::new().ok());
    let mut uses = BTreeSet::new();
    let Some(patterns) = &*PATTERNS else {
        return uses;
    };
    for found in patterns.action.captures_iter(source) {
        let whole = found.get(1).map_or("", |inside| inside.as_str());
        let inside = patterns
            .text
            .replace_all(whole, |found: &regex::Captures<'_>| {
                // A comment is nothing; a text stays one.
                if found[0].starts_with('/') {
                    ""
                } else {
                    "\"\""
                }
            });
        uses.extend(names(&patterns.of_actions, &inside));
        let words = patterns.word.find_iter(&inside);
        uses.extend(words.filter_map(|word| named(word.as_str())));
        if inside.contains("printf") {
            let verbs = patterns.verb.captures_iter(whole);
            let verbs = verbs.filter_map(|verb| verb.get(1));
            uses.extend(verbs.map(|verb| format!("printf %{}", verb.as_str())));
        }
    }
    uses.extend(names(&patterns.of_source, source));
    if uses.is_empty() {
        uses.insert("text alone".to_owned());
    }
    uses
}

/// The names of the patterns that a text matches.
fn names(table: &[(&str, Regex)], text: &str) -> Vec<String> {
    let found = table.iter().filter(|(_, pattern)| pattern.is_match(text));
    found.map(|(name, _)| (*name).to_owned()).collect()
}

/// The name of the statement or function that a word stands for.
fn named(word: &str) -> Option<String> {
    let is_name = word.starts_with(|c: char| c.is_alphabetic());
    if !is_name || word == "end" || VALUES.contains(&word) {
        None
    } else if KEYWORDS.contains(&word) {
        Some(format!("{{{{ {word} }}}}"))
    } else {
        Some(format!("function {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert!(Patterns::new().is_ok());
    }

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
        ] {
            let found: Vec<_> = uses(source).into_iter().collect();
            assert_eq!(found.join(", "), expected, "{source}");
        }
    }
}
