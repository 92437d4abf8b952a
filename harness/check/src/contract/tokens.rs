//! Contracts about special tokens.

pub(super) use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Case, Cut, Dialect, Template};
use serde_json::{Value, json};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{CALL_RESULT, IMAGE, SYSTEM_TURNS, TOOLS, TWO_TURNS, USER};
use crate::probe::{Prober, words};

pub(super) static ONE_BOS: Contract = Contract {
    id: "one-bos",
    meaning: "the beginning-of-sequence token is at the start, once, or nowhere",
    guards_against: "a doubled BOS token, which the model has never seen",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/one-bos.md"),
    judge: one_bos,
};

/// A special token of a template, if it is known and not empty.
pub(super) fn special_token<'t>(template: &'t Template, name: &str) -> Option<&'t str> {
    let token = template.special_tokens.get(name)?;
    let text = token.as_str().or_else(|| token.get("content")?.as_str())?;
    (!text.is_empty()).then_some(text)
}

/// Tokens that begin a text.
const BEGINNINGS: [&str; 7] = [
    "<s>",
    "<bos>",
    "<|begin_of_text|>",
    "<|begin▁of▁sentence|>",
    "<｜begin▁of▁sentence｜>",
    "<BOS_TOKEN>",
    "<|startoftext|>",
];

fn one_bos(prober: &Prober<'_>, capabilities: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let template = prober.template();
    if prober.dialect() == Dialect::Go {
        let seen = prober.see(USER);
        let text = tally.text(&seen).unwrap_or_default();
        let found = BEGINNINGS
            .iter()
            .find_map(|token| Some((text.find(token)?, *token)));
        if let Some((at, token)) = found {
            let what = if at == 0 {
                format!("the prompt begins with `{token}`, and Ollama puts one before it, too")
            } else {
                format!("`{token}` is not at the beginning of the prompt, but after other text")
            };
            tally.broken(Evidence::one(what, &seen).at(Some(at..at + token.len())));
        }
        tally.skip("the template leaves the beginning to Ollama");
        return tally.judgement();
    }
    let Some(bos) = special_token(template, "bos_token") else {
        tally.skip("the beginning-of-sequence token is not known");
        return tally.judgement();
    };
    if special_token(template, "eos_token") == Some(bos) {
        tally.skip("one token both begins and ends a sequence");
        return tally.judgement();
    }
    if matches!(&capabilities.generation_prompt, GenerationPrompt::Suffix { text } if text.contains(bos))
    {
        tally.skip("one token both begins a sequence and opens turns");
        return tally.judgement();
    }
    for probe in [USER, TWO_TURNS, SYSTEM_TURNS, TOOLS, CALL_RESULT] {
        let seen = prober.see(probe);
        let Some(text) = tally.text(&seen) else {
            continue;
        };
        match text.matches(bos).count() {
            0 => tally.skip("the template leaves the beginning to the tokenizer"),
            1 => tally.demand(text.starts_with(bos), || {
                let what = if text.trim_start().starts_with(bos) {
                    format!("white space comes before `{bos}`")
                } else {
                    format!("`{bos}` is not at the start")
                };
                Evidence::one(what, &seen)
            }),
            // Some models have it before every turn.
            count
                if !text.starts_with(&bos.repeat(2)) && count > 1 && probe != USER && {
                    let user = prober.see(USER);
                    user.text()
                        .is_some_and(|text| text.matches(bos).count() == 1)
                } =>
            {
                tally.skip("the token that begins a sequence opens turns");
            }
            _ if prober.tokenizer().is_some() && text.starts_with(&bos.repeat(2)) => {
                tally.skip("one-bos-tokenised reports that");
            }
            count => {
                let what = if text.starts_with(&bos.repeat(2)) {
                    format!("`{bos}` is at the start {count} times")
                } else {
                    format!("`{bos}` is in the prompt {count} times")
                };
                let again = text.match_indices(bos).nth(1);
                let again = again.map(|(at, bos)| at..at + bos.len());
                tally.broken(Evidence::one(what, &seen).at(again));
            }
        }
    }
    tally.judgement()
}

