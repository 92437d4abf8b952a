//! Contracts about the template's own words: no placeholder is left in them, they are apart from
//! the texts of a conversation, and control tokens are spelt alike.

use rolecall_core::{Cut, Dialect};

use super::calls::unread_json;
use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::{control_tokens, control_tokens_in};
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_TURN_USER, CALL_WITH_TEXT, IMAGE, PARALLEL, SYSTEM_TOOLS, SYSTEM_TURNS,
    SYSTEM_USER, TOOLS, TWO_DOCUMENTS, TWO_SYSTEM, TWO_TURNS, TWO_USERS, USER, USER_ASSISTANT_USER,
};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static PLACEHOLDERS_FILLED: Contract = Contract {
    id: "placeholders-filled",
    meaning: "no placeholder and no written-out line break is left in the prompt",
    guards_against: "`{system_message}` or `\\n` where a text or a line break was meant",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/placeholders-filled.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for probe in [USER, SYSTEM_TURNS, TOOLS] {
            let seen = prober.see(probe);
            let Some(text) = tally.text(&seen) else {
                continue;
            };
            let found = PLACEHOLDERS.iter().find_map(|name| {
                let placeholder = format!("{{{name}}}");
                Some((text.find(&placeholder)?, placeholder))
            });
            if let Some((at, placeholder)) = found {
                let what = format!("the placeholder `{placeholder}` is in the prompt");
                let place = at..at + placeholder.len();
                tally.broken(Evidence::one(what, &seen).at(Some(place)));
                return tally.judgement();
            }
            if let Some(at) = text
                .find("<<<<<<< ")
                .filter(|_| text.contains("\n>>>>>>> "))
            {
                let what = "marks of a conflict that Git left in the file are in the prompt";
                tally.broken(Evidence::one(what, &seen).at(Some(at..at + 7)));
                return tally.judgement();
            }
            // No text of the conversation has a line break, so none is written out in JSON.
            if let Some(at) = written_out(text) {
                let what = "a line break is written out as `\\n`";
                tally.broken(
                    Evidence::one(what, &seen)
                        .at(Some(at..at + 2))
                        .with(Severity::Warning),
                );
                return tally.judgement();
            }
            tally.holds();
        }
        tally.judgement()
    },
};

/// What instructions call a text that somebody has to put in.
const PLACEHOLDERS: [&str; 12] = [
    "system_message",
    "system_prompt",
    "system",
    "user_message",
    "user_prompt",
    "prompt",
    "instruction",
    "input",
    "question",
    "message",
    "tools",
    "tool_descs",
];

/// Where a line break is written out in plain words. Within quotes it belongs to a JSON text, or is
/// what the words are about.
fn written_out(text: &str) -> Option<usize> {
    let mut places = text.match_indices("\\n").map(|(at, _)| at);
    places.find(|at| {
        let before = text.cut(..*at);
        let line = before.cut(before.rfind('\n').map_or(0, |end| end + 1)..);
        let quotes = ['"', '\'', '`'];
        !before.ends_with('\\')
            && quotes
                .iter()
                .all(|quote| line.matches(*quote).count() % 2 == 0)
    })
}

pub(super) static TEXTS_APART: Contract = Contract {
    id: "texts-apart",
    meaning: "texts, tools, calls and documents are separated from the text next to them",
    guards_against: "a system text that runs into the instructions about tools",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/texts-apart.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (plain, tools, word, who) in [
            (SYSTEM_USER, SYSTEM_TOOLS, words::SYSTEM, "a system message"),
            (USER, TOOLS, words::USER, "a question"),
        ] {
            let (plain, tools) = (prober.see(plain), prober.see(tools));
            if tally.text(&plain).is_none() || tally.text(&tools).is_none() {
                continue;
            }
            if !plain.has(word) || !tools.has(word) {
                tally.skip(format!("{who} is not in the prompt"));
                continue;
            }
            let before = |seen: &ProbeOutcome| seen.before(word)?.chars().next_back();
            let after = |seen: &ProbeOutcome| seen.after(word)?.chars().next();
            let glued = |place: &dyn Fn(&ProbeOutcome) -> Option<char>| {
                let (tools, plain) = (place(&tools), place(&plain));
                let is_space = |c: Option<char>| c.is_some_and(char::is_whitespace);
                is_glued(tools) && !is_glued(plain)
                    || is_space(plain) && tools.is_some() && !is_space(tools)
            };
            let how = match (glued(&before), glued(&after)) {
                (false, false) => None,
                (true, _) => Some("with tools, words of the template end where"),
                (false, true) => Some("with tools, words of the template begin right after"),
            };
            tally.demand(how.is_none(), || {
                let what = match how {
                    Some(how) if how.ends_with("where") => {
                        format!("{how} {who} begins, without a space")
                    }
                    other => format!("{} {who}, without a space", other.unwrap_or_default()),
                };
                Evidence::one(what, &tools).at(tools.find(word))
            });
        }
        messages_apart(&mut tally, prober);
        words_apart(&mut tally, prober);
        objects_apart(&mut tally, prober);
        tally.judgement()
    },
};

