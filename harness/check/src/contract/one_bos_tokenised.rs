use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::tokens::special_token;
use super::shared::vocabulary::{cut, tokenizer};
use crate::probe::catalogue::{SYSTEM_TURNS, TOOLS, USER};
use crate::tokenizer::Cutter;

pub(super) static CONTRACT: Contract = Contract {
    id: "one-bos-tokenised",
    meaning: "cut into tokens, a prompt begins with one BOS where the model wants one",
    guards_against: "a doubled or missing BOS token, which the model has never seen",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("one_bos_tokenised.md"),
    judge: |tally, prober, _| {
        let Some(tokenizer) = tokenizer(tally, prober) else {
            return;
        };
        let own = special_token(prober.template(), "bos_token");
        let added = tokenizer.beginning();
        let Some(bos) = own.or(added) else {
            return tally.skip("no token begins a sequence");
        };
        let is_added = added == Some(bos);
        for probe in [USER, SYSTEM_TURNS, TOOLS] {
            let seen = prober.see(probe);
            let Some((text, tokens)) = cut(tally, tokenizer, &seen) else {
                continue;
            };
            let begins = tokens
                .iter()
                .map(|token| text.cut(token.range.clone()).trim());
            let written = begins.take_while(|token| *token == bos).count();
            let dropped = match (tokenizer.cutter(), prober.dialect()) {
                (Cutter::Transformers, _) => 0,
                (Cutter::LlamaCpp { .. }, Dialect::Jinja) => usize::from(is_added && written > 0),
                (Cutter::LlamaCpp { says_bos }, Dialect::Go) => {
                    usize::from(says_bos && bos == "<bos>" && written > 0)
                }
            };
            let put = usize::from(is_added && tokenizer.cutter() != Cutter::Transformers);
            match (written - dropped + put, is_added) {
                (0, true) => {
                    let what = format!(
                        "no `{bos}`: the tokenizer adds it to every text, but apply_chat_template \
                         asks it to add nothing"
                    );
                    tally.broken(Evidence::one(what, &seen).with(Severity::Warning));
                }
                (0, false) => tally.skip("the template writes none, and nothing adds one"),
                (1, true) if tokenizer.cutter() == Cutter::Transformers => {
                    let what = format!(
                        "tokenising the text of `tokenize=False` gives `{bos}` twice, unless with \
                         `add_special_tokens=False`: the template writes it and the tokenizer adds it"
                    );
                    tally.broken(Evidence::one(what, &seen).with(Severity::Note));
                }
                (1, _) => tally.holds(),
                (count, _) => {
                    let adds = if put > 0 {
                        ": the template writes it, and it is added once more"
                    } else {
                        ""
                    };
                    let what = format!("the prompt begins with `{bos}` {count} times{adds}");
                    tally.broken(Evidence::one(what, &seen));
                }
            }
        }
    },
};
