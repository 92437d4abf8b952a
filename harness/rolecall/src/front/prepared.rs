//! What became of a conversation before a template sees it, and becomes of the prompt after.

use rolecall_model::{Case, Outcome, Stage, Template};

use super::continuation::Continuation;

/// A conversation as a front hands it on.
#[derive(Debug)]
pub struct Prepared {
    /// What the template sees, where that is another case than the written one; or why the
    /// application refuses the conversation.
    pub(super) case: Result<Option<Box<Case>>, String>,
    /// What clients of the application send it, where they write it in another way.
    pub(super) written: Option<Box<Case>>,
    /// What is done to the prompt.
    pub(super) continuation: Option<Continuation>,
}

impl Prepared {
    /// Of a case that is handed on as it is.
    pub(super) fn unchanged() -> Prepared {
        Prepared {
            case: Ok(None),
            written: None,
            continuation: None,
        }
    }

    /// Of a conversation that the application refuses, with its reason.
    pub(super) fn refused(why: impl Into<String>) -> Prepared {
        Prepared {
            case: Err(why.into()),
            written: None,
            continuation: None,
        }
    }

    /// Whether template and prompt are left alone: this case gives without the front what
    /// it gives with it.
    pub fn is_unchanged(&self) -> bool {
        matches!(self.case, Ok(None)) && self.continuation.is_none()
    }

    /// The case as the template sees it.
    pub fn case<'c>(&'c self, written: &'c Case) -> &'c Case {
        match &self.case {
            Ok(Some(case)) => case,
            Ok(None) | Err(_) => written,
        }
    }

    /// The case as the application is given it.
    pub fn written<'c>(&'c self, case: &'c Case) -> &'c Case {
        self.written.as_deref().unwrap_or(case)
    }

    /// What users get, where `render` gives what the template makes of
    /// [`Prepared::case`].
    pub fn outcome(&self, template: &Template, render: impl FnOnce() -> Outcome) -> Outcome {
        if let Err(why) = &self.case {
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

/// That the application refuses, and not the template.
fn refusal(message: String) -> Outcome {
    Outcome::Failed {
        stage: Stage::Input,
        message,
        line: None,
    }
}
