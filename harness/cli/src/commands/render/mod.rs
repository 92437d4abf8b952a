//! The command `render`: prints outcomes without verdicts.

pub mod report;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::report::format::Format;
use crate::report::progress::Progress;
use crate::report::{clean, jsonl, problems, screen, transcripts};
use report::RenderSummary;
use rolecall_core::file::is_there;
use rolecall_core::problem::{Problem, shown_path};
use rolecall_io::source::NOT_THERE;
use rolecall_suite::run::Runner;
use rolecall_suite::selection::{Filter, InvalidFilter, select};
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::places::near;
use rolecall_suite::workspace::{Subject, Workspace, stdin};

use crate::args::RenderArguments;
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, tell};
#[cfg(feature = "fetch")]
use crate::served;
use crate::session::{self, Session};
use crate::{conversations, home, inputs};

pub(crate) fn execute(arguments: &RenderArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let (mut suite, filters, origin) = suite(arguments)?;
    session::use_front(arguments.front.name, &mut suite);
    let session = Session::of(&arguments.rendering);
    let chosen = session.chosen()?;
    let runner = session.runner(&chosen)?;
    let is_sound = session::report_input(&suite)?;
    let one = session.one_dialect(&arguments.dialect, &chosen)?;
    let front = arguments.front.name;
    let selected = select(&suite, &filters)?;
    let pairs = session::after(front, one.pairs(selected)?)?;
    #[cfg(feature = "fetch")]
    let pairs = served::pairs(pairs, session.asked(&chosen), front)?;
    if arguments.raw && pairs.len() != 1 {
        return Err(Failure::Request(format!(
            "--raw is for one prompt, and there are {}\n  name one template and one conversation",
            pairs.len()
        )));
    }
    let is_slow = chosen.iter().any(ChosenEngine::is_slow);
    let progress = Progress::of_slow(is_slow, pairs.len(), "rendering", "pairs");
    let runner = runner.with_progress(progress.step());
    let written = write_each(arguments, &runner, &pairs, out);
    progress.clear();
    let summary = written?;
    // One prompt needs no summary, unless the user wants that alone.
    if !arguments.raw && (pairs.len() > 1 || screen::is_quiet() || !is_sound) {
        let wrong = suite.problems.len();
        match arguments.format {
            Format::Human => summary.write(out, &origin, wrong)?,
            _ if screen::is_quiet() => {}
            // The lines are for a program, the summary is for people.
            _ => summary.write(&mut clean::messages(), &origin, wrong)?,
        }
    }
    let is_complete = summary.is_complete() && (summary.is_whole() || !arguments.fail);
    Ok(Status::of(is_sound, is_complete))
}

/// Renders pairs, and writes each outcome.
fn write_each(
    arguments: &RenderArguments,
    runner: &Runner<'_>,
    pairs: &[Pair<'_>],
    out: &mut dyn Write,
) -> io::Result<RenderSummary> {
    let mut lines = jsonl::LineWriter::new(runner);
    let mut written = Ok(());
    let mut summary = RenderSummary::default();
    runner.render_each(pairs, |rendered| {
        summary.add(&rendered);
        if written.is_ok() {
            written = if arguments.raw {
                transcripts::write_raw(out, &rendered.outcome)
            } else if arguments.format == Format::Jsonl {
                lines.write_rendered(out, &rendered)
            } else {
                transcripts::write_named(out, &rendered)
            };
        }
    });
    written.map(|()| summary)
}

/// The templates and cases, the filters of their pairs, and the name of their source. If there are two
/// operands and the second is a file, they are a template and a file with conversations. A path is a template
/// or a folder of templates, and names of cases may follow it.
fn suite(arguments: &RenderArguments) -> Result<(Suite, Vec<Filter>, String), Failure> {
    let sources = &arguments.sources;
    if let [template, file] = arguments.operands.as_slice()
        && (file == stdin::NAME || Path::new(file).is_file())
    {
        if !sources.templates.is_empty() || !sources.cases.is_empty() {
            return Err(Failure::Request(
                "--templates and --cases are for filters: the template and the conversations are \
                 named already"
                    .to_owned(),
            ));
        }
        let file = Path::new(file);
        let conversations = conversations::read(file)?;
        let template = [PathBuf::from(template)];
        let subject = inputs::templates_only(&template, &sources.set);
        let mut suite = Workspace::open(&home::access(), &subject)?.suite;
        suite.cases = suite.told_of(file, conversations);
        problems::write_notes(&mut clean::messages(), &suite.notes)?;
        return Ok((suite, Vec::new(), shown_path(file)));
    }
    if let Some(file) = missing_file(&arguments.operands) {
        let mut problem = Problem::new(file, NOT_THERE);
        problem.help = near(file);
        return Err(problem.into());
    }
    let (named, filters) = match arguments.operands.split_first() {
        Some((first, cases)) if is_path(first, cases) => {
            // The path names the templates already, and their names come from their files: the words
            // after it are about cases only.
            let cases = cases.iter().map(|case| format!("*:{case}"));
            (vec![PathBuf::from(first)], cases.collect())
        }
        _ => (Vec::new(), arguments.operands.clone()),
    };
    let filters = filters.iter().map(|text| text.parse());
    let filters: Result<Vec<Filter>, InvalidFilter> = filters.collect();
    let filters = filters.map_err(|error| Failure::Request(error.to_string()))?;
    if !named.is_empty() {
        let templates = [named.as_slice(), sources.templates.as_slice()].concat();
        let subject = Subject {
            filters: &filters,
            ..inputs::named(&templates, &sources.cases, &sources.set)
        };
        let Workspace { suite, origin, .. } = inputs::open(&subject)?;
        let origin = sources
            .cases
            .first()
            .map_or(origin, |file| shown_path(file));
        return Ok((suite, filters, origin));
    }
    let Workspace { suite, origin, .. } = inputs::open(&sources.subject(&filters))?;
    tell(&format!("suite: {origin}"));
    Ok((suite, filters, origin))
}

/// Whether an operand is the place of a template, and what follows it names cases: a file, or a folder that
/// stands alone or is written as a path. Other words are names of templates.
fn is_path(operand: &str, cases: &[String]) -> bool {
    let path = Path::new(operand);
    operand == stdin::NAME
        || path.is_file()
        || path.is_dir() && (cases.is_empty() || operand.contains(['/', '\\']))
}

/// The file with conversations that the user means and that is not there: no filter looks so.
fn missing_file(operands: &[String]) -> Option<&Path> {
    let [_, file] = operands else {
        return None;
    };
    let file = Path::new(file);
    let extension = file.extension().unwrap_or_default();
    let is_file = ["json", "jsonl"].iter().any(|known| extension == *known);
    (is_file && !is_there(file)).then_some(file)
}
