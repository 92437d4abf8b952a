//! Causes of differences: the kinds of both outcomes, the words of a failure, and the construct
//! that remains of the template.

use rolecall_core::{Dialect, Outcome};
use rolecall_suite::cause::error;

use crate::examination::OutcomeDifference;
use crate::tokens::{TokenKind, tokens_of};

/// The two outcomes without their details, which vary from template to template.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DifferenceShape {
    expected: String,
    found: String,
}

impl DifferenceShape {
    pub fn of(difference: &OutcomeDifference) -> DifferenceShape {
        DifferenceShape {
            expected: shape(&difference.expected),
            found: shape(&difference.found),
        }
    }
}

/// The common cause of some differences. The words of a failure tell causes apart; if both sides
/// gave a prompt, the construct does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferenceCause {
    shape: DifferenceShape,
    construct: Option<String>,
}

impl DifferenceCause {
    /// The cause of a difference for a template with this construct.
    pub fn of(difference: &OutcomeDifference, construct: &str) -> DifferenceCause {
        let has_words =
            |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Crashed { .. });
        let is_reported = has_words(&difference.expected) || has_words(&difference.found);
        DifferenceCause {
            shape: DifferenceShape::of(difference),
            construct: (!is_reported).then(|| construct.to_owned()),
        }
    }
}

fn shape(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed { stage, message, .. } => format!("failed at {stage}: {}", error(message)),
        Outcome::Crashed { message } => format!("crashed: {}", error(message)),
        Outcome::Exceeded { limit } => format!("exceeded {limit}"),
        Outcome::Rendered { .. } | Outcome::Raised { .. } | Outcome::NotAsked { .. } => {
            outcome.kind().to_string()
        }
    }
}

/// The construct of a template: its names and signs in order, and the types of its values.
pub fn construct(source: &str, dialect: Dialect) -> String {
    let mut words: Vec<String> = Vec::new();
    for token in tokens_of(source, dialect) {
        let word = match token.kind {
            TokenKind::Space => continue,
            TokenKind::Text => "…".to_owned(),
            TokenKind::Comment => "{#".to_owned(),
            TokenKind::Number => "1".to_owned(),
            TokenKind::Quoted => "''".to_owned(),
            _ => token.text,
        };
        if words.last() != Some(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}
