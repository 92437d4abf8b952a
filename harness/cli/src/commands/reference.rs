//! The commands `reference update` and `reference verify`.

use std::io::Write;

use crate::report::counted;
use crate::report::difference;
use crate::report::problems;
use crate::report::progress::Progress;
use crate::report::references as report;
use crate::report::run_report::RunReport;
use crate::report::summary;
use rolecall_core::Dialect;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_suite::conclusion::Conclusion;
use rolecall_suite::divergence::{self, Divergences};
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::recording::standing;
use rolecall_suite::reference::{Identity, Reference};
use rolecall_suite::run::Acceptance;
use rolecall_suite::selection::select;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};

use crate::args::{ReferenceArguments, ReferenceCommand, SetupArguments};
use crate::failure::{Failure, Status, report_problems};
use crate::roundtrip::ReferenceReadings;
use crate::{engines, home, inputs, references, trust};

pub(super) fn execute(command: &ReferenceCommand, out: &mut dyn Write) -> Result<Status, Failure> {
    match command {
        ReferenceCommand::Setup(arguments) => setup(arguments),
        ReferenceCommand::Update(arguments) => update(arguments, out),
        ReferenceCommand::Verify(arguments) => verify(arguments, out),
    }
}

/// The suite, which must have no problems: records need complete inputs.
fn suite(layout: &Layout) -> Result<Suite, Failure> {
    home::tell_suite(layout);
    let suite = inputs::load_own(layout)?;
    if suite.problems.is_empty() {
        return Ok(suite);
    }
    report_problems(&suite.problems)?;
    Err(Failure::Request(
        "the suite has problems, so no reference was asked and nothing was written".to_owned(),
    ))
}

fn read_divergences(layout: &Layout) -> Result<Divergences, Failure> {
    divergence::read(&layout.divergences()).map_err(Failure::Problems)
}

