//! The mask of a prompt: which of its bytes the model writes.
//!
//! A trainer teaches a model to write these bytes and no others. A template may mark them with `{%
//! generation %}`, but most templates have no marks: [`Masker`](crate::masker::Masker) finds masks without
//! them.

use std::ops::Range;

use rolecall_core::Outcome;
use rolecall_core::provenance::Span;

use crate::traced::said_by;

/// A prompt, and what the model writes of it.
#[derive(Debug, Clone)]
pub struct Mask {
    pub prompt: String,
    /// Where its bytes come from.
    pub spans: Vec<Span>,
    /// The assistant's turns, in the order of the conversation.
    pub turns: Vec<MaskedTurn>,
}

/// An assistant's turn in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedTurn {
    pub message: usize,
    /// What the model writes of it, up to the results of its calls if more of it comes after them.
    pub learned: Learned,
    /// What the model writes of it after results: some templates write the text of a message after
    /// the results of its calls.
    pub further: Vec<Range<usize>>,
    /// The token that ends the turn: the last bytes of the learned text. None if no token ends it.
    pub end: Option<Range<usize>>,
    /// Whether the prompt ends within the turn: the case asks the model to go on with it.
    pub is_begun: bool,
    /// Whether its message says that the model shall not learn it: with a `weight` of 0 as for
    /// OpenAI's fine-tuning, or with `train` or `training` false as for axolotl.
    pub is_left_out: bool,
    /// Whether its message has reasoning, and the template does not write this.
    pub lacks_reasoning: bool,
}

/// What a model writes of an assistant's turn. Places are bytes of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Learned {
    /// The text after the very prompt that asks for this turn.
    AsAsked(Range<usize>),
    /// The text after the opening of the turn. The text before it is not the prompt that asks for
    /// this turn: the template writes the history or the opening in another way.
    Otherwise(Range<usize>),
    /// Nothing: the template does not write the turn.
    Nothing,
}

impl Learned {
    /// Where it is in the prompt.
    pub fn range(&self) -> Option<Range<usize>> {
        match self {
            Learned::AsAsked(range) | Learned::Otherwise(range) => Some(range.clone()),
            Learned::Nothing => None,
        }
    }
}

impl MaskedTurn {
    /// All that the model writes of it, in the order of the prompt.
    pub fn ranges(&self) -> impl DoubleEndedIterator<Item = Range<usize>> {
        let further = self.further.iter().cloned();
        self.learned.range().into_iter().chain(further)
    }

    /// Lets a turn without an end go on to the next answer of a prompt, if only white space is
    /// between them: the template writes two answers in a row as one turn.
    pub(crate) fn go_on_to(&mut self, next_message: usize, next: usize, prompt: &str) {
        if self.end.is_some() || self.message + 1 != next_message {
            return;
        }
        let range = match (self.further.last_mut(), &mut self.learned) {
            (Some(range), _) | (None, Learned::AsAsked(range) | Learned::Otherwise(range)) => range,
            (None, Learned::Nothing) => return,
        };
        if let Some(between) = prompt.get(range.end..next)
            && between.trim().is_empty()
        {
            range.end = next;
        }
    }
}

impl Mask {
    /// Where a prompt says what a message says, and which input each place comes from. Its role and
    /// the name of its speaker are no parts of what it says.
    pub fn said_by(&self, message: usize) -> impl Iterator<Item = &Span> {
        said_by(&self.spans, message)
    }

    /// The ranges that the model writes and learns, in the order of the prompt. No two of them touch.
    /// Turns that a conversation leaves out are not among them.
    pub fn ranges(&self) -> Vec<Range<usize>> {
        let turns = self.turns.iter().filter(|turn| !turn.is_left_out);
        joined(turns.flat_map(MaskedTurn::ranges))
    }
}

/// Puts ranges in order, and joins those that touch each other. Empty ranges are left out.
pub fn joined(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = ranges
        .into_iter()
        .filter(|range| !range.is_empty())
        .collect();
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The reason why there is no mask.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoMask {
    /// There is no prompt.
    #[error("there is no prompt: {}", .0.text())]
    Refused(Outcome),
    /// The engine cannot tell where the bytes of the prompt come from.
    #[error("the engine cannot tell where the bytes of this prompt come from")]
    Untraced,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_in_order() {
        let ranges = [8..9, 1..3, 3..5, 4..4];
        assert_eq!(joined(ranges), [1..5, 8..9]);
    }
}
