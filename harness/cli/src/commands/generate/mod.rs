//! The command `generate`: makes conversations that reach what no case reaches.

pub mod report;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use rolecall_core::file::{is_there, write_whole};
use rolecall_explore::generation::{Effort, Generation};

use crate::args::GenerateArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;
use crate::session::Session;

pub(crate) fn execute(
    arguments: &GenerateArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let (suite, is_wrong) = inputs::load_subject(&arguments.subject)?;
    hold_place(arguments, suite.templates.len())?;
    let effort = Effort {
        seed: arguments.seed,
        tries: arguments.tries,
    };
    let session = Session::of_subject(&arguments.subject);
    let explored = session.explore(&suite, |engine, template, pairs| {
        Generation::search(engine, template, &pairs, effort)
    })?;
    report_problems(&explored.problems)?;
    let all = &explored.all;
    let files = match &arguments.write {
        Some(path) => files(path, all, arguments.overwrite)?,
        None => BTreeMap::new(),
    };
    report::write(out, all, arguments.format, arguments.all)?;
    for (path, text) in &files {
        write_whole(path, text)?;
        tell(&format!("wrote {}", path.display()));
    }
    if arguments.write.is_some() && files.is_empty() {
        tell("nothing was written: there is no new case");
    }
    Ok(Status::of(!is_wrong && explored.problems.is_empty(), true))
}

/// Refuses to write the cases of several templates into one file.
fn hold_place(arguments: &GenerateArguments, templates: usize) -> Result<(), Failure> {
    let is_file = arguments.write.as_deref().is_some_and(is_case_file);
    if !is_file || templates <= 1 {
        return Ok(());
    }
    Err(Failure::Request(format!(
        "one file takes the cases of one template, and there are {templates}\n  name a folder with \
         --write"
    )))
}

/// Whether a path names a case file and not a folder.
fn is_case_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
        && !path.is_dir()
}

/// The files with the new cases. Fails if one is already there, before any is written.
fn files(
    path: &Path,
    all: &[Generation<'_>],
    may_overwrite: bool,
) -> Result<BTreeMap<PathBuf, String>, Failure> {
    let mut files = BTreeMap::new();
    for generation in all {
        let Some(text) = generation.case_file() else {
            continue;
        };
        let file = if is_case_file(path) {
            path.to_path_buf()
        } else {
            path.join(format!("{}.json", generation.family()))
        };
        if is_there(&file) && !may_overwrite {
            return Err(Failure::Request(format!(
                "{} is already there\n  --overwrite replaces it",
                file.display()
            )));
        }
        if files.contains_key(&file) {
            return Err(Failure::Request(format!(
                "two templates have their cases in {}\n  write them into different folders",
                file.display()
            )));
        }
        files.insert(file, text);
    }
    Ok(files)
}
