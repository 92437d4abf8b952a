//! A whole server as a reader of answers: it renders its own prompt, a mock model writes the answer, and the
//! server reads it.
//!
//! All texts of a template are in one model, so that one start of the server is enough. Only a text
//! of one byte needs a model of its own. The request forces the first token of its text by a bias.

use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;
use std::time::SystemTime;

use rolecall_answers::cause::essence;
use rolecall_answers::comparison::Verdict;
use rolecall_answers::meaning::Meaning;
use rolecall_answers::mock_model::model::{BIAS, Line, MockModel, Surroundings};
use rolecall_answers::reading::{MessageReading, Task};
use rolecall_answers::written::Writer;
use rolecall_core::{Case, Moment, Outcome, ReadOutcome, Template, Variable};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_io::protocol::{BackgroundProcess, ProtocolEngine, ProtocolLimits};
use serde_json::{Map, Value, json};

use super::api::{ApiAnswer, ApiError};
use super::chat::{self, ChatAnswer};
use super::engine::{moved, shows_the_date};
use super::started::{NotStarted, Provision, StartedServer};

/// After this many messages in a row without an answer, nothing more is asked with a template.
const MOST_FAILURES: usize = 3;

/// The most bytes of all texts in one model.
const LARGEST: usize = 1 << 17;

/// Tokens of the context besides the reference's prompt and the answer: the server's own prompt may
/// be longer.
const SPARE: usize = 4096;

/// Why some texts of one byte cannot be tested: the token of the byte ends the answer.
const HIDDEN: &str = "a mock model cannot write one byte after a prompt that ends with it";

/// A program that is started as a server, with the options of llama-server.
pub struct ServerProgram {
    words: Vec<String>,
    limits: ProtocolLimits,
    engines: Engines,
    version: OnceLock<String>,
}

/// The only kind of server that is started.
const KIND: &str = "llama-server";

impl ServerProgram {
    /// The program that a text names: `llama-server=PROGRAM …`. None if the text has another form.
    /// The error says what is wrong with the command line.
    pub fn parse(text: &str, limits: &ProtocolLimits) -> Option<Result<ServerProgram, String>> {
        let line = text.strip_prefix(KIND)?.strip_prefix('=')?;
        let is_address = ["http://", "https://"]
            .iter()
            .any(|it| line.starts_with(it));
        if is_address {
            return None;
        }
        let words = ProtocolEngine::words(line).map_err(|error| error.to_string());
        Some(words.map(|words| ServerProgram {
            words,
            limits: limits.clone(),
            engines: Engines::default(),
            version: OnceLock::new(),
        }))
    }

