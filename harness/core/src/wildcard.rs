//! Wildcards: patterns over names of templates and cases.

use crate::cut::Cut;
use glob::{MatchOptions, Pattern};

/// A pattern over a name: `*` matches anything, `/` included, `?` one character, `[…]` one of
/// several characters, and `{a,b}` one of several texts, as in a shell. It also matches itself: files, and so
/// templates, may have such characters in their names.
#[derive(Debug, Clone)]
pub struct Wildcard {
    text: String,
    /// One pattern for each combination of the texts in braces, after the text with which it
    /// begins.
    patterns: Vec<(String, Pattern)>,
}

/// A text that is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWildcard {
    /// A bracket that is not closed, or stars that mean nothing.
    #[error("`{pattern}` is not a pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A brace without its partner.
    #[error("`{0}` is not a pattern: a brace without its partner")]
    Brace(String),
    /// Braces that represent too many texts.
    #[error("`{0}` is not a pattern: its braces stand for more than {MOST_PATTERNS} texts")]
    TooMany(String),
}

/// The most texts that the braces of a pattern may represent.
const MOST_PATTERNS: usize = 1000;

/// The most braces that a pattern may have.
const MOST_BRACES: usize = 100;

// A `*` matches `/`, too: a template may be named as a model with its owner, such as `org/model`.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: false,
};

impl Wildcard {
    /// Whether it is `*`, which matches everything.
    pub fn is_any(&self) -> bool {
        self.patterns
            .iter()
            .any(|(_, pattern)| pattern.as_str() == "*")
    }

    /// Reads a pattern with `*`, `?`, `[…]` and `{…,…}`.
    pub fn new(text: &str) -> Result<Wildcard, InvalidWildcard> {
        // Each brace takes a level of the stack.
        if text.matches('{').count() > MOST_BRACES {
            return Err(InvalidWildcard::TooMany(text.to_owned()));
        }
        let mut texts = Vec::new();
        expand(text, text, &mut texts)?;
        let patterns = texts
            .iter()
            .map(|expanded| {
                let pattern = Pattern::new(expanded).map_err(|error| InvalidWildcard::Pattern {
                    pattern: text.to_owned(),
                    reason: error.msg,
                })?;
                let beginning = expanded.split(['*', '?', '[']).next().unwrap_or_default();
                Ok((beginning.to_owned(), pattern))
            })
            .collect::<Result<_, _>>()?;
        Ok(Wildcard {
            text: text.to_owned(),
            patterns,
        })
    }

    /// Whether some name that begins like this may match. A `false` is certain.
    pub fn may_begin_with(&self, beginning: &str) -> bool {
        let mut patterns = self.patterns.iter();
        self.text.starts_with(beginning)
            || patterns
                .any(|(own, _)| own.starts_with(beginning) || beginning.starts_with(own.as_str()))
    }

    /// Whether a name is the text of the pattern.
    pub fn is_exactly(&self, name: &str) -> bool {
        self.text == name
    }

    /// Whether a name matches the whole pattern.
    pub fn is_match(&self, name: &str) -> bool {
        let mut patterns = self.patterns.iter();
        // Most of many patterns begin in another way, which is seen at once.
        self.is_exactly(name)
            || patterns.any(|(beginning, pattern)| {
                name.starts_with(beginning) && pattern.matches_with(name, OPTIONS)
            })
    }
}

/// Gathers the texts that the braces of a text represent. `whole` is the pattern.
fn expand(text: &str, whole: &str, texts: &mut Vec<String>) -> Result<(), InvalidWildcard> {
    let unpaired = || InvalidWildcard::Brace(whole.to_owned());
    let Some(open) = text.find(['{', '}']) else {
        if texts.len() == MOST_PATTERNS {
            return Err(InvalidWildcard::TooMany(whole.to_owned()));
        }
        texts.push(text.to_owned());
        return Ok(());
    };
    let (before, rest) = text.split_at(open);
    // The commas between the brace and its partner.
    let mut depth = 0usize;
    let mut begin = 1;
    let mut choices = Vec::new();
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1).ok_or_else(unpaired)?,
            ',' if depth == 1 => {}
            _ => continue,
        }
        let is_end = c == '}' && depth == 0;
        if is_end || (c == ',' && depth == 1) {
            choices.push(rest.cut(begin..at));
            begin = at + 1;
        }
        if is_end {
            let after = rest.cut(begin..);
            for choice in choices {
                expand(&format!("{before}{choice}{after}"), whole, texts)?;
            }
            return Ok(());
        }
    }
    Err(unpaired())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        for (pattern, matching, others) in [
            ("*", &["", "a", "a/b"][..], &[][..]),
            ("qwen*", &["qwen", "qwen2.5", "qwen/x"], &["aqwen", "Qwen"]),
            ("*/two", &["one/two", "a/b/two"], &["two", "one/twos"]),
            ("a?c", &["abc", "a/c"], &["ac", "abbc"]),
            ("[ab]-[!c]", &["a-d", "b-x"], &["c-d", "a-c"]),
            // Files may have such names.
            ("m[1]", &["m1", "m[1]"], &["m", "m[2]"]),
            ("模型{a,b}", &["模型a", "模型{a,b}"], &["模型"]),
            ("{a,b*}x", &["ax", "bx", "bbx"], &["x", "cx"]),
            (
                "{a,{b,c}d}{1,2}",
                &["a1", "bd2", "cd1"],
                &["a", "d1", "a,1"],
            ),
            ("{}a{,b}", &["a", "ab"], &["b"]),
            ("a,b", &["a,b"], &["a"]),
        ] {
            let wildcard = Wildcard::new(pattern).unwrap();
            for name in matching {
                assert!(wildcard.is_match(name), "{pattern} and {name}");
            }
            for name in others {
                assert!(!wildcard.is_match(name), "{pattern} and {name}");
            }
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["[", "{a", "a}", "{a,{b}", "}{", "[a"] {
            assert!(Wildcard::new(text).is_err(), "{text}");
        }
        for many in ["{a,b}".repeat(20), "{a}".repeat(100_000)] {
            let error = Wildcard::new(&many).unwrap_err();
            assert_eq!(error, InvalidWildcard::TooMany(many));
        }
    }
}
