//! What is read back of the answers of a suite's templates, which `run` holds, and `accept` and
//! `review` accept.

use rolecall::engines::Engines;
use rolecall::layout::Layout;
use rolecall::problem::Problem;
use rolecall::protocol::ProtocolEngine;
use rolecall::read_back::ReadBackRecord;
use rolecall::readback::reader::OwnReader;
use rolecall::readback::reading::MessageReading;
use rolecall::readings::{SuiteReadings, hold, read_each};
use rolecall::run::Runner;
use rolecall::suite::{Pair, Suite};
use rolecall_model::{AnswerReader, Engine, Template};

use crate::cards::whole;
use crate::failure::Failure;

/// The readings of the templates of some pairs, compared with what is accepted and recorded. As with
/// report cards, a template counts only if all its pairs are there.
pub(crate) fn held(
    layout: &Layout,
    suite: &Suite,
    pairs: &[Pair<'_>],
    engines: &Engines,
    jobs: Option<usize>,
) -> Result<SuiteReadings, Failure> {
    let templates = readable(suite, pairs);
    if templates.is_empty() {
        return Ok(SuiteReadings::default());
    }
    let runner = Runner::new(engines, &[], jobs)?;
    let engine = |template: &Template| engines.for_dialect(template.dialect);
    let reader = OwnReader::default();
    let readings = runner.on_its_threads(|| read_each(suite, &templates, &engine, &reader));
    Ok(hold(layout, &readings))
}

/// The templates of some pairs that have a response template, if all their pairs are there.
fn readable<'s>(suite: &'s Suite, pairs: &[Pair<'_>]) -> Vec<&'s Template> {
    let templates = whole(suite, pairs);
    templates
        .filter(|template| template.response_template.is_some())
        .collect()
}

/// What the references read back of templates' answers.
pub(crate) struct ReferenceReadings<'s>(Vec<(&'s Template, Vec<MessageReading>)>);

impl<'s> ReferenceReadings<'s> {
    /// Asks the references that read answers. They also write the answers.
    pub(crate) fn ask(
        programs: &'s [ProtocolEngine],
        (engines, jobs): (&Engines, Option<usize>),
        suite: &'s Suite,
        pairs: &[Pair<'_>],
    ) -> Result<ReferenceReadings<'s>, Failure> {
        let runner = Runner::new(engines, &[], jobs)?;
        let mut all = Vec::new();
        for program in programs.iter().filter(|program| program.reads_answers()) {
            let dialect = Engine::dialect(program);
            let mut templates = readable(suite, pairs);
            templates.retain(|template| template.dialect == dialect);
            let engine = |_: &Template| Some(program as &dyn Engine);
            let reader: &dyn AnswerReader = program;
            let read = || read_each(suite, &templates, &engine, reader);
            all.extend(runner.on_its_threads(read));
        }
        Ok(ReferenceReadings(all))
    }

    /// How many messages were asked about.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|(_, readings)| readings.len()).sum()
    }

    /// Writes the records. Returns how many were written, and the problems with others.
    pub(crate) fn write(&self, layout: &Layout) -> (usize, Vec<Problem>) {
        let mut written = 0;
        let mut problems = Vec::new();
        for (template, readings) in &self.0 {
            let record = ReadBackRecord::new(template, readings);
            match record.write(layout, &template.name) {
                Ok(is_new) => written += usize::from(is_new),
                Err(problem) => problems.push(problem),
            }
        }
        (written, problems)
    }

    /// Compares the records with what the references read now.
    pub(crate) fn verify(&self, layout: &Layout) -> SuiteReadings {
        hold(layout, &self.0)
    }
}
