//! The source of a template without its comments, and its code alone.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use rolecall_core::{Dialect, Template};

/// The source, its comments left out.
pub(super) fn without_comments(template: &Template) -> String {
    let (open, close) = match template.dialect {
        Dialect::Jinja => ("{#", "#}"),
        Dialect::Go => ("/*", "*/"),
    };
    let mut rest = template.source.as_str();
    let mut kept = String::with_capacity(rest.len());
    while let Some((before, comment)) = rest.split_once(open) {
        kept.push_str(before);
        rest = comment.split_once(close).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// The code in a source: the content of its tags, without texts of several words.
pub(super) fn code(source: &str) -> String {
    static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?s)\{[{%].*?[%}]\}").ok());
    static TEXT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"(?s)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*""#).ok());
    let (Some(tag), Some(text)) = (TAG.as_ref(), TEXT.as_ref()) else {
        return source.to_owned();
    };
    let word_or_nothing = |found: &Captures<'_>| {
        let text = found.get_match().as_str();
        let is_word = !text.contains(char::is_whitespace);
        if is_word {
            text.to_owned()
        } else {
            "''".to_owned()
        }
    };
    // A quotation mark alone ends with its tag.
    let tags = tag.find_iter(source).map(|tag| tag.as_str());
    let tags: Vec<_> = tags
        .map(|tag| text.replace_all(tag, word_or_nothing))
        .collect();
    tags.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_texts_are_no_code() {
        let speaks = |source: &str| code(source).contains("tools");
        assert!(speaks("{% if tools %}") && speaks("{{ m['tools'] }}"));
        assert!(speaks("{{ 'a' ~ tools ~ 'b' }}"));
        assert!(!speaks("tools {{ 'a number of tools' }} tools"));
        assert!(!speaks(r"{{ 'the user\'s needs, or tools: it\'s so' }}"));
        assert!(!speaks("{{ 'two lines\nof tools' }}"));
    }

    #[test]
    fn comments_are_left_out() {
        let rest =
            |dialect, source: &str| without_comments(&Template::from_source("t", dialect, source));
        assert_eq!(
            rest(Dialect::Jinja, "{# tools #}{{ a }}{#- b -#}"),
            "{{ a }}"
        );
        assert_eq!(rest(Dialect::Jinja, "{{ a }}{# tools"), "{{ a }}");
        assert_eq!(rest(Dialect::Go, "{{/* .Tools */}}{# a #}"), "{{}}{# a #}");
    }
}
