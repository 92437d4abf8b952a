//! Where the tokens of a prepared source stand in the template's own source.

use std::ops::Range;

/// The tokens of all actions, in order.
#[derive(Debug, Default)]
pub(crate) struct Places(pub(crate) Vec<Place>);

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
    /// Moves the tokens behind a place of the prepared source.
    pub(crate) fn shift_behind(&mut self, prepared: usize, by: usize) {
        let from_end = self.0.iter_mut().rev();
        for place in from_end.take_while(|place| place.prepared > prepared) {
            place.prepared += by;
        }
    }

    /// The number of the token that begins at a place of the prepared source, or before it.
    fn at(&self, prepared: usize) -> usize {
        let behind = self.0.partition_point(|place| place.prepared <= prepared);
        behind.saturating_sub(1)
    }

    /// The action with a token at a place of the prepared source, without its delimiters.
    pub(crate) fn action(&self, prepared: usize) -> Range<usize> {
        self.action_of(self.at(prepared))
    }

    /// The last action before a place of the prepared source.
    pub(crate) fn action_before(&self, prepared: usize) -> Range<usize> {
        let behind = self.0.partition_point(|place| place.prepared < prepared);
        self.action_of(behind.saturating_sub(1))
    }

    fn action_of(&self, token: usize) -> Range<usize> {
        let up_to = self.0.get(..=token).unwrap_or_default();
        let first = up_to.iter().rfind(|place| place.begins_action);
        let rest = self.0.get(token..).unwrap_or_default();
        let others = rest.iter().skip(1);
        let last = others.take_while(|place| !place.begins_action).last();
        match (first, last.or(rest.first())) {
            (Some(first), Some(last)) => first.written.start..last.written.end,
            _ => 0..0,
        }
    }

    /// The operand that begins at a place of the prepared source.
    pub(crate) fn operand(&self, prepared: usize) -> Range<usize> {
        let rest = self.0.get(self.at(prepared)..).unwrap_or_default();
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
