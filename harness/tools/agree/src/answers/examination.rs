//! Reads the same answer with the engine and with the reference, and compares what they read.

use rolecall_core::{Dialect, Refusal, Template};
use rolecall_go::{GoEngine, GoProgram};
use serde_json::{Value, json};

use super::question::AskedAnswer;

/// How often the reference is asked about a text that it reads now so, now so.
const MOST_TRIES: usize = 60;

/// The reference: a program that answers a request of the engine protocol, or the reason why it did
/// not.
pub trait AnswerReference {
    /// Asks.
    ///
    /// # Errors
    ///
    /// There is no answer.
    fn ask(&mut self, request: &Value) -> Result<Value, String>;
}

/// What the comparison of an answer found.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerExamination {
    /// Both read the same.
    Agrees,
    /// Both read the same, but the reference not always: that often it was asked.
    AgreesInTime(usize),
    /// The engine exceeded a limit.
    Exceeded,
    /// They differ: what the reference read, and what the engine read.
    Differs(Box<(Value, Value)>),
}

/// A template that both have loaded.
pub struct ExaminedReader {
    program: GoProgram,
}

impl ExaminedReader {
    /// Loads a template into both. None if either refuses it: that is not examined here.
    ///
    /// # Errors
    ///
    /// The reference does not answer.
    pub fn load(
        source: &str,
        reference: &mut dyn AnswerReference,
    ) -> Result<Option<ExaminedReader>, String> {
        let template = Template::from_source("t", Dialect::Go, source);
        let Ok(program) = GoEngine::new().program(&template) else {
            return Ok(None);
        };
        let request = json!({"id": 1, "request": "load", "template": "t", "source": source});
        let answer = reference.ask(&request)?;
        Ok((answer["ok"] == true).then_some(ExaminedReader { program }))
    }

    /// Reads an answer with both.
    ///
    /// # Errors
    ///
    /// The reference does not answer.
    pub fn compare(
        &self,
        asked: &AskedAnswer,
        reference: &mut dyn AnswerReference,
    ) -> Result<AnswerExamination, String> {
        let (found, varies) = match self.read(asked) {
            Ok(found) => found,
            Err(Refusal::Exceeded { .. }) => return Ok(AnswerExamination::Exceeded),
            Err(refusal) => (json!({"refused": format!("{refusal:?}")}), false),
        };
        let request = json!({
            "id": 1, "request": "parse", "template": "t", "tools": asked.tools,
            "think": asked.think, "prefix": asked.prompt, "chunks": asked.pieces, "events": true,
        });
        let mut tries = 0;
        loop {
            tries += 1;
            let mut expected = reference.ask(&request)?;
            if let Some(answer) = expected.as_object_mut() {
                answer.remove("id");
            }
            if expected == found {
                return Ok(match (varies, tries) {
                    (true, _) => AnswerExamination::AgreesInTime(tries),
                    (false, _) => AnswerExamination::Agrees,
                });
            }
            if !varies || tries == MOST_TRIES {
                return Ok(AnswerExamination::Differs(Box::new((expected, found))));
            }
        }
    }

    /// The message that the engine reads.
    ///
    /// # Errors
    ///
    /// The engine refuses the request, or a limit runs out.
    pub fn message(&self, asked: &AskedAnswer) -> Result<Value, Refusal> {
        let (mut read, _) = self.read(asked)?;
        Ok(read["message"].take())
    }

    /// The engine's answer, as the reference writes it, and whether the reference's may vary.
    pub(super) fn read(&self, asked: &AskedAnswer) -> Result<(Value, bool), Refusal> {
        let mut reading = self
            .program
            .reading(&asked.tools, asked.think, &asked.prompt)?;
        let as_json = |events: Vec<rolecall_go::answer::AnswerEvent>| {
            let events = events.iter();
            events
                .map(rolecall_go::answer::AnswerEvent::to_json)
                .collect::<Value>()
        };
        let mut events = Vec::new();
        for piece in &asked.pieces {
            events.push(as_json(reading.add(piece)?));
        }
        let (last, answer) = reading.end()?;
        events.push(as_json(last));
        let tags = self.program.thinking_tags();
        let read = json!({
            "outcome": "read", "message": answer.to_json(), "events": events,
            "tags": {
                "calls": self.program.call_tag().text,
                "thinking": [tags.opening, tags.closing],
            },
        });
        Ok((read, answer.varies))
    }
}
