//! An answer while it comes in: the chat endpoint of server/routes.go.

use rolecall_core::{Limits, Refusal, Stage};

use super::answer_text::{Answer, AnswerEvent, Call};
use super::call_tag::CallTag;
use super::calls::CallReader;
use super::thinking::ThinkingReader;
use super::thinking_tags::ThinkingTags;
use crate::error::Error;
use crate::meter::Meter;

/// An answer while it comes in, piece by piece.
///
/// [`GoProgram::reading`](crate::GoProgram::reading) begins one.
#[derive(Debug)]
pub struct Reading {
    thinking: Option<ThinkingReader>,
    calls: Option<CallReader>,
    answer: Answer,
    meter: Meter,
}

/// Whether more text may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Piece,
    End,
}

impl Reading {
    /// Begins to read. `think` is the client's wish, and `tools` are the names of its tools.
    pub(crate) fn begin(
        tags: ThinkingTags,
        tag: CallTag,
        tools: Vec<String>,
        think: Option<bool>,
        prompt: &str,
        limits: &Limits,
    ) -> Result<Reading, Error> {
        let mut meter = Meter::new(limits);
        let mut thinking = None;
        // A model that can think does so if the client does not say.
        if tags.are_found() && think.unwrap_or(true) {
            let is_open = prompt.trim().ends_with(&tags.opening);
            let mut reader = ThinkingReader::new(tags);
            if is_open {
                reader.open(&mut meter)?;
            }
            thinking = Some(reader);
        }
        Ok(Reading {
            thinking,
            calls: (!tools.is_empty()).then(|| CallReader::new(tag.text, tools)),
            answer: Answer::default(),
            meter,
        })
    }

    /// Reads a piece of the text, and returns what Ollama sends now.
    ///
    /// # Errors
    ///
    /// A limit runs out.
    pub fn add(&mut self, piece: &str) -> Result<Vec<AnswerEvent>, Refusal> {
        self.read(piece, Moment::Piece)
            .map_err(|error| error.refusal(Stage::Parse))
    }

    /// Reads that the text is complete, and returns what Ollama sends at the end, and the whole
    /// answer.
    ///
    /// # Errors
    ///
    /// A limit runs out.
    pub fn end(mut self) -> Result<(Vec<AnswerEvent>, Answer), Refusal> {
        // The last message of Ollama's runner has no text.
        let last = self
            .read("", Moment::End)
            .map_err(|error| error.refusal(Stage::Parse))?;
        self.answer.varies = self.calls.is_some_and(|calls| calls.varies);
        Ok((last, self.answer))
    }

    fn read(&mut self, piece: &str, moment: Moment) -> Result<Vec<AnswerEvent>, Error> {
        let (reasoning, text) = match &mut self.thinking {
            None => (String::new(), piece.to_owned()),
            Some(reader) => {
                let (reasoning, text) = reader.add(piece, &mut self.meter)?;
                if reasoning.is_empty() && text.is_empty() && moment == Moment::Piece {
                    return Ok(Vec::new());
                }
                (reasoning, text)
            }
        };
        let Some(reader) = &mut self.calls else {
            return Ok(self.send(reasoning, text, Vec::new()));
        };
        let (calls, content) = reader.add(&text, &mut self.meter)?;
        Ok(if !content.is_empty() {
            // Ollama drops calls that come together with content.
            self.send(reasoning, content, Vec::new())
        } else if !calls.is_empty() {
            self.send(reasoning, String::new(), calls)
        } else if !reasoning.is_empty() {
            // Ollama sends the text after the reasoning although the reader of calls has it, too.
            self.send(reasoning, text, Vec::new())
        } else if moment == Moment::End {
            let rest = reader.rest();
            self.send(String::new(), rest, Vec::new())
        } else {
            Vec::new()
        })
    }

    fn send(&mut self, reasoning: String, content: String, calls: Vec<Call>) -> Vec<AnswerEvent> {
        let mut sent = Vec::new();
        if !reasoning.is_empty() {
            sent.push(AnswerEvent::Thinking(reasoning));
        }
        if !content.is_empty() {
            sent.push(AnswerEvent::Content(content));
        }
        sent.extend(calls.into_iter().map(AnswerEvent::Call));
        for event in &sent {
            self.answer.add(event);
        }
        sent
    }
}
