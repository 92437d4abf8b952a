//! The commands.

use std::io::Write;

use rolecall::diff::Diff;
use rolecall::engine::Engines;
use rolecall::lint;
use rolecall::parity::{self, Explanations};
use rolecall::problem::{Problem, closest};
use rolecall::report::{
    self, difference, grid, jsonl, listing::Listing, problems, summary, thousands, transcripts,
};
use rolecall::run::Runner;
use rolecall::selection::select;
use rolecall::snapshot::Comparison;
use rolecall::suite::{Pair, Suite};
use rolecall::template::Dialect;
use rolecall::transcript;

use super::args::{
    Arguments, Command, Format, LintArguments, ListArguments, ListFormat, Listed, ParityArguments,
    RenderArguments, RenderingArguments, RunArguments, ShowArguments,
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
        Command::Parity(arguments) => compare_twins(arguments, out),
        Command::List(arguments) => list(arguments, out),
        Command::Lint(arguments) => check_suite(arguments, out),
    }
}

fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, snapshots } = inputs::load(&arguments.selection.sources)?;
    let engines = Engines::default();
    let runner = runner(&engines, &arguments.rendering)?;
    let is_sound = report_input(&runner, &suite)?;
    let pairs = select(&suite, &arguments.selection.filters)?;
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
    Ok(if !is_sound {
        Status::BadInput
    } else if tally.is_as_accepted() {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}

fn render(arguments: &RenderArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, .. } = inputs::load(&arguments.selection.sources)?;
    let engines = Engines::default();
    let runner = runner(&engines, &arguments.rendering)?;
    let is_sound = report_input(&runner, &suite)?;
    let pairs = select(&suite, &arguments.selection.filters)?;
    let run = runner.render(&pairs);
    match arguments.format {
        Format::Jsonl => jsonl::write_rendered(out, &run.results)?,
        Format::Human => transcripts::write_all(out, &run.results)?,
    }
    Ok(if is_sound {
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
    let mut run = runner.render(&[pair]);
    let Some(rendered) = run.results.pop() else {
        return Err(Failure::Request(format!(
            "no engine renders the dialect `{}`",
            pair.template.dialect
        )));
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

fn compare_twins(arguments: &ParityArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, .. } = inputs::load(&arguments.sources)?;
    let engines = Engines::default();
    let runner = runner(&engines, &arguments.rendering)?;
    let is_sound = report_input(&runner, &suite)?;
    let mut families = parity::families(&suite);
    if let Some(family) = &arguments.family {
        let names: Vec<_> = families.iter().map(|twins| twins.family.clone()).collect();
        families.retain(|twins| twins.family == *family);
        if families.is_empty() {
            let help = match closest(family, names.iter().map(String::as_str)) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(Failure::Request(format!(
                "no templates share the family `{family}`\n  {help}"
            )));
        }
    }
    if families.is_empty() {
        return Err(Failure::Request(
            "no two templates share a `family` in their sidecars".to_owned(),
        ));
    }
    let explanations = match inputs::layout() {
        Ok(layout) if arguments.sources.templates.is_empty() => {
            Explanations::read(&layout.parity()).map_err(|problems| {
                let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
                Failure::Request(problems.join("\n"))
            })?
        }
        _ => Explanations::default(),
    };
    let run = runner.render(&parity::pairs(&suite, &families));
    let parities = parity::compare(&suite, &families, &run.results);
    // Only what was compared can be stale.
    let explanations = explanations.about(&families);
    let unexplained = report::parity::write(out, &parities, &explanations, arguments.all)?;
    Ok(if !is_sound {
        Status::BadInput
    } else if unexplained == 0 {
        Status::Fine
    } else {
        Status::Nonconforming
    })
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

/// Tells what is wrong with the input, and which templates no engine renders. Returns
/// whether there was nothing to tell.
fn report_input(runner: &Runner<'_>, suite: &Suite) -> Result<bool, Failure> {
    let without_engine = suite
        .templates
        .iter()
        .filter(|template| runner.engine(template.dialect).is_none())
        .map(|template| {
            let message = format!("no engine renders the dialect `{}`", template.dialect);
            Problem::new(&template.path, message).help("`rolecall list engines` names the engines")
        });
    let problems: Vec<Problem> = suite
        .problems
        .iter()
        .cloned()
        .chain(without_engine)
        .collect();
    report_problems(&problems)?;
    Ok(problems.is_empty())
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
