//! The command `diff`: compares two sides; neither counts as correct.

use std::io::Write;

use crate::report::format::Format;
use crate::report::progress::Progress;
use crate::report::{clean, comparison as report, problems};
use rolecall_core::invocation;
use rolecall_core::problem::Problem;
use rolecall_core::{Dialect, Template};
use rolecall_front::front::Front;
use rolecall_suite::comparison::{Comparison, MatchedTemplates, SideKind, Sides};
use rolecall_suite::saved_run::SavedRun;
use rolecall_suite::selection::{Filter, select};
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::side::{self, DiffSide};

use crate::args::DiffArguments;
use crate::engines::ChosenEngine;
use crate::failure::{Failure, Status, report_problems};
use crate::session::{self, Session};
use crate::{home, inputs, page};

/// A comparison, and whether the inputs had no problems.
type CheckedComparison = (Comparison, bool);

pub(crate) fn execute(arguments: &DiffArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let session = Session::of(&arguments.rendering);
    let (comparison, is_sound) = if !arguments.engines.is_empty() {
        two_engines(&session, arguments)?
    } else if !arguments.fronts.is_empty() {
        two_fronts(&session, arguments)?
    } else {
        two_sides(&session, arguments)?
    };
    let comparison = comparison.sorted();
    match arguments.format {
        Format::Json => report::write_json(out, &comparison)?,
        Format::Markdown => report::write_markdown(out, &comparison)?,
        _ => report::write(out, &comparison, arguments.all)?,
    }
    if let Some(path) = &arguments.html {
        page::write(path, |out| report::write_page(out, &comparison))?;
    }
    // Two sides that fail in every case do not differ, and yet nothing was compared.
    let is_sound = is_sound && !comparison.all_fail();
    Ok(Status::of(is_sound, !comparison.differs()))
}

/// An empty comparison of two sides.
fn new(arguments: &DiffArguments, subject: SideKind, sides: [String; 2]) -> Comparison {
    Comparison::new(subject, sides).keeping(arguments.html.is_some())
}

/// Compares two templates, two models, or two saved runs.
fn two_sides(session: &Session, arguments: &DiffArguments) -> Result<CheckedComparison, Failure> {
    let [a, b, globs @ ..] = arguments.operands.as_slice() else {
        return Err(Failure::Request(format!(
            "two sides are needed: `{}`, or --engines A,B or --fronts A,B\n  `{}` shows what A and \
             B may be",
            invocation::command("diff A B"),
            invocation::command("diff --help")
        )));
    };
    if !arguments.sources.templates.is_empty() {
        return Err(Failure::Request(
            "--templates is for --engines and --fronts: A and B name the templates themselves"
                .to_owned(),
        ));
    }
    let filters = case_filters(globs)?;
    let texts = [a.clone(), b.clone()];
    let sources = &arguments.sources;
    let access = home::access();
    let settings = sources.set.settings();
    let find = |text| side::find(&access, text, &sources.cases, &settings);
    match (find(a)?, find(b)?) {
        (DiffSide::Run(a), DiffSide::Run(b)) => {
            let comparison = two_runs([a, b], &filters, new(arguments, SideKind::Runs, texts))?;
            Ok((comparison, true))
        }
        (DiffSide::Templates(a, _files), DiffSide::Templates(b, _others)) => {
            let comparison = new(arguments, SideKind::Templates, texts);
            two_templates(session, arguments, [*a, *b], &filters, comparison)
        }
        (DiffSide::Run(_), DiffSide::Templates(..)) => Err(mixed(a, b)),
        (DiffSide::Templates(..), DiffSide::Run(_)) => Err(mixed(b, a)),
    }
}

fn mixed(run: &str, template: &str) -> Failure {
    let save = format!(
        "render --templates {} --format jsonl",
        invocation::word(template)
    );
    Failure::Request(format!(
        "`{run}` is a run that was saved, and `{template}` is none\n  to save one: {}",
        invocation::command(&save)
    ))
}

/// Globs over the cases of all templates.
fn case_filters(globs: &[String]) -> Result<Vec<Filter>, Failure> {
    let filter = |glob: &String| {
        let text = if glob.contains(':') {
            glob.clone()
        } else {
            format!("*:{glob}")
        };
        let parsed: Result<Filter, _> = text.parse();
        parsed.map_err(|error| Failure::Request(error.to_string()))
    };
    globs.iter().map(filter).collect()
}

/// Filters as the user typed them.
fn filters(arguments: &DiffArguments) -> Result<Vec<Filter>, Failure> {
    let filter = |text: &String| {
        let parsed: Result<Filter, _> = text.parse();
        parsed.map_err(|error| Failure::Request(error.to_string()))
    };
    arguments.operands.iter().map(filter).collect()
}

