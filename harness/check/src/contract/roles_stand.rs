use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use super::shared::spelling::shown;
use crate::probe::catalogue::{ASSISTANT_FIRST, ASSISTANT_FIRST_TOOLS, TWO_TURNS};
use crate::probe::{ProbeOutcome, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "roles-stand",
    meaning: "an answer is in the same turn with tools as without",
    guards_against: "a greeting of the assistant that ends up in the user's turn",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("roles_stand.md"),
    judge: |tally, prober, _| {
        let (plain, tools) = (
            prober.see(ASSISTANT_FIRST),
            prober.see(ASSISTANT_FIRST_TOOLS),
        );
        if tally.text(&plain).is_none() || tally.text(&tools).is_none() {
            return;
        }
        let turns = prober.see(TWO_TURNS);
        let opening = |seen: &ProbeOutcome| {
            let before = seen.before(words::ASSISTANT)?;
            let token = control_tokens_in(before).next_back()?;
            let at = before.rfind(token)?;
            // A token that two turns have only once opens no answer.
            let opens_turns = turns.count(&token.to_ascii_lowercase()) > 1;
            opens_turns.then(|| before.cut(at..).to_owned())
        };
        match (opening(&plain), tools.before(words::ASSISTANT)) {
            // Other texts may come before the opening.
            (Some(one), Some(before)) => tally.demand(before.ends_with(&one), || {
                let what = format!(
                    "a conversation with tools that begins with an answer: the answer is in another \
                     turn, not after {}",
                    shown(&one)
                );
                Evidence::differ(what, &plain, &tools)
            }),
            _ => tally.skip("answers have no opening, or are not in the prompt"),
        }
    },
};
