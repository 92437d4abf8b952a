//! The command `matrix`: measures engines over the whole suite, and shows the measurements.

pub mod report;

use std::io::Write;
use std::time::Duration;

use crate::report::format::Format;
use crate::report::progress::Progress;
use rolecall_core::file::is_there;
use rolecall_core::invocation;
use rolecall_core::problem::with_did_you_mean;
use rolecall_core::{Dialect, Engine, Outcome};
use rolecall_front::front::Front;
use rolecall_suite::construct::ConstructTable;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::layout::Layout;
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{self, Measurement, Measurer, SuiteVersion};
use rolecall_suite::reference::Identity;
use rolecall_suite::run::{Expected, Runner};
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::verdict::Truth;
use rolecall_suite::workspace::known::KnownSuite;

use crate::args::{MatrixArguments, MatrixCommand, MeasuringArguments, ShownArguments};
use crate::engines::{self, ChosenEngine};
use crate::failure::{Failure, Status, report_problems, tell};
use crate::session::Session;
use crate::{home, inputs};

pub(crate) fn execute(arguments: &MatrixArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    match &arguments.command {
        Some(MatrixCommand::Update(arguments)) => update(arguments, out),
        Some(MatrixCommand::Verify(arguments)) => verify(arguments, out),
        None => show(&arguments.shown, out),
    }
}

/// A suite with its snapshots and records, for a measurement. It must have no problems: measurements need
/// complete inputs.
fn sound<'s>(layout: &'s Layout, suite: &'s Suite) -> Result<KnownSuite<'s>, Failure> {
    let known = KnownSuite::read(layout, suite, &suite.templates)?;
    let problems = [&suite.problems, &known.expectations.records.problems];
    let problems: Vec<_> = problems.into_iter().flatten().cloned().collect();
    if problems.is_empty() {
        return Ok(known);
    }
    report_problems(&problems)?;
    Err(Failure::Request(
        "the suite has problems, so no engine was asked and nothing was written".to_owned(),
    ))
}

/// The table of constructs of a dialect, if a suite has one. Engines get the constructs as they are,
/// whatever front the suite's templates have.
fn constructs(layout: &Layout, dialect: Dialect) -> Result<Option<ConstructTable>, Failure> {
    if !is_there(&ConstructTable::file(layout, dialect)) {
        return Ok(None);
    }
    let mut constructs = ConstructTable::read(layout, dialect)?;
    constructs.case.front = Some(Front::Raw.name());
    Ok(Some(constructs))
}

/// A suite's present version for a dialect.
fn suite_version(
    known: &KnownSuite<'_>,
    constructs: Option<&ConstructTable>,
    dialect: Dialect,
) -> SuiteVersion {
    SuiteVersion::of(
        known.suite,
        &known.expectations.records,
        constructs,
        dialect,
    )
}

/// All measurements over a suite, with its present version.
fn matrix_of(known: &KnownSuite<'_>) -> Result<Matrix, Failure> {
    let (measurements, problems) = measurement::read_all(known.layout);
    report_problems(&problems)?;
    if !problems.is_empty() {
        return Err(Failure::Request(
            "there is no table of measurements that cannot be read".to_owned(),
        ));
    }
    let mut matrix = Matrix::new(measurements);
    for dialect in Dialect::ALL {
        let constructs = constructs(known.layout, dialect)?;
        let version = suite_version(known, constructs.as_ref(), dialect);
        matrix.set_state(dialect, version, constructs);
    }
    Ok(matrix)
}

/// The pairs of an engine's dialect. An error if it cannot be measured by them.
fn pairs<'s>(engine: &dyn Engine, suite: &'s Suite) -> Result<Vec<Pair<'s>>, Failure> {
    let (identity, dialect) = (Identity::of(engine), engine.dialect());
    if measurement::file_name(&identity).is_none() {
        return Err(Failure::Request(format!(
            "the engine calls itself `{}` in version `{}`, which cannot be the name of a file\n  \
             what is kept of an engine is named by both, as it says them in its first answer",
            identity.engine, identity.version
        )));
    }
    let pairs = suite.pairs();
    let pairs: Vec<Pair<'_>> = pairs
        .filter(|pair| pair.template.dialect == dialect)
        .collect();
    if pairs.is_empty() {
        return Err(Failure::Request(format!(
            "nothing is asked: {identity} renders {dialect} templates, and the suite has none"
        )));
    }
    Ok(pairs)
}

