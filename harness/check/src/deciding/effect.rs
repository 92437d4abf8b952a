//! Compares the prompts of two conversations that differ in one text.

use std::collections::BTreeSet;

use rolecall_core::Outcome;
use rolecall_core::provenance::{Origin, Span};

use crate::probe::Examined;

/// What the difference between two conversations does, which differ in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The prompt differs outside of the text.
    Elsewhere,
    /// The text itself is cut or changed.
    OfItself,
    Refused,
}

/// The bytes of a prompt that come from one text alone, and the text of all others.
fn parts(prompt: &str, spans: &[Span], path: &str) -> (usize, String) {
    let mut own = 0;
    let mut rest = String::new();
    for span in spans {
        let is_own = match &span.origin {
            Origin::Literal { .. } => false,
            Origin::Input { input, .. } => input.path == path,
            Origin::Made { from } => {
                !from.is_empty() && from.iter().all(|input| input.path == path)
            }
        };
        let text = prompt.get(span.prompt.clone()).unwrap_or_default();
        let is_unknown = matches!(&span.origin, Origin::Made { from } if from.is_empty());
        if is_own {
            own += text.len();
        } else if !is_unknown || text.contains(char::is_alphabetic) {
            // A number that is made of nothing that is known may be the text itself.
            rest.push_str(text);
        }
    }
    (own, rest)
}

/// What the difference of a text does to a prompt. `is_alike` says that both texts have the same
/// shape, so that neither should be cut. None if it does nothing, or if nobody can tell.
pub(crate) fn effect(
    one: &Examined,
    other: &Examined,
    path: &str,
    is_alike: bool,
) -> Option<Effect> {
    let (first, second) = (&*one.seen.outcome, &*other.seen.outcome);
    match (first, second) {
        (Outcome::Rendered { text }, Outcome::Rendered { text: of_other }) => {
            let parts_of = |text, spans: &Option<Vec<Span>>| {
                spans.as_ref().map(|spans| parts(text, spans, path))
            };
            let (own, rest) = parts_of(text, &one.spans)?;
            let (own_of_other, rest_of_other) = parts_of(of_other, &other.spans)?;
            if rest != rest_of_other {
                Some(Effect::Elsewhere)
            } else if is_alike && own != own_of_other {
                Some(Effect::OfItself)
            } else {
                None
            }
        }
        (Outcome::Exceeded { .. } | Outcome::Crashed { .. }, _)
        | (_, Outcome::Exceeded { .. } | Outcome::Crashed { .. }) => None,
        (first, second) if first.kind() == second.kind() => None,
        _ => Some(Effect::Refused),
    }
}

/// Whether two prompts have the same texts of the conversation, in the same order, but for so many
/// bytes of one text.
pub(crate) fn has_same_inputs(one: &Examined, other: &Examined, path: &str, but: usize) -> bool {
    let inputs = |examined: &Examined| -> Option<(usize, String)> {
        let text = examined.seen.text()?;
        let spans = examined.spans.as_ref()?;
        let inputs = spans
            .iter()
            .filter(|span| matches!(span.origin, Origin::Input { .. }));
        let inputs: Vec<Span> = inputs.cloned().collect();
        Some(parts(text, &inputs, path))
    };
    match (inputs(one), inputs(other)) {
        (Some((own, rest)), Some((own_of_other, rest_of_other))) => {
            own.abs_diff(own_of_other) <= but && rest == rest_of_other
        }
        _ => false,
    }
}

/// Whether two prompts have the same letters outside of a text.
pub(crate) fn has_same_words(one: &Examined, other: &Examined, path: &str) -> bool {
    let rest = |examined: &Examined| -> Option<String> {
        let spans = examined.spans.as_ref()?;
        let (_, rest) = parts(examined.seen.text()?, spans, path);
        Some(rest.chars().filter(|c| c.is_alphabetic()).collect())
    };
    rest(one) == rest(other)
}

/// The words of the template in a prompt: words of at least three letters in its literals, each with
/// the byte of the source where its literal begins.
pub(crate) fn own_words(examined: &Examined) -> BTreeSet<(String, usize)> {
    const SHORTEST: usize = 3;
    let Outcome::Rendered { text } = &*examined.seen.outcome else {
        return BTreeSet::new();
    };
    let spans = examined.spans.iter().flatten();
    let literals = spans.filter_map(|span| match &span.origin {
        Origin::Literal { source } => Some((text.get(span.prompt.clone())?, source.start)),
        _ => None,
    });
    let words = literals.flat_map(|(text, at)| {
        let words = text.split(|c: char| !c.is_alphabetic());
        let words = words.filter(|word| word.chars().count() >= SHORTEST);
        words.map(move |word| (word.to_owned(), at))
    });
    words.collect()
}
