use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::UNKNOWN_ROLE;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "unknown-role-kept",
    meaning: "a message with an unknown role is in the prompt, or refused",
    guards_against: "a message that vanishes because its role is misspelt or new, such as `developer`",
    severity: Severity::Limitation,
    dialects: &Dialect::ALL,
    page: include_str!("unknown_role_kept.md"),
    judge: |tally, prober, _| {
        let seen = prober.see(UNKNOWN_ROLE);
        if tally.text(&seen).is_some() {
            tally.demand(seen.has(words::NARRATOR), || {
                Evidence::one(
                    "messages in roles that the template does not know are not in the prompt",
                    &seen,
                )
            });
        }
    },
};