/// Asks an engine for all pairs of its dialect.
fn measure(
    known: &KnownSuite<'_>,
    name: &str,
    arguments: &MeasuringArguments,
) -> Result<Measurement, Failure> {
    let session = Session::new(&arguments.limits, arguments.jobs);
    let choice = session.open(name)?;
    let engine = choice.engine();
    let dialect = engine.dialect();
    let pairs = pairs(engine, known.suite)?;
    let constructs = constructs(known.layout, dialect)?;
    let version = suite_version(known, constructs.as_ref(), dialect);
    let mut measuring = Measurer::new(Identity::of(engine), dialect, version);
    let rows = constructs
        .as_ref()
        .map_or(0, |table| ROUNDS * table.rows.len());
    let what = format!("asking {}", engine.name());
    let progress = Progress::new(pairs.len() + rows, &what, "pairs");
    let elapsed = compare(known, &session, &choice, &pairs, &mut measuring, &progress)?;
    if let Some(table) = &constructs {
        let runner = session.runner(std::slice::from_ref(&choice))?;
        let runner = runner.with_progress(progress.step());
        let rounds = std::iter::repeat_with(|| outcomes(&runner, table));
        measuring.add_constructs(table, &rounds.take(ROUNDS).collect::<Vec<_>>());
    }
    progress.clear();
    measuring.set_deaths(engine.deaths().count);
    let measured = measuring.finish(pairs.len(), elapsed);
    measured.map_err(Failure::Request)
}

