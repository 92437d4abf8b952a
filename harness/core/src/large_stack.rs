//! A stack for any template within the limits. A thread keeps it between two calls.

/// The size of a stack for any template within the limits: 256 MiB of address space. It is enough
/// to parse and render the template and to drop its values, even in an unoptimised build. Only the
/// used part takes memory. A thread with such a stack needs no new one for each call.
pub const STACK: usize = 256 << 20;

#[cfg(not(target_family = "wasm"))]
pub use kept::on_large_stack;

/// Runs a closure on the only stack of a program for WebAssembly. Whoever links the program chooses its
/// size.
#[cfg(target_family = "wasm")]
pub fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    run()
}

#[cfg(not(target_family = "wasm"))]
mod kept {
    use std::cell::Cell;
    use std::io;

    use corosensei::stack::DefaultStack;

    use crate::large_stack::STACK;

    /// The part of the stack that a render needs. The rest is for the callers.
    const NEEDED: usize = STACK - (4 << 20);

    thread_local! {
        /// The large stack of this thread, between two calls.
        static KEPT: Cell<Option<KeptStack>> = const { Cell::new(None) };
        /// Whether this thread is on its large stack.
        static IS_LARGE: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs a closure on a stack of [`STACK`] bytes, unless the thread has one already. A new stack
    /// costs more than most renders, so the thread keeps it for the next call.
    pub fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
        let is_enough = |left| left >= NEEDED;
        if IS_LARGE.get() || stacker::remaining_stack().is_some_and(is_enough) {
            return run();
        }
        let kept = KEPT.take().map_or_else(KeptStack::new, Ok);
        let Ok(mut kept) = kept else {
            return stacker::maybe_grow(NEEDED, STACK, run);
        };
        let result = corosensei::on_stack(&mut kept.stack, || {
            // A value that is dropped, because a panic leaves the closure, too.
            let _mark = LargeMark::set();
            run()
        });
        kept.uses += 1;
        if kept.uses < MOST_USES {
            KEPT.set(Some(kept));
        }
        result
    }

    /// How many calls use a stack before it makes room for a new one. A call that goes deep takes memory
    /// for its stack, which comes back only then.
    const MOST_USES: u32 = 256;

    /// A stack between two calls.
    struct KeptStack {
        stack: DefaultStack,
        uses: u32,
    }

    impl KeptStack {
        fn new() -> io::Result<KeptStack> {
            let stack = DefaultStack::new(STACK)?;
            Ok(KeptStack { stack, uses: 0 })
        }
    }

    /// Marks that this thread is on a large stack, as long as it lives.
    struct LargeMark;

    impl LargeMark {
        fn set() -> LargeMark {
            IS_LARGE.set(true);
            LargeMark
        }
    }

    impl Drop for LargeMark {
        fn drop(&mut self) {
            IS_LARGE.set(false);
        }
    }
}
