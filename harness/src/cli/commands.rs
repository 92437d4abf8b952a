//! The commands.

use std::io::Write;

use rolecall::diff::Diff;
use rolecall::engine::Engines;
use rolecall::lint;
use rolecall::problem::{Problem, closest};
use rolecall::report::{
    difference, grid, jsonl, listing::Listing, problems, summary, thousands, transcripts,
};
use rolecall::run::Runner;
use rolecall::selection::select;
use rolecall::snapshot::Comparison;
use rolecall::suite::{Pair, Suite};
use rolecall::template::Dialect;
use rolecall::transcript;

use super::args::{
    Arguments, Command, Format, LintArguments, ListArguments, ListFormat, Listed, RenderArguments,
    RenderingArguments, RunArguments, ShowArguments,
};
use super::inputs::{self, Inputs};
use super::{Failure, Status, report_problems};

/// Templates named under one difference, unless all are asked for.
const NAMED_TEMPLATES: usize = 8;

/// Carries a command out; its result goes to `out`.
pub(super) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<Status, Failure> {
    match &arguments.command {
        Command::Run(arguments) => run(arguments, out),
        Command::Render(arguments) => render(arguments, out),
        Command::Show(arguments) => show(arguments, out),
        Command::List(arguments) => list(arguments, out),
        Command::Lint(arguments) => check_suite(arguments, out),
    }
}

fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, snapshots } = inputs::load(&arguments.selection.sources)?;
    report_problems(&suite.problems)?;
    let pairs = select(&suite, &arguments.selection.filters)?;
    let engines = Engines::default();
    let runner = runner(&engines, &arguments.rendering)?;
    let left_out = without_engine(&runner, &suite);
    report_problems(&left_out)?;
    // Another engine's results are not what was accepted.
    let snapshots = snapshots.filter(|_| arguments.rendering.engine.is_none());
    let run = runner.compare(&pairs, snapshots.as_ref());
    let tally = summary::Tally::of(&run.results);
    match arguments.format {
        Format::Jsonl => jsonl::write_compared(out, &run.results)?,
        Format::Human => {
            let mut templates: Vec<_> = pairs.iter().map(|pair| &pair.template.name).collect();
            templates.dedup();
            let few =
                !arguments.selection.filters.is_empty() && templates.len() <= grid::MOST_TEMPLATES;
            if arguments.pairs || few {
                grid::write(out, &run.results)?;
                writeln!(out)?;
            }
            let names = if arguments.all {
                usize::MAX
            } else {
                NAMED_TEMPLATES
            };
            difference::write(out, &difference::groups(&run.results), names)?;
            summary::write_table(out, &run.results)?;
            writeln!(out)?;
            summary::write_close(out, &run)?;
        }
    }
    Ok(if !suite.problems.is_empty() || !left_out.is_empty() {
        Status::BadInput
    } else if tally.is_as_accepted() {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}

fn render(arguments: &RenderArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, .. } = inputs::load(&arguments.selection.sources)?;
    report_problems(&suite.problems)?;
    let pairs = select(&suite, &arguments.selection.filters)?;
    let engines = Engines::default();
    let runner = runner(&engines, &arguments.rendering)?;
    let left_out = without_engine(&runner, &suite);
    report_problems(&left_out)?;
    let run = runner.render(&pairs);
    match arguments.format {
        Format::Jsonl => jsonl::write_rendered(out, &run.results)?,
        Format::Human => transcripts::write_all(out, &run.results)?,
    }
    Ok(if suite.problems.is_empty() && left_out.is_empty() {
        Status::Fine
    } else {
        Status::BadInput
    })
}

fn show(arguments: &ShowArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, snapshots } = inputs::load(&arguments.sources)?;
    let pair = find_pair(&suite, &arguments.template, &arguments.case)?;
    let engines = Engines::default();
    let runner = runner(&engines, &arguments.rendering)?;
    report_problems(&without_engine(&runner, &suite))?;
    let mut run = runner.render(&[pair]);
    let Some(rendered) = run.results.pop() else {
        return Ok(Status::BadInput);
    };
    let outcome = &rendered.outcome;
    if arguments.raw {
        out.write_all(outcome.text().as_bytes())?;
        return Ok(Status::Fine);
    }
    if !arguments.diff {
        transcripts::write(out, outcome)?;
        transcripts::write_place(&mut anstream::stderr(), pair.template, outcome)?;
        return Ok(Status::Fine);
    }
    let Some(snapshots) = snapshots else {
        return Err(Failure::Request(
            "templates and cases from outside the suite have no snapshots to differ from"
                .to_owned(),
        ));
    };
    let found = transcript::encode(outcome);
    let path = snapshots.file(&pair);
    match snapshots.compare(&pair, &found) {
        Comparison::Same => {
            writeln!(out, "as accepted in {}", path.display())?;
            Ok(Status::Fine)
        }
        Comparison::New => Err(Problem::new(path, "nothing was accepted yet for this pair")
            .help("run `cargo test`, then `cargo insta review`")
            .into()),
        Comparison::Unreadable(why) => Err(Problem::new(path, why).into()),
        Comparison::Changed(accepted) => {
            difference::write_diff(out, &Diff::new(&accepted, &found), "")?;
            Ok(Status::Nonconforming)
        }
    }
}

