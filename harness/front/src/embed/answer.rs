//! The result of a call: a prompt, or the reason why there is none.

use rolecall_core::{Outcome, Stage};

/// The kind of an answer decides what its text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// The template gave a prompt, perhaps an empty one. The text is the prompt.
    Rendered,
    /// The template refused the conversation with `raise_exception`. The text is its message.
    Raised,
    /// The application refused the conversation before the template saw it. For example,
    /// transformers refuses an empty list of messages.
    Refused,
    /// The template does not compile.
    Syntax,
    /// The template failed while it was running.
    Failed,
    /// A limit ran out. The text is its name: `fuel`, `recursion` or `output`.
    Limit,
    /// The engine has a defect and panicked. The text is what the panic said.
    Crashed,
}

/// The result of a call: a prompt, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its kind.
    pub kind: AnswerKind,
    /// The prompt or the reason.
    pub text: String,
    /// The line of the template, from 1, if the engine knows it.
    pub line: Option<usize>,
    /// The column in that line, from 1, in characters, if the engine knows it.
    pub column: Option<usize>,
}

impl AnswerKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            AnswerKind::Rendered => "rendered",
            AnswerKind::Raised => "raised",
            AnswerKind::Refused => "refused",
            AnswerKind::Syntax => "syntax",
            AnswerKind::Failed => "failed",
            AnswerKind::Limit => "limit",
            AnswerKind::Crashed => "crashed",
        }
    }
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Answer {
        let (kind, text, line) = match outcome {
            Outcome::Rendered { text } => (AnswerKind::Rendered, text, None),
            Outcome::Raised { message } => (AnswerKind::Raised, message, None),
            Outcome::Failed {
                stage,
                message,
                line,
            } => {
                let kind = match stage {
                    Stage::Input => AnswerKind::Refused,
                    Stage::Parse => AnswerKind::Syntax,
                    Stage::Render => AnswerKind::Failed,
                };
                (kind, message, line)
            }
            Outcome::Exceeded { limit } => (AnswerKind::Limit, limit.name().to_owned(), None),
            Outcome::Crashed { message } | Outcome::NotAsked { message } => {
                (AnswerKind::Crashed, message, None)
            }
        };
        Answer {
            kind,
            text,
            line,
            column: None,
        }
    }
}
