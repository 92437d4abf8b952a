//! Fronts: what an application does to a conversation before a template sees it, and to the
//! prompt after.
//!
//! People do not call templates, applications do, and each prepares the conversation in its
//! own way. A front is that part of one application. Each has a file here, which says in
//! which version of the application its rules were read.

mod continuation;

mod prepared;

mod transformers;

use std::fmt;
use std::str::FromStr;

use rolecall_model::{Case, Dialect};

pub use prepared::Prepared;

/// An application, as far as it prepares conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Front {
    /// None: a template is given the conversation as it is written, and the prompt is what
    /// the template gave.
    Raw,
    /// `tokenizer.apply_chat_template(…, tokenize=False)` of transformers 5.23.
    Transformers,
}

/// A name that no front has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no front is named `{0}`")]
pub struct UnknownFront(pub String);

impl Front {
    /// All fronts.
    pub const ALL: [Front; 2] = [Front::Raw, Front::Transformers];

    /// Its name, which `--front` takes.
    pub fn name(self) -> &'static str {
        match self {
            Front::Raw => "raw",
            Front::Transformers => "transformers",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Front::Raw => "nothing: templates see conversations as they are written",
            Front::Transformers => {
                "tokenizer.apply_chat_template(…, tokenize=False) of transformers 5.23"
            }
        }
    }

    /// Whether the application has templates of a dialect.
    pub fn is_for(self, dialect: Dialect) -> bool {
        match self {
            Front::Raw => true,
            Front::Transformers => dialect == Dialect::Jinja,
        }
    }

    /// The front of most who use templates of a dialect.
    pub fn default_of(dialect: Dialect) -> Front {
        match dialect {
            Dialect::Jinja => Front::Transformers,
            Dialect::Go => Front::Raw,
        }
    }

    /// Whether users of this front get something else of a case than templates that no
    /// application stands before may give.
    pub fn changes(self, case: &Case) -> bool {
        !self.prepare(case).is_unchanged()
    }

    /// Whether a case can be put to templates alone and is another one then: it is to be
    /// rendered both ways. To go on with a message cannot be asked of a template.
    pub fn hides(self, case: &Case) -> bool {
        if case.continue_final_message.is_none() {
            return self.changes(case);
        }
        self.changes(&Case {
            continue_final_message: None,
            ..case.clone()
        })
    }

    /// What it makes of a case, whatever the template.
    pub fn prepare(self, case: &Case) -> Prepared {
        match self {
            Front::Raw => Prepared::unchanged(),
            Front::Transformers => transformers::prepare(case),
        }
    }
}

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Front {
    type Err = UnknownFront;

    fn from_str(name: &str) -> Result<Front, UnknownFront> {
        Front::ALL
            .into_iter()
            .find(|front| front.name() == name)
            .ok_or_else(|| UnknownFront(name.to_owned()))
    }
}
