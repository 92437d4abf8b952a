//! The questions of a trial: small templates, each with the right answer. They are in
//! `questions.json`. Only one of them prints a boolean: an engine that prints them in its own form is
//! reported once.

use std::collections::HashMap;
use std::sync::LazyLock;

use rolecall_core::{Case, Dialect};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A template with a conversation, and the right answer.
#[derive(Deserialize)]
pub(super) struct TrialQuestion {
    pub(super) name: String,
    /// What is right, in a few words.
    pub(super) about: String,
    pub(super) source: String,
    #[serde(default = "hi")]
    pub(super) messages: Vec<Value>,
    #[serde(default)]
    pub(super) variables: Map<String, Value>,
    pub(super) expected: RightAnswer,
    /// What to do if the answer is another.
    pub(super) help: String,
}

impl TrialQuestion {
    pub(super) fn case(&self) -> Case {
        let mut case = Case::from_messages(self.messages.clone());
        case.variables.clone_from(&self.variables);
        case.now = NOW.parse().unwrap_or_default();
        case
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RightAnswer {
    Text(String),
    /// A refusal by the template, with this message.
    Raised(String),
    /// A failure while rendering.
    Failed,
}

/// What programs of a dialect are asked.
#[derive(Deserialize)]
pub(super) struct Questions {
    /// A template that cannot be parsed.
    pub(super) broken: String,
    /// Templates that differ only in the letter before the content.
    pub(super) namesakes: [String; 3],
    /// The first is the simplest.
    pub(super) all: Vec<TrialQuestion>,
}

/// What the clock shows.
const NOW: &str = "2031-02-03T23:59:07Z";

/// A time zone in which [`NOW`] is on another day.
pub(super) const ELSEWHERE: &str = "Pacific/Kiritimati";

static QUESTIONS: LazyLock<HashMap<String, Questions>> = LazyLock::new(|| {
    // A trial without questions would fail the tests.
    serde_json::from_str(include_str!("questions.json")).unwrap_or_default()
});

/// The questions for programs of a dialect.
#[allow(clippy::indexing_slicing)] // `questions.json` is built in and has both dialects.
pub(super) fn questions(dialect: Dialect) -> &'static Questions {
    &QUESTIONS[dialect.name()]
}

fn hi() -> Vec<Value> {
    vec![json!({"role": "user", "content": "Hi"})]
}

/// A template for one message that says `Hi`, and its prompt.
pub(super) fn plain(name: &str, source: &str, prompt: &str) -> TrialQuestion {
    TrialQuestion {
        name: name.to_owned(),
        about: String::new(),
        source: source.to_owned(),
        messages: hi(),
        variables: Map::new(),
        expected: RightAnswer::Text(prompt.to_owned()),
        help: String::new(),
    }
}