/// Whether a character is a part of words: a text that touches it runs into them.
fn is_glued(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '!' | '?'))
}

/// Demands that something is between the texts of two messages.
fn messages_apart(tally: &mut Tally, prober: &Prober<'_>) {
    const SPOKEN: [&str; 6] = [
        words::SYSTEM,
        words::SECOND_SYSTEM,
        words::USER,
        words::SECOND_USER,
        words::ASSISTANT,
        words::RESULT,
    ];
    for probe in [
        SYSTEM_USER,
        SYSTEM_TURNS,
        TWO_SYSTEM,
        TWO_USERS,
        TWO_TURNS,
        SYSTEM_TOOLS,
        CALL_TURN_USER,
    ] {
        let seen = prober.see(probe);
        let touching = SPOKEN.iter().find_map(|word| {
            let place = seen.find(word)?;
            let after = seen.text()?.get(place.end..)?.to_ascii_lowercase();
            let next = words::ALL.iter().find(|next| after.starts_with(**next))?;
            Some(place.start..place.end + next.len())
        });
        if seen.text().is_some() {
            tally.demand(touching.is_none(), || {
                let what = format!("the texts of two messages touch: {}", probe.about);
                Evidence::one(what, &seen).at(touching.clone())
            });
        }
    }
}

/// Demands that no letter is right before the text of a message, and none right after it.
fn words_apart(tally: &mut Tally, prober: &Prober<'_>) {
    for (probe, word, who) in [
        (USER, words::USER, "a question"),
        (TWO_TURNS, words::ASSISTANT, "an answer"),
        (TWO_TURNS, words::SECOND_USER, "a second question"),
        (SYSTEM_USER, words::SYSTEM, "a system message"),
        (
            SYSTEM_USER,
            words::USER,
            "a question after a system message",
        ),
        (CALL_WITH_TEXT, words::ASSISTANT, "an answer with a call"),
        (CALL_RESULT, words::RESULT, "a result"),
        (PARALLEL, words::SECOND_RESULT, "a second result"),
    ] {
        let seen = prober.see(probe);
        let (Some(place), Some(text)) = (seen.find(word), seen.text()) else {
            continue;
        };
        // Within JSON, a line break is written with a letter.
        let before = text.cut(..place.start);
        let is_escape = before.chars().rev().nth(1) == Some('\\');
        let (before, after) = (
            before.to_ascii_lowercase(),
            text.cut(place.end..).to_ascii_lowercase(),
        );
        // Two texts of messages that touch are reported as such.
        let is_other = words::ALL
            .iter()
            .any(|word| before.ends_with(word) || after.starts_with(word));
        let is_before = before.ends_with(char::is_alphanumeric) && !is_escape && !is_other;
        let is_after = after.starts_with(char::is_alphanumeric) && !is_other;
        tally.demand(!is_before && !is_after, || {
            let how = if is_before { "before" } else { "after" };
            let what =
                format!("a word of the prompt is right {how} {who}, without anything between them");
            Evidence::one(what, &seen).at(Some(place.clone()))
        });
    }
}

/// Demands that something is between two tools, calls or documents that are written as JSON.
fn objects_apart(tally: &mut Tally, prober: &Prober<'_>) {
    for (probe, first, second, what) in [
        (TOOLS, words::TOOL, words::SECOND_TOOL, "two tools"),
        (
            PARALLEL,
            words::SECOND_VALUE,
            words::THIRD_VALUE,
            "two calls",
        ),
        (
            PARALLEL,
            words::FIRST_VALUE,
            words::THIRD_VALUE,
            "two calls",
        ),
        (
            TWO_DOCUMENTS,
            words::DOCUMENT,
            words::SECOND_DOCUMENT,
            "two documents",
        ),
    ] {
        let seen = prober.see(probe);
        let (Some(from), Some(between)) = (seen.find(first), seen.between(first, second)) else {
            continue;
        };
        let at = between.find("}{").map(|at| from.end + at);
        let said = seen.after(words::USER);
        let is_unread = said.is_some_and(|said| unread_json(said).is_some());
        if at.is_some() && probe == PARALLEL && is_unread {
            tally.skip("calls-whole reports that the calls cannot be read");
            continue;
        }
        tally.demand(at.is_none(), || {
            let what = format!("{what} touch, as in `}}{{`");
            Evidence::one(what, &seen).at(at.map(|at| at..at + 2))
        });
    }
}

