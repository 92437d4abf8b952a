//! Panics as values.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a closure; a panic in it is returned as what it said and where.
///
/// Nothing is printed for a panic that is caught here; others print as ever.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if CATCHING.get() {
                let said = info.payload_as_str().unwrap_or("a panic without words");
                // Of the place only the file's name: a path would differ from one
                // machine to the next.
                let place = info.location().map(|location| {
                    let file = location
                        .file()
                        .rsplit(['/', '\\'])
                        .next()
                        .unwrap_or_default();
                    format!(" ({file}:{})", location.line())
                });
                SEEN.replace(Some(format!("{said}{}", place.unwrap_or_default())));
            } else {
                others(info);
            }
        }));
    });
    let before = CATCHING.replace(true);
    // A panic leaves an engine's state behind only in the render that panicked: a
    // program is shared and immutable, everything else is dropped.
    let result = catch_unwind(AssertUnwindSafe(run));
    CATCHING.set(before);
    result.map_err(|_| SEEN.take().unwrap_or_else(|| "a panic".to_owned()))
}
