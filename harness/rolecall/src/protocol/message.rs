//! What is said over the engine protocol: requests and answers, a JSON object a line.

use std::collections::BTreeMap;

use rolecall_model::{Dialect, Limit, Outcome, Stage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The protocol's version.
pub(super) const VERSION: u64 = 1;

/// A request to an engine.
#[derive(Debug, Serialize)]
#[serde(tag = "request", rename_all = "lowercase")]
pub(super) enum Request<'r> {
    /// Who are you?
    Start {
        /// The protocol's version.
        rolecall: u64,
    },
    /// Compile a template, and keep it under its name.
    Load {
        id: u64,
        template: &'r str,
        source: &'r str,
        /// The front that the program shall have, if it is an application that has it, and
        /// what goes with it.
        #[serde(flatten)]
        behind: Option<Behind<'r>>,
    },
    /// Render a conversation with a template that was loaded.
    Render {
        id: u64,
        template: &'r str,
        #[serde(flatten)]
        input: &'r Input<'r>,
    },
    /// End.
    Stop,
}

/// What a program is told that has a front itself.
#[derive(Debug, Serialize)]
pub(super) struct Behind<'r> {
    pub(super) front: &'r str,
    pub(super) special_tokens: &'r Map<String, Value>,
    /// What a server of Ollama knows of the model.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) setup: Map<String, Value>,
    /// The sources of all the templates of the model, by name, where it has several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) templates: BTreeMap<&'r str, &'r str>,
}

/// What a template sees, or an application before it.
#[derive(Debug, Serialize)]
pub(super) struct Input<'r> {
    pub(super) now: String,
    pub(super) messages: &'r [Value],
    pub(super) tools: Option<&'r [Value]>,
    pub(super) documents: Option<&'r [Value]>,
    pub(super) add_generation_prompt: bool,
    /// Only for applications: templates do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) continue_final_message: Option<&'r str>,
    pub(super) variables: Map<String, Value>,
    /// Only for engines of Go templates that are no applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) go: Option<GoInput>,
}

/// What Ollama executes a Go template with, or why it does not.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GoInput {
    /// Once, with this.
    Data(Value),
    /// With each of these: the template knows no messages.
    Turns(Vec<Value>),
    /// Not at all: the conversation is refused, in these words.
    Refused(String),
}

/// How an engine introduces itself.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Greeting {
    rolecall: u64,
    pub(super) engine: String,
    #[serde(default)]
    pub(super) version: String,
    dialect: String,
    #[serde(default)]
    pub(super) components: BTreeMap<String, String>,
    /// The fronts that it has itself.
    #[serde(default)]
    pub(super) fronts: Vec<String>,
}

/// An answer to `load` or `render`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Start,
    Load,
    Render,
    Stop,
}

/// A request, as an engine gets it.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    pub(super) request: Kind,
    rolecall: Option<u64>,
    id: Option<u64>,
    template: Option<String>,
    source: Option<String>,
    pub(super) now: Option<String>,
    #[serde(default)]
    pub(super) messages: Vec<Value>,
    pub(super) tools: Option<Vec<Value>>,
    pub(super) documents: Option<Vec<Value>>,
    #[serde(default = "yes")]
    pub(super) add_generation_prompt: bool,
    #[serde(default)]
    pub(super) variables: Map<String, Value>,
}

fn yes() -> bool {
    true
}

/// What an answer comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The template is loaded.
    Loaded,
    /// What became of the template or the pair.
    Outcome(Outcome),
}

impl Greeting {
    /// Reads the answer to `start`.
    pub(super) fn read(line: &[u8]) -> Result<Greeting, String> {
        let greeting: Greeting = parse(line, "an answer")?;
        if greeting.rolecall != VERSION {
            return Err(format!(
                "it speaks version {} of the engine protocol, not {VERSION}",
                greeting.rolecall
            ));
        }
        greeting.dialect().map(|_| greeting)
    }

    /// The dialect that it renders.
    pub(super) fn dialect(&self) -> Result<Dialect, String> {
        Dialect::ALL
            .into_iter()
            .find(|dialect| dialect.name() == self.dialect)
            .ok_or_else(|| {
                format!(
                    "its dialect is `{}`; there are `jinja` and `go`",
                    self.dialect
                )
            })
    }
}

