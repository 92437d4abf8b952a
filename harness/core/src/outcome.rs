//! What an engine did with a pair.

use std::fmt;

/// What an engine did with one template and one case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The template produced a prompt, perhaps an empty one.
    Rendered {
        /// The prompt, byte for byte.
        text: String,
    },
    /// The template itself refused, with `raise_exception(message)`.
    Raised {
        /// What the template said.
        message: String,
    },
    /// The engine could not render it: an undefined variable, a type error, a syntax error.
    Failed {
        /// How far it came.
        stage: Stage,
        /// What the engine said, in its own words.
        message: String,
        /// The line of the template, counted from 1, where the engine knows it.
        line: Option<usize>,
    },
    /// A limit ran out.
    Exceeded {
        /// Which one.
        limit: Limit,
    },
    /// The engine itself is at fault: a panic, a signal, a broken protocol.
    Crashed {
        /// What was seen.
        message: String,
    },
    /// The engine had stopped before this pair, so it was not asked.
    NotAsked {
        /// Why it is gone.
        message: String,
    },
}

/// Why there is no prompt: an [`Outcome`] other than `Rendered`, as an error.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// See [`Outcome::Raised`].
    #[error("the template refused: {message}")]
    Raised {
        /// What the template said.
        message: String,
    },
    /// See [`Outcome::Failed`].
    #[error("failed at {stage}{}: {message}", at(*line))]
    Failed {
        /// How far the engine came.
        stage: Stage,
        /// What the engine said, in its own words.
        message: String,
        /// The line of the template, counted from 1, where the engine knows it.
        line: Option<usize>,
    },
    /// See [`Outcome::Exceeded`].
    #[error("the limit on {limit} ran out")]
    Exceeded {
        /// Which limit.
        limit: Limit,
    },
    /// See [`Outcome::Crashed`].
    #[error("the engine crashed: {message}")]
    Crashed {
        /// What was seen.
        message: String,
    },
    /// See [`Outcome::NotAsked`].
    #[error("the engine was not asked: {message}")]
    NotAsked {
        /// Why it is gone.
        message: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// The stage at which an engine failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The conversation was refused before the template saw it.
    Input,
    /// The template's source was refused.
    Parse,
    /// The template failed while it was running.
    Render,
}

/// A limit that a render can run into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// Too many instructions were executed.
    Fuel,
    /// Macros, loops or calls were nested too deeply.
    Recursion,
    /// Too much text was produced.
    Output,
    /// It took too long.
    Time,
}

/// The kind of an [`Outcome`], without its content: a column of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutcomeKind {
    /// See [`Outcome::Rendered`].
    Rendered,
    /// See [`Outcome::Raised`].
    Raised,
    /// See [`Outcome::Failed`].
    Failed,
    /// See [`Outcome::Exceeded`].
    Exceeded,
    /// See [`Outcome::Crashed`].
    Crashed,
    /// See [`Outcome::NotAsked`].
    NotAsked,
}

impl Outcome {
    /// The kind of the outcome, without its text or message.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Outcome::Rendered { .. } => OutcomeKind::Rendered,
            Outcome::Raised { .. } => OutcomeKind::Raised,
            Outcome::Failed { .. } => OutcomeKind::Failed,
            Outcome::Exceeded { .. } => OutcomeKind::Exceeded,
            Outcome::Crashed { .. } => OutcomeKind::Crashed,
            Outcome::NotAsked { .. } => OutcomeKind::NotAsked,
        }
    }

    /// Whether the outcome proves that the engine loaded the template.
    pub fn is_of_loaded_template(&self) -> bool {
        match self {
            Outcome::Rendered { .. } | Outcome::Raised { .. } | Outcome::Exceeded { .. } => true,
            Outcome::Failed { stage, .. } => *stage == Stage::Render,
            Outcome::Crashed { .. } | Outcome::NotAsked { .. } => false,
        }
    }

    /// The text that the outcome carries: the prompt, or the words of the refusal.
    pub fn text(&self) -> &str {
        match self {
            Outcome::Rendered { text } => text,
            Outcome::Raised { message }
            | Outcome::Failed { message, .. }
            | Outcome::Crashed { message }
            | Outcome::NotAsked { message } => message,
            Outcome::Exceeded { limit } => limit.name(),
        }
    }

    /// The text that the outcome carries, for changes; a limit carries none.
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Outcome::Rendered { text } => Some(text),
            Outcome::Raised { message }
            | Outcome::Failed { message, .. }
            | Outcome::Crashed { message }
            | Outcome::NotAsked { message } => Some(message),
            Outcome::Exceeded { .. } => None,
        }
    }
}

