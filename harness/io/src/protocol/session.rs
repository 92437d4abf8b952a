//! A running program, asked over the protocol.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use rolecall_core::{Answer, Conversation, Moment, Outcome, ReadOutcome, Template};
use rolecall_go::GoProgram;
use serde_json::{Map, json};

use crate::protocol::input;
use crate::protocol::limits::ProtocolLimits;
use crate::protocol::message::{
    FrontRequest, Greeting, Meaning, ReadWith, RenderInput, Request, VERSION, learned_in,
    parsers_in,
};
use crate::protocol::process::Process;
use crate::protocol::reading::read_message;

/// A running program, and the templates that it has loaded.
pub(crate) struct Session {
    pub(crate) process: Process,
    /// How many requests it has got.
    pub(crate) requests: u64,
    /// The templates that it holds, by name; the number tells namesakes apart.
    loaded: HashMap<String, usize>,
}

pub(crate) struct RemoteTemplate {
    /// Tells templates of one name apart.
    pub(crate) number: usize,
    /// The template's name, with the front's: the program may also have the template
    /// without it.
    pub(crate) name: String,
    /// The front that the program should apply itself before this template.
    pub(crate) front: Option<String>,
    pub(crate) template: Template,
    /// Makes the data for a Go template, if the program does not.
    pub(crate) go: Option<GoProgram>,
    /// The program's own parsers for the template's answers, when it has named them.
    pub(crate) parsers: OnceLock<Vec<String>>,
}

/// The outcome of a render, and what the program says is learned of the prompt, as ranges of its bytes.
pub(crate) type Rendered = (Outcome, Option<Vec<Range<usize>>>);

/// What went wrong with a process.
pub(crate) struct Crash {
    pub(crate) message: String,
    /// Whether it was in loading the template.
    pub(crate) is_in_loading: bool,
}

impl Session {
    pub(crate) fn start(
        command: &[String],
        limits: &ProtocolLimits,
    ) -> Result<(Session, Greeting), String> {
        let mut process = Process::spawn(command, limits.answer)?;
        let line = process.ask(&Request::Start { rolecall: VERSION }, limits.start)?;
        let greeting = Greeting::read(&line)?;
        let session = Session {
            process,
            requests: 0,
            loaded: HashMap::new(),
        };
        Ok((session, greeting))
    }

