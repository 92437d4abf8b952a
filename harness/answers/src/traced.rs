//! A prompt with the sources of its bytes: where its messages are.

use rolecall_core::Cut;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rolecall_core::provenance::{Input, InputKind, Origin, Span};

use crate::control_tokens::control_token_places;

/// A prompt with the sources of its bytes.
pub(crate) struct Traced<'t> {
    pub(crate) text: Cow<'t, str>,
    /// They cover the prompt. The last one may be longer.
    pub(crate) spans: Cow<'t, [Span]>,
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

impl Traced<'_> {
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
        for span in self.starting_at(from) {
            let mut inputs = span.origin.inputs().filter_map(message_part);
            let Some((index, part)) = inputs.next().filter(|(index, _)| *index >= message) else {
                continue;
            };
            if index > message {
                if !may_be_within(index) {
                    break;
                }
                let after = between.map_or(index, |(after, _)| after.max(index));
                between = Some((after, self.end_of(span)));
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
    pub(crate) fn beginning(&self, text: &str) -> Option<Traced<'_>> {
        if !self.text.starts_with(text) {
            return None;
        }
        let spans = until(&self.spans, |span| span.prompt.start < text.len());
        Some(Traced {
            text: Cow::Borrowed(self.text.cut(..text.len())),
            spans: Cow::Borrowed(spans),
        })
    }

    /// The spans that begin at a place or after it.
    fn starting_at(&self, place: usize) -> &[Span] {
        from(&self.spans, |span| span.prompt.start < place)
    }

    /// The spans with a byte at a place or after it.
    fn ending_after(&self, place: usize) -> &[Span] {
        from(&self.spans, |span| span.prompt.end <= place)
    }

    /// Where a span ends in this prompt.
    fn end_of(&self, span: &Span) -> usize {
        span.prompt.end.min(self.text.len())
    }

    /// The first byte that comes from what a message says, from a place on.
    pub(crate) fn first_of(&self, message: usize, from: usize) -> Option<usize> {
        let span = said_by(self.ending_after(from), message).next()?;
        Some(span.prompt.start.max(from))
    }

    /// The end of the last byte that comes from what a message says, within a range. What is there
    /// already does not count again: a template may repeat the name of a call before its result.
    pub(crate) fn last_of(&self, message: usize, within: Range<usize>) -> Option<usize> {
        let spans = self.ending_after(within.start);
        let spans = until(spans, |span| span.prompt.start < within.end);
        let own = said_by(spans, message);
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

    /// Whether something in a range comes from one of these fields of a message.
    pub(crate) fn has_field(&self, message: usize, fields: &[&str], within: Range<usize>) -> bool {
        let spans = self.ending_after(within.start).iter();
        let spans = spans.take_while(|span| span.prompt.start < within.end);
        let mut parts = spans.flat_map(|span| span.origin.inputs().filter_map(message_part));
        parts.any(|(index, part)| {
            let field = top(part).strip_prefix('.');
            index == message && field.is_some_and(|field| fields.contains(&field))
        })
    }

    /// Whether words of the template, after all control tokens, come before what a message says.
    /// Then the message is a part of another text and no turn, like a first message that the
    /// template takes for instructions.
    pub(crate) fn is_within_a_text(&self, message: usize, before: Range<usize>) -> bool {
        let text = self.text.cut(before.clone());
        let opened = control_token_places(text).next_back();
        let start = before.start + opened.map_or(0, |token| token.end);
        let is_own = |input: &Input| message_part(input).is_some_and(|(index, _)| index == message);
        let spans = self.ending_after(start).iter();
        let mut between = spans.take_while(|span| span.prompt.start < before.end);
        between.any(|span| {
            let place = span.prompt.start.max(start)..span.prompt.end.min(before.end);
            !all_from(span, is_own) && self.text.cut(place).contains(char::is_alphanumeric)
        })
    }

    /// The end of what earlier messages say before a place.
    pub(crate) fn earlier_until(&self, message: usize, limit: usize) -> usize {
        let is_earlier = |input: &Input| {
            let part = message_part(input).filter(|(index, _)| *index < message);
            part.is_some_and(|(_, part)| part != ".role")
        };
        let mut spans = until(&self.spans, |span| self.end_of(span) <= limit)
            .iter()
            .rev();
        let last = spans.find(|span| all_from(span, is_earlier));
        last.map_or(0, |span| self.end_of(span))
    }

    /// The first byte that comes from a later message, from a place on, or the end.
    pub(crate) fn next_message(&self, message: usize, from: usize) -> usize {
        let is_later =
            |input: &Input| message_part(input).is_some_and(|(index, _)| index > message);
        let mut later = self.starting_at(from).iter();
        let later = later.find(|span| all_from(span, is_later));
        later.map_or(self.text.len(), |span| span.prompt.start)
    }
}

/// The first spans, as long as something is true of them.
fn until(spans: &[Span], is_before: impl Fn(&Span) -> bool) -> &[Span] {
    let count = spans.partition_point(is_before);
    spans.get(..count).unwrap_or(spans)
}

/// The spans that come after them.
fn from(spans: &[Span], is_before: impl Fn(&Span) -> bool) -> &[Span] {
    let count = spans.partition_point(is_before);
    spans.get(count..).unwrap_or_default()
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
    let is_call = path.cut(..end) == ".tool_calls";
    let index = path.cut(end..).find(']').filter(|_| is_call);
    path.cut(..index.map_or(end, |at| end + at + 1))
}

/// The index of the message that an input is a part of, and the path of the part within it.
fn message_part(input: &Input) -> Option<(usize, &str)> {
    if input.kind != InputKind::Message {
        return None;
    }
    let (index, part) = input.path.strip_prefix("messages[")?.split_once(']')?;
    Some((index.parse().ok()?, part))
}
