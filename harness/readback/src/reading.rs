//! Readings: the answers of a case, written by a chat template and read with its response template.

use rolecall_model::{Answer, AnswerReader, Case, Outcome, ReadOutcome};
use serde_json::Value;

use crate::comparison::{Difference, Verdict, compare};
use crate::ending::Form;
use crate::meaning::Meaning;
use crate::written::{Writer, Written};

/// An assistant's message of a case, and what came back of it.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageReading {
    /// The index of the message in its case.
    pub index: usize,
    /// What was meant.
    pub meant: Meaning,
    /// What came back.
    pub result: Result<ReadAnswer, Unread>,
}

/// An answer that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadAnswer {
    /// The prompt before the answer.
    pub prompt: String,
    /// The setting under which the finished turn continues the prompt: see
    /// [`Written::Text`].
    pub setting: Option<String>,
    /// The forms of the answer, each with what was read from it.
    pub forms: Vec<FormReading>,
}

/// Why an answer was not read.
#[derive(Debug, Clone, PartialEq)]
pub enum Unread {
    /// The finished turn does not continue its prompt.
    DoesNotContinue,
    /// The chat template gives no prompt.
    Refused(Outcome),
}

/// A form of an answer, and what was read from it.
#[derive(Debug, Clone, PartialEq)]
pub struct FormReading {
    /// The form.
    pub form: Form,
    /// Its text.
    pub text: String,
    /// What the reader made of it.
    pub outcome: ReadOutcome,
    /// How well it was read back.
    pub verdict: Verdict,
    /// What is not as it was meant.
    pub differences: Vec<Difference>,
}

/// Reads all answers of a case.
pub fn read_case<'w>(
    writer: &'w Writer<'_, '_>,
    reader: &'w dyn AnswerReader,
    response_template: &'w Value,
    case: &'w Case,
) -> impl Iterator<Item = MessageReading> + 'w {
    writer.answers(case).map(move |answer| {
        let result = match answer.outcome {
            Written::Text {
                prompt,
                text,
                setting,
            } => {
                let read = |form| {
                    let text = writer.end_tokens.form(&text, form)?;
                    let answer = Answer {
                        prompt: &prompt,
                        text,
                        tools: case.tools.as_deref(),
                    };
                    let outcome = reader.read(response_template, &answer);
                    Some((form, text.to_owned(), outcome))
                };
                let read = Form::ALL.into_iter().filter_map(read);
                let judged = read.map(|(form, text, outcome)| {
                    FormReading::judge(form, text, outcome, &answer.meant)
                });
                let forms = judged.collect();
                Ok(ReadAnswer {
                    prompt,
                    setting,
                    forms,
                })
            }
            Written::DoesNotContinue => Err(Unread::DoesNotContinue),
            Written::Refused(outcome) => Err(Unread::Refused(outcome)),
        };
        MessageReading {
            index: answer.index,
            meant: answer.meant,
            result,
        }
    })
}

impl FormReading {
    fn judge(form: Form, text: String, outcome: ReadOutcome, meant: &Meaning) -> FormReading {
        let (verdict, differences) = match outcome.message().map(Meaning::of) {
            Some(Some(read)) => compare(meant, &read, &text),
            // A message whose fields have other types than those of messages.
            Some(None) => (Verdict::Changed, Vec::new()),
            None => (Verdict::Failed, Vec::new()),
        };
        FormReading {
            form,
            text,
            outcome,
            verdict,
            differences,
        }
    }
}

impl MessageReading {
    /// The worst verdict on its forms. None if it was not read.
    pub fn verdict(&self) -> Option<Verdict> {
        let answer = self.result.as_ref().ok()?;
        answer.forms.iter().map(|form| form.verdict).max()
    }
}
