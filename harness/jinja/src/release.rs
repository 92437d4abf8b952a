//! Empties objects that may hold themselves and so would never be dropped.
//!
//! A template can put a namespace into itself. Such objects register here when they are made. The
//! end of the render empties them.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// An object that may hold itself.
pub(crate) trait Release: Send + Sync {
    /// Drops everything that the object holds.
    fn release(&self);
}

thread_local! {
    /// The objects of the render on this thread; a render never leaves its thread.
    static OBJECTS: RefCell<Vec<Weak<dyn Release>>> = const { RefCell::new(Vec::new()) };
}

/// Has an object emptied when the render on this thread ends.
pub(crate) fn at_end<T: Release + 'static>(object: &Arc<T>) {
    let object: Weak<dyn Release> = Arc::<T>::downgrade(object);
    OBJECTS.with_borrow_mut(|objects| objects.push(object));
}

/// Empties the objects of the render on this thread, which has ended.
pub(crate) fn release() {
    for object in OBJECTS.take() {
        if let Some(object) = object.upgrade() {
            object.release();
        }
    }
}
