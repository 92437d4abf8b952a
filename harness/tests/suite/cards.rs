//! The report card of every template, against the accepted one: one test a template.
//!
//! A contract that a template breaks has to be explained in its sidecar, under `broken`;
//! notes need no explanation. An explanation of what is not broken fails, too.

use std::path::Path;

use rolecall::card;
use rolecall::engine::Engines;
use rolecall::report::card::plain;
use rolecall::snapshot::Snapshots;
use rolecall::suite::Layout;
use rolecall::template::read_template;

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
    let engines = Engines::default();
    let engine = engines
        .for_dialect(template.dialect)
        .ok_or_else(|| Report("no engine for this dialect".to_owned()))?;
    let card = card::examine(engine, &template);

    let mut wrong = card.complaints(&template);
    let text = plain(&card)?;
    let snapshots = Snapshots::of(&Layout::new(env!("CARGO_MANIFEST_DIR")));
    let file = snapshots.card(&template);
    if !snapshots.has_card(&template, &text) || file.with_extension("snap.new").exists() {
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(snapshots.folder_of(&template));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_input_file(&path);
        // insta panics where the card is not as accepted, and leaves it for review.
        let same = rolecall::engine::catch(|| {
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
