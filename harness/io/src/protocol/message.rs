//! The messages of the engine protocol: requests and answers, one JSON object a line.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::outcome_json::{InvalidOutcome, OutcomeJson};
use rolecall_core::{Cut, Dialect, Outcome, json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) const VERSION: u64 = 1;

#[derive(Debug, Serialize)]
#[serde(tag = "request", rename_all = "lowercase")]
pub(crate) enum Request<'r> {
    /// Who are you?
    Start {
        rolecall: u64,
    },
    /// Compile a template, and keep it under its name.
    Load {
        id: u64,
        template: &'r str,
        source: &'r str,
        /// The front that the program should apply, if it is an application that has it.
        #[serde(flatten)]
        front_request: Option<FrontRequest<'r>>,
    },
    /// Render a conversation with a template that was loaded.
    Render {
        id: u64,
        template: &'r str,
        #[serde(flatten)]
        input: &'r RenderInput<'r>,
    },
    /// Read an answer.
    Parse {
        id: u64,
        #[serde(flatten)]
        with: ReadWith<'r>,
        prefix: &'r str,
        text: &'r str,
        tools: Option<&'r [Value]>,
    },
    Stop,
}

/// What says how an answer is read.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ReadWith<'r> {
    ResponseTemplate {
        response_template: &'r Value,
    },
    /// A chat template that was loaded: the program has parsers of its own for it. The variables are
    /// those with which a prompt was made.
    ChatTemplate {
        template: &'r str,
        variables: &'r Map<String, Value>,
    },
}

/// The fields of `load` for a program that has the front itself.
#[derive(Debug, Serialize)]
pub(crate) struct FrontRequest<'r> {
    pub(super) front: &'r str,
    pub(super) special_tokens: &'r Map<String, Value>,
    /// What a server of Ollama knows of the model.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) setup: Map<String, Value>,
    /// The sources of all the templates of the model, by name, where it has several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) templates: BTreeMap<&'r str, &'r str>,
}

/// The conversation as a template sees it, or an application before the template.
#[derive(Debug, Serialize)]
pub(crate) struct RenderInput<'r> {
    pub(super) now: String,
    pub(super) messages: &'r [Value],
    pub(super) tools: Option<&'r [Value]>,
    pub(super) documents: Option<&'r [Value]>,
    pub(super) add_generation_prompt: bool,
    /// Only for applications: templates do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) continue_final_message: Option<&'r str>,
    pub(super) variables: Map<String, Value>,
    /// Only for engines: the names that templates do not see, although others do.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) undefined: &'r [String],
    /// Only for engines of Go templates that are no applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) go: Option<GoInput>,
}

/// The data with which Ollama executes a Go template, or why it refuses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GoInput {
    /// Ollama executes the template once, with this data.
    Data(Value),
    /// Ollama executes the template once for each of these: it does not use messages.
    Turns(Vec<Value>),
    /// Ollama refuses the conversation, with this message.
    Refused(String),
}

/// How an engine introduces itself.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Greeting {
    rolecall: u64,
    pub engine: String,
    #[serde(default)]
    pub(super) version: String,
    dialect: String,
    #[serde(default)]
    pub(super) components: BTreeMap<String, String>,
    /// The fronts that the program applies itself.
    #[serde(default)]
    pub(super) fronts: Vec<String>,
    /// The kinds of templates that can say how the program reads answers.
    #[serde(default)]
    reads: Vec<String>,
}

/// A kind of templates that can say how answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadingKind {
    ResponseTemplate,
    /// Chat templates: the program has parsers of its own for them.
    ChatTemplate,
}

/// An answer to `load` or `render`.
#[derive(Debug, Serialize)]
pub(crate) struct AnswerLine<'o> {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    #[serde(flatten)]
    outcome: Option<OutcomeJson<'o>>,
}

/// The fields of an answer besides its outcome.
#[derive(Debug, Deserialize)]
pub(crate) struct AnswerHead {
    id: Option<u64>,
    ok: Option<bool>,
    error: Option<String>,
}

/// The fields of the answer to `load` that name the program's own parsers.
#[derive(Debug, Deserialize)]
struct ParsersLine {
    #[serde(default)]
    parsers: BTreeMap<String, Option<String>>,
}

/// The field of the answer to `render` that says what is learned of the text.
#[derive(Debug, Deserialize)]
struct LearnedLine {
    learned: Option<Vec<(usize, usize)>>,
}

