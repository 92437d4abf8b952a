//! The report card of every template, against the accepted one: one test a template.
//!
//! A contract that a template breaks has to be explained in its sidecar, under `broken`;
//! notes need no explanation. An explanation of what is not broken fails, too.

use std::path::Path;

use rolecall::card;
use rolecall::engines::Engines;
use rolecall::file::read_text_if_there;
use rolecall::report::card::plain;
use rolecall::snapshot::{Snapshots, is_card};
use rolecall::suite::Layout;
use rolecall::template_file::read_template;

mod report;

use report::Report;

datatest_stable::harness! {
    { test = template, root = "cases/templates", pattern = r"\.(jinja|gotmpl)$" },
}

fn template(path: &Path) -> datatest_stable::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let template = read_template(&path).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        Report(problems.join("\n"))
    })?;
    // Its name becomes a folder.
    if let Some(problem) = rolecall::naming::problem(&template) {
        return Err(Box::new(Report(problem.to_string())));
    }
    let engines = Engines::default();
    let engine = engines
        .for_dialect(template.dialect)
        .ok_or_else(|| Report("no engine for this dialect".to_owned()))?;
    let card = card::examine(engine, &template);

    let mut wrong = card.complaints(&template);
    let text = plain(&card)?;
    let snapshots = Snapshots::of(&Layout::new(env!("CARGO_MANIFEST_DIR")));
    let file = snapshots.card(&template);
    let accepted = read_text_if_there(&file)
        .map_err(|problem| Report(problem.to_string()))?
        .unwrap_or_default();
    if !is_card(&accepted, &text) || file.with_extension("snap.new").exists() {
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(snapshots.folder_of(&template));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_input_file(&path);
        // insta panics where the card is not as accepted, and leaves it for review.
        let same = rolecall_model::guard::catch(|| {
            settings.bind(|| insta::assert_snapshot!("card", text));
        });
        if same.is_err() {
            wrong.push(format!(
                "the card is not as accepted:\n\n{text}\nTo accept or reject: cargo insta review"
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Box::new(Report(wrong.join("\n"))))
    }
}
