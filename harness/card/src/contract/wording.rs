//! Contracts about the template's own words: no placeholder is left in them, they stand apart from
//! the texts of a conversation, and control tokens are spelt alike.

use rolecall_model::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::control_tokens;
use crate::probe::catalogue::{
    CALL_RESULT, SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_USER, TOOLS, TWO_TURNS, USER,
};
use crate::probe::{ProbeOutcome, words};

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
        let before = &text[..*at];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        let quotes = ['"', '\'', '`'];
        !before.ends_with('\\')
            && quotes
                .iter()
                .all(|quote| line.matches(*quote).count() % 2 == 0)
    })
}

pub(super) static TEXTS_APART: Contract = Contract {
    id: "texts-apart",
    meaning: "with tools, texts stand apart from the words around them as without tools",
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
            let before = |seen: &ProbeOutcome| is_glued(seen.before(word)?.chars().next_back());
            let behind = |seen: &ProbeOutcome| is_glued(seen.behind(word)?.chars().next());
            let glued = |place: &dyn Fn(&ProbeOutcome) -> Option<()>| {
                place(&tools).is_some() && place(&plain).is_none()
            };
            let how = match (glued(&before), glued(&behind)) {
                (false, false) => None,
                (true, _) => Some("with tools, words of the template end where"),
                (false, true) => Some("with tools, words of the template begin right behind"),
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
        tally.judgement()
    },
};

/// Whether a character is a part of words: a text that touches it runs into them.
fn is_glued(c: Option<char>) -> Option<()> {
    c.filter(|c| c.is_alphanumeric() || matches!(c, '.' | '!' | '?'))
        .map(|_| ())
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
            let what = format!("`{token}` is in the prompt beside `{right}`");
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

/// Whether a token is another one without one of its bars.
fn has_lost_a_bar(token: &str, other: &str) -> bool {
    let bars = other.match_indices(['|', '｜']);
    bars.into_iter().any(|(at, bar)| {
        token.len() + bar.len() == other.len()
            && token.starts_with(&other[..at])
            && token.ends_with(&other[at + bar.len()..])
    })
}