/// The answer to a line that is no request, or to a request that cannot be answered.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorLine<'e> {
    /// The request's ID, if it has one.
    id: Option<u64>,
    error: &'e str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestKind {
    Start,
    Load,
    Render,
    Stop,
}

/// A request, as an engine gets it.
#[derive(Debug, Deserialize)]
pub(crate) struct ReceivedRequest {
    pub(super) request: RequestKind,
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

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Loaded,
    /// The outcome of loading the template, or of rendering the pair.
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

    /// Whether it reads answers with templates of a kind.
    pub(super) fn reads(&self, kind: ReadingKind) -> bool {
        let name = match kind {
            ReadingKind::ResponseTemplate => "response_template",
            ReadingKind::ChatTemplate => "chat_template",
        };
        self.reads.iter().any(|read| read == name)
    }

    pub(super) fn dialect(&self) -> Result<Dialect, String> {
        let name = &self.dialect;
        let dialect = Dialect::named(name);
        dialect.ok_or_else(|| format!("its dialect is `{name}`; there are `jinja` and `go`"))
    }
}

/// The most values in the JSON of a request. Each takes more memory than it takes bytes.
const MOST_VALUES: usize = 1_000_000;

impl ReceivedRequest {
    pub(super) fn read(line: &[u8]) -> Result<ReceivedRequest, String> {
        if json::values_in(line) > MOST_VALUES {
            return Err(format!("it has more than {MOST_VALUES} values"));
        }
        let asked: ReceivedRequest = parse(line, "a request")?;
        match (asked.request, asked.rolecall) {
            (RequestKind::Start, Some(VERSION))
            | (RequestKind::Load | RequestKind::Render | RequestKind::Stop, _) => Ok(asked),
            (RequestKind::Start, Some(other)) => Err(format!(
                "the request is for version {other} of the engine protocol, not {VERSION}"
            )),
            (RequestKind::Start, None) => {
                Err("no `rolecall`, the version of the protocol".to_owned())
            }
        }
    }

    pub(crate) fn id(&self) -> Result<u64, String> {
        self.id.ok_or_else(|| "no `id`".to_owned())
    }

    pub(crate) fn template(&self) -> Result<&str, String> {
        let name = self.template.as_deref();
        name.ok_or_else(|| "no `template`".to_owned())
    }

    pub(super) fn source(&self) -> Result<&str, String> {
        let source = self.source.as_deref();
        source.ok_or_else(|| "no `source`".to_owned())
    }
}

impl<'o> AnswerLine<'o> {
    /// The answer that a template is loaded.
    pub(super) fn loaded(id: u64) -> AnswerLine<'o> {
        AnswerLine {
            id,
            ok: Some(true),
            outcome: None,
        }
    }

    /// The answer with the outcome of loading or rendering.
    pub(super) fn of(id: u64, outcome: &'o Outcome) -> AnswerLine<'o> {
        AnswerLine {
            id,
            ok: None,
            outcome: Some(outcome.into()),
        }
    }
}