/// Renders pairs with an engine, and adds how they compare with the records. Returns how long it
/// took.
fn compare(
    known: &KnownSuite<'_>,
    session: &Session,
    choice: &ChosenEngine<'_>,
    pairs: &[Pair<'_>],
    measuring: &mut Measurer,
    progress: &Progress,
) -> Result<Duration, Failure> {
    // An explained difference still counts as a difference.
    let divergences = Divergences::default();
    let expected = Expected {
        accepted: None,
        truth: Truth::Records {
            records: &known.expectations.records,
            divergences: &divergences,
            snapshots: &known.expectations.snapshots,
        },
        belonging: None,
        needs_differences_only: true,
    };
    let runner = session.runner(std::slice::from_ref(choice))?;
    let runner = runner.with_progress(progress.step());
    let ran = runner.compare_each(pairs, &expected, |compared| measuring.add(&compared));
    Ok(ran.elapsed)
}

/// How often an engine is asked for each construct. minijinja, for one, finds the key `true` in a dict
/// with the key 1 only by chance: its maps have random seeds.
const ROUNDS: usize = 3;

/// The outcomes of a table of constructs, row by row.
fn outcomes(runner: &Runner<'_>, table: &ConstructTable) -> Vec<Outcome> {
    let pairs: Vec<Pair<'_>> = table
        .rows
        .iter()
        .map(|row| Pair {
            template: &row.template,
            case: &table.case,
        })
        .collect();
    let rendered = runner.render(&pairs);
    rendered.into_iter().map(|one| one.outcome).collect()
}

fn update(arguments: &MeasuringArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::layout()?;
    home::tell_suite(&layout);
    let suite = inputs::load_whole(&layout)?;
    let known = sound(&layout, &suite)?;
    for name in &arguments.engines {
        let measurement = measure(&known, name, arguments)?;
        let (path, is_other) = measurement.write(known.layout)?;
        report::write_updated(out, &measurement, &path, is_other)?;
    }
    Ok(Status::Fine)
}

fn verify(arguments: &MeasuringArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::layout()?;
    let suite = inputs::load_whole(&layout)?;
    let known = sound(&layout, &suite)?;
    let matrix = matrix_of(&known)?;
    let mut is_fine = true;
    for name in &arguments.engines {
        let mut now = measure(&known, name, arguments)?;
        let of_engine = matrix.versions(&now.engine.engine);
        let kept = of_engine.iter().find(|kept| kept.name() == now.name());
        // Some engines are not deterministic. Outcomes that come twice are an engine's results.
        if kept.is_some_and(|kept| !kept.is_same(&now)) {
            let again = measure(&known, name, arguments)?;
            if !again.is_same(&now) {
                tell(&format!(
                    "{}: the second measurement has other results than the first one",
                    now.name()
                ));
                now = again;
            }
        }
        let table = matrix.constructs(now.dialect);
        is_fine &= report::write_verified(out, &now, kept.copied(), &of_engine, table)?;
    }
    if !is_fine {
        let names = invocation::words(arguments.engines.iter().map(String::as_str));
        writeln!(
            out,
            "to record their current results: {}",
            invocation::command(&format!("matrix update {names}"))
        )?;
    }
    Ok(if is_fine {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}

/// The suite around the current folder. If that is the user's own suite and has no measurements,
/// the built-in one.
fn shown_layout() -> Result<Layout, Failure> {
    let layout = home::layout()?;
    let is_empty = || {
        let (measurements, problems) = measurement::read_all(&layout);
        measurements.is_empty() && problems.is_empty()
    };
    if layout.configuration().is_none() || !is_empty() {
        return Ok(layout);
    }
    tell(&format!(
        "no engine was measured over this suite, which `{}` does: of the built-in suite",
        invocation::command("matrix update ENGINE")
    ));
    home::builtin()
}

fn show(arguments: &ShownArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = shown_layout()?;
    let suite = inputs::load_whole(&layout)?;
    let known = KnownSuite::read(&layout, &suite, &suite.templates)?;
    let matrix = matrix_of(&known)?;
    if matrix.measurements().is_empty() {
        return Err(Failure::Request(format!(
            "no engine was measured over this suite\n  `{}` asks one and records its results",
            invocation::command("matrix update ENGINE")
        )));
    }
    let mut chosen = Vec::new();
    for name in &arguments.engines {
        chosen.extend(find_all(&matrix, name)?);
    }
    match (arguments.format, chosen.as_slice()) {
        (Format::Json, _) => report::write_json(out, &matrix, &chosen)?,
        (_, []) => report::write_table(out, &matrix)?,
        (_, chosen) => {
            for measurement in chosen {
                report::write_detail(out, &matrix, measurement, arguments.all)?;
            }
        }
    }
    Ok(Status::Fine)
}

/// The measurements of an engine, or of one version of it.
fn find_all<'m>(matrix: &'m Matrix, name: &str) -> Result<Vec<&'m Measurement>, Failure> {
    let versions = matrix.versions(name);
    if !versions.is_empty() {
        return Ok(versions);
    }
    let all = matrix.measurements().iter();
    // The name is the engine's own, or that of its file.
    let file = format!("{name}.json");
    let is_named = |one: &&Measurement| {
        one.name() == name || measurement::file_name(&one.engine).as_ref() == Some(&file)
    };
    if let Some(one) = all.clone().find(is_named) {
        return Ok(vec![one]);
    }
    let mut known: Vec<String> = all
        .flat_map(|one| [one.engine.engine.clone(), one.name()])
        .collect();
    known.dedup();
    let message = format!("no engine `{name}` was measured");
    let message = with_did_you_mean(message, engines::name_now(name), known);
    let mut names: Vec<_> = matrix
        .measurements()
        .iter()
        .map(Measurement::name)
        .collect();
    names.dedup();
    Err(Failure::Request(format!(
        "{message}\n  there are {}; `{}` measures another",
        names.join(", "),
        invocation::command("matrix update ENGINE")
    )))
}
