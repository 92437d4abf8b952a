//! What differences have in common: the kinds of what was done, the words of who failed, and
//! the construct that is left of the template.

use rolecall_model::{Dialect, Outcome};

use crate::examination::Difference;
use crate::tokens::{Kind, tokens_of};

/// What the two did, without what differs from template to template.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Shape {
    expected: String,
    found: String,
}

impl Shape {
    /// Of a difference.
    pub(crate) fn of(difference: &Difference) -> Shape {
        Shape {
            expected: shape(&difference.expected),
            found: shape(&difference.found),
        }
    }
}

/// What differences have in common. The words of who failed tell causes apart; where both
/// gave a prompt, the construct does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cause {
    shape: Shape,
    construct: Option<String>,
}

impl Cause {
    /// Of the difference for a template of a construct.
    pub(crate) fn of(difference: &Difference, construct: &str) -> Cause {
        let has_words =
            |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. } | Outcome::Crashed { .. });
        let is_told = has_words(&difference.expected) || has_words(&difference.found);
        Cause {
            shape: Shape::of(difference),
            construct: (!is_told).then(|| construct.to_owned()),
        }
    }
}

fn shape(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed { stage, message, .. } => format!("failed at {stage}: {}", plain(message)),
        Outcome::Crashed { message } => format!("crashed: {}", plain(message)),
        Outcome::Exceeded { limit } => format!("exceeded {limit}"),
        Outcome::Rendered { .. } | Outcome::Raised { .. } | Outcome::NotAsked { .. } => {
            outcome.kind().to_string()
        }
    }
}

/// A message without its numbers and without what it quotes.
fn plain(message: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for c in message.chars().take(300) {
        match quote {
            Some(end) if c == end => {
                quote = None;
                out.push(c);
            }
            Some(_) => {}
            None if c.is_ascii_digit() => {
                if !out.ends_with('0') {
                    out.push('0');
                }
            }
            None => {
                quote = match c {
                    '\'' | '"' | '`' => Some(c),
                    '“' => Some('”'),
                    // Where Go was in the template.
                    '<' => Some('>'),
                    _ => None,
                };
                out.push(c);
            }
        }
    }
    out
}

/// The construct of a template: its names and signs in their order, and of its values the
/// type.
pub(crate) fn construct(source: &str, dialect: Dialect) -> String {
    let mut words: Vec<String> = Vec::new();
    for token in tokens_of(source, dialect) {
        let word = match token.kind {
            Kind::Space => continue,
            Kind::Text => "…".to_owned(),
            Kind::Comment => "{#".to_owned(),
            Kind::Number => "1".to_owned(),
            Kind::Quoted => "''".to_owned(),
            _ => token.text,
        };
        if words.last() != Some(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}