impl<'e> ErrorLine<'e> {
    /// An answer that says what is wrong with a request.
    pub(super) fn new(id: Option<u64>, error: &'e str) -> ErrorLine<'e> {
        ErrorLine { id, error }
    }
}

/// The ID in a line that is no request, if it has one. Only short lines are looked at.
pub(crate) fn id_of(line: &[u8]) -> Option<u64> {
    // A line that is no request may be of any form, and reading it as a whole value takes memory.
    const MOST: usize = 64 << 10;
    let line = (line.len() <= MOST).then_some(line)?;
    let value: Value = serde_json::from_slice(line).ok()?;
    value.get("id")?.as_u64()
}

/// Reads an answer to `load` or `render`: an outcome, or none if the template is loaded.
/// The error says what is wrong with the line, as a crash does.
pub fn read_answer(line: &[u8], asked: u64) -> Result<Option<Outcome>, String> {
    match Meaning::read(line, asked)? {
        Meaning::Outcome(outcome) => Ok(Some(outcome)),
        Meaning::Loaded => Ok(None),
    }
}

/// The names of the parsers that a program has chosen for a template, each once, if the answer to
/// `load` names any.
pub(crate) fn parsers_in(line: &[u8]) -> Vec<String> {
    let line: Result<ParsersLine, _> = serde_json::from_slice(line);
    let parsers = line.map(|line| line.parsers).unwrap_or_default();
    let mut names: Vec<String> = parsers.into_values().flatten().collect();
    names.sort();
    names.dedup();
    names
}

/// What a program says is learned of a text, as ranges of its bytes, if it says so.
pub(crate) fn learned_in(line: &[u8], text: &str) -> Result<Option<Vec<Range<usize>>>, String> {
    let LearnedLine { learned } = parse(line, "an answer")?;
    let mut end = 0;
    let range = |(from, to)| {
        let is_after = end <= from && from <= to && text.get(from..to).is_some();
        end = to;
        is_after.then_some(from..to).ok_or_else(|| {
            format!("`learned` has [{from}, {to}], which is no range of the text, or not in order")
        })
    };
    let ranges = learned.map(|ranges| ranges.into_iter().map(range).collect());
    ranges.transpose()
}

impl AnswerHead {
    /// Reads the head of the answer to the request of an ID.
    pub(super) fn read(line: &[u8], asked: u64) -> Result<AnswerHead, String> {
        let answer: AnswerHead = parse(line, "an answer")?;
        match answer.id {
            Some(id) if id == asked => {}
            Some(id) => return Err(format!("it answered request {id} instead of {asked}")),
            None => return Err(format!("an answer without `id`: {}", shown(line))),
        }
        match answer.error {
            Some(error) => Err(format!("it did not understand the request: {error}")),
            None => Ok(answer),
        }
    }
}

impl Meaning {
    /// Reads the answer to the request of an ID.
    pub(super) fn read(line: &[u8], asked: u64) -> Result<Meaning, String> {
        let answer = AnswerHead::read(line, asked)?;
        // Read before `ok` is looked at: a line with wrong types in these keys is no answer, whatever
        // else it says.
        let outcome: OutcomeJson<'_> = parse(line, "an answer")?;
        if answer.ok == Some(true) {
            return Ok(Meaning::Loaded);
        }
        match outcome.outcome() {
            // Only the harness itself uses `not asked`.
            Ok(Outcome::NotAsked { .. }) => {
                Err("an answer with the outcome `not asked`".to_owned())
            }
            Ok(Outcome::Failed {
                stage,
                message,
                line,
            }) => Ok(Meaning::Outcome(Outcome::Failed {
                stage,
                message,
                // Lines count from 1, so that 0 names none.
                line: line.filter(|line| *line > 0),
            })),
            Ok(outcome) => Ok(Meaning::Outcome(outcome)),
            Err(InvalidOutcome::Unknown { key, name }) if key == "outcome" && name == "ok" => {
                Err(format!(
                    "an answer with the outcome `ok`: that a template is loaded is said by \
                     {{\"id\": {asked}, \"ok\": true}}"
                ))
            }
            Err(InvalidOutcome::Unknown { key, name }) => {
                Err(format!("an answer with the {key} `{name}`"))
            }
            Err(InvalidOutcome::Missing(key)) => {
                Err(format!("an answer without `{key}`: {}", shown(line)))
            }
        }
    }
}

/// Reads a line as an object of a type.
pub(crate) fn parse<'l, T: Deserialize<'l>>(line: &'l [u8], what: &str) -> Result<T, String> {
    // serde would read a list as an object without names.
    if line.trim_ascii_start().starts_with(b"[") {
        return Err(format!("not {what} (no object): {}", shown(line)));
    }
    serde_json::from_slice(line).map_err(|error| {
        let reason = error.to_string();
        // It is one line, so only the column is useful.
        let reason = reason.replace(" at line 1 column ", " at character ");
        format!("not {what} ({reason}): {}", shown(line))
    })
}

/// The beginning of a line, for a message.
pub(crate) fn shown(line: &[u8]) -> String {
    const MOST: usize = 120;
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("`{}…`", text.cut(..at)),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Limit, Stage};

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
                front_request: None,
            }),
            r#"{"request":"load","id":1,"template":"t","source":"x"}"#
        );
        let tokens = Map::from_iter([("eos_token".to_owned(), Value::from("</s>"))]);
        assert_eq!(
            line(&Request::Load {
                id: 1,
                template: "t",
                source: "x",
                front_request: Some(FrontRequest {
                    front: "transformers",
                    templates: BTreeMap::new(),
                    special_tokens: &tokens,
                    setup: Map::new(),
                }),
            }),
            r#"{"request":"load","id":1,"template":"t","source":"x","front":"transformers","special_tokens":{"eos_token":"</s>"}}"#
        );
        let input = RenderInput {
            now: "2026-01-02T03:04:05Z".into(),
            messages: &[],
            tools: None,
            documents: None,
            add_generation_prompt: true,
            continue_final_message: None,
            variables: Map::new(),
            undefined: &[],
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
                "it answered request 6 instead of 7",
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