    fn next(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Whether the program loads a template without any construct.
    fn loads_smallest(&mut self, limits: &ProtocolLimits) -> Result<bool, String> {
        let id = self.next();
        let request = Request::Load {
            id,
            template: "smallest",
            source: "x",
            front_request: None,
        };
        let line = self.process.ask(&request, limits.time)?;
        Ok(!matches!(Meaning::read(&line, id)?, Meaning::Outcome(_)))
    }

    /// Asks for a template without any construct. Any valid answer will do.
    pub(crate) fn ask_for_smallest(&mut self, limits: &ProtocolLimits) -> Result<(), String> {
        if !self.loads_smallest(limits)? {
            return Ok(());
        }
        let id = self.next();
        let messages = [json!({"role": "user", "content": "x"})];
        let input = RenderInput {
            now: Moment::default().to_string(),
            messages: &messages,
            tools: None,
            documents: None,
            add_generation_prompt: true,
            continue_final_message: None,
            variables: Map::new(),
            undefined: &[],
            go: None,
        };
        let request = Request::Render {
            id,
            template: "smallest",
            input: &input,
        };
        let line = self.process.ask(&request, limits.time)?;
        match Meaning::read(&line, id)? {
            Meaning::Outcome(_) => Ok(()),
            Meaning::Loaded => Err(LOADED_FOR_RENDERED.to_owned()),
        }
    }

    /// Loads a template into the program, if it is not loaded yet. Returns the refusal,
    /// if there is one.
    pub(crate) fn load(
        &mut self,
        remote: &RemoteTemplate,
        limits: &ProtocolLimits,
    ) -> Result<Option<Outcome>, String> {
        let name = remote.name.as_str();
        // Two templates of one name may take turns, for example one before and one after a change.
        if self.loaded.get(name) == Some(&remote.number) {
            return Ok(None);
        }
        let id = self.next();
        let request = Request::Load {
            id,
            template: name,
            source: &remote.template.source,
            front_request: remote.front.as_deref().map(|front| FrontRequest {
                front,
                special_tokens: &remote.template.special_tokens,
                setup: remote.template.setup.to_json(),
                templates: remote.template.sources_by_name().collect(),
            }),
        };
        let line = self.process.ask(&request, limits.time)?;
        match Meaning::read(&line, id)? {
            Meaning::Loaded => {
                self.loaded.insert(name.to_owned(), remote.number);
                remote.parsers.get_or_init(|| parsers_in(&line));
                Ok(None)
            }
            Meaning::Outcome(refused @ (Outcome::Failed { .. } | Outcome::Exceeded { .. })) => {
                Ok(Some(refused))
            }
            // A process that crashed may be broken.
            Meaning::Outcome(Outcome::Crashed { message }) => Err(message),
            Meaning::Outcome(other) => Err(format!("it answered `load` with `{}`", other.kind())),
        }
    }

    /// Renders a conversation with a template that is loaded. If the caller wants to know what is
    /// learned of the prompt, that is returned, too, if the program says so.
    pub(crate) fn render(
        &mut self,
        remote: &RemoteTemplate,
        conversation: &Conversation<'_>,
        wants_learned: bool,
        limits: &ProtocolLimits,
    ) -> Result<Rendered, String> {
        let id = self.next();
        let input = input::render_input(
            conversation,
            &remote.template,
            remote.front.is_some(),
            remote.go.as_ref(),
        );
        let request = Request::Render {
            id,
            template: &remote.name,
            input: &input,
        };
        let line = self.process.ask(&request, limits.time)?;
        match Meaning::read(&line, id)? {
            // What crashed may be spoilt.
            Meaning::Outcome(Outcome::Crashed { message }) => Err(message),
            Meaning::Outcome(outcome) => {
                let learned = match &outcome {
                    Outcome::Rendered { text } if wants_learned => learned_in(&line, text)?,
                    _ => None,
                };
                Ok((outcome, learned))
            }
            Meaning::Loaded => Err(LOADED_FOR_RENDERED.to_owned()),
        }
    }

    pub(crate) fn read(
        &mut self,
        with: ReadWith<'_>,
        answer: &Answer<'_>,
        limits: &ProtocolLimits,
    ) -> Result<ReadOutcome, String> {
        let id = self.next();
        let request = Request::Parse {
            id,
            with,
            prefix: answer.prompt,
            text: answer.text,
            tools: answer.tools,
        };
        let line = self.process.ask(&request, limits.time)?;
        match read_message(&line, id)? {
            // What crashed may be spoilt.
            ReadOutcome::Crashed { message } => Err(message),
            outcome => Ok(outcome),
        }
    }

    /// Has the smallest answer read with a response template. Any valid outcome will do.
    pub(crate) fn read_smallest(&mut self, limits: &ProtocolLimits) -> Result<(), String> {
        let template = json!({"start_anchor": "a", "fields": {"content": {}}});
        let with = ReadWith::ResponseTemplate {
            response_template: &template,
        };
        self.read(with, &SMALLEST, limits).map(|_| ())
    }

    /// Has the smallest answer read with parsers for a chat template without any construct. Any
    /// valid outcome will do.
    pub(crate) fn read_smallest_with_parsers(
        &mut self,
        limits: &ProtocolLimits,
    ) -> Result<(), String> {
        if !self.loads_smallest(limits)? {
            return Ok(());
        }
        let with = ReadWith::ChatTemplate {
            template: "smallest",
            variables: &Map::new(),
        };
        self.read(with, &SMALLEST, limits).map(|_| ())
    }
}

/// What is wrong with a program that renders nothing.
const LOADED_FOR_RENDERED: &str = "it answered `render` with `ok`";

const SMALLEST: Answer<'_> = Answer {
    prompt: "a",
    text: "x",
    tools: None,
};