fn two_templates(
    session: &Session,
    arguments: &DiffArguments,
    mut suites: [Suite; 2],
    filters: &[Filter],
    mut comparison: Comparison,
) -> Result<CheckedComparison, Failure> {
    let chosen = session.named()?;
    let runner = session.runner(&chosen)?;
    for suite in &mut suites {
        session::use_front(arguments.front.name, suite);
    }
    let mut is_sound = report_inputs(&suites)?;
    for (suite, text) in suites.iter().zip(&comparison.sides) {
        if suite.templates.is_empty() {
            return Err(Failure::Request(format!(
                "there is no template in `{text}`"
            )));
        }
    }
    let (sides, only) = matched(&suites, filters, arguments.front.name)?;
    comparison.only = only;
    let count = sides.iter().flatten().map(Vec::len).sum();
    let is_slow = chosen.iter().any(ChosenEngine::is_slow);
    let progress = progress(is_slow, count);
    let runner = runner.with_progress(progress.step());
    for pairs in sides {
        let templates = [&pairs[0], &pairs[1]].map(|pairs| pairs.first().map(|pair| pair.template));
        let [Some(one), Some(other)] = templates else {
            continue;
        };
        comparison.render([&runner, &runner], pairs, &[]);
        let (cards, problems) = session::examine(&runner, &[one.clone(), other.clone()]);
        report_problems(&problems)?;
        is_sound &= problems.is_empty();
        comparison.add_cards(&cards);
    }
    progress.clear();
    Ok((something(comparison)?, is_sound))
}

/// The pairs of templates that both sides have, and the names of those that only one has.
fn matched<'s>(
    [a, b]: &'s [Suite; 2],
    filters: &[Filter],
    front: Option<Front>,
) -> Result<(Vec<Sides<'s>>, [Vec<String>; 2]), Failure> {
    // The other side may have what one side lacks.
    for filter in filters {
        let filter = std::slice::from_ref(filter);
        select(a, filter).or_else(|error| select(b, filter).map_err(|_| error))?;
    }
    let names = |suite: &Suite| -> Vec<String> {
        let templates = suite.templates.iter();
        templates.map(|one| one.name.to_string()).collect()
    };
    let twins = MatchedTemplates::of(&names(a), &names(b));
    if twins.pairs.is_empty() {
        return Err(no_twins(&twins.only));
    }
    let pairs = |suite: &'s Suite, name: &str| -> Result<Vec<Pair<'s>>, Failure> {
        let pairs = pairs_of(suite, name, filters);
        if pairs.is_empty() {
            return Ok(pairs);
        }
        session::after(front, pairs)
    };
    let sides = twins.pairs.iter();
    let sides = sides.map(|[one, other]| Ok([pairs(a, one)?, pairs(b, other)?]));
    Ok((sides.collect::<Result<_, Failure>>()?, twins.only))
}

fn no_twins(names: &[Vec<String>; 2]) -> Failure {
    let listed = |names: &[String]| {
        let mut first: Vec<String> = names
            .iter()
            .take(5)
            .map(|name| format!("`{name}`"))
            .collect();
        if names.len() > first.len() {
            first.push(format!("{} more", names.len() - first.len()));
        }
        first.join(", ")
    };
    let [a, b] = names;
    Failure::Request(format!(
        "no template of A has the name of one of B: A has {}, B has {}\n  name two templates, or \
         two folders whose templates have the same names",
        listed(a),
        listed(b),
    ))
}

/// The names of the two engines, each given alone or both in one text.
fn engine_names(given: &[String]) -> Result<[&str; 2], Failure> {
    let names: Vec<&str> = match given {
        // Only one text is split: with the option given twice, a command line may have commas of its
        // own.
        [both] => both.split(',').map(str::trim).collect(),
        each => each.iter().map(String::as_str).collect(),
    };
    let [a, b] = names.as_slice() else {
        return Err(Failure::Request(format!(
            "--engines takes two engines, separated by a comma, but there {}",
            match names.len() {
                1 => "is one".to_owned(),
                count => format!("are {count}"),
            }
        )));
    };
    Ok([a, b])
}

fn two_engines(session: &Session, arguments: &DiffArguments) -> Result<CheckedComparison, Failure> {
    let [a, b] = engine_names(&arguments.engines)?;
    let mut suite = inputs::open(&arguments.sources.subject(&[]))?.suite;
    session::use_front(arguments.front.name, &mut suite);
    let choices = [session.open(a)?, session.open(b)?];
    let [first, second] = &choices;
    let dialects = [first.engine().dialect(), second.engine().dialect()];
    if dialects[0] != dialects[1] {
        let [one, other] = dialects;
        return Err(Failure::Request(format!(
            "no template is rendered by both: `{a}` is for {one}, `{b}` for {other}"
        )));
    }
    let runners = [
        session.runner(std::slice::from_ref(first))?,
        session.runner(std::slice::from_ref(second))?,
    ];
    let is_sound = session::report_input(&suite)?;
    let filters = filters(arguments)?;
    let pairs = session::after(arguments.front.name, select(&suite, &filters)?)?;
    let pairs = of_dialects(pairs, |dialect| dialect == dialects[0])?;
    let descriptions = [first, second].map(|choice| choice.engine().description());
    let mut comparison = new(arguments, SideKind::Engines, descriptions);
    // Two builds of one engine may give the same name and version. Then only the words of the user tell
    // them apart.
    if comparison.sides[0] == comparison.sides[1] {
        comparison.sides = [a, b].map(str::to_owned);
    }
    let [one, other] = runners;
    let is_slow = choices.iter().any(ChosenEngine::is_slow);
    let progress = progress(is_slow, 2 * pairs.len());
    let runners = [one, other].map(|runner| runner.with_progress(progress.step()));
    for pairs in pairs.chunk_by(|a, b| std::ptr::eq(a.template, b.template)) {
        let [one, other] = &runners;
        comparison.render([one, other], [pairs.to_vec(), pairs.to_vec()], &[]);
    }
    progress.clear();
    Ok((something(comparison)?, is_sound))
}

