//! The command `generate`: makes conversations that reach what no case reaches.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::report::format::Format;
use crate::report::generation as report;
use rayon::prelude::*;
use rolecall_core::file::{is_there, write_whole};
use rolecall_core::problem::Problem;
use rolecall_explore::generation::{Effort, Generation};
use rolecall_io::template_file::place;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Pair;

use crate::args::GenerateArguments;
use crate::failure::{Failure, Status, report_problems, tell};
use crate::inputs;

pub(super) fn execute(
    arguments: &GenerateArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let (suite, mut is_wrong) = inputs::load_subject(&arguments.subject)?;
    let is_file = arguments.write.as_deref().is_some_and(is_case_file);
    if is_file && suite.templates.len() > 1 {
        return Err(Failure::Request(format!(
            "one file takes the cases of one template, and there are {}\n  name a folder with --write",
            suite.templates.len()
        )));
    }
    let effort = Effort {
        seed: arguments.seed,
        tries: arguments.tries,
    };
    let engines = arguments.subject.limits.chosen().engines();
    let runner = Runner::new(&engines, &[], arguments.subject.jobs.map(usize::from))?;
    let generated: Vec<_> = runner.on_its_threads(|| {
        let templates = suite.templates.par_iter().filter_map(|template| {
            let engine = engines.for_dialect(template.dialect)?;
            let pairs: Vec<Pair<'_>> = suite.pairs_among(template, &suite.cases).collect();
            let generation = Generation::of(engine, template, &pairs, effort);
            let problem = |line, why: String| Problem::new(place(template, line), why);
            Some(generation.map_err(|why| problem(why.line(), why.to_string())))
        });
        templates.collect()
    });
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for generation in generated {
        match generation {
            Ok(generation) => all.push(generation),
            Err(problem) => problems.push(problem),
        }
    }
    report_problems(&problems)?;
    is_wrong |= !problems.is_empty();
    let files = match &arguments.write {
        Some(path) => files(path, &all, arguments.overwrite)?,
        None => BTreeMap::new(),
    };
    if arguments.format == Format::Json {
        report::write_json(out, &all)?;
    } else {
        for (index, generation) in all.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            report::write(out, generation, arguments.all)?;
        }
    }
    for (path, text) in &files {
        write_whole(path, text)?;
        tell(&format!("wrote {}", path.display()));
    }
    if arguments.write.is_some() && files.is_empty() {
        tell("nothing was written: there is no new case");
    }
    Ok(if is_wrong {
        Status::BadInput
    } else {
        Status::Fine
    })
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
