//! What a program gets to render: a case, and each engine's own form of it.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use crate::case::Case;
use crate::fingerprint::Fingerprint;
use crate::template::Dialect;

/// A case on its way through the engines.
///
/// An engine needs the messages in its own types. Making them costs about as much as a
/// render, so a conversation keeps them for all the templates that it meets.
pub struct Conversation<'c> {
    case: &'c Case,
    forms: [OnceLock<Arc<dyn Any + Send + Sync>>; Dialect::ALL.len()],
    fingerprint: OnceLock<Fingerprint>,
}

impl<'c> Conversation<'c> {
    /// Of a case.
    pub fn new(case: &'c Case) -> Conversation<'c> {
        Conversation {
            case,
            forms: [const { OnceLock::new() }; Dialect::ALL.len()],
            fingerprint: OnceLock::new(),
        }
    }

    /// The case itself.
    pub fn case(&self) -> &'c Case {
        self.case
    }

    /// The case's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        *self
            .fingerprint
            .get_or_init(|| Fingerprint::of_case(self.case))
    }

    /// The case in an engine's own form, made when it is first asked for. One form is
    /// kept for each dialect.
    pub fn form<T: Send + Sync + 'static>(
        &self,
        dialect: Dialect,
        make: impl Fn(&Case) -> T,
    ) -> Arc<T> {
        let slot = match dialect {
            Dialect::Jinja => &self.forms[0],
            Dialect::Go => &self.forms[1],
        };
        let kept = slot.get_or_init(|| Arc::new(make(self.case)));
        Arc::clone(kept)
            .downcast::<T>()
            .unwrap_or_else(|_| Arc::new(make(self.case)))
    }
}
