//! Records what a render reaches.

use std::cell::RefCell;

use rolecall_core::{Hits, Recorder};

thread_local! {
    /// What is recorded of the render on this thread, if it is.
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Records something that the render reaches.
pub(crate) fn record(report: impl FnOnce(&mut Recorder)) {
    RECORDER.with_borrow_mut(|recorder| recorder.as_mut().map(report));
}

pub(crate) fn recorded<T>(sites: usize, render: impl FnOnce() -> T) -> (T, Hits) {
    /// Ends the recording, after a panic too.
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            RECORDER.take();
        }
    }
    RECORDER.set(Some(Recorder::new(sites)));
    let _off = Off;
    let result = render();
    let hits = RECORDER.take().map(Recorder::into_hits);
    (result, hits.unwrap_or_default())
}
