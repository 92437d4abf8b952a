//! The commands.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use rolecall::diff::Diff;
use rolecall::divergence::{Divergences, pair_name};
use rolecall::engine::{Engine, Engines};
use rolecall::file::write_whole;
use rolecall::fingerprint::Fingerprint;
use rolecall::lint;
use rolecall::outcome::Outcome;
use rolecall::parity::{self, Explanations};
use rolecall::problem::{Problem, closest};
use rolecall::record::Answer;
use rolecall::reference::Reference;
use rolecall::report::progress::Progress;
use rolecall::report::{
    self, counted, difference, grid, html, jsonl, listing::Listing, problems, summary, thousands,
    transcripts,
};
use rolecall::run::{Compared, Expected, MOST_OF_DIFFERENCE, Runner, Timed, agreeing_again};
use rolecall::selection::select;
use rolecall::snapshot::Comparison;
use rolecall::suite::{Pair, Suite};
use rolecall::template::{Dialect, Template};
use rolecall::transcript;
use rolecall::verdict::Truth;

use super::args::{
    Arguments, Command, Format, LintArguments, ListArguments, ListFormat, Listed, ParityArguments,
    RenderArguments, RenderingArguments, RunArguments, ShowArguments,
};
use super::inputs::{self, Inputs};
use super::{Failure, Status, check, engines, references, report_problems, serve, tell};

/// Bytes of the text of a pair that is as expected which are kept where nobody reads them.
const MOST_AS_EXPECTED: usize = 4 << 10;

/// Bytes of a text that a page shows.
pub(super) const MOST_ON_PAGE: usize = 64 << 10;

/// Carries a command out; its result goes to `out`.
pub(super) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<Status, Failure> {
    match &arguments.command {
        Command::Run(arguments) => run(arguments, out),
        Command::Render(arguments) => render(arguments, out),
        Command::Check(arguments) => check::execute(arguments, out),
        Command::Show(arguments) => show(arguments, out),
        Command::Parity(arguments) => compare_twins(arguments, out),
        Command::List(arguments) => list(arguments, out),
        Command::Lint(arguments) => check_suite(arguments, out),
        Command::Serve(arguments) => serve::execute(arguments, out),
        Command::Reference(command) => references::execute(command, out),
    }
}

fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let inputs = inputs::load(&arguments.selection.sources)?;
    let baseline = inputs.baseline()?;
    let suite = &inputs.suite;
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::chosen(&engines, &arguments.rendering)?;
    let others = arguments
        .against
        .iter()
        .map(|name| engines::open(&engines, name, &arguments.rendering))
        .collect::<Result<Vec<_>, _>>()?;
    let others: Vec<&dyn Engine> = others.iter().map(engines::Choice::engine).collect();
    let runner = runner(&engines, chosen.as_ref(), &arguments.rendering)?;
    let is_sound = report_input(&runner, suite)?;
    let pairs = with_dialects(select(suite, &arguments.selection.filters)?, &others)?;

    let is_slow = chosen.as_ref().is_some_and(engines::Choice::is_program) || !others.is_empty();
    let progress = if is_slow {
        Progress::new(pairs.len(), "rendering")
    } else {
        Progress::hidden()
    };
    let runner = runner.with_progress(progress.step());
    let none = Divergences::default();
    let divergences = baseline.as_ref().map_or(&none, |known| &known.divergences);
    if let Some(known) = &baseline {
        report_problems(&known.records.problems)?;
    }
    let expected = Expected {
        // Another engine's results are not what was accepted.
        accepted: baseline
            .as_ref()
            .filter(|_| chosen.is_none())
            .map(|known| &known.snapshots),
        truth: match &baseline {
            _ if !others.is_empty() => Truth::Engines {
                engines: &others,
                divergences,
            },
            Some(known) => Truth::Records {
                records: &known.records,
                divergences,
                snapshots: &known.snapshots,
            },
            None => Truth::Unknown,
        },
    };
    let mut written = Ok(());
    let mut results = Vec::new();
    let most = if arguments.html.is_some() {
        MOST_ON_PAGE
    } else {
        MOST_AS_EXPECTED
    };
    let elapsed = runner.compare_each(&pairs, &expected, |mut compared| {
        if arguments.format == Format::Jsonl && written.is_ok() {
            written = jsonl::write_compared(out, &compared);
        }
        compared.shorten(most);
        results.push(compared);
    });
    progress.clear();
    written?;
    let run = Timed { results, elapsed };
    let gone = agreeing_again(divergences, &run.results);
    let tally = summary::Tally::of(&run.results);
    if let Some(path) = &arguments.html {
        let runner = self::runner(&engines, chosen.as_ref(), &arguments.rendering)?;
        write_results(path, suite, &run.results, &runner)?;
    }
    match arguments.format {
        Format::Jsonl => {}
        Format::Human => {
            let mut templates: Vec<_> = pairs.iter().map(|pair| &pair.template.name).collect();
            templates.dedup();
            let few =
                !arguments.selection.filters.is_empty() && templates.len() <= grid::MOST_TEMPLATES;
            if arguments.pairs || few {
                grid::write(out, &run.results)?;
                writeln!(out)?;
            }
            let extent = if arguments.all {
                difference::Extent::WHOLE
            } else {
                difference::Extent::SHORT
            };
            difference::write(out, &difference::groups(&run.results), extent)?;
            difference::write_gone(out, &gone)?;
            summary::write_table(out, &run.results)?;
            writeln!(out)?;
            let law = law(&expected.truth, &pairs);
            summary::write_close(out, &run, law.as_deref())?;
        }
    }
    Ok(if !is_sound {
        Status::BadInput
    } else if tally.is_as_accepted() && tally.is_as_the_reference() && gone.is_empty() {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}

/// Writes the page of a run: its results, and the cards of its templates.
fn write_results(
    path: &Path,
    suite: &Suite,
    results: &[Compared<'_>],
    runner: &Runner<'_>,
) -> Result<(), Failure> {
    let shown: BTreeSet<_> = results
        .iter()
        .map(|compared| &compared.rendered.pair.template.name)
        .collect();
    let is_shown = |template: &&Template| shown.contains(&template.name);
    let templates: Vec<Template> = suite.templates.iter().filter(is_shown).cloned().collect();
    let cards = runner.examine(&templates).results;
    let page = html::Page {
        title: "Rolecall".to_owned(),
        families: &suite.families,
        templates: &templates,
        results,
        cards: cards
            .iter()
            .map(|card| (card.template.clone(), html::card(card)))
            .collect(),
    };
    write_page(path, &page)
}

/// Writes a page, whole or not at all.
pub(super) fn write_page(path: &Path, page: &html::Page<'_, '_>) -> Result<(), Failure> {
    let mut text = Vec::new();
    html::write(&mut text, page)?;
    write_whole(path, &text)?;
    tell(&format!("wrote {} ({})", path.display(), size(text.len())));
    Ok(())
}

/// A number of bytes, for a person.
#[allow(clippy::cast_precision_loss)] // nobody counts that far
fn size(bytes: usize) -> String {
    if bytes < 1 << 20 {
        format!("{:.0} kB", bytes as f64 / 1e3)
    } else {
        format!("{:.1} MB", bytes as f64 / 1e6)
    }
}

/// The pairs whose dialect one of the engines that are asked for verdicts has; what is
/// left out is told.
fn with_dialects<'s>(
    pairs: Vec<Pair<'s>>,
    others: &[&dyn Engine],
) -> Result<Vec<Pair<'s>>, Failure> {
    if others.is_empty() {
        return Ok(pairs);
    }
    let has_dialect = |pair: &Pair<'_>| {
        let dialect = pair.template.dialect;
        others.iter().any(|engine| engine.dialect() == dialect)
    };
    let (kept, left): (Vec<_>, Vec<_>) = pairs.into_iter().partition(has_dialect);
    if let Some(pair) = left.first() {
        let names: Vec<_> = others.iter().map(|engine| engine.name()).collect();
        let message = format!(
            "{} of {} templates left out: {} does not render them",
            counted(left.len(), "pair", "pairs"),
            pair.template.dialect,
            names.join(" or "),
        );
        if kept.is_empty() {
            return Err(Failure::Request(message));
        }
        tell(&message);
    }
    Ok(kept)
}

