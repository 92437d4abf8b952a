//! The commands `reference update` and `reference verify`.

pub mod report;

use std::io::Write;

use crate::report::progress::Progress;
use crate::report::run_report::RunReport;
use crate::report::{counted, difference, problems, summary};
use rolecall_core::Dialect;
use rolecall_front::front::Front;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_suite::conclusion::{Conclusion, FaultGroups};
use rolecall_suite::divergence::{self, Divergences};
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::recording::Updates;
use rolecall_suite::records::Records;
use rolecall_suite::reference::{Identity, Reference};
use rolecall_suite::run::{Acceptance, Expected, Rendered, Runner};
use rolecall_suite::selection::select;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::verdict::Truth;
use rolecall_suite::workspace::known::KnownSuite;

use crate::args::{ReferenceArguments, ReferenceCommand};

use crate::failure::{Failure, Status, report_problems};
use crate::references::FrontResults;
use crate::roundtrip::ReferenceReadings;
use crate::session::Session;
use crate::{allowed, engines, home, inputs, references};

pub(crate) fn execute(command: &ReferenceCommand, out: &mut dyn Write) -> Result<Status, Failure> {
    match command {
        ReferenceCommand::Setup { names } => setup(names),
        ReferenceCommand::Update(arguments) => update(arguments, out),
        ReferenceCommand::Verify(arguments) => verify(arguments, out),
    }
}

/// The suite, which must have no problems: records need complete inputs.
fn suite(layout: &Layout) -> Result<Suite, Failure> {
    home::tell_suite(layout);
    let refusal = "the suite has problems, so no reference was asked and nothing was written";
    inputs::load_sound(layout, refusal)
}

fn read_divergences(layout: &Layout) -> Result<Divergences, Failure> {
    divergence::read(&layout.divergences()).map_err(Failure::Problems)
}