fn two_fronts(session: &Session, arguments: &DiffArguments) -> Result<CheckedComparison, Failure> {
    let [a, b] = arguments.fronts.as_slice() else {
        return Err(Failure::Request(format!(
            "--fronts takes two fronts, separated by a comma, but there {}\n  `{}` says what \
             each is for",
            match arguments.fronts.len() {
                1 => "is one".to_owned(),
                count => format!("are {count}"),
            },
            invocation::command("list fronts")
        )));
    };
    let suite = inputs::open(&arguments.sources.subject(&[]))?.suite;
    let chosen = session.named()?;
    let runner = session.runner(&chosen)?;
    let is_sound = session::report_input(&suite)?;
    let mut pairs = select(&suite, &filters(arguments)?)?;
    // Each front gets the cases as they are written.
    pairs.retain(|pair| pair.case.front.is_none());
    let pairs = of_dialects(pairs, |dialect| a.is_for(dialect) && b.is_for(dialect))?;
    let sides = [*a, *b];
    let names = sides.map(|front| format!("{front}: {}", front.description()));
    let mut comparison = new(arguments, SideKind::Fronts, names);
    let is_slow = chosen.iter().any(ChosenEngine::is_slow);
    let progress = progress(is_slow, 2 * pairs.len());
    let runner = runner.with_progress(progress.step());
    for pairs in pairs.chunk_by(|a, b| std::ptr::eq(a.template, b.template)) {
        let Some(first) = pairs.first() else {
            continue;
        };
        let templates = sides.map(|front| after(first.template, front));
        let [one, other] = &templates;
        let put = |template| {
            let pairs = pairs.iter().map(|pair| Pair { template, ..*pair });
            pairs.collect::<Vec<_>>()
        };
        comparison.render([&runner, &runner], [put(one), put(other)], &[]);
    }
    progress.clear();
    Ok((something(comparison)?, is_sound))
}

fn after(template: &Template, front: Front) -> Template {
    Template {
        front: Some(front.name().to_owned()),
        ..template.clone()
    }
}

/// The pairs of a template that match any filter.
fn pairs_of<'s>(suite: &'s Suite, template: &str, filters: &[Filter]) -> Vec<Pair<'s>> {
    let pairs = suite.pairs().filter(|pair| {
        pair.template.name.as_str() == template
            && (filters.is_empty() || filters.iter().any(|filter| filter.matches(pair)))
    });
    pairs.collect()
}

fn of_dialects(
    mut pairs: Vec<Pair<'_>>,
    has: impl Fn(Dialect) -> bool,
) -> Result<Vec<Pair<'_>>, Failure> {
    pairs.retain(|pair| has(pair.template.dialect));
    if pairs.is_empty() {
        return Err(Failure::Request(
            "none of these templates has a dialect that both sides are for".to_owned(),
        ));
    }
    Ok(pairs)
}

/// Compares the cases of saved runs that match any filter.
fn two_runs(
    mut runs: [SavedRun; 2],
    filters: &[Filter],
    mut comparison: Comparison,
) -> Result<Comparison, Failure> {
    let is_asked_for = |template: &str, case: &str| {
        let mut all = filters.iter();
        // A saved run has the names alone. There is no template or case that a filter could look into.
        filters.is_empty() || all.any(|filter| filter.matches_names(template, case))
    };
    for run in &mut runs {
        run.lines
            .retain(|line| is_asked_for(&line.template, &line.case));
    }
    comparison.read(runs);
    if comparison.pairings.is_empty() && comparison.only.iter().all(|names| !names.is_empty()) {
        return Err(no_twins(&comparison.only));
    }
    something(comparison)
}

fn something(comparison: Comparison) -> Result<Comparison, Failure> {
    if comparison.tally().count() == 0 {
        return Err(Failure::Request(
            "there is no case that both sides have".to_owned(),
        ));
    }
    Ok(comparison)
}

/// Reports the problems of both sides, each once. Returns whether there were none.
fn report_inputs(suites: &[Suite; 2]) -> Result<bool, Failure> {
    let mut found: Vec<Problem> = Vec::new();
    let mut notes = Vec::new();
    for suite in suites {
        for note in &suite.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        for problem in &suite.problems {
            if !found.contains(problem) {
                found.push(problem.clone());
            }
        }
    }
    problems::write_notes(&mut clean::messages(), &notes)?;
    report_problems(&found)?;
    Ok(found.is_empty())
}

fn progress(is_slow: bool, pairs: usize) -> Progress {
    if is_slow {
        Progress::new(pairs, "rendering", "pairs")
    } else {
        Progress::hidden()
    }
}
