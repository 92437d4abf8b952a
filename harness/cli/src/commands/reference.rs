//! The commands `reference update` and `reference verify`.

use std::io::Write;

use rolecall::divergence::Divergences;
use rolecall::engines::Engines;
use rolecall::problem::Problem;
use rolecall::protocol::ProtocolEngine;
use rolecall::record::Records;
use rolecall::recording::{keep_transcripts, standing, updates};
use rolecall::reference::{Identity, Reference};
use rolecall::report::progress::Progress;
use rolecall::report::{counted, difference, references, summary};
use rolecall::run::{Compared, Rendered, Runner, Timed, agreeing_again};
use rolecall::selection::select;
use rolecall::snapshot::Snapshots;
use rolecall::suite::{Layout, Pair, Suite};
use rolecall::transcript;
use rolecall::verdict::by_outcome;
use rolecall_model::{Dialect, Engine};

use crate::args::{ReferenceArguments, ReferenceCommand};
use crate::failure::{Failure, Status, report_problems, tell};
use crate::{engines, inputs};

pub(super) fn execute(command: &ReferenceCommand, out: &mut dyn Write) -> Result<Status, Failure> {
    match command {
        ReferenceCommand::Update(arguments) => update(arguments, out),
        ReferenceCommand::Verify(arguments) => verify(arguments, out),
    }
}

/// The suite without anything wrong in it: what is recorded has to be of whole inputs.
fn suite(layout: &Layout) -> Result<Suite, Failure> {
    let suite = Suite::load_layout(layout);
    if suite.problems.is_empty() {
        return Ok(suite);
    }
    report_problems(&suite.problems)?;
    Err(Failure::Request(
        "nothing was asked of the references, and nothing written, with problems in the suite"
            .to_owned(),
    ))
}

fn read_divergences(layout: &Layout) -> Result<Divergences, Failure> {
    Divergences::read(&layout.divergences()).map_err(Failure::Problems)
}

/// Starts the references that some pairs need.
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

fn ask<'s>(
    pairs: &[Pair<'s>],
    programs: &'s [ProtocolEngine],
    engines: &'s Engines,
    arguments: &ReferenceArguments,
) -> Result<Timed<Rendered<'s>>, Failure> {
    let chosen: Vec<&dyn Engine> = programs
        .iter()
        .map(|program| program as &dyn Engine)
        .collect();
    let progress = Progress::new(pairs.len(), "asking the references");
    let jobs = arguments.jobs.map(usize::from);
    let run = Runner::new(engines, &chosen, jobs)?
        .with_progress(progress.step())
        .render(pairs);
    progress.clear();
    Ok(run)
}

fn names(programs: &[ProtocolEngine]) -> String {
    let names: Vec<_> = programs
        .iter()
        .map(|program| Identity::of(program).to_string())
        .collect();
    names.join(" and ")
}

fn update(arguments: &ReferenceArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = inputs::layout()?;
    let suite = suite(&layout)?;
    let pairs = select(&suite, &arguments.filters)?;
    let divergences = read_divergences(&layout)?;
    let programs = open(&pairs, arguments)?;
    let engines = arguments.limits.chosen().engines();
    let run = ask(&pairs, &programs, &engines, arguments)?;
    // Everything is known before the first file is written.
    let updates = updates(&layout, &suite, &run.results);
    let broken: Vec<Problem> = updates.iter().filter_map(|u| u.broken.clone()).collect();
    report_problems(&broken)?;
    if !broken.is_empty() {
        tell("nothing is kept of records that cannot be read");
    }
    // What stands in the way of one file leaves the others.
    let mut written = 0;
    let mut problems = Vec::new();
    for update in &updates {
        match update.write() {
            Ok(is_new) => written += usize::from(is_new),
            Err(problem) => problems.push(problem),
        }
    }
    let snapshots = Snapshots::of(&layout);
    let (kept, in_the_way) = keep_transcripts(&snapshots, &divergences, &run.results);
    problems.extend(in_the_way);
    report_problems(&problems)?;
    references::write_updates(out, &updates)?;
    for path in &kept {
        writeln!(out, "{}", path.display())?;
    }
    writeln!(
        out,
        "{} asked of {} in {:.1} s; {} written",
        counted(run.results.len(), "pair", "pairs"),
        names(&programs),
        run.elapsed.as_secs_f64(),
        counted(written, "file", "files"),
    )?;
    let crashed = updates.iter().any(|update| !update.crashed.is_empty());
    Ok(if !problems.is_empty() {
        Status::BadInput
    } else if crashed {
        Status::Nonconforming
    } else {
        Status::Fine
    })
}

fn verify(arguments: &ReferenceArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let layout = inputs::layout()?;
    let suite = suite(&layout)?;
    let pairs = select(&suite, &arguments.filters)?;
    let divergences = read_divergences(&layout)?;
    let records = Records::read(&layout, &suite.templates);
    report_problems(&records.problems)?;
    let programs = open(&pairs, arguments)?;
    let engines = arguments.limits.chosen().engines();
    let run = ask(&pairs, &programs, &engines, arguments)?;
    let standings: Vec<_> = run
        .results
        .iter()
        .map(|rendered| standing(&records, rendered))
        .collect();

    // The engines of this process against what the references did just now.
    let snapshots = Snapshots::of(&layout);
    let jobs = arguments.jobs.map(usize::from);
    let ours = Runner::new(&engines, &[], jobs)?.render(&pairs);
    let results: Vec<Compared<'_>> = ours
        .results
        .into_iter()
        .zip(&run.results)
        .map(|(ours, reference)| {
            let shown = transcript::encode(&ours.outcome);
            let comparison = snapshots.compare(&ours.pair, &shown);
            let verdict = by_outcome(
                &divergences,
                ours.engine,
                &ours.pair,
                &reference.outcome,
                &ours.outcome,
            );
            Compared::new(ours, Some(comparison), verdict)
        })
        .collect();
    let gone = agreeing_again(&divergences, &results);
    let tally = summary::Tally::of(&results);
    let groups = difference::groups(&results);
    difference::write(out, &groups, difference::Extent::SHORT)?;
    difference::write_gone(out, &gone)?;
    let run_of_ours = Timed {
        results,
        elapsed: run.elapsed,
    };
    summary::write_close(out, &run_of_ours, Some(&names(&programs)))?;
    let wrong = references::write_standings(out, &run.results, &standings)?;
    if wrong > 0 {
        writeln!(
            out,
            "to write down what the references do now: cargo run --release -- reference update"
        )?;
    }
    let is_fine = tally.is_as_the_reference()
        && tally.is_as_accepted()
        && gone.is_empty()
        && wrong == 0
        && records.problems.is_empty();
    Ok(if is_fine {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}
