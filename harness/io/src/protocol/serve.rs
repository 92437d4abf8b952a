//! The other end of the protocol: serves an engine of this process to another program.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read as _, Write};

use rolecall_core::guard::{LoadedTemplate, load, on_large_stack};
use rolecall_core::{Case, Conversation, Engine, Template};
use serde::Serialize;

use super::message::{AnswerLine, ErrorLine, ReceivedRequest, RequestKind, VERSION, id_of};

/// How many templates are kept ready, and the most bytes of their sources. Of others only the source
/// is kept, and they are loaded again when they are rendered.
const MOST_READY: usize = 500;
const MOST_READY_BYTES: usize = 16 << 20;

/// The most bytes of all sources.
const MOST_BYTES: usize = 128 << 20;

/// The most bytes of a request. A template of 8 MiB fits, even with an escape for every other byte.
const LONGEST: u64 = 16 << 20;

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
/// A line that is no request, or one that cannot be answered, gets an answer that says why, without
/// an outcome: an engine should not guess what was meant.
///
/// # Errors
///
/// The streams cannot be read or written.
pub fn serve(engine: &dyn Engine, requests: impl BufRead, answers: impl Write) -> io::Result<()> {
    // Once around all requests, so that no request needs a stack of its own.
    on_large_stack(|| answer_all(engine, requests, answers))
}

fn answer_all(
    engine: &dyn Engine,
    mut requests: impl BufRead,
    mut answers: impl Write,
) -> io::Result<()> {
    let mut served = Served {
        engine,
        sources: HashMap::new(),
        bytes: 0,
        ready: HashMap::new(),
        ready_bytes: 0,
    };
    loop {
        let mut line = Vec::new();
        requests
            .by_ref()
            .take(LONGEST + 1)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let answered = if line.len() as u64 > LONGEST {
            if !line.ends_with(b"\n") {
                // The rest of the line is no request. The next line may be one, and gets its answer.
                requests.skip_until(b'\n')?;
            }
            Err(format!("the request is longer than {LONGEST} bytes"))
        } else {
            ReceivedRequest::read(&line).and_then(|asked| served.answer(asked))
        };
        let answer = match answered {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(()),
            Err(reason) => written(&ErrorLine::new(id_of(&line), &reason))?,
        };
        answers.write_all(&answer)?;
        answers.flush()?;
    }
}

/// An engine, with the templates that are loaded.
struct Served<'e> {
    engine: &'e dyn Engine,
    sources: HashMap<String, String>,
    bytes: usize,
    /// The templates of some of the sources.
    ready: HashMap<String, LoadedTemplate>,
    ready_bytes: usize,
}

impl Served<'_> {
    /// The answer to a request; none to `stop`. The error says why there is no answer.
    fn answer(&mut self, mut asked: ReceivedRequest) -> Result<Option<Vec<u8>>, String> {
        let engine = self.engine;
        let answer = match asked.request {
            RequestKind::Start => written(&Introduction {
                rolecall: VERSION,
                engine: engine.name(),
                version: engine.version(),
                dialect: engine.dialect().name(),
                components: engine.components(),
            }),
            RequestKind::Load => {
                let (id, name) = (asked.id()?, asked.template()?);
                let source = asked.source()?;
                let template = Template::from_source(name, engine.dialect(), source);
                let loaded = load(engine, &template);
                if let Some(refusal) = loaded.refusal() {
                    written(&AnswerLine::of(id, refusal))
                } else {
                    let size = name.len() + source.len();
                    let before = self.sources.get(name);
                    let before = before.map_or(0, |before| name.len() + before.len());
                    if self.bytes - before + size > MOST_BYTES {
                        return Err(format!(
                            "all templates together have more than {MOST_BYTES} bytes: start \
                             another process"
                        ));
                    }
                    self.bytes = self.bytes - before + size;
                    let source = source.to_owned();
                    self.keep_ready(name, loaded, source.len());
                    self.sources.insert(name.to_owned(), source);
                    written(&AnswerLine::loaded(id))
                }
            }
            RequestKind::Render => {
                let (id, name) = (asked.id()?, asked.template()?);
                if !self.ready.contains_key(name) {
                    let source = self.sources.get(name);
                    let source = source.ok_or_else(|| format!("no template `{name}` is loaded"))?;
                    let size = source.len();
                    let template = Template::from_source(name, engine.dialect(), source);
                    self.keep_ready(name, load(engine, &template), size);
                }
                #[allow(clippy::indexing_slicing)] // `keep_ready` keeps it if it was not there.
                let loaded = &self.ready[name];
                let mut case = Case::from_messages(std::mem::take(&mut asked.messages));
                case.tools = asked.tools.take();
                case.documents = asked.documents.take();
                case.add_generation_prompt = asked.add_generation_prompt;
                case.variables = std::mem::take(&mut asked.variables);
                if let Some(now) = &asked.now {
                    case.now = now.parse().map_err(|error| format!("`now`: {error}"))?;
                }
                let outcome = loaded.render(&Conversation::new(&case));
                written(&AnswerLine::of(id, &outcome))
            }
            RequestKind::Stop => return Ok(None),
        };
        answer.map(Some).map_err(|error| error.to_string())
    }

    /// Keeps a template ready, and frees the others if there are too many.
    fn keep_ready(&mut self, name: &str, loaded: LoadedTemplate, size: usize) {
        if self.ready.len() >= MOST_READY || self.ready_bytes + size > MOST_READY_BYTES {
            self.ready.clear();
            self.ready_bytes = 0;
        }
        self.ready_bytes += size;
        self.ready.insert(name.to_owned(), loaded);
    }
}

