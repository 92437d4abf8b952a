use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::arguments::{encoded_twice, is_encoded_twice, shows_arguments};
use crate::probe::Arguments;
use crate::probe::catalogue::{COMPACT_ARGUMENTS, OBJECT_ARGUMENTS};

pub(super) static CONTRACT: Contract = Contract {
    id: "arguments-encoded-once",
    meaning: "arguments that are JSON text already are not encoded a second time",
    guards_against: "a history full of backslashes that the model learns to write itself",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("arguments_encoded_once.md"),
    judge: |tally, prober, _| {
        let object = prober.see(OBJECT_ARGUMENTS);
        if prober.input_style().arguments == Arguments::Object && shows_arguments(&object) {
            tally.demand_with(Severity::Warning, !is_encoded_twice(&object), || {
                let what =
                    "arguments that are an object are in the prompt as a text with escaped quotes";
                Evidence::one(what, &object).at(encoded_twice(&object))
            });
        }
        let seen = prober.see(COMPACT_ARGUMENTS);
        if tally.text(&seen).is_some() {
            if shows_arguments(&seen) {
                tally.demand(!is_encoded_twice(&seen), || {
                    let what = "the arguments are escaped a second time";
                    Evidence::one(what, &seen).at(encoded_twice(&seen))
                });
            } else {
                tally.skip("arguments are not in the prompt");
            }
        }
    },
};
