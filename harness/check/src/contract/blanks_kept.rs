use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::vocabulary::{cut, tokenizer};
use crate::probe::catalogue::{
    CALL_RESULT, SPACES, SPACES_AFTER, SYSTEM_TURNS, TWO_TURNS, USER, USER_SPACES,
};
use crate::probe::words;

/// It is a note if a token swallows the template's own white space, and a warning if it swallows a
/// user's, because that is lost.
pub(super) static CONTRACT: Contract = Contract {
    id: "blanks-kept",
    meaning: "no token swallows the blanks and line breaks next to it",
    guards_against: "line breaks that are in the prompt and never reach the model",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("blanks_kept.md"),
    judge: |tally, prober, _| {
        let Some(tokenizer) = tokenizer(tally, prober) else {
            return;
        };
        let sent = format!("{SPACES}{}{SPACES_AFTER}", words::USER);
        for probe in [USER_SPACES, USER, TWO_TURNS, SYSTEM_TURNS, CALL_RESULT] {
            let seen = prober.see(probe);
            let Some((text, tokens)) = cut(tally, tokenizer, &seen) else {
                continue;
            };
            let kept = text.find(&sent).map(|at| at..at + sent.len());
            let markers = tokens.iter().filter_map(|token| {
                let marker = tokenizer.marker_of(token.id?)?;
                Some((token, marker))
            });
            for (token, marker) in markers {
                let taken = text.cut(token.range.clone());
                let is_blank =
                    taken.trim() == marker.text.trim() && taken.len() > marker.text.len();
                let is_users = kept.as_ref().is_some_and(|kept| {
                    token.range.start < kept.end && kept.start < token.range.end
                });
                let (whose, severity) = if is_users {
                    ("that a user sent", Severity::Warning)
                } else {
                    ("that the template writes", Severity::Note)
                };
                tally.demand_with(severity, !is_blank, || {
                    let what = format!("`{}` swallows blanks {whose}", marker.text);
                    Evidence::one(what, &seen).at(Some(token.range.clone()))
                });
            }
        }
    },
};
