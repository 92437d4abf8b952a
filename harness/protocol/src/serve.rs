//! The other end of the protocol: serves an engine of this process to another program.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read as _, Write};

use rolecall_model::guard::{LoadedTemplate, load, on_large_stack};
use rolecall_model::{Case, Conversation, Engine, Outcome, Template};
use serde::Serialize;

use super::message::{AnswerLine, ReceivedRequest, RequestKind, VERSION};

/// The most bytes of a request: as much as a case file or a template may have.
const LONGEST: u64 = 16 << 20;

/// How serving an engine ended, if not by `stop` or the end of the requests.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A line is no request, or one that cannot be answered.
    #[error("request {line}: {reason}")]
    Request {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The streams cannot be read or written.
    #[error(transparent)]
    Stream(#[from] io::Error),
}

/// The engine's name and versions, for the answer to `start`.
#[derive(Serialize)]
struct Introduction<'e> {
    rolecall: u64,
    engine: &'e str,
    version: &'e str,
    dialect: &'e str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    components: BTreeMap<String, String>,
}

/// Answers requests, a line each, until `stop` or their end.
///
/// An invalid request ends it with an error: an engine should not guess what was meant.
pub fn serve(
    engine: &dyn Engine,
    requests: impl BufRead,
    answers: impl Write,
) -> Result<(), ServeError> {
    on_large_stack(|| answer_all(engine, requests, answers))
}

fn answer_all(
    engine: &dyn Engine,
    mut requests: impl BufRead,
    mut answers: impl Write,
) -> Result<(), ServeError> {
    let mut templates = HashMap::new();
    for number in 1.. {
        let refused = |reason| ServeError::Request {
            line: number,
            reason,
        };
        let mut line = Vec::new();
        requests
            .by_ref()
            .take(LONGEST + 1)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 > LONGEST {
            return Err(refused(format!("it is longer than {LONGEST} bytes")));
        }
        let mut asked = ReceivedRequest::read(&line).map_err(refused)?;
        match asked.request {
            RequestKind::Start => send(
                &mut answers,
                &Introduction {
                    rolecall: VERSION,
                    engine: engine.name(),
                    version: engine.version(),
                    dialect: engine.dialect().name(),
                    components: engine.components(),
                },
            )?,
            RequestKind::Load => {
                let id = asked.id().map_err(refused)?;
                let name = asked.template().map_err(refused)?.to_owned();
                let source = asked.source().map_err(refused)?;
                let template = Template::from_source(&name, engine.dialect(), source);
                let loaded = load(engine, &template);
                match loaded.refusal() {
                    None => {
                        templates.insert(name, loaded);
                        send(&mut answers, &AnswerLine::loaded(id))?;
                    }
                    Some(refusal) => send_outcome(&mut answers, id, refusal)?,
                }
            }
            RequestKind::Render => {
                let id = asked.id().map_err(refused)?;
                let name = asked.template().map_err(refused)?;
                let loaded: &LoadedTemplate = templates
                    .get(name)
                    .ok_or_else(|| refused(format!("no template `{name}` is loaded")))?;
                let mut case = Case::from_messages(std::mem::take(&mut asked.messages));
                case.tools = asked.tools.take();
                case.documents = asked.documents.take();
                case.add_generation_prompt = asked.add_generation_prompt;
                case.variables = std::mem::take(&mut asked.variables);
                if let Some(now) = &asked.now {
                    case.now = now
                        .parse()
                        .map_err(|error| refused(format!("`now`: {error}")))?;
                }
                let outcome = loaded.render(&Conversation::new(&case));
                send_outcome(&mut answers, id, &outcome)?;
            }
            RequestKind::Stop => return Ok(()),
        }
    }
    Ok(())
}

fn send_outcome(answers: &mut impl Write, id: u64, outcome: &Outcome) -> Result<(), ServeError> {
    send(answers, &AnswerLine::of(id, outcome))
}

fn send(answers: &mut impl Write, answer: &impl Serialize) -> Result<(), ServeError> {
    let mut line = serde_json::to_vec(answer).map_err(io::Error::from)?;
    line.push(b'\n');
    answers.write_all(&line)?;
    Ok(answers.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_front::engines::Engines;

    fn answers(requests: &str) -> (String, Result<(), ServeError>) {
        let engines = Engines::default();
        let engine = engines.by_name("rolecall-jinja").unwrap();
        let mut answers = Vec::new();
        let result = serve(engine, requests.as_bytes(), &mut answers);
        (String::from_utf8(answers).unwrap(), result)
    }

    #[test]
    fn requests_are_answered_in_their_order() {
        let (answers, result) = answers(
            r#"{"request": "start", "rolecall": 1}
{"request": "load", "id": 1, "template": "t", "source": "{{ messages[0].content }}{{ x }}"}
{"request": "render", "id": 2, "template": "t", "messages": [{"content": "a"}], "variables": {"x": 1}}
{"request": "load", "id": 3, "template": "u", "source": "{% if"}
{"request": "load", "id": 4, "template": "u", "source": "{{ strftime_now('%Y') }}{{ raise_exception('no') }}"}
{"request": "render", "id": 5, "template": "u", "now": "2031-02-03T04:05:06Z"}
{"request": "load", "id": 6, "template": "u", "source": "{{ strftime_now('%Y') }}{{ 'x' * 999999999 }}"}
{"request": "render", "id": 7, "template": "u"}
{"request": "stop"}
no request"#,
        );
        assert!(result.is_ok(), "{result:?}");
        let lines: Vec<_> = answers.lines().collect();
        assert!(lines[0].starts_with(r#"{"rolecall":1,"engine":"rolecall-jinja","version":""#));
        assert!(lines[0].ends_with(r#""dialect":"jinja","components":{"minijinja":"3.0.5"}}"#));
        assert_eq!(lines[1], r#"{"id":1,"ok":true}"#);
        assert_eq!(lines[2], r#"{"id":2,"outcome":"rendered","text":"a1"}"#);
        assert!(
            lines[3].starts_with(r#"{"id":3,"outcome":"failed","message":"#)
                && lines[3].ends_with(r#""stage":"parse","line":1}"#),
            "{}",
            lines[3]
        );
        assert_eq!(lines[4], r#"{"id":4,"ok":true}"#);
        assert_eq!(lines[5], r#"{"id":5,"outcome":"raised","message":"no"}"#);
        assert_eq!(
            lines[7],
            r#"{"id":7,"outcome":"exceeded","limit":"output"}"#
        );
        assert_eq!(lines.len(), 8);
    }

    #[test]
    fn what_is_no_request_ends_it_with_words() {
        for (request, words) in [
            ("hello", "request 1: not a request"),
            (r#"{"request": "dance"}"#, "unknown variant `dance`"),
            (r#"{"request": "load", "id": 1}"#, "no `template`"),
            (r#"{"request": "load", "template": "t"}"#, "no `id`"),
            (
                r#"{"request": "load", "id": 1, "template": "t"}"#,
                "no `source`",
            ),
            (
                r#"{"request": "render", "id": 1, "template": "t"}"#,
                "no template `t` is loaded",
            ),
            (r#"{"request": "start", "rolecall": 2}"#, "version 2"),
        ] {
            let message = answers(request).1.unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
