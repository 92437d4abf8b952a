//! Compares what is read back of every template's answers with the accepted transcript and the
//! reference's record: one test for each sidecar.

use std::path::Path;

use rolecall::engines::Engines;
use rolecall::file::is_there;
use rolecall::layout::Layout;
use rolecall::naming;
use rolecall::read_back::{ReadBackRecord, ReadBackTruth, truth};
use rolecall::readback::reader::OwnReader;
use rolecall::readback::reading::read_all;
use rolecall::readback::transcript;
use rolecall::snapshot::{READINGS, Snapshots, contents};
use rolecall_model::TemplateName;

use crate::families::SUITE;
use crate::report::Report;
use crate::review;

/// Compares the readings of the template of a sidecar. A template without a response template has
/// none, so nothing of it may be accepted or recorded.
pub(crate) fn readings(path: &Path) -> datatest_stable::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let layout = Layout::new(root);
    let snapshots = Snapshots::of(&layout);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = TemplateName::new(&name);
    // What is wrong with the sidecar is reported by the other tests.
    let template = SUITE
        .template(&name)
        .ok_or_else(|| Report(format!("{name} is not in the suite")))?;
    if let Some(problem) = naming::problem(template) {
        return Err(Box::new(Report(problem.to_string())));
    }
    let engines = Engines::default();
    let engine = engines
        .for_dialect(template.dialect)
        .ok_or_else(|| Report("no engine for this dialect".to_owned()))?;
    let Some(readings) = read_all(engine, template, &OwnReader::default(), &SUITE.cases) else {
        let record = ReadBackRecord::file(&layout.snapshots(), &name);
        let left = [snapshots.readings(&name), record];
        return match left.iter().find(|file| is_there(file)) {
            Some(file) => Err(Box::new(Report(format!(
                "{}: the template has no response template",
                file.display()
            )))),
            None => Ok(()),
        };
    };
    let mut wrong = Vec::new();
    match truth(&layout, template, &readings) {
        Ok(ReadBackTruth::Recorded { differing }) => {
            let faults = differing.iter().map(|(id, fault)| format!("{id}: {fault}"));
            wrong.extend(faults);
        }
        Ok(ReadBackTruth::Unverified(why)) => wrong.push(why),
        Ok(ReadBackTruth::NeverAsked) => wrong.push("the reference was never asked".to_owned()),
        Err(problem) => wrong.push(problem.to_string()),
    }
    let text = transcript::of(&readings);
    let file = std::fs::read_to_string(snapshots.readings(&name)).unwrap_or_default();
    let is_accepted = contents(&file) == Some(&*text);
    let folder = snapshots.folder_of(&name);
    if !is_accepted || review::is_pending(&folder, READINGS) {
        review::leave(&folder, READINGS, &template.path, &text);
    }
    if !is_accepted {
        wrong.push(format!(
            "the transcript of readings is not as accepted.\nTo look at it: cargo run -- read-back \
             {name}\nTo accept or reject: {}",
            review::COMMANDS
        ));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Box::new(Report(wrong.join("\n"))))
    }
}
