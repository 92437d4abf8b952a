//! The parts that several pages show.

use std::collections::BTreeSet;

use minijinja::{Value, context};
use rolecall_core::{Dialect, OutcomeKind, TemplateName};

use crate::report::numbers::percent;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{Measurement, Share, file_name};

pub(crate) fn label(engine: &Measurement) -> String {
    format!("{} {}", engine.engine.engine, engine.engine.version)
}

/// An engine's name for pages, with the address of its page.
pub(crate) fn named(engine: &Measurement) -> Value {
    context! { label => label(engine), slug => slug(engine) }
}

/// The names of several engines, in their order.
pub(crate) fn all_named(engines: &[&Measurement]) -> Vec<Value> {
    engines.iter().map(|engine| named(engine)).collect()
}

pub(crate) fn shown(share: Share) -> Value {
    let Share { agree, all } = share;
    // The share's class in the style.
    let grade = match agree.saturating_mul(1000) / all.max(1) {
        1000 => "g5",
        950.. => "g4",
        800.. => "g3",
        500.. => "g2",
        1.. => "g1",
        0 => "g0",
    };
    context! { agree, all, grade, percent => percent(agree, all), millionths => millionths(share) }
}

/// The key that shares are sorted by.
pub(crate) fn millionths(share: Share) -> usize {
    share.agree.saturating_mul(1_000_000) / share.all.max(1)
}

/// A row: a name with each engine's share, if it has one, and the address of a page.
pub(crate) fn row(name: &str, to: Option<String>, shares: Vec<Option<Share>>) -> Value {
    let shares: Vec<_> = shares.into_iter().map(|share| share.map(shown)).collect();
    context! { name, to, shares }
}

/// The name of an engine's page and badge.
pub(crate) fn slug(engine: &Measurement) -> String {
    let name = file_name(&engine.engine).unwrap_or_default();
    name.trim_end_matches(".json").to_owned()
}

/// The templates that the engines of a dialect were measured with.
pub(crate) fn templates(matrix: &Matrix, dialect: Dialect) -> BTreeSet<TemplateName> {
    let engines = matrix.of_dialect(dialect);
    engines
        .flat_map(|engine| engine.templates.keys().cloned())
        .collect()
}

/// What has changed since an engine was measured, if anything.
pub(crate) fn stale(matrix: &Matrix, engine: &Measurement) -> Option<String> {
    let staleness = matrix.staleness(engine);
    (!staleness.is_empty()).then(|| staleness.join("; "))
}

/// The class of a differing outcome, for its colour. A prompt is the worst, because nobody notices
/// that it differs.
pub(crate) fn ink(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Raised => "cool",
        OutcomeKind::Failed => "note",
        OutcomeKind::Rendered
        | OutcomeKind::Exceeded
        | OutcomeKind::Crashed
        | OutcomeKind::NotAsked => "bad",
    }
}
