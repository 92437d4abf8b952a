use rolecall_core::{Dialect, Outcome};

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{SYSTEM_USER, USER, USER_ASSISTANT_USER};
use crate::probe::{Content, InputStyle, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "plain-content-kept",
    meaning: "plain text content is in the prompt, not only content in parts",
    guards_against: "ordinary messages that vanish, or that are printed letter by letter",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("plain_content_kept.md"),
    judge: |tally, prober, _| {
        if prober.input_style().content == Content::String {
            tally.holds();
            return;
        }
        let plain = InputStyle {
            content: Content::String,
            ..prober.input_style()
        };
        for (probe, word) in [
            (USER, words::USER),
            (USER_ASSISTANT_USER, words::ASSISTANT),
            (SYSTEM_USER, words::SYSTEM),
        ] {
            // If the text part is lost too, there is another reason.
            if !prober.see(probe).has(word) {
                continue;
            }
            let seen = prober.see_in(probe, plain);
            if seen.has(word) {
                tally.holds();
                continue;
            }
            let refused = format!("gives no prompt: {}", seen.refusal());
            let (severity, how) = match &*seen.outcome {
                Outcome::Rendered { text } if letters(text).contains(word) => {
                    (Severity::Error, "is printed letter by letter".to_owned())
                }
                Outcome::Rendered { .. } => (Severity::Error, "is not in the prompt".to_owned()),
                Outcome::Raised { .. } => (Severity::Limitation, refused),
                _ => (Severity::Warning, refused),
            };
            let what = format!("a plain text {how}: {}", seen.about);
            tally.broken(Evidence::one(what, &seen).with(severity));
            // The others fail with it.
            if seen.is_refused() {
                break;
            }
        }
    },
};

/// The letters of a text, in lower case, without all other characters.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}
