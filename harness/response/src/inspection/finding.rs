//! What an inspection finds, with its evidence.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::event::Message;
use crate::failure::ParseError;

/// What can be wrong with a response template though it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// A delimiter also matches at the end of the text, so an answer that arrives piece by piece is
    /// read in another way.
    CloseAtEnd,
    /// A delimiter can end early, so an answer that arrives piece by piece is read in another way.
    CloseOptionalTail,
    /// An opener looks ahead without end: nothing streams.
    OpenLooksAhead,
    /// A closer needs the end token, which servers take away.
    CloseNeedsEndToken,
    /// White space after a delimiter takes the place of the text that was read before.
    ImplicitWhiteSpace,
    /// A pattern takes very long on some texts.
    SlowPattern,
    /// Servers refuse a field, or what is in it.
    ServedFields,
}

/// How much a rule matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Answers are read wrongly, late, or not at all.
    Warning,
    /// Some users cannot use the response template, and others need it as it is.
    Note,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 7] = [
        Rule::CloseAtEnd,
        Rule::CloseOptionalTail,
        Rule::OpenLooksAhead,
        Rule::CloseNeedsEndToken,
        Rule::ImplicitWhiteSpace,
        Rule::SlowPattern,
        Rule::ServedFields,
    ];

    /// Its name. It stays the same in later versions.
    pub fn id(self) -> &'static str {
        match self {
            Rule::CloseAtEnd => "close-at-end",
            Rule::CloseOptionalTail => "close-optional-tail",
            Rule::OpenLooksAhead => "open-looks-ahead",
            Rule::CloseNeedsEndToken => "close-needs-end-token",
            Rule::ImplicitWhiteSpace => "implicit-white-space",
            Rule::SlowPattern => "slow-pattern",
            Rule::ServedFields => "served-fields",
        }
    }

    /// How much it matters.
    pub fn level(self) -> Level {
        match self {
            Rule::ServedFields => Level::Note,
            _ => Level::Warning,
        }
    }
}

impl Level {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// Something about a response template that harms its users.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that the response template breaks.
    pub rule: Rule,
    /// The field; none for the response template as a whole.
    pub field: Option<String>,
    /// The key of the field, such as `close_pattern`; none for the field as a whole.
    pub key: Option<&'static str>,
    /// What goes wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// What shows that it goes wrong.
    pub evidence: Evidence,
}

/// The findings about one response template, and what was not tried.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// The findings, in the order of the rules.
    pub findings: Vec<Finding>,
    /// The fields for which no answer was found that the parser reads. Nobody knows about their
    /// delimiters whether they stream.
    pub untried: Vec<String>,
}

/// The proof of a finding, with the texts that show it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evidence {
    /// Two readings that should give the same message.
    Readings(Box<[Reading; 2]>),
    /// An ordinary text of which nothing is reported before its end.
    HeldBack {
        /// The text.
        text: String,
    },
    /// The steps that a search takes.
    Steps {
        /// The text that is searched.
        text: String,
        /// The steps. A search that is not finished after so many is given up.
        steps: u64,
    },
    /// It is in the response template.
    Stated,
}

/// What comes of reading a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The text.
    pub text: String,
    /// How it was read.
    pub mode: ReadingMode,
    /// The message, or why there is none.
    pub outcome: Result<Message, ParseError>,
}

/// How an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingMode {
    /// All of it at once.
    Whole,
    /// One character after the other.
    Streamed,
}

impl ReadingMode {
    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            ReadingMode::Whole => "as a whole",
            ReadingMode::Streamed => "character by character",
        }
    }
}

impl Finding {
    /// Where it is, as keys with points between them: `fields.content.close_pattern`.
    pub fn path(&self) -> String {
        let parts = self.field.iter().flat_map(|field| ["fields", field]);
        parts.chain(self.key).collect::<Vec<_>>().join(".")
    }
}

impl Evidence {
    /// The evidence as JSON, for reports that programs read.
    pub fn to_json(&self) -> Json {
        match self {
            Evidence::Readings(readings) => {
                let readings: Vec<Json> = readings.iter().map(Reading::to_json).collect();
                json!({"readings": readings})
            }
            Evidence::HeldBack { text } => json!({"held": text}),
            Evidence::Steps { text, steps } => json!({"text": text, "steps": steps}),
            Evidence::Stated => Json::Null,
        }
    }

    /// The evidence in lines for people.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Evidence::Readings(readings) => {
                let [one, other] = &**readings;
                if one.text == other.text {
                    let of = |reading: &Reading| format!("{}: {reading}", reading.mode.name());
                    vec![quoted(&one.text), of(one), of(other)]
                } else {
                    let of =
                        |reading: &Reading| format!("{} gives {reading}", quoted(&reading.text));
                    vec![of(one), of(other)]
                }
            }
            Evidence::HeldBack { text } => vec![format!(
                "nothing is reported of these {} characters before their end: {}",
                text.chars().count(),
                quoted(text)
            )],
            Evidence::Steps { text, steps } => vec![format!(
                "{steps} steps and more for {} characters: {}",
                text.chars().count(),
                quoted(text)
            )],
            Evidence::Stated => Vec::new(),
        }
    }
}

impl Reading {
    fn to_json(&self) -> Json {
        let outcome = match &self.outcome {
            Ok(message) => ("message", message.to_json()),
            Err(error) => ("error", json!(error.to_string())),
        };
        json!({"text": self.text, "manner": self.mode.name(), outcome.0: outcome.1})
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Ok(message) => write!(f, "{}", message.to_json()),
            Err(error) => write!(f, "an error: {error}"),
        }
    }
}

/// A text in quotation marks, as in JSON, and the middle of a long one left out.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 120;
    let count = text.chars().count();
    if count <= SHOWN {
        return json!(text).to_string();
    }
    let part = |skipped: usize| -> String { text.chars().skip(skipped).take(SHOWN / 3).collect() };
    format!("{} … {}", json!(part(0)), json!(part(count - SHOWN / 3)))
}
