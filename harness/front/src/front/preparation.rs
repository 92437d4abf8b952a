//! The result of a front's work on one conversation, and its work on the prompt.

use std::sync::Arc;

use rolecall_core::{Case, Cut, Outcome, Stage, Template};

use super::continuation::Continuation;

/// A conversation as a front hands it to templates, with the front's later work on the prompt.
#[derive(Debug)]
pub struct Preparation {
    /// The template's case if it differs from the written one, or the reason why the application
    /// refuses the conversation.
    pub(super) case: Result<Option<Arc<Case>>, String>,
    /// The case that clients send to the application, if they write it differently.
    pub(super) written: Option<Arc<Case>>,
    /// A refusal that depends on the variables that the template reads.
    pub(super) condition: Option<Condition>,
    /// How to cut the prompt.
    pub(super) continuation: Option<Continuation>,
    /// The text that the application writes behind the prompt.
    pub(super) behind: String,
    /// The case for a second try, if no prompt comes out of the first.
    pub(super) again: Option<Arc<Case>>,
    /// A case of which the application needs a prompt, too.
    pub(super) beside: Option<Arc<Case>>,
    /// Why the application refuses the conversation after the template has made a prompt.
    pub(super) late: Option<String>,
    /// How that other prompt continues the one for users.
    pub(super) opening: Option<Opening>,
    /// A text at the end of a prompt, and the one that the application writes behind it then.
    pub(super) turn: Option<(&'static str, &'static str)>,
}

/// Continues a prompt with what another prompt has behind their common beginning.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    /// The text before which the continuation ends, if it is there.
    pub(super) until: Option<String>,
}

/// Refuses a conversation for some templates, with the application's reasons.
#[derive(Debug)]
pub(super) struct Condition {
    /// The variable that decides: a template reads it or not.
    pub(super) variable: &'static str,
    /// The reason for templates that read it.
    pub(super) where_read: Option<String>,
    /// The reason for the other templates.
    pub(super) where_unread: Option<String>,
}

impl Preparation {
    /// The front hands the case on as it is.
    pub(super) fn unchanged() -> Preparation {
        Preparation {
            case: Ok(None),
            written: None,
            condition: None,
            continuation: None,
            behind: String::new(),
            again: None,
            beside: None,
            late: None,
            opening: None,
            turn: None,
        }
    }

    /// The application refuses the conversation for this reason.
    pub(super) fn refused(why: impl Into<String>) -> Preparation {
        Preparation {
            case: Err(why.into()),
            ..Preparation::unchanged()
        }
    }

    /// Whether the front changes neither the case nor the prompt, so that the outcome is the same
    /// without it.
    #[cfg(test)]
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self.case, Ok(None)) && self.condition.is_none() && self.continuation.is_none()
    }

    /// Whether users get the template's own outcome for its case, for every template.
    pub(crate) fn is_rendering(&self) -> bool {
        self.case.is_ok()
            && self.condition.is_none()
            && self.continuation.is_none()
            && self.behind.is_empty()
            && self.again.is_none()
            && self.beside.is_none()
            && self.late.is_none()
            && self.turn.is_none()
    }

    /// The case that templates see, if it is another one.
    pub(crate) fn seen(&self) -> Option<&Arc<Case>> {
        self.case.as_ref().ok().and_then(Option::as_ref)
    }

    /// The case of which the application needs a prompt, too.
    pub(crate) fn beside(&self) -> Option<&Arc<Case>> {
        self.beside.as_ref()
    }

    /// The case that templates see in a second try, if there is one.
    pub(crate) fn again(&self) -> Option<&Arc<Case>> {
        self.again.as_ref()
    }

    /// Whether templates, and users, get the same as with another preparation of a case.
    pub(super) fn is_same(&self, other: &Preparation, case: &Case) -> bool {
        let text = |one: &Preparation| {
            let seen = one.seen().map_or(case, |seen| seen);
            let Case {
                messages,
                tools,
                documents,
                variables,
                undefined,
                ..
            } = seen;
            let all = (
                messages,
                tools,
                documents,
                variables,
                undefined,
                seen.add_generation_prompt,
            );
            serde_json::to_string(&all).ok()
        };
        self.is_rendering() && other.is_rendering() && text(self) == text(other)
    }

    /// The case that the application receives, if it is another one.
    pub(crate) fn written(&self) -> Option<&Arc<Case>> {
        self.written.as_ref()
    }

    /// The case as the template sees it.
    #[cfg(test)]
    pub(super) fn case<'c>(&'c self, written: &'c Case) -> &'c Case {
        self.seen().map_or(written, |case| case)
    }

    /// The outcome for users. `render` renders the template with its case, and `reads` says whether
    /// the template reads a variable.
    pub(crate) fn outcome(
        &self,
        template: &Template,
        reads: impl FnOnce(&str) -> bool,
        render: impl FnOnce() -> Outcome,
        beside: impl FnOnce() -> Option<Outcome>,
    ) -> Outcome {
        if let Err(why) = &self.case {
            return refusal(why.clone());
        }
        if let Some(why) = self
            .condition
            .as_ref()
            .and_then(|condition| condition.of(reads))
        {
            return refusal(why.clone());
        }
        let Some(continuation) = &self.continuation else {
            return match render() {
                Outcome::Rendered { text } => self.completed(text, beside()),
                other => other,
            };
        };
        if let Err(why) = continuation.check(template) {
            return refusal(why);
        }
        match render() {
            Outcome::Rendered { text } => match continuation.cut(&text) {
                Ok(text) => Outcome::Rendered { text },
                Err(why) => refusal(why),
            },
            other => other,
        }
    }
}

impl Preparation {
    /// A prompt with what the application writes behind it, given the outcome of the other case.
    fn completed(&self, mut text: String, beside: Option<Outcome>) -> Outcome {
        if let Some(why) = &self.late {
            return refusal(why.clone());
        }
        let other = match beside {
            None => None,
            Some(Outcome::Rendered { text }) => Some(text),
            Some(refusal) => return refusal,
        };
        if let Some((end, next)) = self.turn
            && text.ends_with(end)
        {
            text.push_str(next);
        }
        if let (Some(opening), Some(other)) = (&self.opening, other) {
            let pairs = text.chars().zip(other.chars());
            let same = pairs.take_while(|(one, other)| one == other);
            let start: usize = same.map(|(c, _)| c.len_utf8()).sum();
            let opens = other.cut(start..);
            let end = opening.until.as_ref().and_then(|until| opens.find(until));
            text.push_str(opens.cut(..end.unwrap_or(opens.len())));
        }
        text.push_str(&self.behind);
        Outcome::Rendered { text }
    }
}

impl Condition {
    fn of(&self, reads: impl FnOnce(&str) -> bool) -> Option<&String> {
        if reads(self.variable) {
            self.where_read.as_ref()
        } else {
            self.where_unread.as_ref()
        }
    }
}

/// The outcome for a refusal by the application, not by the template.
pub(super) fn refusal(message: String) -> Outcome {
    Outcome::Failed {
        stage: Stage::Input,
        message,
        line: None,
    }
}
