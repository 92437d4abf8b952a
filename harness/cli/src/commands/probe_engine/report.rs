//! The report of `probe-engine`.

use std::borrow::Cow;
use std::io::{self, Write};

use rolecall_core::Dialect;

use crate::report::format::Format;
use crate::report::json;
use crate::report::json::{VERSION, document};
use crate::report::numbers::counted;
use crate::report::text::{data, text};
use rolecall_io::protocol::{Check, CheckResult, Trial};

document! {
    /// The document of `probe-engine --format json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Document"))]
    pub struct TrialDocument from (trial: &Trial) {
        /// The version of this format: 1.
        rolecall: u32 = VERSION,
        /// The name and the version of the engine, if it reported them.
        engine: Option<String> = trial.engine.clone(),
        /// `jinja` or `go`, if the engine reported which templates it renders.
        dialect: Option<&'static str> = trial.dialect.map(Dialect::name),
        /// The checks, in this order.
        checks: Vec<CheckEntry> =
            trial.checks.iter().map(|check| CheckEntry::of(trial, check)).collect(),
    }

    #[cfg_attr(feature = "schema", schemars(rename = "Entry"))]
    struct CheckEntry from (trial: &Trial, check: &Check) with {
        let (seen, help) = match &check.finding {
            CheckResult::Wrong { seen, .. } if same_as(trial, check).is_some() => {
                (Some(seen.clone()), None)
            }
            CheckResult::Wrong { seen, help, .. } | CheckResult::Noted { seen, help } => {
                let help = match others(trial, check) {
                    0 => help.clone(),
                    others => Cow::Owned(help_for_many(others)),
                };
                (Some(seen.clone()), Some(help))
            }
            CheckResult::Fine | CheckResult::NotTried => (None, None),
        };
    } {
        name: &'static str = check.name,
        /// The correct behaviour, in a few words.
        about: &'static str = check.about,
        /// `fine`, `wrong`, `note`, or `not tried` if the program no longer answered.
        result: &'static str = result(&check.finding),
        /// What the program did instead.
        seen: Option<String> = seen,
        /// What to do about it.
        help: Option<Cow<'static, str>> = help,
        /// An earlier check with the same failure, so both probably have one cause.
        same_as: Option<&'static str> = same_as(trial, check),
    }
}

/// The first check with the failure of this one, unless it is this one itself.
fn same_as(trial: &Trial, check: &Check) -> Option<&'static str> {
    let wrong = |one: &Check| match &one.finding {
        CheckResult::Wrong { done, .. } => Some(done.clone()),
        _ => None,
    };
    let done = wrong(check)?;
    let first = trial
        .checks
        .iter()
        .find(|one| wrong(one).as_ref() == Some(&done))?;
    (first.name != check.name).then_some(first.name)
}

/// How many other checks have the failure of this one, if it is the first of them.
fn others(trial: &Trial, check: &Check) -> usize {
    let checks = trial.checks.iter();
    checks
        .filter(|one| same_as(trial, one) == Some(check.name))
        .count()
}

/// What to do about a check that is the first of several with one failure: what each of them tries
/// is probably not the cause.
fn help_for_many(others: usize) -> String {
    let count = counted(others, "other check fails", "other checks fail");
    format!("{count} alike, so the cause is probably not in what each of them tries: fix it first")
}

/// Writes a trial, as a text with a line for each check, what to do about each mistake, and how many
/// checks passed.
pub fn write(out: &mut dyn Write, trial: &Trial, format: Format) -> io::Result<()> {
    let document = TrialDocument::of(trial);
    if format == Format::Json {
        return json::write(out, &document);
    }
    text!(out, include_str!("report.txt"), {
        seconds => format!("{:.1}", trial.start.as_secs_f64()),
        ..data(&document)
    })
}

fn result(finding: &CheckResult) -> &'static str {
    match finding {
        CheckResult::Fine => "fine",
        CheckResult::Wrong { .. } => "wrong",
        CheckResult::Noted { .. } => "note",
        CheckResult::NotTried => "not tried",
    }
}
