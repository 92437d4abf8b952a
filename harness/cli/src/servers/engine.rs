//! A server as an engine: turns its answers into outcomes.
//!
//! A server reports every refusal in its own words, and uses its own clock. The engines of this
//! process know what the template itself does. If the template refuses with `raise_exception` and
//! the server's message holds those words, the outcome is `raised`. If the prompt shows today's
//! date where the template shows the date, it is replaced by the day of the case. A BOS that the
//! server removed is put back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use rolecall_core::{
    Answer, Case, Conversation, Cut, Dialect, Engine, Moment, Observer, Outcome, Program,
    ReadOutcome, Refusal, Stage, Template, TemplateReader,
};
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program;
use rolecall_io::protocol::request;
use serde_json::{Map, Value};

use super::api::ApiError;
use super::application::{Application, PromptAnswer, PromptRequest, Served};

/// After this many pairs in a row without an answer, nothing more is asked.
const MOST_FAILURES: usize = 3;

/// The functions by which templates show the date.
const CLOCKS: [&str; 3] = ["strftime_now", "currentDate", "yesterdayDate"];

/// A server that renders with the template of its model.
pub struct Server {
    shared: Arc<ServerState>,
}

struct ServerState {
    application: Box<dyn Application>,
    address: String,
    /// The engines that show what the template itself does.
    engines: Engines,
    failures: AtomicUsize,
    given_up: OnceLock<String>,
}

struct ServerTemplate {
    shared: Arc<ServerState>,
    template: Template,
    front: Option<Front>,
}

/// Whether a server has a template.
pub enum Serving {
    /// It has the template, or accepts it in requests.
    Yes,
    No,
    /// It does not say which one it has.
    Unknown,
}

impl Server {
    pub(super) fn new(application: Box<dyn Application>, address: &str) -> Server {
        Server {
            shared: Arc::new(ServerState {
                application,
                address: address.to_owned(),
                engines: Engines::default(),
                failures: AtomicUsize::new(0),
                given_up: OnceLock::new(),
            }),
        }
    }

    pub fn serves(&self, template: &Template) -> Serving {
        match self.shared.application.served() {
            Served::Any => Serving::Yes,
            Served::Unknown => Serving::Unknown,
            Served::Source(source) => {
                if is_same(&template.source, source, template.dialect) {
                    Serving::Yes
                } else {
                    Serving::No
                }
            }
        }
    }

    /// The text that its tokenizer puts before every prompt.
    pub fn before_prompts(&self) -> Option<&str> {
        self.shared.application.before_prompts()
    }

    pub fn address(&self) -> &str {
        &self.shared.address
    }

    /// Whether it parses the answers of a model that it does not run.
    pub fn reads_answers(&self) -> bool {
        self.shared.application.reads_answers()
    }

    fn remote(
        &self,
        template: &Template,
        front: Option<Front>,
    ) -> Result<Box<dyn Program>, Refusal> {
        if let Serving::No = self.serves(template) {
            return Err(Refusal::Failed {
                stage: Stage::Parse,
                message: format!("the server at {} has another template", self.address()),
                line: None,
            });
        }
        let mut template = template.clone();
        template.front = Some(front.unwrap_or(Front::Raw).name().to_owned());
        Ok(Box::new(ServerTemplate {
            shared: Arc::clone(&self.shared),
            template,
            front,
        }))
    }
}

/// Whether two sources are the same template. Servers report a Jinja template as they have read
/// it: without the newline at the end, and with LF only.
fn is_same(one: &str, other: &str, dialect: Dialect) -> bool {
    let read = |source: &str| {
        let source = source.replace("\r\n", "\n");
        source.strip_suffix('\n').unwrap_or(&source).to_owned()
    };
    one == other || dialect == Dialect::Jinja && read(one) == read(other)
}

impl Engine for Server {
    fn name(&self) -> &str {
        self.shared.application.name()
    }

    fn version(&self) -> &str {
        self.shared.application.version()
    }

    fn description(&self) -> String {
        let application = &self.shared.application;
        let text = format!("{} {}", application.name(), application.version());
        format!("{} at {}", text.trim(), self.address())
    }

    fn dialect(&self) -> Dialect {
        self.shared.application.dialect()
    }

    fn compile(&self, template: &Template) -> Result<Box<dyn Program>, Refusal> {
        self.remote(template, None)
    }

    fn compile_with_front(
        &self,
        front: &str,
        template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        let front = Front::named(front);
        let fronts = self.shared.application.fronts();
        fronts
            .contains(&front)
            .then(|| self.remote(template, Some(front)))
    }
}

impl ServerTemplate {
    fn ask(&self, conversation: &Conversation<'_>) -> Result<Outcome, ApiError> {
        let asked = PromptRequest {
            template: &self.template,
            front: self.front,
            request: request(conversation, &self.template),
        };
        Ok(match self.shared.application.prompt(&asked)? {
            PromptAnswer::Prompt(text) => {
                let text = self.with_what_was_taken_off(conversation.case(), text);
                let text = self.on_the_day_of(conversation.case(), text);
                Outcome::Rendered { text }
            }
            PromptAnswer::Refused(words) => self.refusal(words, conversation.case()),
            PromptAnswer::Impossible(why) => not_asked(why),
        })
    }

    /// The outcome of a refusal: the template's own, if the server's message holds its
    /// words.
    fn refusal(&self, words: String, case: &Case) -> Outcome {
        match self.here(case) {
            Outcome::Raised { message } if !message.is_empty() && words.contains(&message) => {
                Outcome::Raised { message }
            }
            _ => Outcome::Failed {
                stage: Stage::Input,
                message: words,
                line: None,
            },
        }
    }