/// Starts the references for some pairs.
fn open(
    pairs: &[Pair<'_>],
    arguments: &ReferenceArguments,
) -> Result<Vec<ProtocolEngine>, Failure> {
    Dialect::ALL
        .into_iter()
        .filter(|dialect| pairs.iter().any(|pair| pair.template.dialect == *dialect))
        .map(|dialect| {
            engines::reference_program(&Reference::of(dialect), &arguments.limits.chosen().program)
        })
        .collect()
}

fn names(programs: &[ProtocolEngine]) -> String {
    let names: Vec<_> = programs
        .iter()
        .map(|program| Identity::of(program).to_string())
        .collect();
    names.join(" and ")
}

/// Runs the program that installs the references.
#[allow(clippy::disallowed_methods)] // The program is this one's own.
fn setup(arguments: &SetupArguments) -> Result<Status, Failure> {
    let layout = home::layout()?;
    // A checkout uses the references' programs in place. Other folders may hold anything.
    let is_own = trust::is_own_checkout(&layout);
    let scripts = if is_own {
        layout.scripts()
    } else {
        let builtin = home::builtin()?;
        rolecall_suite::builtin::restore_scripts(builtin.root())?;
        builtin.scripts()
    };
    let script = scripts.join("setup-references");
    let mut bash = std::process::Command::new("bash");
    bash.arg(&script).args(&arguments.names);
    if !is_own {
        bash.env("ROLECALL_REFERENCES", home::references_folder(&layout)?);
    }
    let status = bash.status().map_err(|error| {
        Failure::Request(format!(
            "bash cannot be started, which {} is written for: {error}",
            script.display()
        ))
    })?;
    if status.success() {
        Ok(Status::Fine)
    } else {
        Err(Failure::Request(format!(
            "the references are not installed: {status}"
        )))
    }
}

fn update(arguments: &ReferenceArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = home::writable_layout()?;
    let _lock = home::lock(&layout)?;
    let suite = suite(&layout)?;
    let pairs = select(&suite, &arguments.filters)?;
    let divergences = read_divergences(&layout)?;
    let programs = open(&pairs, arguments)?;
    let engines = arguments.limits.chosen().engines();
    let jobs = arguments.jobs.map(usize::from);
    let mut asked = references::ask(
        &programs,
        (&engines, jobs),
        (&layout, &suite, &divergences),
        &pairs,
    )?;
    let read = ReferenceReadings::ask(&programs, (&engines, jobs), &suite, &pairs)?;
    // Everything is known before the first file is written.
    asked.report_broken()?;
    read.add_to(&mut asked.updates);
    let recorded = asked.write(&Snapshots::of(&layout), &divergences);
    report_problems(&recorded.problems)?;
    report::write_updates(out, asked.updates.records())?;
    writeln!(
        out,
        "{}{} asked of {} in {:.1} s; {} written",
        counted(pairs.len(), "pair", "pairs"),
        and_answers(read.count()),
        names(&programs),
        asked.elapsed.as_secs_f64(),
        counted(recorded.files.len(), "file", "files"),
    )?;
    let is_whole = asked
        .updates
        .records()
        .all(|update| update.unanswered.is_empty());
    Ok(if !recorded.problems.is_empty() {
        Status::BadInput
    } else if !is_whole {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

/// How many answers were read besides the pairs, in words.
fn and_answers(count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    format!(" and {}", counted(count, "answer", "answers"))
}

fn verify(arguments: &ReferenceArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    home::hold_meant(false)?;
    let layout = home::layout()?;
    let suite = suite(&layout)?;
    let pairs = select(&suite, &arguments.filters)?;
    let expectations = Expectations::read(&layout, &suite.templates).map_err(Failure::Problems)?;
    let Expectations {
        snapshots,
        records,
        divergences,
    } = &expectations;
    report_problems(&records.problems)?;
    let programs = open(&pairs, arguments)?;
    let engines = arguments.limits.chosen().engines();
    let progress = Progress::new(pairs.len(), "asking the references", "pairs");
    let mut standings = report::RecordStandings::default();
    let mut conclusion = Conclusion::default();
    let mut groups = difference::FaultGroups::default();
    let mut shown = Ok(());
    // Compares this process's engines with the references' current results.
    let accepted = Acceptance {
        suite: &suite,
        snapshots,
    };
    let jobs = arguments.jobs.map(usize::from);
    let ran = references::runner(&programs, &engines, jobs, &progress)?.verify_each(
        &pairs,
        accepted,
        divergences,
        |reference, compared| {
            let standing = standing(records, reference);
            if shown.is_ok() {
                shown = standings.add(reference, &standing);
            }
            conclusion.add(&compared, divergences);
            groups.add(&compared);
        },
    );
    progress.clear();
    shown?;
    conclusion.finish(ran);
    let read = ReferenceReadings::ask(&programs, (&engines, jobs), &suite, &pairs)?;
    let read = read.verify(&suite, &expectations);
    conclusion.problems.extend(read.problems);
    conclusion.roundtrip = read.tally;
    for program in &programs {
        conclusion.add_engine(program);
    }
    let groups = groups.sorted();
    difference::write(out, &groups, difference::Extent::SHORT)?;
    difference::write_gone(out, &conclusion.gone)?;
    problems::write_shared(out, &conclusion.problems)?;
    let (origin, program_names) = (layout.to_string(), names(&programs));
    summary::write_close(out, &conclusion, &origin, Some(&program_names))?;
    standings.write(out, &origin)?;
    let whole = RunReport {
        conclusion: &conclusion,
        groups: &groups,
        input: &records.problems,
        unread: &[],
        origin: &origin,
        reference_names: Some(&program_names),
        is_recorded: false,
        engine: None,
    };
    if !whole.passes() {
        summary::write_failure(out, &origin, &whole.headline())?;
    }
    Ok(if whole.passes() && standings.wrong == 0 {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}
