//! Computing time and memory, measured so that tests can rely on them.

// Not everybody uses everything.
#![allow(dead_code, unreachable_pub)]

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use peak_alloc::PeakAlloc;

/// Counts every allocation of the process. It grows a block by making another one, so that the
/// figures also hold for allocators that cannot grow in place.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The cost of something.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taken {
    /// The computing time of its thread, without other work of the machine.
    pub time: Duration,
    /// Bytes allocated at the worst moment.
    pub peak: usize,
    /// Bytes still allocated at the end.
    pub kept: usize,
}

impl Taken {
    /// Takes each figure of another measurement of the same work that is smaller.
    pub fn at_most(&mut self, other: Taken) {
        self.time = self.time.min(other.time);
        self.peak = self.peak.min(other.peak);
        self.kept = self.kept.min(other.kept);
    }
}

/// Tests that allocate hold it for reading, and tests that measure hold it for writing: allocations
/// of any thread count.
static PROGRAM: RwLock<()> = RwLock::new(());

/// While a caller holds this, the program does nothing else.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    PROGRAM.write().unwrap_or_else(PoisonError::into_inner)
}

/// While a caller holds this, nothing is measured that must be [`alone`]. Every test of this program
/// that does not measure itself has to hold it.
pub fn shared() -> RwLockReadGuard<'static, ()> {
    PROGRAM.read().unwrap_or_else(PoisonError::into_inner)
}

/// While a caller holds this, no other caller does.
pub fn in_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs something on this thread, and measures it. What other threads allocate counts, too, unless
/// the caller holds [`alone`].
pub fn taken<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    let begin = computed();
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let done = work();
    let taken = Taken {
        time: computed().saturating_sub(begin),
        peak: HEAP.peak_usage().saturating_sub(before),
        kept: HEAP.current_usage().saturating_sub(before),
    };
    (done, taken)
}

/// The time that this thread has computed for.
#[cfg(unix)]
fn computed() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).expect("no thread has computed for less than nothing")
}

/// If threads have no clock of their own, the time since the first call.
#[cfg(not(unix))]
fn computed() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