/// Who decides what is right, in words; nobody for pairs from outside the suite.
fn law(truth: &Truth<'_>, pairs: &[Pair<'_>]) -> Option<String> {
    let names: Vec<String> = match truth {
        Truth::Unknown => return None,
        Truth::Engines { engines, .. } => {
            engines.iter().map(|engine| engine.description()).collect()
        }
        Truth::Records { .. } => Dialect::ALL
            .into_iter()
            .filter(|dialect| pairs.iter().any(|pair| pair.template.dialect == *dialect))
            .map(|dialect| {
                let reference = Reference::of(dialect);
                format!("{} {}", reference.name, reference.version)
            })
            .collect(),
    };
    let recorded = match truth {
        Truth::Records { .. } => ", as recorded",
        _ => "",
    };
    Some(names.join(" and ") + recorded)
}

fn render(arguments: &RenderArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, .. } = inputs::load(&arguments.selection.sources)?;
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::chosen(&engines, &arguments.rendering)?;
    let runner = runner(&engines, chosen.as_ref(), &arguments.rendering)?;
    let is_sound = report_input(&runner, &suite)?;
    let pairs = select(&suite, &arguments.selection.filters)?;
    let is_slow = chosen.as_ref().is_some_and(engines::Choice::is_program);
    let progress = if is_slow {
        Progress::new(pairs.len(), "rendering")
    } else {
        Progress::hidden()
    };
    let runner = runner.with_progress(progress.step());
    let mut written = Ok(());
    runner.render_each(&pairs, |rendered| {
        if written.is_ok() {
            written = match arguments.format {
                Format::Jsonl => jsonl::write_rendered(out, &rendered),
                Format::Human => transcripts::write_named(out, &rendered),
            };
        }
    });
    progress.clear();
    written?;
    Ok(if is_sound {
        Status::Fine
    } else {
        Status::BadInput
    })
}

