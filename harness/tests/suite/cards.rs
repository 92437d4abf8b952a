//! Compares the report card of every template with the accepted one: one test for each template.
//!
//! A sidecar has to explain every contract that its template breaks, under `broken`; notes need no
//! explanation. An explanation of a contract that holds fails, too.

use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use rolecall_cli::report::card::plain;
use rolecall_cli::report::checked_texts;
use rolecall_core::naming;
use rolecall_front::engines::Engines;
use rolecall_io::template_file::{dialect_of, read_template};
use rolecall_suite::card_rule::CardRule;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::layout::Layout;
use rolecall_suite::snapshot::{CARDS, Snapshots};

use crate::pairs::{LAYOUT, SUITE};
use crate::report::Report;
use crate::review;

/// One test for each template file, named after the template: `qwen3-think::card`.
pub(crate) fn tests() -> Vec<Trial> {
    let entries = std::fs::read_dir(LAYOUT.templates()).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| dialect_of(path).is_some()).collect();
    paths.sort();
    let test = |path: PathBuf| {
        // A template that cannot be read has no name.
        let known = SUITE.templates.iter().find(|known| known.path == path);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = known.map_or(&*stem, |known| known.name.as_str());
        Trial::test(format!("{name}::card"), move || card(&path))
    };
    paths.into_iter().map(test).collect()
}

/// Compares the report card of a template.
fn card(path: &Path) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let template = read_template(path).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Report(problems.join("\n"))
    })?;
    // Its name becomes that of a file.
    if let Some(problem) = naming::problem(&template) {
        return Err(Report(problem.to_string()).into());
    }
    let engines = Engines::default();
    let engine = engines.for_dialect(template.dialect);
    let card = rolecall_check::card::examine(engine, &template);

    let mut wrong = card.complaints(&template);
    let text = plain(&card)?;
    let snapshots = Snapshots::of(&Layout::new(root));
    let folder = snapshots.root().join(CARDS);
    let name = template.name.as_str();
    let checked = CheckedText::of(CardRule::Accepted, &snapshots, &card, text);
    let is_asserted = review::assert(&folder, name, path, &checked.text);
    if !is_asserted && checked.change.is_same() {
        wrong.push(review::OTHERWISE.to_owned());
    }
    if !checked.change.is_same() {
        let mut report = Vec::new();
        checked_texts::write_change(&mut report, &checked, true)?;
        wrong.push(format!(
            "{}To accept or reject: {}",
            anstream::adapter::strip_str(&String::from_utf8(report)?),
            review::COMMANDS
        ));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Report(wrong.join("\n")).into())
    }
}