fn written(answer: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(answer).map_err(io::Error::from)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_front::engines::Engines;

    fn answers(requests: &str) -> String {
        let engines = Engines::default();
        let engine = engines.by_name("rolecall-jinja").unwrap();
        let mut answers = Vec::new();
        serve(engine, requests.as_bytes(), &mut answers).unwrap();
        String::from_utf8(answers).unwrap()
    }

    #[test]
    fn requests_are_answered_in_their_order() {
        let answers = answers(
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
    fn what_is_no_request_is_answered_with_words() {
        for (request, id, words) in [
            ("hello", "null", "not a request"),
            ("", "null", "not a request"),
            ("[]", "null", "not a request"),
            (
                r#"{"request": "dance", "id": 3}"#,
                "3",
                "unknown variant `dance`",
            ),
            (r#"{"request": "load", "id": 1}"#, "1", "no `template`"),
            (r#"{"request": "load", "template": "t"}"#, "null", "no `id`"),
            (
                r#"{"request": "load", "id": 1, "template": "t"}"#,
                "1",
                "no `source`",
            ),
            (
                r#"{"request": "render", "id": 7, "template": "t"}"#,
                "7",
                "no template `t` is loaded",
            ),
            (
                r#"{"request": "render", "id": 8, "template": "u", "now": "then"}"#,
                "8",
                "`now`: ",
            ),
            (
                r#"{"request": "start", "rolecall": 2}"#,
                "null",
                "version 2",
            ),
        ] {
            // The engine goes on as if nothing had happened.
            let load = r#"{"request": "load", "id": 1, "template": "u", "source": "x"}"#;
            let render = r#"{"request": "render", "id": 2, "template": "u"}"#;
            let answers = answers(&format!("{load}\n{request}\n{render}\n"));
            let lines: Vec<&str> = answers.lines().collect();
            let [_, answer, next] = lines[..] else {
                panic!("{answers}");
            };
            let begin = format!(r#"{{"id":{id},"error":""#);
            assert!(answer.starts_with(&begin), "{answer}");
            assert!(answer.contains(words), "{answer}");
            assert_eq!(next, r#"{"id":2,"outcome":"rendered","text":"x"}"#);
            if let Ok(id) = id.parse() {
                let read = crate::protocol::read_answer(answer.as_bytes(), id).unwrap_err();
                assert!(read.contains(words), "{read}");
            }
        }
    }

    #[test]
    fn a_request_that_is_too_long_is_skipped() {
        let long = "x".repeat(usize::try_from(LONGEST).unwrap() + 1);
        let load = r#"{"request": "load", "id": 1, "template": "u", "source": "x"}"#;
        let answers = answers(&format!("{long}\n{load}\n{long}"));
        let lines: Vec<&str> = answers.lines().collect();
        assert_eq!(lines.len(), 3, "{answers}");
        assert!(lines[0].contains("longer than"), "{answers}");
        assert_eq!(lines[1], r#"{"id":1,"ok":true}"#);
    }
}
