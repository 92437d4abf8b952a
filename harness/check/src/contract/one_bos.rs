use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::tokens::special_token;
use crate::capability::GenerationPrompt;
use crate::probe::catalogue::{CALL_RESULT, SYSTEM_TURNS, TOOLS, TWO_TURNS, USER};

pub(super) static CONTRACT: Contract = Contract {
    id: "one-bos",
    meaning: "the beginning-of-sequence token is at the start, once, or nowhere",
    guards_against: "a doubled BOS token, which the model has never seen",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("one_bos.md"),
    judge: |tally, prober, capabilities| {
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
            return tally.skip("the template leaves the beginning to Ollama");
        }
        let Some(bos) = special_token(template, "bos_token") else {
            return tally.skip("the beginning-of-sequence token is not known");
        };
        if special_token(template, "eos_token") == Some(bos) {
            return tally.skip("one token both begins and ends a sequence");
        }
        if matches!(&capabilities.generation_prompt, GenerationPrompt::Suffix { text } if text.contains(bos))
        {
            return tally.skip("one token both begins a sequence and opens turns");
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
    },
};

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