impl Asked {
    /// Reads a request.
    pub(super) fn read(line: &[u8]) -> Result<Asked, String> {
        let asked: Asked = parse(line, "a request")?;
        match (asked.request, asked.rolecall) {
            (Kind::Start, Some(VERSION)) | (Kind::Load | Kind::Render | Kind::Stop, _) => Ok(asked),
            (Kind::Start, Some(other)) => Err(format!(
                "version {other} of the engine protocol was asked for, not {VERSION}"
            )),
            (Kind::Start, None) => Err("no `rolecall`, the version of the protocol".to_owned()),
        }
    }

    pub(super) fn id(&self) -> Result<u64, String> {
        self.id.ok_or_else(|| "no `id`".to_owned())
    }

    /// The template's name.
    pub(super) fn template(&self) -> Result<&str, String> {
        let name = self.template.as_deref();
        name.ok_or_else(|| "no `template`".to_owned())
    }

    /// The template's source.
    pub(super) fn source(&self) -> Result<&str, String> {
        let source = self.source.as_deref();
        source.ok_or_else(|| "no `source`".to_owned())
    }
}

impl Answer {
    /// That a template is loaded.
    pub(super) fn loaded(id: u64) -> Answer {
        Answer {
            id: Some(id),
            ok: Some(true),
            ..Answer::default()
        }
    }

    /// What became of a template or a pair.
    pub(super) fn of(id: u64, outcome: Outcome) -> Answer {
        let answer = Answer {
            id: Some(id),
            outcome: Some(outcome.kind().name().to_owned()),
            ..Answer::default()
        };
        match outcome {
            Outcome::Rendered { text } => Answer {
                text: Some(text),
                ..answer
            },
            Outcome::Raised { message }
            | Outcome::Crashed { message }
            | Outcome::NotAsked { message } => Answer {
                message: Some(message),
                ..answer
            },
            Outcome::Failed {
                stage,
                message,
                line,
            } => Answer {
                stage: Some(stage.name().to_owned()),
                message: Some(message),
                line,
                ..answer
            },
            Outcome::Exceeded { limit } => Answer {
                limit: Some(limit.name().to_owned()),
                ..answer
            },
        }
    }
}

impl Meaning {
    /// Reads the answer to the request of an ID.
    pub(super) fn read(line: &[u8], asked: u64) -> Result<Meaning, String> {
        let answer: Answer = parse(line, "an answer")?;
        match answer.id {
            Some(id) if id == asked => {}
            Some(id) => return Err(format!("it answered request {id} when {asked} was asked")),
            None => return Err(format!("an answer without `id`: {}", shown(line))),
        }
        if answer.ok == Some(true) {
            return Ok(Meaning::Loaded);
        }
        let lacks = |key: &str| format!("an answer without `{key}`: {}", shown(line));
        let text = |value: Option<String>, key| value.ok_or_else(|| lacks(key));
        let outcome = text(answer.outcome, "outcome")?;
        Ok(Meaning::Outcome(match outcome.as_str() {
            "rendered" => Outcome::Rendered {
                text: text(answer.text, "text")?,
            },
            "raised" => Outcome::Raised {
                message: text(answer.message, "message")?,
            },
            // An engine that catches its crashes can go on.
            "crashed" => Outcome::Crashed {
                message: text(answer.message, "message")?,
            },
            "failed" => {
                let name = text(answer.stage, "stage")?;
                Outcome::Failed {
                    stage: named(&Stage::ALL, Stage::name, &name, "stage")?,
                    message: text(answer.message, "message")?,
                    line: answer.line.filter(|line| *line > 0),
                }
            }
            "exceeded" => {
                let name = text(answer.limit, "limit")?;
                Outcome::Exceeded {
                    limit: named(&Limit::ALL, Limit::name, &name, "limit")?,
                }
            }
            "ok" => {
                return Err(format!(
                    "an answer with the outcome `ok`: that a template is loaded is said by \
                     {{\"id\": {asked}, \"ok\": true}}"
                ));
            }
            other => return Err(format!("an answer with the outcome `{other}`")),
        }))
    }
}

fn named<T: Copy>(
    all: &[T],
    name: impl Fn(T) -> &'static str,
    wanted: &str,
    what: &str,
) -> Result<T, String> {
    let found = all.iter().copied().find(|one| name(*one) == wanted);
    found.ok_or_else(|| format!("an answer with the {what} `{wanted}`"))
}

fn parse<'l, T: Deserialize<'l>>(line: &'l [u8], what: &str) -> Result<T, String> {
    // serde would take a list for an object without names.
    if line.trim_ascii_start().starts_with(b"[") {
        return Err(format!("not {what} (no object): {}", shown(line)));
    }
    serde_json::from_slice(line).map_err(|error| {
        let reason = error.to_string();
        // It is one line: of the place only the column says something.
        let reason = reason.replace(" at line 1 column ", " at character ");
        format!("not {what} ({reason}): {}", shown(line))
    })
}

