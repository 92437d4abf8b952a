//! Asks one question after another.

use std::time::{Duration, Instant};

use rolecall_core::Template;
use serde_json::Value;

use super::examination::{AnswerExamination, AnswerReference, ExaminedReader};
use super::question::{AnswerQuestion, AskedAnswer};
use crate::campaign::CampaignLength;

/// The most differences that are kept.
const MOST_EXAMPLES: usize = 5;

#[derive(Debug, Default)]
pub struct AnswerTally {
    /// Templates that both sides loaded.
    pub templates: u64,
    /// Templates that one side refused.
    pub refused: u64,
    /// Answers that both sides read.
    pub answers: u64,
    /// How many of them have calls.
    pub with_calls: u64,
    /// How many of them have reasoning.
    pub with_reasoning: u64,
    /// Answers that the reference reads now so, now so.
    pub varying: u64,
    /// Answers that exceeded a limit of the engine.
    pub exceeded: u64,
    /// Answers that the two read differently.
    pub differing: u64,
    /// The first of these, made smaller.
    pub examples: Vec<AnswerDifference>,
    /// How long it took.
    pub time: Duration,
}

/// An answer that the two read differently.
#[derive(Debug)]
pub struct AnswerDifference {
    pub number: u64,
    pub source: String,
    pub asked: AskedAnswer,
    /// What the reference read.
    pub expected: Value,
    /// What the engine read.
    pub found: Value,
}

/// Asks the questions of a seed.
///
/// # Errors
///
/// The reference does not answer.
pub fn run(
    templates: &[Template],
    seed: u64,
    length: CampaignLength,
    reference: &mut dyn AnswerReference,
) -> Result<AnswerTally, String> {
    let begin = Instant::now();
    let mut tally = AnswerTally::default();
    let numbers = match length {
        CampaignLength::Time(_) => 0..u64::MAX,
        CampaignLength::Questions(first, last) => first..last,
    };
    for number in numbers {
        if matches!(length, CampaignLength::Time(time) if begin.elapsed() > time) {
            break;
        }
        let question = AnswerQuestion::of(templates, seed, number);
        tally.ask(&question, reference)?;
    }
    tally.time = begin.elapsed();
    Ok(tally)
}

impl AnswerTally {
    fn ask(
        &mut self,
        question: &AnswerQuestion,
        reference: &mut dyn AnswerReference,
    ) -> Result<(), String> {
        let Some(reader) = ExaminedReader::load(&question.source, reference)? else {
            self.refused += 1;
            return Ok(());
        };
        self.templates += 1;
        for asked in &question.answers {
            let examination = reader.compare(asked, reference)?;
            self.answers += 1;
            match examination {
                AnswerExamination::Agrees => {}
                AnswerExamination::AgreesInTime(_) => self.varying += 1,
                AnswerExamination::Exceeded => self.exceeded += 1,
                AnswerExamination::Differs(_) => {
                    self.differing += 1;
                    if self.examples.len() < MOST_EXAMPLES {
                        self.examples
                            .push(smaller(question, asked, &reader, reference)?);
                    }
                }
            }
            if let Ok(message) = reader.message(asked) {
                self.with_calls += u64::from(!message["tool_calls"].is_null());
                self.with_reasoning += u64::from(!message["thinking"].is_null());
            }
        }
        Ok(())
    }
}

/// Leaves out tools, pieces and characters as long as the two differ.
fn smaller(
    question: &AnswerQuestion,
    asked: &AskedAnswer,
    reader: &ExaminedReader,
    reference: &mut dyn AnswerReference,
) -> Result<AnswerDifference, String> {
    let mut smallest = asked.clone();
    let mut at = 0;
    while let Some(candidate) = without(&smallest, at) {
        match reader.compare(&candidate, reference)? {
            AnswerExamination::Differs(_) => smallest = candidate,
            _ => at += 1,
        }
    }
    let (expected, found) = match reader.compare(&smallest, reference)? {
        AnswerExamination::Differs(both) => *both,
        // The reference reads it now so, now so, and the engine does not know.
        _ => (Value::Null, Value::Null),
    };
    Ok(AnswerDifference {
        number: question.number,
        source: question.source.clone(),
        asked: smallest,
        expected,
        found,
    })
}

/// The answer without one of its parts; none if it has no such part.
fn without(asked: &AskedAnswer, part: usize) -> Option<AskedAnswer> {
    let mut smaller = asked.clone();
    let mut at = part;
    if at < smaller.tools.len() {
        smaller.tools.remove(at);
        return Some(smaller);
    }
    at -= smaller.tools.len();
    for piece in &mut smaller.pieces {
        let count = piece.chars().count();
        if at < count {
            let place = piece.char_indices().nth(at).map(|(place, _)| place)?;
            piece.remove(place);
            smaller.pieces.retain(|piece| !piece.is_empty());
            return Some(smaller);
        }
        at -= count;
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    /// A reference that reads as the engine does, but is deaf to calls, or to nothing.
    struct Deaf {
        is_deaf: bool,
        reader: Option<ExaminedReader>,
    }

    /// Lets a template load.
    struct Willing;

    impl AnswerReference for Willing {
        fn ask(&mut self, _: &Value) -> Result<Value, String> {
            Ok(json!({"ok": true}))
        }
    }

    impl AnswerReference for Deaf {
        fn ask(&mut self, request: &Value) -> Result<Value, String> {
            if request["request"] == "load" {
                let source = request["source"].as_str().unwrap();
                self.reader = ExaminedReader::load(source, &mut Willing)?;
                return Ok(json!({"ok": true}));
            }
            let asked = AskedAnswer {
                tools: from_value(request["tools"].clone()).unwrap(),
                think: request["think"].as_bool(),
                prompt: from_value(request["prefix"].clone()).unwrap(),
                pieces: from_value(request["chunks"].clone()).unwrap(),
            };
            let (mut read, _) = self.reader.as_ref().unwrap().read(&asked).unwrap();
            if self.is_deaf {
                read["message"]
                    .as_object_mut()
                    .unwrap()
                    .remove("tool_calls");
            }
            Ok(read)
        }
    }

    fn tally(is_deaf: bool) -> AnswerTally {
        let mut reference = Deaf {
            is_deaf,
            reader: None,
        };
        run(&[], 1, CampaignLength::Questions(0, 300), &mut reference).unwrap()
    }

    #[test]
    fn who_hears_all_agrees() {
        let tally = tally(false);
        assert_eq!(tally.differing, 0);
        assert!(
            tally.with_calls > 20 && tally.with_reasoning > 20,
            "{tally:?}"
        );
    }

    #[test]
    fn a_difference_is_found_and_made_smaller() {
        let tally = tally(true);
        assert_eq!(tally.differing, tally.with_calls);
        assert_eq!(tally.examples.len(), MOST_EXAMPLES);
        for example in &tally.examples {
            assert_eq!(example.asked.tools.len(), 1, "{example:?}");
            assert_eq!(example.expected["message"]["tool_calls"], Value::Null);
            let calls = example.found["message"]["tool_calls"].as_array();
            assert_eq!(calls.map(Vec::len), Some(1), "{example:?}");
        }
    }
}
