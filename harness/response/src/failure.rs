//! What can be wrong with a response template or with a text.

use std::fmt;

/// The kind of exception that the reference raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `ValueError`, and its subclasses such as `json.JSONDecodeError`.
    Value,
    /// `KeyError`: a placeholder or a parser that does not exist.
    Key,
    /// `AttributeError`: an argument of the wrong type.
    Attribute,
    /// `TypeError`: an argument of the wrong type.
    Type,
    /// `RecursionError`: JSON that is nested too deeply.
    Recursion,
    /// `regex.error`: a pattern in `content_args` that is wrong, found out when it is used.
    Pattern,
    /// `RuntimeError`: a stream that was continued after its end.
    Runtime,
}

impl Kind {
    /// Python's name of the exception's class.
    pub fn python_name(self) -> &'static str {
        match self {
            Kind::Value => "ValueError",
            Kind::Key => "KeyError",
            Kind::Attribute => "AttributeError",
            Kind::Type => "TypeError",
            Kind::Recursion => "RecursionError",
            Kind::Pattern => "error",
            Kind::Runtime => "RuntimeError",
        }
    }
}

/// Why a text has no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The reference raises an exception of the same kind. The words are this crate's own.
    #[error("{message}")]
    Raised {
        /// The kind of exception that Python raises here.
        kind: Kind,
        /// What is wrong.
        message: String,
    },
    /// The reference has no limits, so it may have an answer.
    #[error("the limit of {limit} is exceeded")]
    LimitExceeded {
        /// Which limit.
        limit: Limit,
    },
}

/// The resources that reading an answer may exhaust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The steps of all searches and of all events of one message.
    Steps,
    /// The characters of the prompt after its anchor and of the answer.
    Characters,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Steps => "steps",
            Limit::Characters => "characters",
        })
    }
}

pub(crate) fn raised(kind: Kind, message: impl Into<String>) -> ParseError {
    ParseError::Raised {
        kind,
        message: message.into(),
    }
}

/// Why a response template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(.path))]
pub struct TemplateError {
    /// Where the fault is, as keys with points between them: `fields.tool_calls.close_pattern`. It
    /// is empty for the whole template.
    pub path: String,
    /// Whose fault it is.
    pub kind: TemplateErrorKind,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// Who cannot use a response template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// It is not JSON.
    Syntax,
    /// The reference refuses it, too, with an exception of this kind.
    Refused(Kind),
    /// The reference refuses it, too, with an exception of this kind, because it does not know a word
    /// of it: a key, a parser or the version of the language. Another version of the reference may.
    Unknown(Kind),
    /// The reference can use it, but a pattern needs something that this crate does not have, or there
    /// are more than 200 fields.
    Unsupported,
}

impl TemplateErrorKind {
    /// The kind of exception that the reference raises, if it refuses the response template.
    pub fn raised(self) -> Option<Kind> {
        match self {
            TemplateErrorKind::Refused(kind) | TemplateErrorKind::Unknown(kind) => Some(kind),
            TemplateErrorKind::Syntax | TemplateErrorKind::Unsupported => None,
        }
    }

    /// Whether it may be a response template all the same, which this crate cannot use.
    pub fn may_be_sound(self) -> bool {
        matches!(
            self,
            TemplateErrorKind::Unknown(_) | TemplateErrorKind::Unsupported
        )
    }
}

fn place(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    }
}

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError {
    /// The place in the pattern, in characters from 0.
    pub(crate) at: usize,
    /// Whether the reference knows what it means.
    pub(crate) unsupported: bool,
    pub(crate) message: String,
}
