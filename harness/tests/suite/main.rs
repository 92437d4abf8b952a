//! The suite: every case across every template, and every template's report card, against
//! what was accepted.
//!
//! Families and templates are found when the tests start, so a new case file or template needs
//! no recompilation. What is not as accepted is left as a pending snapshot for `cargo insta
//! review`, except in CI; all of it, whatever fails.

mod cards;
mod families;
mod report;
mod review;

use cards::card;
use families::family;

datatest_stable::harness! {
    { test = family, root = "cases/conversations", pattern = r"\.json$" },
    { test = card, root = "cases/templates", pattern = r"\.(jinja|gotmpl)$" },
}
