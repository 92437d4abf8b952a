//! The parsed answers of templates, compared with the accepted transcripts and with what the
//! reference reads.
//!
//! A line below the accepted transcript of a pair belongs to each of its assistant's messages: the
//! checksum of the answer as the reference writes it, and of what the reference reads from the
//! forms of this answer.

use std::collections::HashSet;

use rayon::prelude::*;
use rolecall_answers::reading::{MessageId, MessageReading, read_all};
use rolecall_answers::transcript::Counts;
use rolecall_core::named;
use rolecall_core::problem::Problem;
use rolecall_core::{AnswerReader, Engine, Template, TemplateName};

use crate::checked_text::CheckedText;
use crate::expectations::Expectations;
use crate::record::{RecordedReading, Unverified};
use crate::records::Records;
use crate::response_file::unusable;
use crate::suite::Suite;

/// The parsed answers of a suite's templates.
#[derive(Debug, Default)]
pub struct SuiteReadings {
    /// The transcripts, compared with the accepted ones.
    pub checked: Vec<CheckedText>,
    /// The counts, and what differs from the reference.
    pub tally: RoundtripTally,
    /// Response templates that nothing can be read with.
    pub problems: Vec<Problem>,
}

/// How many answers were read, and what differs from the reference.
#[derive(Debug, Default)]
pub struct RoundtripTally {
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

impl RoundtripTally {
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

    fn add(&mut self, records: &Records, template: &Template, readings: &[MessageReading]) {
        self.templates += 1;
        self.counts.add(&Counts::of(readings));
        match differing(records, template, readings) {
            Ok(differing) => {
                let is_there =
                    |(_, fault): &&(MessageId, ReadingFault)| *fault != ReadingFault::Gone;
                let differ = differing.iter().filter(is_there).count();
                self.agree += readings.len() - differ;
                let name = &template.name;
                let differing = differing.into_iter();
                let differing = differing.map(|(id, fault)| (name.clone(), id, fault));
                self.differing.extend(differing);
            }
            // A suite of one's own is checked by what was accepted.
            Err(Unverified::NeverAsked) => {}
            Err(why) => {
                let name = template.name.clone();
                self.unverified.push((name, why.to_string()));
            }
        }
    }
}

/// Reads the answers of all cases of a suite with each of some templates that has a response
/// template, on the current thread pool.
pub fn read_each<'t>(
    suite: &Suite,
    templates: &[&'t Template],
    engine: &(dyn Fn(&Template) -> &'t (dyn Engine) + Sync),
    reader: &dyn AnswerReader,
) -> Vec<(&'t Template, Vec<MessageReading>)> {
    let read = |template: &&'t Template| {
        let engine = engine(template);
        Some((*template, read_all(engine, template, reader, &suite.cases)?))
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
        all.checked.push(CheckedText::of_readings(
            snapshots, suite, template, readings,
        ));
        all.tally.add(&expectations.records, template, readings);
    }
    all
}

named! {
    /// How a reading differs from the reference's.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ReadingFault {
        /// The template writes another answer.
        Written = "the reference writes another answer",
        /// Something else is read from the same answer.
        Read = "the reference reads something else from the same answer",
        NotRecorded = "the reference was not asked about it",
        /// The record's message is gone.
        Gone = "it is on record, but no case has it",
    }
}

/// The messages of a template whose readings differ from the reference's record. The readings are
/// those of all cases of the suite.
///
/// # Errors
///
/// There is no record that counts. In a suite of one's own there need not be one.
pub fn differing(
    records: &Records,
    template: &Template,
    readings: &[MessageReading],
) -> Result<Vec<(MessageId, ReadingFault)>, Unverified> {
    let record = records.standing_of_answers(template)?;
    let fault = |reading: &MessageReading| {
        let now = RecordedReading::of(reading);
        match record.readings.get(&reading.id) {
            Some(recorded) if *recorded == now => None,
            Some(recorded) if recorded.written != now.written => Some(ReadingFault::Written),
            Some(_) => Some(ReadingFault::Read),
            None => Some(ReadingFault::NotRecorded),
        }
    };
    let faults = readings
        .iter()
        .filter_map(|one| Some((one.id.clone(), fault(one)?)));
    let mut differing: Vec<(MessageId, ReadingFault)> = faults.collect();
    let are_there: HashSet<&MessageId> = readings.iter().map(|reading| &reading.id).collect();
    let gone = record.readings.keys();
    let gone = gone.filter(|id| !are_there.contains(id));
    differing.extend(gone.map(|id| (id.clone(), ReadingFault::Gone)));
    differing.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(differing)
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Answer, Case, Dialect, ReadOutcome};
    use rolecall_front::engines::Engines;
    use serde_json::{Value, json};

    use super::*;
    use crate::record::Record;

    /// Reads every text as content, after it has replaced one word by another.
    struct Fake(&'static str, &'static str);

    impl AnswerReader for Fake {
        fn read(&self, _: &Value, answer: &Answer<'_>) -> ReadOutcome {
            ReadOutcome::Read {
                message: json!({"content": answer.text.replace(self.0, self.1)}),
            }
        }
    }

    fn readings(template: &Template, reader: &Fake, answers: &[&str]) -> Vec<MessageReading> {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let answers = answers.iter();
        let messages = answers.map(|it| json!({"role": "assistant", "content": it}));
        let case = Case::from_messages(messages.collect());
        read_all(engine, template, reader, [&case]).unwrap()
    }

    #[test]
    fn what_the_record_says_is_compared_with_what_is_read() {
        let mut template = Template::from_source(
            "t",
            Dialect::Jinja,
            "{% for m in messages %}{{ m.content }}{% endfor %}",
        );
        template.response_template = Some(json!({}));
        let mut records = Records::default();
        let truth_of = |records: &Records, template: &Template, reader: &Fake, answers: &[&str]| {
            differing(records, template, &readings(template, reader, answers))
        };
        let faithful = Fake("", "");
        assert_eq!(
            truth_of(&records, &template, &faithful, &["a"]),
            Err(Unverified::NoRecords)
        );
        let mut record = Record::new(&template);
        let recorded = readings(&template, &faithful, &["a", "b"]);
        let recorded = recorded.iter();
        let recorded = recorded.map(|one| (one.id.clone(), RecordedReading::of(one)));
        record.readings.extend(recorded);
        records.learn(&template, record);
        let truth = |template: &Template, reader: &Fake, answers: &[&str]| {
            truth_of(&records, template, reader, answers)
        };
        let found = |template: &Template, reader: &Fake, answers: &[&str]| match truth(
            template, reader, answers,
        ) {
            Ok(differing) => differing
                .into_iter()
                .map(|(id, fault)| (id.index, fault))
                .collect::<Vec<_>>(),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(found(&template, &faithful, &["a", "b"]), []);
        // The finished turn of `b` is `ab`, so this reader changes both.
        assert_eq!(
            found(&template, &Fake("b", "c"), &["a", "b"]),
            [(1, ReadingFault::Read)]
        );
        assert_eq!(
            found(&template, &faithful, &["a", "x"]),
            [(1, ReadingFault::Written)]
        );
        assert_eq!(
            found(&template, &faithful, &["a"]),
            [(1, ReadingFault::Gone)]
        );
        assert_eq!(
            found(&template, &faithful, &["a", "b", "c"]),
            [(2, ReadingFault::NotRecorded)]
        );
        template.response_template = Some(json!({"fields": {}}));
        assert_eq!(
            truth(&template, &faithful, &["a", "b"]),
            Err(Unverified::ResponseTemplateChanged)
        );
    }
}
