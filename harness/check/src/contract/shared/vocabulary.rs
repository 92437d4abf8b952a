//! The tokens that a prompt becomes. Where the vocabulary of the model is not known, contracts say
//! nothing about them.

use crate::contract::frame::Tally;
use crate::probe::{ProbeOutcome, Prober};
use crate::tokenizer::{Token, Tokenizer};

/// The tokenizer of the model. Without it the contract does not apply.
pub(in crate::contract) fn tokenizer<'t>(
    tally: &mut Tally,
    prober: &Prober<'t>,
) -> Option<&'t Tokenizer> {
    let tokenizer = prober.tokenizer();
    if tokenizer.is_none() {
        tally.skip("the model's vocabulary is not known");
    }
    tokenizer
}

/// The prompt of a probe, and its tokens.
pub(in crate::contract) fn cut<'s>(
    tally: &mut Tally,
    tokenizer: &Tokenizer,
    seen: &'s ProbeOutcome,
) -> Option<(&'s str, Vec<Token>)> {
    let text = tally.text(seen)?;
    match tokenizer.encode(text) {
        Ok(tokens) => Some((text, tokens)),
        Err(why) => {
            tally.skip(format!("the tokenizer fails: {why}"));
            None
        }
    }
}