/// The beginning of a line, for a message.
pub(super) fn shown(line: &[u8]) -> String {
    const MOST: usize = 120;
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_as_the_protocol_says() {
        let line = |request: &Request<'_>| serde_json::to_string(request).unwrap();
        assert_eq!(
            line(&Request::Start { rolecall: VERSION }),
            r#"{"request":"start","rolecall":1}"#
        );
        assert_eq!(
            line(&Request::Load {
                id: 1,
                template: "t",
                source: "x",
                behind: None,
            }),
            r#"{"request":"load","id":1,"template":"t","source":"x"}"#
        );
        let tokens = Map::from_iter([("eos_token".to_owned(), Value::from("</s>"))]);
        assert_eq!(
            line(&Request::Load {
                id: 1,
                template: "t",
                source: "x",
                behind: Some(Behind {
                    front: "transformers",
                    templates: BTreeMap::new(),
                    special_tokens: &tokens,
                    setup: Map::new(),
                }),
            }),
            r#"{"request":"load","id":1,"template":"t","source":"x","front":"transformers","special_tokens":{"eos_token":"</s>"}}"#
        );
        let input = Input {
            now: "2026-01-02T03:04:05Z".into(),
            messages: &[],
            tools: None,
            documents: None,
            add_generation_prompt: true,
            continue_final_message: None,
            variables: Map::new(),
            go: None,
        };
        assert_eq!(
            line(&Request::Render {
                id: 2,
                template: "t",
                input: &input
            }),
            r#"{"request":"render","id":2,"template":"t","now":"2026-01-02T03:04:05Z","messages":[],"tools":null,"documents":null,"add_generation_prompt":true,"variables":{}}"#
        );
        assert_eq!(line(&Request::Stop), r#"{"request":"stop"}"#);
    }

    #[test]
    fn answers_are_read_or_refused_with_words() {
        let read = |line: &str| Meaning::read(line.as_bytes(), 7);
        assert_eq!(read(r#"{"id": 7, "ok": true}"#), Ok(Meaning::Loaded));
        let outcome = |line| match read(line) {
            Ok(Meaning::Outcome(outcome)) => outcome,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            outcome(r#"{"id": 7, "outcome": "rendered", "text": "a\n", "more": 1}"#),
            Outcome::Rendered { text: "a\n".into() }
        );
        assert_eq!(
            outcome(
                r#"{"id": 7, "outcome": "failed", "stage": "render", "message": "m", "line": 3}"#
            ),
            Outcome::Failed {
                stage: Stage::Render,
                message: "m".into(),
                line: Some(3)
            }
        );
        assert_eq!(
            outcome(r#"{"id": 7, "outcome": "exceeded", "limit": "recursion"}"#),
            Outcome::Exceeded {
                limit: Limit::Recursion
            }
        );
        for (line, words) in [
            (
                "hello",
                "not an answer (expected value at character 1): `hello`",
            ),
            (
                "",
                "not an answer (EOF while parsing a value at line 1 column 0): ``",
            ),
            (
                r#"{"id": 6, "ok": true}"#,
                "it answered request 6 when 7 was asked",
            ),
            (
                r#"{"ok": true}"#,
                "an answer without `id`: `{\"ok\": true}`",
            ),
            (r#"{"id": 7}"#, "an answer without `outcome`: `{\"id\": 7}`"),
            (
                r#"{"id": 7, "outcome": "fine"}"#,
                "an answer with the outcome `fine`",
            ),
            (
                r#"{"id": 7, "outcome": "failed", "stage": "later", "message": ""}"#,
                "an answer with the stage `later`",
            ),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.starts_with(words) || line.is_empty(), "{error}");
        }
    }

    #[test]
    fn an_engine_says_who_it_is() {
        let read = |line: &str| Greeting::read(line.as_bytes());
        let greeting = read(r#"{"rolecall": 1, "engine": "e", "dialect": "go"}"#).unwrap();
        assert_eq!(greeting.dialect(), Ok(Dialect::Go));
        assert!(
            read(r#"{"rolecall": 2, "engine": "e", "dialect": "go"}"#)
                .unwrap_err()
                .contains("version 2")
        );
        assert!(
            read(r#"{"rolecall": 1, "engine": "e", "dialect": "perl"}"#)
                .unwrap_err()
                .contains("`perl`")
        );
        assert!(read(r#"{"engine": "e"}"#).is_err());
    }
}