impl Outcome {
    /// The prompt, or why there is none.
    pub fn into_prompt(self) -> Result<String, Refusal> {
        Err(match self {
            Outcome::Rendered { text } => return Ok(text),
            Outcome::Raised { message } => Refusal::Raised { message },
            Outcome::Failed {
                stage,
                message,
                line,
            } => Refusal::Failed {
                stage,
                message,
                line,
            },
            Outcome::Exceeded { limit } => Refusal::Exceeded { limit },
            Outcome::Crashed { message } => Refusal::Crashed { message },
            Outcome::NotAsked { message } => Refusal::NotAsked { message },
        })
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Outcome {
        match refusal {
            Refusal::Raised { message } => Outcome::Raised { message },
            Refusal::Failed {
                stage,
                message,
                line,
            } => Outcome::Failed {
                stage,
                message,
                line,
            },
            Refusal::Exceeded { limit } => Outcome::Exceeded { limit },
            Refusal::Crashed { message } => Outcome::Crashed { message },
            Refusal::NotAsked { message } => Outcome::NotAsked { message },
        }
    }
}

impl From<Result<String, Refusal>> for Outcome {
    fn from(prompt: Result<String, Refusal>) -> Outcome {
        match prompt {
            Ok(text) => Outcome::Rendered { text },
            Err(refusal) => refusal.into(),
        }
    }
}

impl OutcomeKind {
    /// All kinds, in the order in which summaries list them.
    pub const ALL: [OutcomeKind; 6] = [
        OutcomeKind::Rendered,
        OutcomeKind::Raised,
        OutcomeKind::Failed,
        OutcomeKind::Exceeded,
        OutcomeKind::Crashed,
        OutcomeKind::NotAsked,
    ];

    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            OutcomeKind::Rendered => "rendered",
            OutcomeKind::Raised => "raised",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Exceeded => "exceeded",
            OutcomeKind::Crashed => "crashed",
            OutcomeKind::NotAsked => "not asked",
        }
    }

    /// The kind that a word represents.
    pub fn named(name: &str) -> Option<OutcomeKind> {
        OutcomeKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl Stage {
    /// All stages, first to last.
    pub const ALL: [Stage; 3] = [Stage::Input, Stage::Parse, Stage::Render];

    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Input => "input",
            Stage::Parse => "parse",
            Stage::Render => "render",
        }
    }

    /// The stage that a word represents.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

impl Limit {
    /// All limits.
    pub const ALL: [Limit; 4] = [Limit::Fuel, Limit::Recursion, Limit::Output, Limit::Time];

    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Fuel => "fuel",
            Limit::Recursion => "recursion",
            Limit::Output => "output",
            Limit::Time => "time",
        }
    }

    /// The limit that a word represents.
    pub fn named(name: &str) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_why_and_is_the_outcome_again() {
        let outcomes = [
            (
                Outcome::Raised {
                    message: "No.".into(),
                },
                "the template refused: No.",
            ),
            (
                Outcome::Failed {
                    stage: Stage::Render,
                    message: "undefined value".into(),
                    line: Some(3),
                },
                "failed at render, line 3: undefined value",
            ),
            (
                Outcome::Exceeded { limit: Limit::Fuel },
                "the limit on fuel ran out",
            ),
            (
                Outcome::Crashed {
                    message: "index out of bounds".into(),
                },
                "the engine crashed: index out of bounds",
            ),
            (
                Outcome::NotAsked {
                    message: "it does not start".into(),
                },
                "the engine was not asked: it does not start",
            ),
        ];
        for (outcome, words) in outcomes {
            let refusal = outcome.clone().into_prompt().unwrap_err();
            assert_eq!(refusal.to_string(), words);
            assert_eq!(Outcome::from(refusal), outcome);
        }
        let rendered = Outcome::Rendered { text: "a".into() };
        assert_eq!(rendered.into_prompt(), Ok("a".to_owned()));
    }
}
