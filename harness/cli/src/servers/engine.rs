//! A server as an engine: what it says of a conversation, as an outcome.
//!
//! A server tells a refusal in its own words, whoever refuses, and has its own clock. What the
//! template itself does is known here: where it refuses with `raise_exception` and the server says
//! those words, the outcome is `raised`; and where its prompt shows today's date, as the template
//! would have it, that becomes the day of the case. BOS that it takes off a prompt is put back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use rolecall::engines::Engines;
use rolecall::front::Front;
use rolecall::protocol::request;
use rolecall::run::Runner;
use rolecall::suite::Pair;
use rolecall_model::{
    Case, Conversation, Dialect, Engine, Moment, Outcome, Program, Refusal, Stage, Template,
};

use super::application::{Application, Asked, Said, Served};
use super::http::HttpError;

/// Pairs in a row without an answer, before nothing more is asked.
const MOST_FAILURES: usize = 3;

/// The functions by which templates show the date.
const CLOCKS: [&str; 3] = ["strftime_now", "currentDate", "yesterdayDate"];

/// A server that renders with the template of its model.
pub(crate) struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    application: Box<dyn Application>,
    address: String,
    failures: AtomicUsize,
    given_up: OnceLock<String>,
}

/// A template that a server has.
struct Remote {
    shared: Arc<Shared>,
    template: Template,
    front: Option<String>,
}

/// Whether a server has a template.
pub(crate) enum Serving {
    /// It does, or takes it.
    Yes,
    /// It has another one.
    No,
    /// It does not say what it has.
    Unknown,
}

impl Server {
    /// A server at an address.
    pub(super) fn new(application: Box<dyn Application>, address: &str) -> Server {
        Server {
            shared: Arc::new(Shared {
                application,
                address: address.to_owned(),
                failures: AtomicUsize::new(0),
                given_up: OnceLock::new(),
            }),
        }
    }

    /// Whether it has a template.
    pub(crate) fn serves(&self, template: &Template) -> Serving {
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

    /// What its tokenizer puts before every prompt, whatever the template.
    pub(crate) fn before_prompts(&self) -> Option<&str> {
        self.shared.application.before_prompts()
    }

    /// Where it is.
    pub(crate) fn address(&self) -> &str {
        &self.shared.address
    }

    fn remote(
        &self,
        template: &Template,
        front: Option<&str>,
    ) -> Result<Box<dyn Program>, Refusal> {
        if let Serving::No = self.serves(template) {
            return Err(Refusal::Failed {
                stage: Stage::Parse,
                message: format!("the server at {} has another template", self.address()),
                line: None,
            });
        }
        let mut template = template.clone();
        template.front = Some(front.unwrap_or(Front::Raw.name()).to_owned());
        Ok(Box::new(Remote {
            shared: Arc::clone(&self.shared),
            template,
            front: front.map(str::to_owned),
        }))
    }
}

/// Whether two sources are the same template. Of Jinja templates servers tell what is left when
/// they have read them: without the newline at the end, and with newlines of one kind.
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

    fn compile_behind(
        &self,
        front: &str,
        template: &Template,
    ) -> Option<Result<Box<dyn Program>, Refusal>> {
        let fronts = self.shared.application.fronts();
        fronts
            .contains(&front)
            .then(|| self.remote(template, Some(front)))
    }
}

impl Remote {
    fn ask(&self, conversation: &Conversation<'_>) -> Result<Outcome, HttpError> {
        let asked = Asked {
            template: &self.template,
            front: self.front.as_deref(),
            request: request(conversation, &self.template),
        };
        Ok(match self.shared.application.prompt(&asked)? {
            Said::Prompt(text) => {
                let text = self.with_what_was_taken_off(conversation.case(), text);
                let text = self.on_the_day_of(conversation.case(), text);
                Outcome::Rendered { text }
            }
            Said::Refused(words) => self.refusal(words, conversation.case()),
            Said::Impossible(why) => not_asked(why),
        })
    }

    /// What a refusal comes to: the template's own, if those are the words that it says.
    fn refusal(&self, words: String, case: &Case) -> Outcome {
        match self.here(case) {
            Some(Outcome::Raised { message })
                if !message.is_empty() && words.contains(&message) =>
            {
                Outcome::Raised { message }
            }
            _ => Outcome::Failed {
                stage: Stage::Input,
                message: words,
                line: None,
            },
        }
    }

    /// A prompt with what the template puts at its beginning and the server takes off, for its
    /// tokenizer puts it there.
    fn with_what_was_taken_off(&self, case: &Case, text: String) -> String {
        let before = self.shared.application.before_prompts();
        let Some(before) = before.filter(|before| !text.starts_with(before)) else {
            return text;
        };
        match self.here(case) {
            Some(Outcome::Rendered { text: here }) if here.starts_with(before) => {
                format!("{before}{text}")
            }
            _ => text,
        }
    }

    /// A prompt of today as it would be on the day of a case: nobody can set a server's clock.
    fn on_the_day_of(&self, case: &Case, text: String) -> String {
        let source = &self.template.source;
        if !CLOCKS.iter().any(|clock| source.contains(clock)) {
            return text;
        }
        let mut today = case.clone();
        today.now = Moment::from(SystemTime::now());
        match (self.here(&today), self.here(case)) {
            (
                Some(Outcome::Rendered { text: today }),
                Some(Outcome::Rendered { text: that_day }),
            ) => moved(text, &today, &that_day),
            _ => text,
        }
    }

    /// What the engine of this process does with a conversation.
    fn here(&self, case: &Case) -> Option<Outcome> {
        let engines = Engines::default();
        let runner = Runner::new(&engines, &[], Some(1)).ok()?;
        let pair = Pair {
            template: &self.template,
            case,
        };
        let mut results = runner.render(&[pair]).results;
        results.pop().map(|rendered| rendered.outcome)
    }
}

/// A text in which that is changed which tells one day from another, if it begins as the prompt of
/// the one does, with all that tells it.
fn moved(text: String, today: &str, that_day: &str) -> String {
    let is_same = |(one, other): &(char, char)| one == other;
    let same = today.chars().zip(that_day.chars()).take_while(is_same);
    let begin: usize = same.map(|(one, _)| one.len_utf8()).sum();
    let ends = today[begin..].chars().rev();
    let same = ends
        .zip(that_day[begin..].chars().rev())
        .take_while(is_same);
    let end: usize = same.map(|(one, _)| one.len_utf8()).sum();
    match text.strip_prefix(&today[..today.len() - end]) {
        Some(rest) => format!("{}{rest}", &that_day[..that_day.len() - end]),
        None => text,
    }
}

fn not_asked(message: impl Into<String>) -> Outcome {
    Outcome::NotAsked {
        message: message.into(),
    }
}

impl Program for Remote {
    fn render(&self, conversation: &Conversation<'_>) -> Outcome {
        let shared = &self.shared;
        if let Some(why) = shared.given_up.get() {
            return not_asked(why);
        }
        match self.ask(conversation) {
            Ok(outcome) => {
                shared.failures.store(0, Ordering::Relaxed);
                outcome
            }
            Err(error) if error.is_final() => {
                not_asked(shared.given_up.get_or_init(|| error.to_string()))
            }
            Err(error) => {
                let message = error.to_string();
                // How many are asked beside it does not matter much: nothing is answered.
                if shared.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
                    let _ = shared
                        .given_up
                        .set(format!("it answers nothing any more: {message}"));
                }
                Outcome::Crashed { message }
            }
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
