//! Time that a test can rely on.

// Not every test uses everything.
#![allow(dead_code, unreachable_pub)]

use std::time::Duration;

/// The time that this process has computed for so far. What else the machine is doing
/// does not count.
#[cfg(unix)]
pub fn computed() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).expect("no process has computed for less than nothing")
}

/// Where processes have no clock of their own, the time since the first call.
#[cfg(not(unix))]
pub fn computed() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// What has been computed since then.
pub fn since(begin: Duration) -> Duration {
    computed().saturating_sub(begin)
}
