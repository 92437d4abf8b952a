use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity, Tally};
use crate::probe::catalogue::{
    ASSISTANT_SPACES, RESULT_SPACES, SPACES, SPACES_AFTER, SYSTEM_SPACES, USER_SPACES,
};
use crate::probe::{ProbeOutcome, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "whitespace-verbatim",
    meaning: "white space around a text arrives as it was sent",
    guards_against: "code and patches that lose their first indentation or their last line break",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("whitespace_verbatim.md"),
    judge: |tally, prober, _| {
        for (probe, word, who) in [
            (USER_SPACES, words::USER, "a question"),
            (ASSISTANT_SPACES, words::ASSISTANT, "an answer"),
            (SYSTEM_SPACES, words::SYSTEM, "a system message"),
            (RESULT_SPACES, words::RESULT, "a tool's result"),
        ] {
            whitespace(tally, &prober.see(probe), word, who);
        }
    },
};

fn whitespace(tally: &mut Tally, seen: &ProbeOutcome, word: &str, who: &str) {
    let (Some(before), Some(after)) = (seen.before(word), seen.after(word)) else {
        tally.skip(seen.refusal());
        return;
    };
    // A text within JSON has its white space escaped.
    let arrived = |text: &str, check: &dyn Fn(&str) -> bool| {
        check(text) || check(&text.escape_default().to_string())
    };
    let leads = arrived(SPACES, &|spaces| before.ends_with(spaces));
    let trails = arrived(SPACES_AFTER, &|spaces| after.starts_with(spaces));
    let where_not = match (leads, trails) {
        (true, true) => return tally.holds(),
        (false, false) => "around",
        (false, true) => "before",
        (true, false) => "after",
    };
    let what = format!("white space {where_not} {who} is not as it was sent");
    tally.broken(Evidence::one(what, seen));
}
