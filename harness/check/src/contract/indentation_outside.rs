use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::tokens::control_tokens;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, IMAGE, PARALLEL, SYSTEM_USER, USER_ASSISTANT_USER,
};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "indentation-outside",
    meaning: "the indentation of the template's source is not in the prompt",
    guards_against: "blanks that no model saw in training, because of one missing `-`",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("indentation_outside.md"),
    judge: |tally, prober, _| {
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
