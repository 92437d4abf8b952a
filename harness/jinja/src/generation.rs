//! Finds the text of `{% generation %}` blocks in the prompt: the parts that a model is trained to
//! write.
//!
//! transformers' `AssistantTracker` (`chat_template_utils.py`) notes for each block the length of
//! the prompt before it and the length of the block. A macro or a captured text is written as a
//! whole at its end. So for the tracker a block within it begins where the whole begins. Here a
//! block waits for the next write to the prompt, which then puts a mark at that place.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use minijinja::{Error, Output, Value};

/// What may be the mark: noncharacters of Unicode. Exchanged texts should not contain them; if one
/// does, another is the mark.
const MARKS: [char; 4] = ['\u{FDD0}', '\u{FDEF}', '\u{1FFFE}', '\u{10FFFE}'];

#[derive(Debug)]
struct Tracker {
    mark: char,
    /// The address of the prompt's output. Each macro writes to an output of its own.
    prompt: usize,
    /// How many captured texts are open.
    captures: usize,
    /// For each mark the lengths, in characters, of the blocks that begin there.
    marked: Vec<Vec<usize>>,
    /// The lengths of the blocks that wait for the next mark.
    waiting: Vec<usize>,
}

thread_local! {
    /// The tracker of the render on this thread, if it has one.
    static TRACKER: RefCell<Option<Tracker>> = const { RefCell::new(None) };
    /// Whether the render on this thread is tracked. Every write asks for it.
    static TRACKS: Cell<bool> = const { Cell::new(false) };
}

/// Does something with the tracker, if the render on this thread is tracked.
fn with<T: Default>(act: impl FnOnce(&mut Tracker) -> T) -> T {
    if !TRACKS.get() {
        return T::default();
    }
    TRACKER.with_borrow_mut(|tracker| tracker.as_mut().map(act).unwrap_or_default())
}

/// Tracks a render, again with another mark if the prompt contains the mark. The render shows its
/// output before it begins. None if it fails, or if the prompt contains all marks.
pub(crate) fn track(
    mut render: impl FnMut(fn(&Output<'_>)) -> Result<String, Error>,
) -> Option<(String, Vec<Range<usize>>)> {
    /// Ends the tracking, after a panic too.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            TRACKS.set(false);
        }
    }
    for mark in MARKS {
        TRACKER.set(Some(Tracker {
            mark,
            prompt: 0,
            captures: 0,
            marked: Vec::new(),
            waiting: Vec::new(),
        }));
        TRACKS.set(true);
        let off = Off;
        let marked = render(|output| with(|tracker| tracker.prompt = address(output))).ok()?;
        drop(off);
        let found = unmark(&marked, TRACKER.take()?);
        if found.is_some() {
            return found;
        }
    }
    None
}

fn address(output: &Output<'_>) -> usize {
    std::ptr::from_ref(output).addr()
}

/// A block whose body is known; it gives its body.
pub(crate) fn block(body: Value) -> Value {
    with(|tracker| {
        let length = body.to_string().chars().count();
        tracker.waiting.push(length);
    });
    body
}

/// Notes that a captured text begins or ends.
pub(crate) fn capture(begins: bool) {
    with(|tracker| {
        if begins {
            tracker.captures += 1;
        } else {
            tracker.captures = tracker.captures.saturating_sub(1);
        }
    });
}

/// Writes a mark, if something is about to be written to the prompt and blocks wait for it.
pub(crate) fn before_write(output: &mut Output<'_>) -> Result<(), Error> {
    let address = address(output);
    let mark = with(|tracker| {
        let reaches_prompt = address == tracker.prompt && tracker.captures == 0;
        if !reaches_prompt || tracker.waiting.is_empty() {
            return None;
        }
        tracker.marked.push(std::mem::take(&mut tracker.waiting));
        Some(tracker.mark)
    });
    if let Some(mark) = mark {
        output.write_fmt(format_args!("{mark}"))?;
    }
    Ok(())
}

/// The text without marks, and the ranges of its blocks. None if the prompt itself contains the
/// mark's character.
fn unmark(marked: &str, tracker: Tracker) -> Option<(String, Vec<Range<usize>>)> {
    let mark = tracker.mark;
    let text = marked.replace(mark, "");
    let mut starts = Vec::new();
    for (count, (at, _)) in marked.match_indices(mark).enumerate() {
        starts.push(at - count * mark.len_utf8());
    }
    if starts.len() != tracker.marked.len() {
        return None;
    }
    starts.push(text.len());
    let blocks = tracker.marked.into_iter().chain([tracker.waiting]);
    let spans = starts
        .into_iter()
        .zip(blocks)
        .flat_map(|(start, lengths)| lengths.into_iter().map(move |length| (start, length)))
        .map(|(start, length)| span(&text, start, length))
        .collect();
    Some((text, spans))
}

/// The range of so many characters from a place on.
fn span(text: &str, start: usize, length: usize) -> Range<usize> {
    let end = text[start..]
        .char_indices()
        .nth(length)
        .map_or(text.len(), |(at, _)| start + at);
    start..end
}
