//! What an engine did with a pair.

/// What an engine did with one template and one case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Outcome {
    /// The template produced a prompt, perhaps an empty one.
    #[error("a prompt")]
    Rendered {
        /// The prompt, byte for byte.
        text: String,
    },
    /// The template itself refused, with `raise_exception(message)`.
    #[error("the template refused: {message}")]
    Raised {
        /// What the template said.
        message: String,
    },
    /// The engine could not render it: an undefined variable, a type error, a syntax error.
    #[error("failed at {stage}{}: {message}", at(*line))]
    Failed {
        /// How far it came.
        stage: Stage,
        /// What the engine said, in its own words.
        message: String,
        /// The line of the template, counted from 1, where the engine knows it.
        line: Option<usize>,
    },
    /// A limit ran out.
    #[error("the limit on {limit} ran out")]
    Exceeded {
        /// Which one.
        limit: Limit,
    },
    /// The engine itself is at fault: a panic, a signal, a broken protocol.
    #[error("the engine crashed: {message}")]
    Crashed {
        /// What was seen.
        message: String,
    },
    /// The engine had stopped before this pair, so it was not asked.
    #[error("the engine was not asked: {message}")]
    NotAsked {
        /// Why it is gone.
        message: String,
    },
}

/// Why there is no prompt: an [`Outcome`] other than `Rendered`, as an error.
pub type Refusal = Outcome;

fn at(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

named! {
    /// The stage at which an engine failed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Stage {
        /// The conversation was refused before the template saw it.
        Input = "input",
        /// The template's source was refused.
        Parse = "parse",
        /// The template failed while it was running.
        Render = "render",
    }
}

named! {
    /// A limit that a render can run into.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Limit {
        /// Too many instructions were executed.
        Fuel = "fuel",
        /// Macros, loops or calls were nested too deeply.
        Recursion = "recursion",
        /// Too much text was produced.
        Output = "output",
        /// It took too long.
        Time = "time",
    }
}

named! {
    /// The kind of an [`Outcome`], without its content: a column of a summary.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum OutcomeKind {
        /// See [`Outcome::Rendered`].
        Rendered = "rendered",
        /// See [`Outcome::Raised`].
        Raised = "raised",
        /// See [`Outcome::Failed`].
        Failed = "failed",
        /// See [`Outcome::Exceeded`].
        Exceeded = "exceeded",
        /// See [`Outcome::Crashed`].
        Crashed = "crashed",
        /// See [`Outcome::NotAsked`].
        NotAsked = "not asked",
    }
}

written_as_text! {
    OutcomeKind = "an outcome", OutcomeKind::named;
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

    /// Whether an engine's outcome agrees with the reference's: the same text, the same message of
    /// `raise_exception`, or a failure where the reference failed, with any message. A crash agrees
    /// with nothing.
    pub fn agrees(&self, other: &Outcome) -> bool {
        match self.kind() {
            kind if kind != other.kind() => false,
            OutcomeKind::Rendered | OutcomeKind::Raised => self.text() == other.text(),
            OutcomeKind::Failed | OutcomeKind::Exceeded => true,
            OutcomeKind::Crashed | OutcomeKind::NotAsked => false,
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
        match self {
            Outcome::Rendered { text } => Ok(text),
            refusal => Err(refusal),
        }
    }
}

impl From<Result<String, Refusal>> for Outcome {
    fn from(prompt: Result<String, Refusal>) -> Outcome {
        prompt.map_or_else(|refusal| refusal, |text| Outcome::Rendered { text })
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
            assert_eq!(refusal, outcome);
        }
        let rendered = Outcome::Rendered { text: "a".into() };
        assert_eq!(rendered.into_prompt(), Ok("a".to_owned()));
    }
}
