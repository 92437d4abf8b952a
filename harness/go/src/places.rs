//! Where the tokens and texts of a prepared source are in the template's own source.

use std::ops::Range;

/// The tokens of all actions and the texts between actions, in order.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) tokens: Vec<Place>,
    texts: Vec<TextPlace>,
}

/// A text between actions, without what the marks of its neighbours trim.
#[derive(Debug)]
struct TextPlace {
    prepared: usize,
    written: usize,
    length: usize,
}

/// A token of an action.
#[derive(Debug)]
pub(crate) struct Place {
    /// Where it begins in the prepared source.
    pub(crate) prepared: usize,
    /// Its bytes in the template's own source.
    pub(crate) written: Range<usize>,
    pub(crate) kind: PlaceKind,
    pub(crate) begins_action: bool,
}

/// What matters about a token for the extent of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    Open,
    Close,
    Field,
    Other,
}

impl Places {
    /// Moves the tokens after a place of the prepared source.
    pub(crate) fn shift_after(&mut self, prepared: usize, by: usize) {
        let from_end = self.tokens.iter_mut().rev();
        for place in from_end.take_while(|place| place.prepared > prepared) {
            place.prepared += by;
        }
    }

    pub(crate) fn note_text(&mut self, prepared: usize, written: usize, length: usize) {
        if length > 0 {
            self.texts.push(TextPlace {
                prepared,
                written,
                length,
            });
        }
    }

    /// The texts in a piece of the prepared source: how many bytes each has, and where they are in
    /// the template's own source. A comment may have was between them.
    pub(crate) fn texts(&self, prepared: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self
            .texts
            .partition_point(|text| text.prepared + text.length <= prepared.start);
        let rest = self.texts[first..].iter();
        let (start, end) = (prepared.start, prepared.end);
        rest.take_while(move |text| text.prepared < end)
            .map(move |text| {
                let from = start.saturating_sub(text.prepared);
                let to = text.length.min(end - text.prepared);
                text.written + from..text.written + to
            })
    }

    /// The token that begins at a place of the prepared source.
    pub(crate) fn token(&self, prepared: usize) -> Range<usize> {
        let token = self.tokens.get(self.at(prepared));
        token.map_or(0..0, |place| place.written.clone())
    }

    /// The number of the token that begins at a place of the prepared source, or before it.
    fn at(&self, prepared: usize) -> usize {
        let after = self
            .tokens
            .partition_point(|place| place.prepared <= prepared);
        after.saturating_sub(1)
    }

    /// The action with a token at a place of the prepared source, without its delimiters.
    pub(crate) fn action(&self, prepared: usize) -> Range<usize> {
        self.action_of(self.at(prepared))
    }

    /// The last action before a place of the prepared source.
    pub(crate) fn action_before(&self, prepared: usize) -> Range<usize> {
        let after = self
            .tokens
            .partition_point(|place| place.prepared < prepared);
        self.action_of(after.saturating_sub(1))
    }

    fn action_of(&self, token: usize) -> Range<usize> {
        let up_to = self.tokens.get(..=token).unwrap_or_default();
        let first = up_to.iter().rfind(|place| place.begins_action);
        let rest = self.tokens.get(token..).unwrap_or_default();
        let others = rest.iter().skip(1);
        let last = others.take_while(|place| !place.begins_action).last();
        match (first, last.or(rest.first())) {
            (Some(first), Some(last)) => first.written.start..last.written.end,
            _ => 0..0,
        }
    }

    /// The operand that begins at a place of the prepared source.
    pub(crate) fn operand(&self, prepared: usize) -> Range<usize> {
        let rest = self.tokens.get(self.at(prepared)..).unwrap_or_default();
        let Some(first) = rest.first() else {
            return 0..0;
        };
        let mut open = 0_usize;
        let mut end = first.written.end;
        for (number, place) in rest.iter().enumerate() {
            // A field belongs to the operand that it touches.
            let touches = place.kind == PlaceKind::Field && place.written.start == end;
            if number > 0 && open == 0 && !touches {
                break;
            }
            match place.kind {
                PlaceKind::Open => open += 1,
                PlaceKind::Close => open = open.saturating_sub(1),
                PlaceKind::Field | PlaceKind::Other => {}
            }
            end = place.written.end;
        }
        first.written.start..end
    }
}
