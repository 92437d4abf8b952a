//! The outcome of a probe: what the template rendered, or why it gave no prompt.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use memchr::memmem;
use rolecall_core::provenance::Span;
use rolecall_core::{Case, Cut, Decisions, Outcome, Stage};

/// The outcome of a probe: what the template rendered, or why it gave no prompt.
#[derive(Debug, Clone)]
pub struct ProbeOutcome {
    pub probe: &'static str,
    pub about: &'static str,
    pub asked: Arc<Case>,
    /// What the template made of it. Conversations that look the same to the template share it.
    pub outcome: Arc<Outcome>,
    /// The prompt in lower case, or an empty text. Offsets are the same as in the prompt.
    lower: Arc<str>,
}

/// The outcome of a conversation, with where the bytes of its prompt come from and what the
/// decisions of the template looked at.
#[derive(Debug, Clone)]
pub(crate) struct Examined {
    pub(crate) seen: Rc<ProbeOutcome>,
    /// The spans of the prompt, if there is one and the engine can tell.
    pub(crate) spans: Option<Vec<Span>>,
    /// The decisions, if the engine can tell.
    pub(crate) decisions: Option<Decisions>,
}

impl ProbeOutcome {
    /// The outcome of a probe: what the template rendered, or why it gave no prompt.
    pub fn new(
        probe: &'static str,
        about: &'static str,
        asked: impl Into<Arc<Case>>,
        outcome: Outcome,
    ) -> ProbeOutcome {
        let lower = match &outcome {
            Outcome::Rendered { text } => text.to_ascii_lowercase(),
            _ => String::new(),
        };
        ProbeOutcome {
            probe,
            about,
            asked: asked.into(),
            outcome: Arc::new(outcome),
            lower: lower.into(),
        }
    }

    /// The same outcome of another probe, which looks the same to the template.
    pub(super) fn of_twin(
        &self,
        probe: &'static str,
        about: &'static str,
        asked: Arc<Case>,
    ) -> ProbeOutcome {
        ProbeOutcome {
            probe,
            about,
            asked,
            ..self.clone()
        }
    }

    /// The prompt, if there is one.
    pub fn text(&self) -> Option<&str> {
        match &*self.outcome {
            Outcome::Rendered { text } => Some(text),
            _ => None,
        }
    }

    /// Whether the probe gave no prompt.
    pub fn is_refused(&self) -> bool {
        self.text().is_none()
    }

    /// Whether the render used up its limits. Further renders would take as long.
    pub(crate) fn is_out_of_limits(&self) -> bool {
        matches!(*self.outcome, Outcome::Exceeded { .. })
    }

    /// How often a word is in the prompt.
    pub fn count(&self, word: &str) -> usize {
        memmem::find_iter(self.lower.as_bytes(), word).count()
    }

    /// Whether a word is in the prompt.
    pub fn has(&self, word: &str) -> bool {
        self.lower.contains(word)
    }

    /// Where a word first appears in the prompt.
    pub fn find(&self, word: &str) -> Option<Range<usize>> {
        let start = memmem::find(self.lower.as_bytes(), word.as_bytes())?;
        Some(start..start + word.len())
    }

    /// Where a word is in the prompt for the second time.
    pub(crate) fn find_again(&self, word: &str) -> Option<Range<usize>> {
        let first = self.find(word)?;
        let start = first.end + self.lower.cut(first.end..).find(word)?;
        Some(start..start + word.len())
    }

    /// The text after the last occurrence of a word.
    pub fn after(&self, word: &str) -> Option<&str> {
        let end = self.lower.rfind(word)? + word.len();
        self.text().map(|text| text.cut(end..))
    }

    /// The text before the first occurrence of a word.
    pub fn before(&self, word: &str) -> Option<&str> {
        let start = self.lower.find(word)?;
        self.text().map(|text| text.cut(..start))
    }

    /// The text between two words, each at its first place.
    pub(crate) fn between(&self, first: &str, second: &str) -> Option<&str> {
        let (from, until) = (self.find(first)?.end, self.find(second)?.start);
        self.text()?.get(from..until)
    }

    /// The refusal in a few words, with the message of the template or of the engine.
    pub fn refusal(&self) -> String {
        let words = self.outcome.text().trim();
        match &*self.outcome {
            Outcome::Rendered { .. } => String::new(),
            Outcome::Raised { .. } => format!("the template refuses: {words}"),
            Outcome::Failed {
                stage: Stage::Input,
                ..
            } => format!("refused before the template sees it: {words}"),
            Outcome::Failed { .. } => format!("the engine fails: {words}"),
            Outcome::Exceeded { limit } => format!("the limit on {limit} runs out"),
            Outcome::Crashed { .. } => format!("the engine crashes: {words}"),
            Outcome::NotAsked { .. } => format!("the engine was not asked: {words}"),
        }
    }
}

/// The length of the common beginning of two texts, in bytes.
pub(crate) fn common(first: &str, second: &str) -> usize {
    let same = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    first.floor_char_boundary(same)
}
