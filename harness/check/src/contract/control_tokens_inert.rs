use rolecall_core::{Case, Cut, Dialect};
use serde_json::{Value, json};

use super::frame::{Contract, Evidence, Severity};
use super::shared::tokens::{control_tokens, special_token};
use crate::probe::catalogue::{IMAGE, TWO_TURNS};
use crate::probe::{Prober, words};

/// Nearly every template breaks this and leaves it to the tokenizer. It is worth knowing all the
/// same.
pub(super) static CONTRACT: Contract = Contract {
    id: "control-tokens-inert",
    meaning: "control tokens in a user's message do not reach the prompt unchanged",
    guards_against: "users who close their own turn and open a system turn",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("control_tokens_inert.md"),
    judge: |tally, prober, _| {
        let turns = prober.see(TWO_TURNS);
        let Some(text) = tally.text(&turns) else {
            return;
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
            return tally.skip("there are no control tokens in the prompt");
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
    },
};

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