pub(super) static CONTROL_TOKENS_INERT: Contract = Contract {
    id: "control-tokens-inert",
    meaning: "control tokens in a user's message do not reach the prompt unchanged",
    guards_against: "users who close their own turn and open a system turn",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("pages/control-tokens-inert.md"),
    judge: control_tokens_inert,
};

/// Nearly every template breaks this and leaves it to the tokenizer. It is worth knowing all the
/// same.
fn control_tokens_inert(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let turns = prober.see(TWO_TURNS);
    let Some(text) = tally.text(&turns) else {
        return tally.judgement();
    };
    let mut tokens = control_tokens(text);
    // A user can also write the mark that represents an image.
    let image = prober.see(IMAGE);
    tokens.extend(image.text().map(control_tokens).unwrap_or_default());
    for name in ["bos_token", "eos_token"] {
        tokens.extend(special_token(prober.template(), name).map(str::to_owned));
    }
    tokens.sort();
    tokens.dedup();
    if tokens.is_empty() {
        tally.skip("there are no control tokens in the prompt");
        return tally.judgement();
    }
    #[allow(clippy::indexing_slicing)] // A question is an object, and its parts are.
    let ask = |name, about, between: &str| {
        let content = format!("{} {between} {}", words::BEFORE, words::AFTER);
        let mut message = prober.input_style().user();
        match &mut message["content"] {
            Value::Array(parts) => parts[0]["text"] = json!(content),
            other => *other = json!(content),
        }
        prober.ask(name, about, Case::from_messages(vec![message]))
    };
    let plain = ask("two-words", "a question of two words", "");
    let seen = ask(
        "control-tokens",
        "a question that holds control tokens",
        &tokens.join(" "),
    );
    if let (Some(text), Some(plain)) = (tally.text(&seen), plain.text()) {
        let arrived: Vec<&str> = tokens
            .iter()
            .map(String::as_str)
            .filter(|token| text.matches(token).count() > plain.matches(token).count())
            .collect();
        tally.demand(arrived.is_empty(), || {
            let what = format!(
                "tokens in a question reach the prompt: {}",
                by_kind(prober, &arrived)
            );
            // The token is in the question.
            let question = seen.find(words::BEFORE).map_or(0, |place| place.end);
            let first = arrived.iter().filter_map(|token| {
                let at = question + text.cut(question..).find(token)?;
                Some(at..at + token.len())
            });
            Evidence::one(what, &seen).at(first.min_by_key(|place| place.start))
        });
    }
    tally.judgement()
}

/// Texts grouped by kind of token, if the model's vocabulary is known. A server can keep users from
/// writing special tokens, but not other tokens.
fn by_kind(prober: &Prober<'_>, texts: &[&str]) -> String {
    let listed = |texts: &[&str]| format!("`{}`", texts.join("`, `"));
    let Some(tokenizer) = prober.tokenizer() else {
        return listed(texts);
    };
    let is_special = |text: &str| tokenizer.marker(text).map(|marker| marker.is_special);
    let kinds = [
        (Some(true), "as special tokens, which a server can split"),
        (
            Some(false),
            "as tokens that are not special, which it cannot",
        ),
        (None, "as plain text"),
    ];
    let of_kind = kinds.iter().filter_map(|(kind, name)| {
        let texts = texts.iter().copied();
        let texts: Vec<_> = texts.filter(|text| is_special(text) == *kind).collect();
        (!texts.is_empty()).then(|| format!("{} {name}", listed(&texts)))
    });
    of_kind.collect::<Vec<_>>().join("; ")
}

/// What looks like a control token: `<|…|>`, `<…>` and `[…]` around a word without
/// spaces.
pub(super) fn control_tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in control_tokens_in(text) {
        if !found.iter().any(|known| known == token) {
            found.push(token.to_owned());
        }
    }
    found
}
