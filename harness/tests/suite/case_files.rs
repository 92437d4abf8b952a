//! Checks every case file, and the file of its family's snapshots next to the transcripts in it:
//! one test for each case file.

use std::path::Path;

use rolecall_core::Case;

use crate::pairs::{EXPECTATIONS, SUITE};
use crate::report::Report;

pub(crate) fn case_file(path: &Path) -> datatest_stable::Result<()> {
    let name = path.file_stem().unwrap_or_default();
    let of_file = SUITE
        .problems
        .iter()
        .filter(|problem| problem.path.file_stem() == Some(name));
    let mut problems: Vec<String> = of_file.map(ToString::to_string).collect();
    let is_of_file =
        |case: &Case| Some(case.id.family()) == name.to_str() && case.path.ends_with(path);
    if problems.is_empty() {
        // Such as a file in a folder below the others, which nothing reads.
        if !SUITE.cases.iter().any(is_of_file) {
            problems.push(format!(
                "{}: no case of this file is in the suite",
                path.display()
            ));
        }
        let family = name.to_string_lossy();
        let expectations = EXPECTATIONS.as_ref().map_err(|why| Report(why.clone()))?;
        let snapshots = &expectations.snapshots;
        let found = snapshots.problems(&SUITE, &family).all();
        problems.extend(found.iter().map(ToString::to_string));
        let of_records = expectations.records.problems.iter();
        let of_records = of_records.filter(|problem| problem.path == snapshots.file(&family));
        problems.extend(of_records.map(ToString::to_string));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Box::new(Report(problems.join("\n"))))
    }
}
