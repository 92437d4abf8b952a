//! What became of a conversation before a template sees it, and becomes of the prompt after.

use std::sync::Arc;

use rolecall_model::{Case, Outcome, Stage, Template};

use super::continuation::Continuation;

/// A conversation as a front hands it on.
#[derive(Debug)]
pub struct Prepared {
    /// What the template sees, where that is another case than the written one; or why the
    /// application refuses the conversation.
    pub(super) case: Result<Option<Arc<Case>>, String>,
    /// What clients of the application send it, where they write it in another way.
    pub(super) written: Option<Arc<Case>>,
    /// What the application refuses by what a template reads.
    pub(super) condition: Option<Condition>,
    /// What is done to the prompt.
    pub(super) continuation: Option<Continuation>,
}

/// Why an application refuses a conversation for some templates, with its reasons.
#[derive(Debug)]
pub(super) struct Condition {
    /// The variable that a template reads or does not.
    pub(super) variable: &'static str,
    /// What is wrong for those that read it.
    pub(super) where_read: Option<String>,
    /// What is wrong for the others.
    pub(super) where_unread: Option<String>,
}

impl Prepared {
    /// Of a case that is handed on as it is.
    pub(super) fn unchanged() -> Prepared {
        Prepared {
            case: Ok(None),
            written: None,
            condition: None,
            continuation: None,
        }
    }

    /// Of a conversation that the application refuses, with its reason.
    pub(super) fn refused(why: impl Into<String>) -> Prepared {
        Prepared {
            case: Err(why.into()),
            written: None,
            condition: None,
            continuation: None,
        }
    }

    /// Whether template and prompt are left alone: this case gives without the front what
    /// it gives with it.
    pub fn is_unchanged(&self) -> bool {
        matches!(self.case, Ok(None)) && self.condition.is_none() && self.continuation.is_none()
    }

    /// Whether users get what the template makes of [`Prepared::case`], whatever the template.
    pub fn is_rendering(&self) -> bool {
        self.case.is_ok() && self.condition.is_none() && self.continuation.is_none()
    }

    /// The case as the template sees it.
    pub fn case<'c>(&'c self, written: &'c Case) -> &'c Case {
        match &self.case {
            Ok(Some(case)) => case,
            Ok(None) | Err(_) => written,
        }
    }

    /// What [`Prepared::case`] is, for those who keep it.
    pub fn shared_case(&self, written: &Arc<Case>) -> Arc<Case> {
        match &self.case {
            Ok(Some(case)) => Arc::clone(case),
            Ok(None) | Err(_) => Arc::clone(written),
        }
    }

    /// The case as the application is given it.
    pub fn written<'c>(&'c self, case: &'c Case) -> &'c Case {
        self.written.as_deref().unwrap_or(case)
    }

    /// What [`Prepared::written`] is, for those who keep it.
    pub fn shared_written(&self, case: &Arc<Case>) -> Arc<Case> {
        Arc::clone(self.written.as_ref().unwrap_or(case))
    }

    /// What users get, where `render` gives what the template makes of [`Prepared::case`],
    /// and `reads` tells whether it reads a variable.
    pub fn outcome(
        &self,
        template: &Template,
        reads: impl FnOnce(&str) -> bool,
        render: impl FnOnce() -> Outcome,
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
            return render();
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

impl Condition {
    fn of(&self, reads: impl FnOnce(&str) -> bool) -> Option<&String> {
        if reads(self.variable) {
            self.where_read.as_ref()
        } else {
            self.where_unread.as_ref()
        }
    }
}

/// That the application refuses, and not the template.
pub(super) fn refusal(message: String) -> Outcome {
    Outcome::Failed {
        stage: Stage::Input,
        message,
        line: None,
    }
}