fn show(arguments: &ShowArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let inputs = inputs::load(&arguments.sources)?;
    let pair = find_pair(&inputs.suite, &arguments.template, &arguments.case)?;
    let reference = if arguments.reference {
        Some(recorded(&inputs, &pair)?)
    } else {
        None
    };
    if let Some(reference) = reference.as_ref().filter(|_| !arguments.diff) {
        return show_outcome(arguments, &pair, reference, out);
    }
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::chosen(&engines, &arguments.rendering)?;
    let runner = runner(&engines, chosen.as_ref(), &arguments.rendering)?;
    let mut run = runner.render(&[pair]);
    let Some(rendered) = run.results.pop() else {
        return Err(Failure::Request(format!(
            "no engine renders the dialect `{}`",
            pair.template.dialect
        )));
    };
    let outcome = &rendered.outcome;
    if !arguments.diff {
        return show_outcome(arguments, &pair, outcome, out);
    }
    let found = transcript::encode(outcome);
    if let Some(reference) = reference {
        if Answer::of(&reference).is_some_and(|answer| answer.agrees(outcome)) {
            let name = Reference::of(pair.template.dialect).name;
            writeln!(out, "as {name} did it")?;
            return Ok(Status::Fine);
        }
        let diff = Diff::new(&transcript::encode(&reference), &found);
        difference::write_diff(out, &diff, "")?;
        return Ok(Status::Nonconforming);
    }
    let Some(baseline) = inputs.baseline()? else {
        return Err(Failure::Request(
            "templates and cases from outside the suite have no snapshots to differ from"
                .to_owned(),
        ));
    };
    let path = baseline.snapshots.file(&pair);
    match baseline.snapshots.compare(&pair, &found) {
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

fn show_outcome(
    arguments: &ShowArguments,
    pair: &Pair<'_>,
    outcome: &Outcome,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if arguments.raw {
        out.write_all(outcome.text().as_bytes())?;
        return Ok(Status::Fine);
    }
    transcripts::write(out, outcome)?;
    transcripts::write_place(&mut anstream::stderr(), pair.template, outcome)?;
    Ok(Status::Fine)
}

/// What the reference did with a pair, in whole.
fn recorded(inputs: &Inputs, pair: &Pair<'_>) -> Result<Outcome, Failure> {
    let name = pair_name(pair);
    let Some(baseline) = inputs.baseline()? else {
        return Err(Failure::Request(
            "templates and cases from outside the suite have no records; `run --against` asks \
             the reference"
                .to_owned(),
        ));
    };
    report_problems(&baseline.records.problems)?;
    let answer = baseline
        .records
        .answer(pair, Fingerprint::of_case(pair.case))
        .map_err(|why| {
            Failure::Request(format!(
                "{name} is unverified: {why}\n  run `cargo run --release -- reference update {name}`"
            ))
        })?;
    baseline
        .snapshots
        .reference(pair, answer)
        .and_then(|text| transcript::decode(&text).ok())
        .ok_or_else(|| {
            Failure::Request(format!(
                "only the SHA-256 of what the reference did with {name} is recorded, and the \
                 snapshot is another\n  to see it: cargo run --release -- show {} {} --engine {}",
                pair.template.name,
                pair.case.id,
                Reference::of(pair.template.dialect).name
            ))
        })
}

fn compare_twins(arguments: &ParityArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs { suite, .. } = inputs::load(&arguments.sources)?;
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::chosen(&engines, &arguments.rendering)?;
    let runner = runner(&engines, chosen.as_ref(), &arguments.rendering)?;
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
            Explanations::read(&layout.parity()).map_err(Failure::Problems)?
        }
        _ => Explanations::default(),
    };
    let mut rendered = Vec::new();
    runner.render_each(&parity::pairs(&suite, &families), |mut one| {
        one.shorten(MOST_OF_DIFFERENCE);
        rendered.push(one);
    });
    let parities = parity::compare(&suite, &families, &rendered);
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
    let mut status = Status::Fine;
    let mut suite = || -> Result<Suite, Failure> {
        let Inputs { suite, .. } = inputs::load(&arguments.sources)?;
        report_problems(&suite.problems)?;
        if !suite.problems.is_empty() {
            status = Status::BadInput;
        }
        Ok(suite)
    };
    let listing = match arguments.what {
        Listed::Engines => Listing::engines(&Engines::default()),
        Listed::Templates => Listing::templates(&suite()?),
        Listed::Cases => Listing::cases(&suite()?),
        Listed::Divergences => {
            let path = inputs::layout()?.divergences();
            Listing::divergences(&Divergences::read(&path).map_err(Failure::Problems)?)
        }
    };
    match arguments.format {
        ListFormat::Human => listing.write(out)?,
        ListFormat::Json => listing.write_json(out)?,
    }
    Ok(status)
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

pub(super) fn runner<'e>(
    engines: &'e Engines,
    chosen: Option<&'e engines::Choice<'_>>,
    arguments: &RenderingArguments,
) -> Result<Runner<'e>, Failure> {
    let jobs = arguments.jobs.map(usize::from);
    let chosen: Vec<&dyn Engine> = chosen.map(engines::Choice::engine).into_iter().collect();
    Ok(Runner::new(engines, &chosen, jobs)?)
}

/// Tells what is wrong with the input, and which templates no engine renders. Returns
/// whether there was nothing to tell.
pub(super) fn report_input(runner: &Runner<'_>, suite: &Suite) -> Result<bool, Failure> {
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