    /// A server that runs a mock model.
    fn start(
        &self,
        template: &Template,
        mock_model: &MockModel,
        tasks: &[&Task<'_>],
    ) -> Result<StartedServer, NotStarted> {
        let needed = tasks.iter().map(|task| task.prompt.len() + task.text.len());
        let context = (needed.max().unwrap_or(0) + SPARE).next_multiple_of(256);
        let provision = Provision::write(&mock_model.bytes(), &template.source, context)?;
        let server = StartedServer::start(&self.words, provision, &self.limits)?;
        self.version
            .get_or_init(|| version(&server, &self.words, &self.limits));
        Ok(server)
    }

    /// What comes back of the texts of one model, in their order.
    fn perform(
        &self,
        template: &Template,
        tasks: &[&Task<'_>],
        failures: &mut usize,
    ) -> Vec<MessageReading> {
        let (mock_model, unwritten) = mock_model(template, tasks);
        let mut server = None;
        let mut refused: Option<String> = None;
        let each = tasks.iter().map(|task| {
            if let Some(words) = &refused {
                return task.failed(Verdict::Refused, words.clone());
            }
            let Some(line) = mock_model.line(&task.text) else {
                let why = unwritten.get(task.text.as_str());
                return task.failed(Verdict::Untested, why.cloned().unwrap_or_default());
            };
            if task.text.len() == 1 && task.prompt.ends_with(&task.text) {
                return task.failed(Verdict::Untested, HIDDEN.to_owned());
            }
            if *failures >= MOST_FAILURES {
                let why = format!("{MOST_FAILURES} messages in a row had no answer");
                return task.failed(Verdict::NotAsked, why);
            }
            let running = match server.take() {
                Some(running) => Ok(running),
                None => self.start(template, &mock_model, tasks),
            };
            let mut running = match running {
                Ok(running) => running,
                Err(NotStarted::Ended(how)) => {
                    let words = format!("it does not start: {}", essence(&how));
                    refused = Some(words.clone());
                    return task.failed(Verdict::Refused, words);
                }
                Err(NotStarted::Broken(why)) => {
                    *failures += 1;
                    return task.failed(Verdict::Failed, why);
                }
            };
            match self.ask(template, &running, line, task) {
                Ok(done) => {
                    *failures = 0;
                    server = Some(running);
                    done
                }
                // The server is started again for the next message.
                Err(error) => {
                    *failures += 1;
                    let words = match running.ending() {
                        Some(ending) => essence(&ending).to_owned(),
                        None => error.to_string(),
                    };
                    task.failed(Verdict::Failed, words)
                }
            }
        });
        each.collect()
    }

    fn ask(
        &self,
        template: &Template,
        server: &StartedServer,
        line: Line,
        task: &Task<'_>,
    ) -> Result<MessageReading, ApiError> {
        let api = &server.api;
        let request = chat::request(task, variables(template));
        let bias = json!([[line.first, BIAS]]);
        let answer = match chat::whole(api, &request, &bias, line.tokens)? {
            Ok(answer) => answer,
            Err(words) => return Ok(task.failed(refusal(&words), words)),
        };
        let mut done = judged(answer, task);
        let Ok(read) = &mut done.result else {
            return Ok(done);
        };
        if let Some(form) = read.forms.first_mut()
            && let Some(message) = form.outcome.message()
        {
            let streamed = chat::streamed(api, &request, &bias, line.tokens)?;
            let is_other = |streamed: &Value| Meaning::of(streamed) != Meaning::of(message);
            let streamed = streamed.filter(is_other);
            form.streamed = streamed.map(|message| ReadOutcome::Read { message });
        }
        let prompt = chat::prompt(api, &request)?;
        read.other_prompt = prompt.filter(|prompt| !self.is_same_prompt(template, task, prompt));
        Ok(done)
    }

    /// Whether a prompt is that of the reference, but for the server's clock.
    fn is_same_prompt(&self, template: &Template, task: &Task<'_>, prompt: &str) -> bool {
        if prompt == task.prompt {
            return true;
        }
        if !shows_the_date(template) {
            return false;
        }
        let today = Moment::from(SystemTime::now());
        let Some(today) = self.prompt_at(template, task, today) else {
            return false;
        };
        moved(prompt.to_owned(), &today, &task.prompt) == task.prompt
    }

    /// The reference's prompt at another time.
    fn prompt_at(&self, template: &Template, task: &Task<'_>, now: Moment) -> Option<String> {
        let engine = self.engines.for_dialect(template.dialect);
        let program = FrontProgram::load(engine, template);
        let mut variables = task.case.variables.clone();
        variables.extend(
            task.setting
                .map(|(name, value)| (name.to_owned(), value.into())),
        );
        let messages = task.case.messages[..task.index].to_vec();
        let mut case = task
            .case
            .saying(messages, task.case.tools.clone(), variables);
        case.now = now;
        case.add_generation_prompt = true;
        case.continue_final_message = None;
        let front = Front::of(template);
        let prepared = PreparedCase::new(&case, front, &program.model.with(&case, front));
        match program.outcome(&prepared) {
            Outcome::Rendered { text } => Some(text),
            _ => None,
        }
    }

    /// Its name and its version. The version is known when it has answered.
    pub fn identity(&self) -> (&str, &str) {
        (KIND, self.version.get().map_or("", String::as_str))
    }

    /// What comes back of the answers that a template writes in some cases.
    pub fn returned(&self, writer: &Writer<'_, '_>, cases: &[&Case]) -> Vec<MessageReading> {
        let template = writer.template();
        let tasks = Task::all(writer, cases);
        let mut done: BTreeMap<usize, MessageReading> = BTreeMap::new();
        let mut failures = 0;
        for group in groups(&tasks) {
            let members: Vec<&Task<'_>> = group
                .iter()
                .filter_map(|at| tasks[*at].as_ref().ok())
                .collect();
            let messages = self.perform(template, &members, &mut failures);
            done.extend(group.into_iter().zip(messages));
        }
        let all = tasks.into_iter().enumerate();
        all.filter_map(|(at, task)| {
            task.err()
                .map(|unread| *unread)
                .or_else(|| done.remove(&at))
        })
        .collect()
    }
}

/// A mock model with the texts of tasks, and the texts that no mock model can have, each with the reason.
fn mock_model<'t>(
    template: &Template,
    tasks: &[&'t Task<'_>],
) -> (MockModel, BTreeMap<&'t str, String>) {
    let token = |name: &str| {
        let token = template.special_tokens.get(name)?.as_str()?;
        (!token.is_empty()).then(|| token.to_owned())
    };
    let surroundings = Surroundings {
        template: None,
        bos: token("bos_token"),
        eos: token("eos_token"),
    };
    let mut texts: Vec<&str> = tasks.iter().map(|task| task.text.as_str()).collect();
    let mut unwritten = BTreeMap::new();
    loop {
        match MockModel::holding(&texts, surroundings.clone()) {
            Ok(mock_model) => return (mock_model, unwritten),
            Err(why) => {
                let is_left = |text: &&str| why.text() != *text;
                let (left, without): (Vec<&str>, Vec<&str>) = texts.into_iter().partition(is_left);
                unwritten.extend(without.into_iter().map(|text| (text, why.to_string())));
                texts = left;
            }
        }
    }
}

/// The indexes of tasks whose texts fit into one model together.
fn groups(tasks: &[Result<Task<'_>, Box<MessageReading>>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut bytes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let (mut texts, mut size) = (HashSet::new(), usize::MAX);
    for (at, task) in tasks.iter().enumerate() {
        let Ok(task) = task else { continue };
        let text = task.text.as_str();
        if text.len() == 1 {
            bytes.entry(text).or_default().push(at);
            continue;
        }
        if !texts.contains(text) && size.saturating_add(text.len()) > LARGEST {
            groups.push(Vec::new());
            texts.clear();
            size = 0;
        }
        if texts.insert(text) {
            size += text.len();
        }
        if let Some(group) = groups.last_mut() {
            group.push(at);
        }
    }
    groups.extend(bytes.into_values());
    groups
}

/// What a template has besides its source, for the server.
fn variables(template: &Template) -> Map<String, Value> {
    let variables = template.variables.iter();
    let values = variables.filter_map(|(name, variable)| match variable {
        Variable::Value(value) => Some((name.clone(), value.clone())),
        Variable::ToolsJson { .. } => None,
    });
    values.collect()
}

/// What a server's answer is worth.
fn judged(answer: ChatAnswer, task: &Task<'_>) -> MessageReading {
    let text = task.text.as_bytes();
    match &answer.written {
        // Another text, or the end before the end of the text: where the grammar ends within a
        // token of the mock model, it is the one, and where it ends after one, the other.
        Some(written) if written != text => {
            let written = String::from_utf8_lossy(written).into_owned();
            task.failed(Verdict::Forbidden, written)
        }
        _ => task.done(answer.message),
    }
}

/// What a refused request means. The words are those of llama.cpp: common/sampling.cpp and
/// src/llama-grammar.cpp for the grammar, common/chat.cpp for the reading.
fn refusal(words: &str) -> Verdict {
    let has = |part: &str| words.contains(part);
    if has("empty grammar stack") {
        Verdict::Forbidden
    } else if has("does not match the expected") || has("Failed to parse input") {
        Verdict::Failed
    } else {
        Verdict::Refused
    }
}

/// The server's version, as it reports it, or else as the program prints it.
fn version(server: &StartedServer, words: &[String], limits: &ProtocolLimits) -> String {
    let reported = match server.api.get("/props") {
        Ok(ApiAnswer::Json(props)) => props.get("build_info").cloned(),
        Ok(ApiAnswer::Refused(_)) | Err(_) => None,
    };
    let reported = reported
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or_default();
    // A build that does not know its number has this one.
    if !reported.is_empty() && !reported.starts_with("b0-") {
        return reported.to_owned();
    }
    printed_version(words, limits).unwrap_or_default()
}

/// The first word with a digit at its beginning that a program prints with `--version`.
fn printed_version(words: &[String], limits: &ProtocolLimits) -> Option<String> {
    let mut words = words.to_vec();
    words.push("--version".to_owned());
    let printed = BackgroundProcess::spawn(&words).ok()?.output(limits.time)?;
    let mut printed = printed.split_whitespace();
    let version = printed.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(version.to_owned())
}
