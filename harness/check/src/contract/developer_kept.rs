use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use crate::probe::catalogue::{DEVELOPER_USER, UNKNOWN_ROLE};
use crate::probe::input_style::open;
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "developer-kept",
    meaning: "a developer message is in the prompt, or refused",
    guards_against: "instructions of newer clients that vanish without a word",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("developer_kept.md"),
    judge: |tally, prober, _| {
        let seen = prober.see(DEVELOPER_USER);
        if tally.text(&seen).is_none() {
            return;
        }
        // Words about developers in a prompt are no role, and a header with that name may be the system's.
        let source = prober.source_without_comments();
        let is_known = ["'developer'", "\"developer\"", "`developer`"]
            .iter()
            .any(|role| source.contains(role));
        let unknown = prober.see(UNKNOWN_ROLE);
        if !is_known && unknown.text().is_some() && !unknown.has(words::NARRATOR) {
            return tally.skip("the template drops every role that it does not know");
        }
        // A role that the template does not name is one that it does not have.
        let severity = if is_known {
            Severity::Error
        } else {
            Severity::Limitation
        };
        tally.demand_with(severity, seen.has(words::DEVELOPER), || {
            Evidence::one("the developer message is not in the prompt", &seen)
        });
        if seen.has(words::DEVELOPER) {
            let m = prober.input_style();
            let said = vec![m.message("assistant", words::DEVELOPER), m.user()];
            let about = "the words of a developer message as an answer";
            let answer = prober.ask("developer-as-answer", about, open(said));
            tally.demand_with(severity, seen.text() != answer.text(), || {
                let what = "the developer message reads exactly as an answer of the model";
                Evidence::one(what, &seen).at(seen.find(words::DEVELOPER))
            });
        }
    },
};
