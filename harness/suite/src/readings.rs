//! The readings of a suite's templates, beside the accepted transcripts and the reference's records.

use rayon::prelude::*;
use rolecall_answers::reading::{MessageId, MessageReading, read_all, read_all_as_server};
use rolecall_answers::transcript::Counts;
use rolecall_core::{AnswerReader, Engine, Template, TemplateName, TemplateReader};

use crate::expectations::Expectations;
use crate::held_text::HeldText;
use crate::read_back::{ReadBackTruth, ReadingFault, truth};
use crate::response_file::unusable;
use crate::suite::Suite;
use rolecall_core::problem::Problem;

/// What is read back of the answers of a suite's templates.
#[derive(Debug, Default)]
pub struct SuiteReadings {
    /// The transcripts, beside the accepted ones.
    pub held: Vec<HeldText>,
    /// The counts, and what differs from the reference.
    pub tally: ReadBackTally,
    /// Response templates that nothing can be read with.
    pub problems: Vec<Problem>,
}

/// How many answers were read, and what differs from the reference.
#[derive(Debug, Default)]
pub struct ReadBackTally {
    /// How many templates have a response template.
    pub templates: usize,
    /// How many messages have each verdict.
    pub counts: Counts,
    /// How many messages the reference's records confirm.
    pub agree: usize,
    /// Messages that differ from the reference's records.
    pub differing: Vec<(TemplateName, MessageId, ReadingFault)>,
    /// Templates without a record that counts, and why.
    pub unverified: Vec<(TemplateName, String)>,
}

impl ReadBackTally {
    /// Whether nothing contradicts the reference.
    pub fn passes(&self) -> bool {
        self.differing.is_empty() && self.unverified.is_empty()
    }

    /// Whether every reading of a template is confirmed, or needs no confirmation.
    pub fn confirms(&self, template: &str) -> bool {
        let differs =
            |(name, ..): &(TemplateName, MessageId, ReadingFault)| name.as_str() == template;
        let is_unverified = |(name, _): &(TemplateName, String)| name.as_str() == template;
        !self.differing.iter().any(differs) && !self.unverified.iter().any(is_unverified)
    }

    fn add(&mut self, template: &Template, readings: &[MessageReading], truth: ReadBackTruth) {
        self.templates += 1;
        self.counts.add(&Counts::of(readings));
        match truth {
            ReadBackTruth::Recorded { differing } => {
                let is_there =
                    |(_, fault): &&(MessageId, ReadingFault)| *fault != ReadingFault::Gone;
                let differ = differing.iter().filter(is_there).count();
                self.agree += readings.len() - differ;
                let name = &template.name;
                let differing = differing.into_iter();
                let differing = differing.map(|(id, fault)| (name.clone(), id, fault));
                self.differing.extend(differing);
            }
            ReadBackTruth::Unverified(why) => self.unverified.push((template.name.clone(), why)),
            ReadBackTruth::NeverAsked => {}
        }
    }
}

/// Reads the answers of all cases of a suite with each of some templates that has a response
/// template, on the current thread pool.
pub fn read_each<'t>(
    suite: &Suite,
    templates: &[&'t Template],
    engine: &(dyn Fn(&Template) -> Option<&'t dyn Engine> + Sync),
    reader: &dyn AnswerReader,
) -> Vec<(&'t Template, Vec<MessageReading>)> {
    let read = |template: &&'t Template| {
        let engine = engine(template)?;
        Some((*template, read_all(engine, template, reader, &suite.cases)?))
    };
    templates.par_iter().filter_map(read).collect()
}

/// Reads the answers of all cases of a suite with each of some templates as a server reads them, on
/// the current thread pool.
pub fn read_each_as_server<'t, 'r>(
    suite: &Suite,
    templates: &[&'t Template],
    engine: &(dyn Fn(&Template) -> Option<&'t dyn Engine> + Sync),
    reader: &(dyn Fn(&Template) -> Option<&'r dyn TemplateReader> + Sync),
) -> Vec<(&'t Template, Vec<MessageReading>)> {
    let read = |template: &&'t Template| {
        let engine = engine(template)?;
        let reader = reader(template)?;
        let readings = read_all_as_server(engine, template, reader, &suite.cases);
        Some((*template, readings))
    };
    templates.par_iter().filter_map(read).collect()
}

/// Compares readings with the accepted transcripts and the reference's records.
pub fn hold(
    suite: &Suite,
    expectations: &Expectations,
    readings: &[(&Template, Vec<MessageReading>)],
) -> SuiteReadings {
    let mut all = SuiteReadings::default();
    for (template, readings) in readings {
        if let Some(problem) = unusable(template) {
            all.problems.push(problem);
            continue;
        }
        let snapshots = &expectations.snapshots;
        all.held
            .push(HeldText::of_readings(snapshots, suite, template, readings));
        let truth = truth(&expectations.records, template, readings);
        all.tally.add(template, readings, truth);
    }
    all
}
