//! Temporary folders for tests.

use tempfile::TempDir;

/// A new, empty folder.
///
/// It is in memory if the machine has a place for that. The tests make some ten thousand files and
/// folders and delete them again. A file system on a disk searches longer for a free entry the more
/// it has just deleted (ext4 of Linux 6.18: a fifth of all tests' computing time).
pub(crate) fn folder() -> TempDir {
    in_memory().unwrap_or_else(|| tempfile::tempdir().unwrap())
}

#[cfg(target_os = "linux")]
fn in_memory() -> Option<TempDir> {
    use rustix::fs::{StatVfsMountFlags, statvfs};

    /// Tests that run at the same time write less than this; containers often have 64 MiB.
    const ENOUGH: u64 = 1 << 30;
    let place = "/dev/shm";
    let memory = statvfs(place).ok()?;
    // Some tests write a program and start it.
    let is_suited = !memory.f_flag.contains(StatVfsMountFlags::NOEXEC)
        && memory.f_bavail.saturating_mul(memory.f_frsize) >= ENOUGH;
    is_suited.then(|| tempfile::tempdir_in(place).ok())?
}

#[cfg(not(target_os = "linux"))]
fn in_memory() -> Option<TempDir> {
    None
}
