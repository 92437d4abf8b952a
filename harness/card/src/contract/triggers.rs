//! The contract that no word in a message and no length of a conversation brings in a text.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use regex::Regex;
use rolecall_model::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use crate::probe::catalogue::{LONG, SYSTEM_LONG, SYSTEM_USER, USER_ASSISTANT_USER};
use crate::probe::manner::open;
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static NO_HIDDEN_TRIGGERS: Contract = Contract {
    id: "no-hidden-triggers",
    meaning: "no word in a question and no length of a conversation brings a text into the prompt",
    guards_against: "an instruction that nobody sees in tests, and that somebody may have hidden",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/no-hidden-triggers.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let words = compared(prober.source_without_comments());
        let inside = |word: &str| format!("{} {word}", words::USER);
        let all = words.inside.join(" ");
        if brings_in_something(prober, &all, &inside(&all)).is_some() {
            for word in &words.inside {
                brings_in_nothing(&mut tally, prober, word, &inside(word));
            }
        }
        for word in &words.whole {
            brings_in_nothing(&mut tally, prober, word, word);
        }
        for word in &words.first {
            let question = format!("{word} {}", words::USER);
            brings_in_nothing(&mut tally, prober, word, &question);
        }
        for word in &words.last {
            brings_in_nothing(&mut tally, prober, word, &inside(word));
        }
        let short: BTreeSet<String> = [USER_ASSISTANT_USER, SYSTEM_USER]
            .into_iter()
            .flat_map(|probe| own_words(&prober.see(probe)))
            .collect();
        for probe in [LONG, SYSTEM_LONG] {
            let long = prober.see(probe);
            if tally.text(&long).is_none() {
                continue;
            }
            let mut new = own_words(&long);
            new.retain(|word| !short.contains(word));
            tally.demand(new.is_empty(), || {
                let words: Vec<&str> = new.iter().map(String::as_str).collect();
                let what = format!(
                    "a long conversation brings words into the prompt that a short one has not: {}",
                    words.join(", ")
                );
                Evidence::one(what, &long)
            });
        }
        tally.judgement()
    },
};

/// The plain words with which a source compares texts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    /// Those that may stand anywhere in a text.
    inside: Vec<String>,
    /// Those that a content has to be.
    whole: Vec<String>,
    /// Those that a content has to begin with.
    first: Vec<String>,
    /// Those that a content has to end with.
    last: Vec<String>,
}

/// A text literal that the source looks for in something: before `in`, or behind Go's `contains`.
static INSIDE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"{LITERAL}\s*(?:not\s+)?in\b|contains\s+\S+\s+{LITERAL}"
    ))
});

/// A text literal with which the source compares a content as a whole.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
    let content = r"(?:[Cc]ontent|text)[^\n%}]{0,40}?(?:==|!=)\s*";
    pattern(&format!(
        r"{content}{LITERAL}|(?:eq|ne)\s+\S*Content\s+{LITERAL}"
    ))
});

/// A text literal with which a text has to begin, or to end.
static FIRST: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"startswith\({LITERAL}")));
static LAST: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"endswith\({LITERAL}")));

const LITERAL: &str = r#"(?:'([^'\\]{3,60})'|"([^"\\]{3,60})")"#;

fn pattern(source: &str) -> Regex {
    Regex::new(source).unwrap_or_else(|error| panic!("{error}"))
}

/// Roles, types of parts and of values, and settings. They are no words of messages.
const NO_WORDS: [&str; 24] = [
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
    "function",
    "text",
    "image",
    "image_url",
    "audio",
    "video",
    "string",
    "integer",
    "number",
    "boolean",
    "object",
    "array",
    "null",
    "role",
    "content",
    "tool_calls",
    "type",
    "ipython",
    "name",
];

/// The most words that are tried. A stranger's template may compare with thousands.
const MOST: usize = 24;

/// The plain words with which a source compares texts.
fn compared(source: &str) -> Compared {
    let is_plain = |word: &&str| {
        word.chars().any(char::is_alphabetic)
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || " ,.!?'-".contains(c))
            && !NO_WORDS.contains(word)
    };
    let found = |pattern: &Regex| {
        let found = pattern.captures_iter(source);
        let words: BTreeSet<&str> = found
            .filter_map(|found| found.iter().skip(1).flatten().next())
            .map(|text| text.as_str())
            .filter(is_plain)
            .take(MOST)
            .collect();
        words.into_iter().map(str::to_owned).collect()
    };
    Compared {
        inside: found(&INSIDE),
        whole: found(&WHOLE),
        first: found(&FIRST),
        last: found(&LAST),
    }
}

/// Demands that a question with a word in it differs from another question by that word only.
fn brings_in_nothing(tally: &mut Tally, prober: &Prober<'_>, word: &str, question: &str) {
    match brings_in_something(prober, word, question) {
        None => tally.holds(),
        Some([usual, seen]) => {
            let what =
                format!("a question with `{word}` in it brings another text into the prompt");
            tally.broken(Evidence::differ(what, &usual, &seen));
        }
    }
}

/// A question with a word and one with another word in its place, if their prompts differ by more
/// than that.
fn brings_in_something(
    prober: &Prober<'_>,
    word: &str,
    question: &str,
) -> Option<[Rc<ProbeOutcome>; 2]> {
    const ABOUT: &str = "a question with a word that the template compares something with";
    if word.is_empty() {
        return None;
    }
    let manner = prober.manner();
    let ask = |text: &str| {
        let case = open(vec![manner.message("user", text)]);
        prober.ask("question-of-words", ABOUT, case)
    };
    let (seen, usual) = (ask(question), ask(&question.replace(word, words::BEHIND)));
    let expected = usual.text()?.replace(words::BEHIND, word);
    (seen.text()? != expected).then_some([usual, seen])
}

/// The words of a prompt that come from the template itself. Numbers may count turns.
fn own_words(seen: &ProbeOutcome) -> BTreeSet<String> {
    let text = seen.text().unwrap_or_default();
    let words = text.split(|c: char| !c.is_alphabetic());
    let words = words.filter(|word| word.len() > 2 && !word.ends_with("quill"));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_found_where_they_are_compared() {
        let found = compared(
            "{% if 'please help' in m.content or m.role == 'user' %}{% elif \"<tool>\" in x %}\
             {% elif m.content.startswith('Dear') %}{{ 'never' }}{% elif content == 'deploy' %}",
        );
        let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let expected = Compared {
            inside: all(&["please help"]),
            whole: all(&["deploy"]),
            first: all(&["Dear"]),
            last: Vec::new(),
        };
        assert_eq!(found, expected);
        let found = compared("{{ if eq .Content \"secret\" }}{{ if eq .Role \"user\" }}");
        assert_eq!(found.whole, ["secret"]);
    }
}
