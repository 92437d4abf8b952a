use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::USER_CRLF;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "crlf-verbatim",
    meaning: "line breaks as Windows writes them arrive as they were sent",
    guards_against: "edits that fail, because the model never saw the file's own line breaks",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("crlf_verbatim.md"),
    judge: |tally, prober, _| {
        let seen = prober.see(USER_CRLF);
        match seen.after(words::BEFORE) {
            Some(after) => {
                let is_kept = after.starts_with(&format!("\r\n{}", words::AFTER))
                    || after.starts_with(&format!("\\r\\n{}", words::AFTER));
                tally.demand(is_kept, || {
                    Evidence::one("the line break in a question is changed", &seen)
                });
            }
            None => tally.skip(seen.refusal()),
        }
    },
};
