//! Runs that gave nothing: templates that no engine can read, and runs in which every pair
//! failed.

use std::io::{self, Write};

use rolecall_model::{Dialect, Engine, Outcome, OutcomeKind, Stage, Template};

use super::numbers::counted;
use super::screen;
use super::style::{BAD, Styled};
use super::syntax_error;
use super::wrapping::wrapped;
use crate::divergence::pair_name;
use crate::problem::shown;
use crate::run::Compared;
use crate::syntax_error::SyntaxError;
use crate::verdict::Verdict;
use crate::wording;

/// Counts failures that nobody confirmed: where the reference fails as well, a failure is as
/// good a result as a prompt.
#[derive(Debug, Default)]
pub struct Failures<'s> {
    templates: Vec<OfTemplate<'s>>,
    pairs: usize,
    failed: usize,
    /// How loading went in all pairs, whatever the reference did.
    loading: Loading,
    /// The first failure, with its pair.
    first: Option<(String, Outcome)>,
}

/// Whether all that came of loading is one refusal.
#[derive(Debug, Default)]
enum Loading {
    /// Nothing came of it yet.
    #[default]
    Unknown,
    /// Every template was refused with the same words, of which these are the first.
    Refused(String),
    /// Some template was loaded, or refused with other words.
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
            // An application refused the conversation before.
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

/// The pairs of a template.
#[derive(Debug)]
struct OfTemplate<'s> {
    template: &'s Template,
    /// Those that failed.
    failed: usize,
    pairs: usize,
    /// Those in which the template could not be read. An application may refuse others before.
    unread: usize,
}

impl<'s> Failures<'s> {
    /// Adds a pair. Those of a template come one after the other.
    pub fn add(&mut self, compared: &Compared<'s>) {
        let pair = &compared.rendered.pair;
        if self
            .templates
            .last()
            .is_none_or(|last| !std::ptr::eq(last.template, pair.template))
        {
            self.templates.push(OfTemplate {
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
        if is_result || is_expected(&compared.verdict) {
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
        if self.first.as_ref().is_none_or(says_little) {
            self.first = Some((pair_name(pair), outcome.clone()));
        }
    }

    /// The templates that could not be read: all of their pairs failed.
    fn unread(&self) -> impl Iterator<Item = &'s Template> {
        let unread = self
            .templates
            .iter()
            .filter(|of| of.unread > 0 && of.failed == of.pairs);
        unread.map(|of| of.template)
    }

    /// Whether all is well: some pair gave something, and every template could be read.
    pub fn are_none(&self) -> bool {
        self.failed < self.pairs.max(1) && self.unread().next().is_none()
    }

    /// What an engine says that refuses every template with the same words, of more than one:
    /// it is probably not set up.
    pub fn common_refusal(&self) -> Option<&str> {
        match &self.loading {
            Loading::Refused(words) if self.templates.len() > 1 => Some(words),
            _ => None,
        }
    }

    /// Writes that every template is refused with the same words.
    pub fn write_common_refusal(out: &mut dyn Write, words: &str) -> io::Result<()> {
        let text = format!(
            "{} every template fails to load with the same words: {} — is the engine set up?",
            Styled(BAD, "error"),
            shown(words)
        );
        writeln!(out, "{}\n", wrapped(&text, screen::width(), 2))
    }

    /// Writes why nothing came of templates, each reason once, and of a run in which every
    /// pair failed for some other reason, the first.
    pub fn write<'e>(
        &self,
        out: &mut dyn Write,
        engine: impl Fn(Dialect) -> Option<&'e dyn Engine>,
    ) -> io::Result<()> {
        for template in self.unread() {
            let error =
                engine(template.dialect).and_then(|engine| SyntaxError::find(engine, template));
            if let Some(error) = error {
                syntax_error::write(out, &error)?;
            }
        }
        let Some((name, outcome)) = &self.first else {
            return Ok(());
        };
        if self.failed < self.pairs || self.unread().next().is_some() {
            return Ok(());
        }
        let all = counted(self.pairs, "pair gave a prompt", "pairs gave a prompt");
        let text = format!(
            "{} none of {all}; the first, {name}, {}: {}",
            Styled(BAD, "error"),
            outcome.kind(),
            shown(outcome.text())
        );
        writeln!(out, "{}", wrapped(&text, screen::width(), 2))
    }
}

/// Whether an application refused the conversation: that says nothing about the template.
fn is_input(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Failed {
            stage: Stage::Input,
            ..
        }
    )
}

/// Whether the reference did the same, or someone has explained why not.
fn is_expected(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Agrees => true,
        Verdict::Differs(_) => !verdict.is_unexplained(),
        Verdict::Unverified(_) => false,
    }
}
