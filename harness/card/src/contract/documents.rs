//! Contracts about documents.

use rolecall_model::Dialect;

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use crate::probe::catalogue::{DOCUMENT, TWO_DOCUMENTS, USER};
use crate::probe::{Requirement, words};

pub(super) static DOCUMENTS_KEPT: Contract = Contract {
    id: "documents-kept",
    meaning: "where documents change the prompt, each of them is in it with its text",
    guards_against: "answers from one document of many, or from titles alone",
    severity: Severity::Error,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/documents-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let (none, one, two) = (
            prober.see(USER),
            prober.see(DOCUMENT),
            prober.see(TWO_DOCUMENTS),
        );
        if tally.text(&one).is_none() || tally.text(&two).is_none() {
            return tally.judgement();
        }
        let is_given = prober.manner().given == Requirement::Documents;
        if !is_given && none.outcome == one.outcome {
            tally.skip("documents do not change the prompt");
            return tally.judgement();
        }
        let missing = match (two.has(words::DOCUMENT), two.has(words::SECOND_DOCUMENT)) {
            (true, true) => None,
            (false, false) => Some("the texts of documents are not in the prompt"),
            (true, false) => Some("the second of two documents is not in the prompt"),
            (false, true) => Some("the first of two documents is not in the prompt"),
        };
        match missing {
            None => tally.holds(),
            Some(what) => tally.broken(Evidence::one(what, &two)),
        }
        tally.judgement()
    },
};
