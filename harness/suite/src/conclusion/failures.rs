//! Failures that nobody expects: templates that no engine can read, and runs in which every pair
//! failed.

use rolecall_core::{Outcome, OutcomeKind, Stage, Template};

use crate::divergence::pair_name;
use crate::run::Compared;
use crate::verdict::Verdict;
use rolecall_core::wording;

/// Counts unexpected failures. If the reference fails too, a failure is as good a result as
/// a prompt.
#[derive(Debug, Default)]
pub struct Failures<'s> {
    templates: Vec<TemplateFailures<'s>>,
    pairs: usize,
    failed: usize,
    /// The result of loading over all pairs, whatever the reference did.
    loading: Loading,
    /// The first failure, with its pair.
    first: Option<(String, Outcome)>,
}

/// Whether every template was refused with the same message.
#[derive(Debug, Default)]
enum Loading {
    /// Nothing was loaded yet.
    #[default]
    Unknown,
    /// Every template was refused with this message so far.
    Refused(String),
    /// Some template was loaded, or refused with another message.
    Mixed,
}

impl Loading {
    fn add(&mut self, outcome: &Outcome) {
        let words = match outcome {
            Outcome::Failed {
                stage: Stage::Parse,
                message,
                ..
            } => message,
            // An application refused the conversation first.
            Outcome::Failed {
                stage: Stage::Input,
                ..
            } => return,
            _ => {
                *self = Loading::Mixed;
                return;
            }
        };
        match self {
            Loading::Unknown => *self = Loading::Refused(words.clone()),
            Loading::Refused(first) if wording::common(first) != wording::common(words) => {
                *self = Loading::Mixed;
            }
            Loading::Refused(_) | Loading::Mixed => {}
        }
    }
}

#[derive(Debug)]
struct TemplateFailures<'s> {
    template: &'s Template,
    failed: usize,
    pairs: usize,
    /// Pairs in which the template could not be read. In others, an application may refuse
    /// first.
    unread: usize,
}

impl<'s> Failures<'s> {
    pub(super) fn add(&mut self, compared: &Compared<'s>) {
        let pair = &compared.rendered.pair;
        if self
            .templates
            .last()
            .is_none_or(|last| !std::ptr::eq(last.template, pair.template))
        {
            self.templates.push(TemplateFailures {
                template: pair.template,
                failed: 0,
                pairs: 0,
                unread: 0,
            });
        }
        let Some(last) = self.templates.last_mut() else {
            return;
        };
        self.pairs += 1;
        last.pairs += 1;
        let outcome = &compared.rendered.outcome;
        self.loading.add(outcome);
        let is_result = matches!(outcome.kind(), OutcomeKind::Rendered | OutcomeKind::Raised);
        let is_expected = match &compared.verdict {
            Verdict::Agrees => true,
            Verdict::Differs(_) => !compared.verdict.is_unexplained(),
            Verdict::Unverified(_) => false,
        };
        if is_result || is_expected {
            return;
        }
        self.failed += 1;
        last.failed += 1;
        let is_unread = matches!(
            outcome,
            Outcome::Failed {
                stage: Stage::Parse,
                ..
            }
        );
        last.unread += usize::from(is_unread);
        let says_little = |first: &(String, Outcome)| is_input(&first.1);
        // What an application refuses says nothing about the engine, so a later failure is the better
        // example.
        if self.first.as_ref().is_none_or(says_little) {
            self.first = Some((pair_name(pair), outcome.clone()));
        }
    }

    /// The templates that could not be read: all of their pairs failed.
    pub fn unread(&self) -> impl Iterator<Item = &'s Template> {
        let unread = self
            .templates
            .iter()
            .filter(|of| of.unread > 0 && of.failed == of.pairs);
        unread.map(|of| of.template)
    }

    /// Whether there is no total failure: not every pair failed, and every template could
    /// be read.
    pub fn are_none(&self) -> bool {
        // A run without any pair has no failure.
        self.failed < self.pairs.max(1) && self.unread().next().is_none()
    }

    /// The message of an engine that refuses several templates, all with the same words: it
    /// is probably not set up.
    pub fn common_refusal(&self) -> Option<&str> {
        match &self.loading {
            Loading::Refused(words) if self.templates.len() > 1 => Some(words),
            _ => None,
        }
    }

    /// The number of pairs, and the first one with its outcome, if every pair failed for another
    /// reason than an unreadable template.
    pub fn total(&self) -> Option<(usize, &str, &Outcome)> {
        let (name, outcome) = self.first.as_ref()?;
        let is_total = self.failed == self.pairs && self.unread().next().is_none();
        is_total.then_some((self.pairs, name.as_str(), outcome))
    }
}

/// Whether an application refused the conversation, which says nothing about the
/// template.
fn is_input(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Failed {
            stage: Stage::Input,
            ..
        }
    )
}