pub(super) static INDENTATION_OUTSIDE: Contract = Contract {
    id: "indentation-outside",
    meaning: "the indentation of the template's source is not in the prompt",
    guards_against: "blanks that no model saw in training, because of one missing `-`",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/indentation-outside.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (probe, word) in [
            (SYSTEM_USER, words::SYSTEM),
            (SYSTEM_USER, words::USER),
            (USER_ASSISTANT_USER, words::ASSISTANT),
            (CALL_RESULT, words::RESULT),
            (PARALLEL, words::SECOND_RESULT),
            (IMAGE, words::USER),
        ] {
            let seen = prober.see(probe);
            let (Some(before), Some(after)) = (seen.before(word), seen.after(word)) else {
                continue;
            };
            let is_indented = is_indentation(after) || is_indented_token(before);
            tally.demand(!is_indented, || {
                let what = format!(
                    "blanks of the source are next to a text or a token: {}",
                    probe.about
                );
                Evidence::one(what, &seen).at(seen.find(word))
            });
        }
        for probe in [CALL, PARALLEL] {
            let seen = prober.see(probe);
            let indented = seen.after(words::USER).and_then(indented_tag);
            tally.demand(indented.is_none(), || {
                let tag = indented.unwrap_or_default();
                let what = format!("blanks of the source are before `{tag}`: {}", probe.about);
                Evidence::one(what, &seen)
            });
        }
        tally.skip("nothing of a conversation is in the prompt");
        tally.judgement()
    },
};

/// The first tag or token of a text that is indented, at the beginning of a line or not: the line break
/// before the indentation may be one that `trim_blocks` removes.
fn indented_tag(text: &str) -> Option<&str> {
    let mut starts = text.match_indices(['<', '[']).map(|(at, _)| at);
    let at = starts.find(|at| text.cut(..*at).ends_with("    "))?;
    let end = text.cut(at..).find(['>', ']'])?;
    Some(text.cut(at..=at + end))
}

/// How many blanks in a row make an indentation.
const INDENTATION: &str = "   ";

/// Whether a text begins with an indentation, and after it is a token, or nothing. There is no line
/// break before the indentation if `trim_blocks` removed it. A message in JSON or YAML may be
/// indented on purpose.
fn is_indentation(text: &str) -> bool {
    let text = after_tokens(text);
    let rest = text.trim_start();
    let gap = text.cut(..text.len() - rest.len());
    let line = gap.rsplit('\n').next().unwrap_or_default();
    let is_token = control_tokens(rest)
        .first()
        .is_some_and(|token| rest.starts_with(token.as_str()))
        || rest.starts_with("</");
    line.starts_with(INDENTATION) && is_token
        || gap
            .split('\n')
            .skip(1)
            .any(|line| line.starts_with(INDENTATION) && gap.matches('\n').count() > 1)
}

/// A text without the tokens with which it begins: those that close the turn before it.
fn after_tokens(mut text: &str) -> &str {
    while let Some(rest) = control_tokens_in(text)
        .next()
        .and_then(|token| text.strip_prefix(token))
    {
        text = rest;
    }
    text
}

/// Whether a text ends with tokens on an indented line.
fn is_indented_token(text: &str) -> bool {
    let line = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let rest = line.trim_start();
    let is_line = text.trim_end().contains('\n') && line.len() - rest.len() >= INDENTATION.len();
    let all: usize = control_tokens(rest).iter().map(String::len).sum();
    is_line && !rest.is_empty() && all == rest.len()
}

pub(super) static CONTROL_TOKENS_SPELT: Contract = Contract {
    id: "control-tokens-spelt",
    meaning: "no control token is there twice, once with a sign less",
    guards_against: "a token that lost its `|`, which the model reads as a few letters",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/control-tokens-spelt.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let (mut tokens, mut seen_in) = (Vec::new(), Vec::new());
        for probe in [SYSTEM_TURNS, TWO_TURNS, SYSTEM_TOOLS, CALL_RESULT] {
            let seen = prober.see(probe);
            if let Some(text) = tally.text(&seen) {
                tokens.extend(control_tokens(text));
                seen_in.push(seen);
            }
        }
        tokens.sort();
        tokens.dedup();
        if tokens.is_empty() {
            tally.skip("there are no control tokens in the prompt");
            return tally.judgement();
        }
        let marked = tokens.iter().filter(|token| token.contains(['|', '｜']));
        let lost = marked.clone().find_map(|token| {
            let other = marked.clone().find(|other| has_lost_a_bar(token, other));
            other.map(|other| (token, other))
        });
        tally.demand(lost.is_none(), || {
            let (token, right) = lost.map_or(("", ""), |(token, right)| (token, right));
            let what = format!("`{token}` is in the prompt next to `{right}`");
            let mut seen = seen_in.iter();
            let seen = seen.find(|seen| seen.text().is_some_and(|text| text.contains(token)));
            seen.map_or_else(
                || Evidence::of_source(what.clone()),
                |seen| {
                    let at = seen.text().and_then(|text| text.find(token));
                    Evidence::one(what.clone(), seen).at(at.map(|at| at..at + token.len()))
                },
            )
        });
        tally.judgement()
    },
};

/// Whether a token is another one without one of its bars, or with other signs for its bars and blanks.
fn has_lost_a_bar(token: &str, other: &str) -> bool {
    let plain = |token: &str| token.replace('｜', "|").replace('▁', "_");
    if token != other && token.is_ascii() != other.is_ascii() && plain(token) == plain(other) {
        return true;
    }
    let bars = other.match_indices(['|', '｜']);
    bars.into_iter().any(|(at, bar)| {
        token.len() + bar.len() == other.len()
            && token.starts_with(other.cut(..at))
            && token.ends_with(other.cut(at + bar.len()..))
    })
}
