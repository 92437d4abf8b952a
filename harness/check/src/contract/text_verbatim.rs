use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{ASSISTANT_INSIDE, INSIDE, SYSTEM_INSIDE, USER_INSIDE};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "text-verbatim",
    meaning: "letters, blank lines and signs such as `<` and `&` in a text arrive as they were sent",
    guards_against: "code that arrives with other lines, or escaped as HTML",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("text_verbatim.md"),
    judge: |tally, prober, _| {
        for (probe, who) in [
            (USER_INSIDE, "a question"),
            (ASSISTANT_INSIDE, "an answer"),
            (SYSTEM_INSIDE, "a system message"),
        ] {
            let seen = prober.see(probe);
            let Some(text) = tally.text(&seen) else {
                continue;
            };
            let (Some(from), Some(to)) = (seen.find(words::BEFORE), seen.find(words::AFTER)) else {
                let is_part = seen.has(words::BEFORE) || seen.has(words::AFTER);
                tally.demand(!is_part, || {
                    let what = format!("only a part of {who} with blank lines is in the prompt");
                    Evidence::one(what, &seen)
                });
                continue;
            };
            let found = text.get(from.end..to.start).unwrap_or_default();
            if found.contains("\\n") {
                // Within JSON or Python's notation, where every sign has another form. A text that is
                // no value of an object or a list needs none.
                let before = text.cut(..from.start).trim_end_matches(['"', '\'']);
                let is_quoted = before.len() < from.start;
                let is_value = before.trim_end().ends_with([':', ',', '[', '(', '=']);
                tally.demand_with(Severity::Warning, is_value || !is_quoted, || {
                    let what =
                        format!("{who} is in quotes, and its line breaks are written as `\\n`");
                    Evidence::one(what, &seen).at(Some(from.start..to.end))
                });
                tally.skip(format!("{who} is written as a value, not as a text"));
                continue;
            }
            tally.demand(found == INSIDE, || {
                let what = format!("inside a text {}: {}", change(found), probe.about);
                Evidence::one(what, &seen).at(Some(from.start..to.end))
            });
        }
    },
};

/// What became of the inside of a text, in words.
fn change(found: &str) -> &'static str {
    if found.contains("&lt;") || found.contains("&amp;") {
        "signs are escaped as in HTML"
    } else if found.split_whitespace().eq(INSIDE.split_whitespace()) {
        "blank lines or spaces are gone"
    } else if found.to_lowercase() == INSIDE.to_lowercase() {
        "capital letters are small, or the reverse"
    } else {
        "signs are other ones, or gone"
    }
}
