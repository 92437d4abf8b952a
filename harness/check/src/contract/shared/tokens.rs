//! Special tokens of a template, and the control tokens in a prompt.

use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::Template;

use crate::probe::catalogue::TWO_TURNS;
use crate::probe::{Prober, words};

/// A special token of a template, if it is known and not empty.
pub(in crate::contract) fn special_token<'t>(
    template: &'t Template,
    name: &str,
) -> Option<&'t str> {
    let token = template.special_tokens.get(name)?;
    let text = token.as_str().or_else(|| token.get("content")?.as_str())?;
    (!text.is_empty()).then_some(text)
}

/// What looks like a control token: `<|…|>`, `<…>` and `[…]` around a word without
/// spaces.
pub(in crate::contract) fn control_tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in control_tokens_in(text) {
        if !found.iter().any(|known| known == token) {
            found.push(token.to_owned());
        }
    }
    found
}

/// The token that closes an answer, where another turn follows.
pub(in crate::contract) fn end_of_answers(prober: &Prober<'_>) -> Option<String> {
    let turns = prober.see(TWO_TURNS);
    let following = turns.after(words::ASSISTANT)?.trim_start();
    let token = control_tokens_in(following).next()?;
    following.starts_with(token).then(|| token.to_owned())
}