/// Starts the references for some pairs.
fn open(pairs: &[Pair<'_>], session: &Session) -> Result<Vec<ProtocolEngine>, Failure> {
    Dialect::ALL
        .into_iter()
        .filter(|dialect| pairs.iter().any(|pair| pair.template.dialect == *dialect))
        .map(|dialect| engines::reference_program(&Reference::of(dialect), &session.limits.program))
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
fn setup(names: &[String]) -> Result<Status, Failure> {
    let layout = home::layout()?;
    // A checkout uses the references' programs in place. Other folders may hold anything.
    let is_own = allowed::is_own_checkout(&layout);
    let scripts = if is_own {
        layout.scripts()
    } else {
        let builtin = home::builtin()?;
        rolecall_suite::builtin::restore_scripts(builtin.root())?;
        builtin.scripts()
    };
    let script = scripts.join("setup-references");
    let mut bash = std::process::Command::new("bash");
    bash.arg(&script).args(names);
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
    let session = Session::new(&arguments.limits, arguments.jobs);
    let programs = open(&pairs, &session)?;
    let updates = Updates::new(&layout, &suite);
    let mut asked = references::ask(&programs, &session, updates, &divergences, &pairs)?;
    let read = ReferenceReadings::ask(&programs, &session, &suite, &pairs)?;
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
    for (front, asked) in ask_fronts(&layout, &suite, arguments, &session)? {
        asked
            .now
            .write(&layout, front)
            .map_err(|one| Failure::Problems(vec![one]))?;
        write_front(out, &asked)?;
    }
    Ok(Status::of(recorded.problems.is_empty(), is_whole))
}

/// What the applications of served fronts make of the suite: those that are set up, if nobody has
/// named pairs.
fn ask_fronts(
    layout: &Layout,
    suite: &Suite,
    arguments: &ReferenceArguments,
    session: &Session,
) -> Result<Vec<(Front, FrontResults)>, Failure> {
    let mut found = Vec::new();
    if !layout.is_checkout() || !arguments.filters.is_empty() {
        return Ok(found);
    }
    let own = Records::read(layout, &Snapshots::of(layout), &suite.templates);
    for front in Front::ALL.into_iter().filter(|front| front.is_served()) {
        if let Some(asked) = references::ask_front(front, layout, session, &own)? {
            found.push((front, asked));
        }
    }
    Ok(found)
}

/// Writes what has changed since a front was recorded. Returns whether anything has.
fn write_front(out: &mut dyn Write, asked: &FrontResults) -> Result<bool, Failure> {
    let changed = asked.recorded.as_ref().map(|old| asked.now.changes(old));
    let changed = changed.unwrap_or_else(|| vec!["all cases".to_owned()]);
    for case in &changed {
        writeln!(out, "changed {}: {case}", asked.application.engine)?;
    }
    writeln!(
        out,
        "{} asked of {} in {:.1} s; {} changed",
        counted(asked.count, "pair", "pairs"),
        asked.application,
        asked.elapsed.as_secs_f64(),
        counted(changed.len(), "case", "cases"),
    )?;
    Ok(!changed.is_empty())
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
    let known = inputs::known(&layout, &suite, &suite.templates)?;
    let session = Session::new(&arguments.limits, arguments.jobs);
    let programs = open(&pairs, &session)?;
    let mut verified = Verified::default();
    verified.ask(&programs, &session, &known, &pairs)?;
    let status = verified.write(&known, &programs, out)?;
    let mut are_current = true;
    for (_, asked) in ask_fronts(&layout, &suite, arguments, &session)? {
        are_current &= !write_front(out, &asked)?;
    }
    Ok(if are_current {
        status
    } else {
        Status::of(true, false)
    })
}

/// What the references gave now, compared with the records and with this process's engines.
#[derive(Default)]
struct Verified<'s> {
    standings: report::RecordStandings,
    conclusion: Conclusion<'s>,
    groups: FaultGroups<'s>,
}

impl<'s> Verified<'s> {
    /// Asks the references for all pairs, and which answers they read.
    fn ask(
        &mut self,
        programs: &'s [ProtocolEngine],
        session: &'s Session,
        known: &'s KnownSuite<'s>,
        pairs: &[Pair<'s>],
    ) -> Result<(), Failure> {
        let Expectations {
            snapshots,
            records,
            divergences,
        } = &known.expectations;
        let progress = Progress::new(pairs.len(), "asking the references", "pairs");
        let mut shown = Ok(());
        let accepted = Acceptance {
            suite: known.suite,
            snapshots,
        };
        let engines = references::engines(programs);
        let expected = Expected {
            accepted: Some(accepted),
            truth: Truth::Engines {
                engines: &engines,
                divergences,
            },
            belonging: None,
            needs_differences_only: true,
        };
        let runner =
            Runner::new(&session.engines, &[], session.jobs)?.with_progress(progress.step());
        let ran = runner.compare_each(pairs, &expected, |mut compared| {
            let Pair { template, .. } = compared.rendered.pair;
            let mut of_dialect = engines
                .iter()
                .filter(|one| one.dialect() == template.dialect);
            if let Some((engine, outcome)) = of_dialect.next().zip(compared.reference.take()) {
                let reference = Rendered {
                    pair: compared.rendered.pair,
                    engine: engine.name(),
                    outcome,
                };
                if shown.is_ok() {
                    shown = self.standings.add(records, &reference);
                }
            }
            self.conclusion.add(&compared, divergences);
            self.groups.add(&compared);
        });
        progress.clear();
        shown?;
        self.conclusion.finish(ran);
        let read = ReferenceReadings::ask(programs, session, known.suite, pairs)?;
        let read = read.verify(known.suite, &known.expectations);
        self.conclusion.problems.extend(read.problems);
        self.conclusion.roundtrip = read.tally;
        for program in programs {
            self.conclusion.add_engine(program);
        }
        Ok(())
    }

    fn write(
        self,
        known: &KnownSuite<'_>,
        programs: &[ProtocolEngine],
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        let Verified {
            standings,
            conclusion,
            groups,
        } = self;
        let groups = groups.sorted();
        difference::write(out, &groups, difference::Extent::SHORT)?;
        difference::write_gone(out, &conclusion.gone)?;
        problems::write_shared(out, &conclusion.problems)?;
        let (origin, program_names) = (known.layout.to_string(), names(programs));
        summary::write_close(out, &conclusion, &origin, Some(&program_names))?;
        standings.write(out, &origin)?;
        let whole = RunReport {
            conclusion: &conclusion,
            groups: &groups,
            input: &known.expectations.records.problems,
            unread: &[],
            origin: &origin,
            reference_names: Some(&program_names),
            is_recorded: false,
            engine: None,
        };
        if !whole.passes() {
            summary::write_failure(out, &origin, &whole.headline())?;
        }
        Ok(Status::of(true, whole.passes() && standings.wrong == 0))
    }
}
