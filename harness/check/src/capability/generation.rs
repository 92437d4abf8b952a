//! What a template does around the model's own text.

use rolecall_core::Dialect;
use serde::Serialize;

use super::support::Support;
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_CLOSED, CONTINUE_TAG, REASONED_USER_CLOSED, REASONING,
    REASONING_CONTENT, THINKING, UNFINISHED, UNFINISHED_TAGGED, USER, USER_CLOSED,
};
use crate::probe::{Prober, words};

/// What `add_generation_prompt` adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum GenerationPrompt {
    /// A text at the end.
    Suffix {
        /// The text.
        text: String,
    },
    /// Nothing: the prompt is the same without it.
    Ignored,
    /// It changes the prompt in another way.
    Other,
    /// It could not be found out.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// What becomes of the reasoning of earlier answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reasoning {
    /// The fields from which it is taken.
    pub fields: Vec<&'static str>,
    /// Whether it stays when the conversation goes on: `kept` or `dropped`.
    pub in_history: Support,
}

pub(super) fn reasoning(prober: &Prober<'_>) -> Reasoning {
    let fields: Vec<_> = [REASONING_CONTENT, REASONING, THINKING]
        .into_iter()
        .zip(["reasoning_content", "reasoning", "thinking"])
        .filter(|(probe, _)| prober.see(*probe).has(words::REASONING))
        .map(|(_, field)| field)
        .collect();
    let in_history = if fields.is_empty() {
        Support::Unknown {
            why: "the template shows no reasoning".to_owned(),
        }
    } else {
        Support::of(&prober.see(REASONED_USER_CLOSED), &[words::REASONING])
    };
    Reasoning { fields, in_history }
}

pub(super) fn prompt(prober: &Prober<'_>) -> GenerationPrompt {
    if prober.dialect() == Dialect::Go {
        return GenerationPrompt::Unknown {
            why: "Ollama has no such option".to_owned(),
        };
    }
    let (open, closed) = (prober.see(USER), prober.see(USER_CLOSED));
    match (open.text(), closed.text()) {
        (Some(open), Some(closed)) if open == closed => GenerationPrompt::Ignored,
        (Some(open), Some(closed)) => match open.strip_prefix(closed) {
            Some(suffix) => GenerationPrompt::Suffix {
                text: suffix.to_owned(),
            },
            None => GenerationPrompt::Other,
        },
        (None, _) => GenerationPrompt::Unknown {
            why: open.refusal(),
        },
        (_, None) => GenerationPrompt::Unknown {
            why: closed.refusal(),
        },
    }
}

/// What `add_generation_prompt` adds after a tool's result, if results are in the prompt and it adds
/// something else after a question. None if it does something else than to add.
pub(super) fn after_result(prober: &Prober<'_>) -> Option<String> {
    let GenerationPrompt::Suffix { text: usual } = prompt(prober) else {
        return None;
    };
    let (open, closed) = (prober.see(CALL_RESULT), prober.see(CALL_RESULT_CLOSED));
    let added = open.text()?.strip_prefix(closed.text()?)?;
    (closed.has(words::RESULT) && added != usual).then(|| added.to_owned())
}

/// In Ollama a last answer is continued if nothing closes it. transformers puts a tag after it, and
/// cuts the prompt there: `chat_template_utils.py`, `render_jinja_template`.
pub(super) fn continuation(prober: &Prober<'_>) -> Support {
    if prober.dialect() == Dialect::Go {
        let seen = prober.see(UNFINISHED);
        return match (
            Support::of(&seen, &[words::ASSISTANT]),
            seen.after(words::ASSISTANT),
        ) {
            (Support::Kept, Some("")) => Support::Kept,
            (Support::Kept, _) => Support::Dropped,
            (other, _) => other,
        };
    }
    let seen = prober.see(UNFINISHED_TAGGED);
    let tag = CONTINUE_TAG.trim().to_ascii_lowercase();
    match Support::of(&seen, &[words::ASSISTANT]) {
        Support::Kept if seen.has(&tag) => Support::Kept,
        Support::Kept => Support::Dropped,
        other => other,
    }
}
