//! What came of trying a program as an engine.

use std::io::{self, Write};

use rolecall_model::Dialect;
use schemars::JsonSchema;
use serde::Serialize;

use super::columns::{Cell, Columns};
use super::document::{self, VERSION};
use super::numbers::counted;
use super::style::{BAD, GOOD, HEADING, NOTE, PLAIN, QUIET, Styled};
use crate::protocol::{Check, Finding, Trial};

/// The document of `probe-engine --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Document {
    /// The version of this format: 1.
    rolecall: u32,
    /// The name and the version of the engine, if it said who it is.
    engine: Option<String>,
    /// `jinja` or `go`, if it said which templates it renders.
    dialect: Option<&'static str>,
    /// What was checked, in this order.
    checks: Vec<Entry>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    name: &'static str,
    /// What is right, in a few words.
    about: &'static str,
    /// `fine`, `wrong`, `note`, or `not tried` where the program answered nothing any more.
    result: &'static str,
    /// What was seen instead.
    seen: Option<String>,
    /// What to do about it.
    help: Option<&'static str>,
}

/// Writes the document: `{"rolecall": 1, "engine": …, "checks": […]}`.
pub fn write_json(out: &mut dyn Write, trial: &Trial) -> io::Result<()> {
    let entry = |check: &Check| {
        let (seen, help) = match &check.finding {
            Finding::Wrong { seen, help } | Finding::Noted { seen, help } => {
                (Some(seen.clone()), Some(*help))
            }
            Finding::Fine | Finding::NotTried => (None, None),
        };
        Entry {
            name: check.name,
            about: check.about,
            result: result(&check.finding),
            seen,
            help,
        }
    };
    let document = Document {
        rolecall: VERSION,
        engine: trial.engine.clone(),
        dialect: trial.dialect.map(Dialect::name),
        checks: trial.checks.iter().map(entry).collect(),
    };
    document::write(out, &document)
}

/// Writes a line for each check, and what to do where one is not as it should be.
pub fn write(out: &mut dyn Write, trial: &Trial) -> io::Result<()> {
    if let (Some(engine), Some(dialect)) = (&trial.engine, trial.dialect) {
        let seconds = format!("started in {:.1} s", trial.start.as_secs_f64());
        let engine = Styled(HEADING, engine);
        writeln!(out, "{engine} {dialect}, {}", Styled(QUIET, seconds))?;
        writeln!(out)?;
    }
    let mut columns = Columns::default();
    for check in &trial.checks {
        let style = match check.finding {
            Finding::Fine => GOOD,
            Finding::Wrong { .. } => BAD,
            Finding::Noted { .. } | Finding::NotTried => NOTE,
        };
        let text = match &check.finding {
            Finding::Fine | Finding::NotTried => Cell::new(QUIET, check.about),
            Finding::Wrong { seen, help } | Finding::Noted { seen, help } => {
                Cell::new(PLAIN, format!("{seen} — {help}"))
            }
        };
        columns.row(vec![
            Cell::new(style, result(&check.finding)),
            Cell::new(PLAIN, check.name),
            text,
        ]);
    }
    columns.write(out)?;
    write_close(out, trial)
}

/// Writes the last line: how many checks are as they should be.
fn write_close(out: &mut dyn Write, trial: &Trial) -> io::Result<()> {
    let count = |wanted: &str| {
        let checks = trial.checks.iter();
        checks
            .filter(|check| result(&check.finding) == wanted)
            .count()
    };
    let mut parts = Vec::new();
    for (name, style) in [("wrong", BAD), ("note", NOTE), ("not tried", NOTE)] {
        match count(name) {
            0 => {}
            found => parts.push(Styled(style, format!("{found} {name}")).to_string()),
        }
    }
    let fine = Styled(GOOD, format!("{} fine", count("fine")));
    let parts = if parts.is_empty() {
        String::new()
    } else {
        format!(", {}", parts.join(", "))
    };
    let all = counted(trial.checks.len(), "check", "checks");
    writeln!(out, "\n{all}: {fine}{parts}")
}

fn result(finding: &Finding) -> &'static str {
    match finding {
        Finding::Fine => "fine",
        Finding::Wrong { .. } => "wrong",
        Finding::Noted { .. } => "note",
        Finding::NotTried => "not tried",
    }
}