fn list(arguments: &ListArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let listing = if arguments.what == Listed::Engines {
        Listing::engines(&Engines::default())
    } else {
        let Inputs { suite, .. } = inputs::load(&arguments.sources)?;
        report_problems(&suite.problems)?;
        match arguments.what {
            Listed::Templates => Listing::templates(&suite),
            _ => Listing::cases(&suite),
        }
    };
    match arguments.format {
        ListFormat::Human => listing.write(out)?,
        ListFormat::Json => listing.write_json(out)?,
    }
    Ok(Status::Fine)
}

fn check_suite(arguments: &LintArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = inputs::layout()?;
    if arguments.fix {
        for path in lint::fix(&layout)? {
            writeln!(out, "wrote {}", path.display())?;
        }
    }
    let suite = Suite::load_layout(&layout);
    let findings = lint::lint(&layout, &suite);
    report_problems(&suite.problems)?;
    problems::write(out, &findings)?;
    if !suite.problems.is_empty() {
        return Ok(Status::BadInput);
    }
    if !findings.is_empty() {
        return Ok(Status::Nonconforming);
    }
    writeln!(
        out,
        "{} templates, {} cases in {} families, {} snapshots: nothing to mend",
        suite.templates.len(),
        suite.cases.len(),
        suite.families.len(),
        thousands(suite.pairs().count()),
    )?;
    Ok(Status::Fine)
}

fn runner<'e>(engines: &'e Engines, arguments: &RenderingArguments) -> Result<Runner<'e>, Failure> {
    let jobs = arguments.jobs.map(usize::from);
    Ok(Runner::new(engines, arguments.engine.as_deref(), jobs)?)
}

/// Templates that no engine renders.
fn without_engine(runner: &Runner<'_>, suite: &Suite) -> Vec<Problem> {
    suite
        .templates
        .iter()
        .filter(|template| runner.engine(template.dialect).is_none())
        .map(|template| {
            let message = format!("no engine renders the dialect `{}`", template.dialect);
            Problem::new(&template.path, message).help("`rolecall list engines` names the engines")
        })
        .collect()
}

fn find_pair<'s>(suite: &'s Suite, template: &str, case: &str) -> Result<Pair<'s>, Failure> {
    let names: Vec<_> = suite
        .templates
        .iter()
        .map(|known| known.name.as_str())
        .collect();
    let Some(template) = suite
        .templates
        .iter()
        .find(|known| known.name.as_str() == template)
    else {
        return Err(unknown("template", template, &names, &suite.problems));
    };
    let ids: Vec<_> = suite
        .cases
        .iter()
        .map(|known| known.id.to_string())
        .collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let Some(found) = suite
        .cases
        .iter()
        .find(|known| known.id.to_string() == case)
    else {
        return Err(unknown("case", case, &ids, &suite.problems));
    };
    if !found.is_for(template.dialect) {
        let dialects: Vec<_> = found
            .dialects
            .iter()
            .map(|dialect: &Dialect| dialect.name())
            .collect();
        return Err(Failure::Request(format!(
            "case `{}` is for {} templates only",
            found.id,
            dialects.join(" and ")
        )));
    }
    Ok(Pair {
        template,
        case: found,
    })
}

fn unknown(what: &str, name: &str, known: &[&str], problems: &[Problem]) -> Failure {
    let help = match closest(name, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("`rolecall list {what}s` names them all"),
    };
    // It may be there, and broken.
    let mut broken = String::new();
    for problem in problems {
        broken.push('\n');
        broken.push_str(&problem.to_string());
    }
    Failure::Request(format!("no {what} is named `{name}`\n  {help}{broken}"))
}
