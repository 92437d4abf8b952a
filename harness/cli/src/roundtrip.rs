//! The parsed answers of a suite's templates, which `run` holds, and `accept` and `review` accept.

use rayon::prelude::*;
use rolecall_answers::reader::OwnReader;
use rolecall_answers::reading::{MessageReading, read_all};
use rolecall_core::{Case, Engine, Template};
use rolecall_io::protocol::ProtocolEngine;
use rolecall_suite::expectations::Expectations;
use rolecall_suite::recording::Updates;
use rolecall_suite::roundtrip::{SuiteReadings, hold, read_each};
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::known::KnownSuite;

use crate::cards::whole;

use crate::failure::Failure;
use crate::session::Session;

/// The readings of the templates of some pairs, compared with the accepted and recorded ones. As
/// with report cards, a template counts only if all its pairs are there.
pub(crate) fn checked(
    KnownSuite {
        suite,
        expectations,
        ..
    }: &KnownSuite<'_>,
    pairs: &[Pair<'_>],
    session: &Session,
) -> Result<SuiteReadings, Failure> {
    let templates = readable(suite, pairs);
    if templates.is_empty() {
        return Ok(SuiteReadings::default());
    }
    let runner = session.own_runner()?;
    let engine = |template: &Template| session.engines.for_dialect(template.dialect);
    let reader = OwnReader::default();
    let readings = runner.on_its_threads(|| read_each(suite, &templates, &engine, &reader));
    Ok(hold(suite, expectations, &readings))
}

/// The templates of some pairs that have a response template, if all their pairs are there.
fn readable<'s>(suite: &'s Suite, pairs: &[Pair<'_>]) -> Vec<&'s Template> {
    let templates = whole(suite, pairs);
    templates
        .filter(|template| template.response_template.is_some())
        .collect()
}

/// The answers that the references parsed of templates' answers.
pub(crate) struct ReferenceReadings<'s>(Vec<(&'s Template, Vec<MessageReading>)>);

impl<'s> ReferenceReadings<'s> {
    /// Asks the references that read answers. They also write the answers.
    pub(crate) fn ask(
        programs: &'s [ProtocolEngine],
        session: &Session,
        suite: &'s Suite,
        pairs: &[Pair<'_>],
    ) -> Result<ReferenceReadings<'s>, Failure> {
        let templates = readable(suite, pairs).into_iter();
        let all = || suite.cases.iter().collect();
        let subjects: Vec<_> = templates.map(|template| (template, all())).collect();
        ReferenceReadings::of(programs, session, &subjects)
    }

    /// Asks the references that read answers about the cases of some pairs alone.
    pub(crate) fn of_cases(
        programs: &'s [ProtocolEngine],
        session: &Session,
        pairs: &[Pair<'s>],
    ) -> Result<ReferenceReadings<'s>, Failure> {
        let of_template = pairs.chunk_by(|a, b| std::ptr::eq(a.template, b.template));
        let subjects: Vec<_> = of_template
            .map(|pairs| {
                (
                    pairs[0].template,
                    pairs.iter().map(|pair| pair.case).collect(),
                )
            })
            .collect();
        ReferenceReadings::of(programs, session, &subjects)
    }

    fn of(
        programs: &[ProtocolEngine],
        session: &Session,
        subjects: &[(&'s Template, Vec<&'s Case>)],
    ) -> Result<ReferenceReadings<'s>, Failure> {
        let runner = session.own_runner()?;
        let mut all = Vec::new();
        for program in programs.iter().filter(|program| program.reads_answers()) {
            let read = |(template, cases): &(&'s Template, Vec<&Case>)| {
                let is_its = template.dialect == Engine::dialect(program);
                let cases = is_its.then(|| cases.iter().copied())?;
                Some((*template, read_all(program, template, program, cases)?))
            };
            let read = || subjects.par_iter().filter_map(read).collect::<Vec<_>>();
            all.extend(runner.on_its_threads(read));
        }
        Ok(ReferenceReadings(all))
    }

    /// How many messages were asked about.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|(_, readings)| readings.len()).sum()
    }

    /// Adds them to the new records.
    pub(crate) fn add_to(&self, updates: &mut Updates<'s>) {
        for (template, readings) in &self.0 {
            updates.add_readings(template, readings);
        }
    }

    /// Compares the records with what the references read now.
    pub(crate) fn verify(&self, suite: &Suite, expectations: &Expectations) -> SuiteReadings {
        hold(suite, expectations, &self.0)
    }
}
