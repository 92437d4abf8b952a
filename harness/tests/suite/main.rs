//! The suite: compares every case with every template, every template's report card, and what is
//! read back of its answers, with the accepted snapshots.
//!
//! The tests find families and templates when they start, so a new case file or template needs no
//! line here. Everything that differs becomes a pending snapshot for `cargo insta review`, except
//! in CI, even if other tests fail. `rolecall review` needs no pending snapshots.

#![allow(clippy::disallowed_methods)] // Tests read what they wrote.

mod cards;
mod families;
mod readings;
mod report;
mod review;

use cards::card;
use families::family;
use readings::readings;

datatest_stable::harness! {
    { test = family, root = "cases/conversations", pattern = r"\.json$" },
    { test = card, root = "cases/templates", pattern = r"\.(jinja2?|j2|gotmpl)$" },
    { test = readings, root = "cases/templates", pattern = r"\.json$" },
}