    /// A prompt with the beginning that the template writes and the server removes, because
    /// its tokenizer adds it.
    fn with_what_was_taken_off(&self, case: &Case, text: String) -> String {
        let before = self.shared.application.before_prompts();
        let Some(before) = before.filter(|before| !text.starts_with(before)) else {
            return text;
        };
        match self.here(case) {
            Outcome::Rendered { text: here } if here.starts_with(before) => {
                format!("{before}{text}")
            }
            _ => text,
        }
    }

    /// Today's prompt as it would be on the day of a case: a server's clock cannot be set.
    fn on_the_day_of(&self, case: &Case, text: String) -> String {
        if !shows_the_date(&self.template) {
            return text;
        }
        let mut today = case.clone();
        today.now = Moment::from(SystemTime::now());
        match (self.here(&today), self.here(case)) {
            (Outcome::Rendered { text: today }, Outcome::Rendered { text: that_day }) => {
                moved(text, &today, &that_day)
            }
            _ => text,
        }
    }

    /// The outcome of the engine of this process.
    fn here(&self, case: &Case) -> Outcome {
        let engine = self.shared.engines.for_dialect(self.template.dialect);
        let program = program::FrontProgram::load(engine, &self.template);
        let input = PreparedCase::new(case, Front::of(&self.template), &program.model);
        program.outcome(&input)
    }
}

/// Whether a template may show the date.
pub(super) fn shows_the_date(template: &Template) -> bool {
    CLOCKS.iter().any(|clock| template.source.contains(clock))
}

/// Replaces the date in a text. `today` and `that_day` are the prompts of both days; the text has
/// to begin like today's, up to the end of the date.
pub(super) fn moved(text: String, today: &str, that_day: &str) -> String {
    let is_same = |(one, other): &(char, char)| one == other;
    let same = today.chars().zip(that_day.chars()).take_while(is_same);
    let begin: usize = same.map(|(one, _)| one.len_utf8()).sum();
    let ends = today.cut(begin..).chars().rev();
    let same = ends
        .zip(that_day.cut(begin..).chars().rev())
        .take_while(is_same);
    let end: usize = same.map(|(one, _)| one.len_utf8()).sum();
    match text.strip_prefix(today.cut(..today.len() - end)) {
        Some(rest) => format!("{}{rest}", that_day.cut(..that_day.len() - end)),
        None => text,
    }
}

fn not_asked(message: impl Into<String>) -> Outcome {
    Outcome::NotAsked {
        message: message.into(),
    }
}

/// Why a server gives no answer.
enum Unanswered {
    /// It was given up before, for this reason.
    NotAsked(String),
    Failed(String),
}

impl ServerState {
    /// Asks the server, unless it was given up.
    fn ask<T>(&self, ask: impl FnOnce() -> Result<T, ApiError>) -> Result<T, Unanswered> {
        if let Some(why) = self.given_up.get() {
            return Err(Unanswered::NotAsked(why.clone()));
        }
        match ask() {
            Ok(answer) => {
                self.failures.store(0, Ordering::Relaxed);
                Ok(answer)
            }
            Err(error) if error.is_final() => {
                let why = self.given_up.get_or_init(|| error.to_string());
                Err(Unanswered::NotAsked(why.clone()))
            }
            Err(error) => {
                let message = error.to_string();
                // Parallel requests may be counted late, which does no harm: none is
                // answered.
                if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
                    let _ = self
                        .given_up
                        .set(format!("it no longer answers: {message}"));
                }
                Err(Unanswered::Failed(message))
            }
        }
    }
}

impl Program for ServerTemplate {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut Observer) -> Outcome {
        match self.shared.ask(|| self.ask(conversation)) {
            Ok(outcome) => outcome,
            Err(Unanswered::NotAsked(why)) => not_asked(why),
            Err(Unanswered::Failed(message)) => Outcome::Crashed { message },
        }
    }
}

impl TemplateReader for Server {
    fn read(&self, answer: &Answer<'_>, variables: &Map<String, Value>) -> ReadOutcome {
        let application = &self.shared.application;
        match self.shared.ask(|| application.read(answer, variables)) {
            Ok(outcome) => outcome,
            Err(Unanswered::NotAsked(message)) => ReadOutcome::NotAsked { message },
            Err(Unanswered::Failed(message)) => ReadOutcome::Crashed { message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_alone_is_moved() {
        let (today, that_day) = ("a 22 Nov 2026 b", "a 02 Jan 2026 b");
        for (text, expected) in [
            (today, that_day),
            ("a 22 Nov 2026 c", "a 02 Jan 2026 c"),
            ("a 22 Nov 2026", "a 02 Jan 2026"),
            ("a 23 Nov 2026 b", "a 23 Nov 2026 b"),
            ("x 22 Nov 2026 b", "x 22 Nov 2026 b"),
            ("", ""),
        ] {
            assert_eq!(moved(text.to_owned(), today, that_day), expected);
        }
        assert_eq!(moved("a".to_owned(), "a", "a"), "a");
        assert_eq!(moved("é2".to_owned(), "é2", "é11"), "é11");
    }

    #[test]
    fn a_template_is_the_same_as_servers_tell_it() {
        for (one, other, jinja, go) in [
            ("a", "a", true, true),
            ("a\n", "a", true, false),
            ("a\r\nb\n", "a\nb", true, false),
            ("a\n\n", "a", false, false),
            ("a", "b", false, false),
        ] {
            assert_eq!(is_same(one, other, Dialect::Jinja), jinja, "{one:?}");
            assert_eq!(is_same(one, other, Dialect::Go), go, "{one:?}");
        }
    }
}
