//! What a template's `{% generation %}` blocks gave: the parts of a prompt that a model
//! is trained to write.
//!
//! transformers' `AssistantTracker` (`chat_template_utils.py`) notes for each block how
//! much was written before it, and how long it is. Within a macro, or a text that is
//! captured, nothing is written until the whole piece is done: such a block begins, for
//! the tracker, where the piece will. So it is here: what was written before a block ends
//! where the next thing is written to the prompt, and that place gets a mark.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use minijinja::{Error, Output, Value};
use rolecall_model::Tracked;

/// A noncharacter of Unicode, which no text holds that is meant for others.
const MARK: char = '\u{FDD0}';

/// A render that is tracked.
#[derive(Debug, Default)]
struct Tracker {
    /// Where the prompt's output lies in memory: macros have others of their own.
    prompt: usize,
    /// How many captured texts are open.
    captures: usize,
    /// The lengths in characters of the blocks before each mark, and of those that wait
    /// for the next.
    marked: Vec<Vec<usize>>,
    waiting: Vec<usize>,
}

thread_local! {
    /// Of the render on this thread, if it is tracked.
    static TRACKER: RefCell<Option<Tracker>> = const { RefCell::new(None) };
    /// Whether it is: asked for at every write.
    static TRACKS: Cell<bool> = const { Cell::new(false) };
}

fn with<T: Default>(act: impl FnOnce(&mut Tracker) -> T) -> T {
    if !TRACKS.get() {
        return T::default();
    }
    TRACKER.with_borrow_mut(|tracker| tracker.as_mut().map(act).unwrap_or_default())
}

/// Runs a render that is tracked; it shows what it writes into before it begins. None if
/// it fails.
pub(super) fn track(
    render: impl FnOnce(fn(&Output<'_>)) -> Result<String, Error>,
) -> Option<Tracked> {
    /// A render that panics shall not have the next one tracked.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            TRACKS.set(false);
        }
    }
    TRACKER.set(Some(Tracker::default()));
    TRACKS.set(true);
    let _off = Off;
    let marked = render(|output| with(|tracker| tracker.prompt = address(output))).ok()?;
    unmark(&marked, TRACKER.take()?)
}

fn address(output: &Output<'_>) -> usize {
    std::ptr::from_ref(output).addr()
}

/// What a block gives: its body.
pub(super) fn block(body: Value) -> Value {
    with(|tracker| {
        let length = body.to_string().chars().count();
        tracker.waiting.push(length);
    });
    body
}

/// A captured text begins or ends.
pub(super) fn capture(begins: bool) {
    with(|tracker| {
        if begins {
            tracker.captures += 1;
        } else {
            tracker.captures = tracker.captures.saturating_sub(1);
        }
    });
}

/// Something is about to be written.
pub(super) fn before_write(output: &mut Output<'_>) -> Result<(), Error> {
    let address = address(output);
    let is_marked = with(|tracker| {
        let reaches_prompt = address == tracker.prompt && tracker.captures == 0;
        if !reaches_prompt || tracker.waiting.is_empty() {
            return false;
        }
        tracker.marked.push(std::mem::take(&mut tracker.waiting));
        true
    });
    if is_marked {
        output.write_fmt(format_args!("{MARK}"))?;
    }
    Ok(())
}

/// The text without marks, and where its blocks are. None where a text holds a mark of
/// its own.
fn unmark(marked: &str, tracker: Tracker) -> Option<Tracked> {
    let text = marked.replace(MARK, "");
    let mut starts = Vec::new();
    for (count, (at, _)) in marked.match_indices(MARK).enumerate() {
        starts.push(at - count * MARK.len_utf8());
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
    Some(Tracked { text, spans })
}

/// So many characters from a place on.
fn span(text: &str, start: usize, length: usize) -> Range<usize> {
    let end = text[start..]
        .char_indices()
        .nth(length)
        .map_or(text.len(), |(at, _)| start + at);
    start..end
}
