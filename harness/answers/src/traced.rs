//! A prompt with the sources of its bytes: where its messages are.

use std::collections::BTreeSet;
use std::ops::Range;

use rolecall_core::provenance::{Input, InputKind, Origin, Span};
use rolecall_front::trace;

use crate::control_tokens::control_token_places;

/// A prompt with the sources of its bytes.
pub(crate) struct Traced {
    pub(crate) text: String,
    pub(crate) spans: Vec<Span>,
}

/// What a message says in a prompt after later messages, which the template writes first.
pub(crate) struct LaterText<'t> {
    /// The last message before it.
    pub(crate) after: usize,
    /// Where that message ends in the prompt.
    pub(crate) floor: usize,
    /// The parts of the message that are here and not before: fields such as `content`, and calls
    /// such as `tool_calls[1]`.
    pub(crate) parts: BTreeSet<&'t str>,
}

impl Traced {
    /// What a message says after later messages, from a place on, as long as these messages may be
    /// within its turn.
    pub(crate) fn after_others(
        &self,
        message: usize,
        from: usize,
        may_be_within: impl Fn(usize) -> bool,
    ) -> Vec<LaterText<'_>> {
        let mut found: Vec<LaterText<'_>> = Vec::new();
        let mut known = BTreeSet::new();
        let mut between: Option<(usize, usize)> = None;
        for span in self.spans.iter().filter(|span| span.prompt.start >= from) {
            let mut inputs = span.origin.inputs().filter_map(message_part);
            let Some((index, part)) = inputs.next().filter(|(index, _)| *index >= message) else {
                continue;
            };
            if index > message {
                if !may_be_within(index) {
                    break;
                }
                let after = between.map_or(index, |(after, _)| after.max(index));
                between = Some((after, span.prompt.end));
                continue;
            }
            let part = top(part);
            if ["", ".role", ".name"].contains(&part) || !known.insert(part) {
                continue;
            }
            match (between.take(), found.last_mut()) {
                (Some((after, floor)), _) => found.push(LaterText {
                    after,
                    floor,
                    parts: BTreeSet::from([part]),
                }),
                (None, Some(last)) => {
                    last.parts.insert(part);
                }
                (None, None) => {}
            }
        }
        found
    }

    /// The prompt up to the end of a text, if it begins with that text.
    pub(crate) fn beginning(&self, text: &str) -> Option<Traced> {
        if !self.text.starts_with(text) {
            return None;
        }
        let mut spans = self.spans.clone();
        trace::cut(&mut spans, text.len());
        let text = text.to_owned();
        Some(Traced { text, spans })
    }

    /// The first byte that comes from what a message says, from a place on.
    pub(crate) fn first_of(&self, message: usize, from: usize) -> Option<usize> {
        let mut own = said_by(&self.spans, message);
        let span = own.find(|span| span.prompt.end > from)?;
        Some(span.prompt.start.max(from))
    }

    /// The end of the last byte that comes from what a message says, within a range. What is there
    /// already does not count again: a template may repeat the name of a call before its result.
    pub(crate) fn last_of(&self, message: usize, within: Range<usize>) -> Option<usize> {
        let own = said_by(&self.spans, message)
            .filter(|span| span.prompt.start < within.end && span.prompt.end > within.start);
        let mut last = None;
        let mut known: Vec<&Origin> = Vec::new();
        for span in own {
            if !known.contains(&&span.origin) {
                known.push(&span.origin);
                last = Some(span.prompt.end.min(within.end));
            }
        }
        last
    }

    /// Whether words of the template, after all control tokens, come before what a message says.
    /// Then the message is a part of another text and no turn, like a first message that the
    /// template takes for instructions.
    pub(crate) fn is_within_a_text(&self, message: usize, before: Range<usize>) -> bool {
        let text = &self.text[before.clone()];
        let opened = control_token_places(text).next_back();
        let start = before.start + opened.map_or(0, |token| token.end);
        let is_own = |input: &Input| message_part(input).is_some_and(|(index, _)| index == message);
        let mut between = self
            .spans
            .iter()
            .filter(|span| span.prompt.start < before.end && span.prompt.end > start);
        between.any(|span| {
            let place = span.prompt.start.max(start)..span.prompt.end.min(before.end);
            !all_from(span, is_own) && self.text[place].contains(char::is_alphanumeric)
        })
    }

    /// The end of what earlier messages say before a place.
    pub(crate) fn earlier_until(&self, message: usize, limit: usize) -> usize {
        let is_earlier = |input: &Input| {
            let part = message_part(input).filter(|(index, _)| *index < message);
            part.is_some_and(|(_, part)| part != ".role")
        };
        let spans = self.spans.iter().rev();
        let mut spans = spans.filter(|span| span.prompt.end <= limit);
        let last = spans.find(|span| all_from(span, is_earlier));
        last.map_or(0, |span| span.prompt.end)
    }

    /// The first byte that comes from a later message, from a place on, or the end.
    pub(crate) fn next_message(&self, message: usize, from: usize) -> usize {
        let is_later =
            |input: &Input| message_part(input).is_some_and(|(index, _)| index > message);
        let mut later = self.spans.iter();
        let later = later.find(|span| span.prompt.start >= from && all_from(span, is_later));
        later.map_or(self.text.len(), |span| span.prompt.start)
    }
}

/// The spans of what a message says. Its role and the name of its speaker
/// say nothing: templates write them before the turn.
pub(crate) fn said_by(spans: &[Span], message: usize) -> impl Iterator<Item = &Span> {
    let says = move |input: &Input| {
        let part = message_part(input).filter(|(index, _)| *index == message);
        part.is_some_and(|(_, part)| ![".role", ".name"].contains(&part))
    };
    spans.iter().filter(move |span| all_from(span, says))
}

/// Whether a span comes from some inputs, and from no other ones.
fn all_from(span: &Span, holds: impl Fn(&Input) -> bool) -> bool {
    match &span.origin {
        Origin::Literal { .. } => false,
        Origin::Input { input, .. } => holds(input),
        Origin::Made { from } => !from.is_empty() && from.iter().all(|input| holds(input)),
    }
}

/// The field of a message that a path is in, or the call: `.content`, `.tool_calls[1]`.
fn top(path: &str) -> &str {
    // A message itself has no path.
    let rest = path.get(1..).unwrap_or_default();
    let end = rest.find(['.', '[']).map_or(path.len(), |at| at + 1);
    let is_call = &path[..end] == ".tool_calls";
    let index = path[end..].find(']').filter(|_| is_call);
    &path[..index.map_or(end, |at| end + at + 1)]
}

/// The index of the message that an input is a part of, and the path of the part within it.
fn message_part(input: &Input) -> Option<(usize, &str)> {
    if input.kind != InputKind::Message {
        return None;
    }
    let (index, part) = input.path.strip_prefix("messages[")?.split_once(']')?;
    Some((index.parse().ok()?, part))
}
