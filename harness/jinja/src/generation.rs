//! Finds the text of `{% generation %}` blocks in the prompt: the parts that a model is trained to
//! write.
//!
//! transformers' `AssistantTracker` (`chat_template_utils.py`) notes for each block the length of
//! the prompt before it and the length of the block. A macro or a captured text is written as a
//! whole at its end. So for the tracker a block within it begins where the whole begins. Here a
//! block waits for the next write to the prompt.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use minijinja::Value;

thread_local! {
    /// The lengths, in characters, of the blocks that wait for the next write.
    static WAITING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// The places in the prompt where blocks begin, and their lengths in characters.
    static FOUND: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
    /// Whether blocks wait. Every write asks for it.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

/// A block whose body is known; it gives its body.
pub(crate) fn block(body: Value) -> Value {
    let length = body.to_string().chars().count();
    WAITING.with_borrow_mut(|waiting| waiting.push(length));
    WAITS.set(true);
    body
}

/// Something is about to be written at a place in the prompt.
#[inline]
pub(crate) fn before_write(at: usize) {
    if WAITS.replace(false) {
        let waiting = WAITING.take().into_iter().map(|length| (at, length));
        FOUND.with_borrow_mut(|found| found.extend(waiting));
    }
}

/// Runs a render, and gives the ranges of its blocks in the prompt.
pub(crate) fn tracked<E>(
    render: impl FnOnce() -> Result<String, E>,
) -> Result<(String, Vec<Range<usize>>), E> {
    WAITING.take();
    FOUND.take();
    let text = render()?;
    before_write(text.len());
    let found = FOUND.take().into_iter();
    let ranges = found.map(|(start, length)| span(&text, start, length));
    let ranges = ranges.collect();
    Ok((text, ranges))
}

/// The range of so many characters from a place on.
fn span(text: &str, start: usize, length: usize) -> Range<usize> {
    let end = text[start..]
        .char_indices()
        .nth(length)
        .map_or(text.len(), |(at, _)| start + at);
    start..end
}
