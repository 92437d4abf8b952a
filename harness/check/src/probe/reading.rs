//! Answers of probes, written by a template and parsed with its response template.

use std::sync::Arc;

use rolecall_answers::reader::{DeclaredReader, OwnReader, refusal};
use rolecall_answers::reading::{MessageReading, ReadAnswer, Unread, read_case};
use rolecall_answers::written::Writer;
use rolecall_core::{Answer, Case, Outcome};
use rolecall_front::program::FrontProgram;
use rolecall_response::{Event, Options, ResponseTemplate};
use serde_json::Value;

use super::answers;
use super::definition::Probe;
use super::input_style::InputStyle;
use super::outcome::ProbeOutcome;

/// Writes the answers of probes with a template, and reads them with its response template.
pub(crate) struct AnswerProber<'p, 't> {
    writer: Writer<'p, 't>,
    reader: OwnReader,
    response_template: &'t Value,
    input_style: InputStyle,
}

/// The answer of a probe, and the parsed message.
#[derive(Debug, Clone)]
pub(crate) struct AnswerReading {
    pub(crate) probe: &'static str,
    pub(crate) about: &'static str,
    /// The question. The last message is the answer.
    pub(crate) asked: Arc<Case>,
    pub(crate) reading: MessageReading,
}

/// The answers of all probes, or why none was read.
pub(crate) type Readings = Result<Vec<AnswerReading>, NoReadings>;

/// Why no answer was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoReadings {
    /// The template has no response template.
    NoResponseTemplate,
    /// transformers refuses the response template.
    Refused(String),
    /// The reader of this process cannot use it.
    Unsupported(String),
}

impl<'p, 't> AnswerProber<'p, 't> {
    /// A prober for a template that was loaded, if it has a response template that can be used.
    pub(crate) fn new(
        program: &'p FrontProgram<'t>,
        input_style: InputStyle,
    ) -> Result<AnswerProber<'p, 't>, NoReadings> {
        let response_template = program.template.response_template.as_ref();
        let response_template = response_template.ok_or(NoReadings::NoResponseTemplate)?;
        if let Some(why) = refusal(response_template) {
            return Err(NoReadings::Refused(why));
        }
        if let Err(error) = ResponseTemplate::from_json(response_template) {
            return Err(NoReadings::Unsupported(error.to_string()));
        }
        Ok(AnswerProber {
            writer: Writer::new(program),
            reader: OwnReader::default(),
            response_template,
            input_style,
        })
    }

    pub(crate) fn all(&self) -> Vec<AnswerReading> {
        let probes = answers::ALL.iter();
        let all = probes.filter_map(|probe: &Probe| {
            self.ask(probe.name, probe.about, probe.case(self.input_style))
        });
        all.collect()
    }

    /// The reading of a case whose last message is an answer.
    pub(crate) fn ask(
        &self,
        probe: &'static str,
        about: &'static str,
        case: Case,
    ) -> Option<AnswerReading> {
        let case = self.input_style.complete(case);
        let reader = DeclaredReader::new(&self.reader, self.response_template);
        let read = read_case(&self.writer, &reader, &case);
        let reading = read.last()?;
        Some(AnswerReading {
            probe,
            about,
            reading,
            asked: Arc::new(case),
        })
    }

    /// Whether a text holds a token that ends turns, such as the EOS token.
    pub(crate) fn has_end_token(&self, text: &str) -> bool {
        self.writer.end_tokens.are_in(text)
    }
}

impl AnswerReading {
    /// The answer that was read, if the template writes one.
    pub(crate) fn answer(&self) -> Result<&ReadAnswer, &'static str> {
        match &self.reading.result {
            Ok(answer) => Ok(answer),
            Err(Unread::DoesNotContinue) => Err(
                "the template is not prefix-stable: a conversation with the answer does not \
                     begin with the prompt that asks for it",
            ),
            Err(Unread::Refused(_)) => Err("the template gives no prompt for an answer"),
        }
    }

    pub(crate) fn tools(&self) -> &[Value] {
        self.asked.tools.as_deref().unwrap_or_default()
    }

    /// The prompt and the answer, as evidence shows them.
    pub(crate) fn seen(&self, answer: &ReadAnswer, text: &str) -> ProbeOutcome {
        let text = format!("{}{text}", answer.prompt);
        let asked = Arc::clone(&self.asked);
        ProbeOutcome::new(self.probe, self.about, asked, Outcome::Rendered { text })
    }

    /// The events of a stream of single characters, each with the number of characters that had
    /// come before it was reported. None if the reader refuses the answer.
    pub(crate) fn events(
        &self,
        template: &ResponseTemplate,
        answer: &Answer<'_>,
    ) -> Option<Vec<(usize, Event)>> {
        let options = Options {
            prompt: Some(answer.prompt),
            tools: self.tools(),
            ..Options::default()
        };
        let mut stream = template.stream(&options).ok()?;
        let mut buffer = [0; 4];
        let mut all = Vec::new();
        for (at, character) in answer.text.chars().enumerate() {
            let events = stream.feed(character.encode_utf8(&mut buffer)).ok()?;
            all.extend(events.into_iter().map(|event| (at + 1, event)));
        }
        Some(all)
    }
}
