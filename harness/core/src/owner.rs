//! Who owns a file. A file of somebody else decides nothing about what runs.

use std::path::Path;

/// Whether a file or folder belongs to this user, or to the administrator of the machine. With
/// `sudo`, the user who called it counts, too.
///
/// Somebody else can change such a file at any time, so nothing runs because of what it says. A file
/// that cannot be asked counts as somebody else's. On systems other than Unix, every file counts as
/// this user's.
pub fn is_ours(path: &Path) -> bool {
    is_owned(path)
}

#[cfg(unix)]
fn is_owned(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    use crate::environment;

    let user = rustix::process::geteuid();
    let caller = || environment::text("SUDO_UID")?.parse::<u32>().ok();
    let is_one_of_us = |owner: u32| {
        owner == 0 || owner == user.as_raw() || user.is_root() && caller() == Some(owner)
    };
    // A link and what it leads to may have two owners.
    let link = path.symlink_metadata();
    let file = path.metadata();
    link.is_ok_and(|link| is_one_of_us(link.uid()))
        && file.is_ok_and(|file| is_one_of_us(file.uid()))
}

#[cfg(not(unix))]
fn is_owned(path: &Path) -> bool {
    path.exists()
}

/// A name with the user's number, for a place that users share.
pub fn of_user(name: &str) -> String {
    #[cfg(unix)]
    {
        format!("{name}-{}", rustix::process::geteuid().as_raw())
    }
    #[cfg(not(unix))]
    {
        name.to_owned()
    }
}

/// Whether a folder is this user's alone: it is no link, this user owns it, and nobody else may
/// write into it.
pub fn is_private(folder: &Path) -> bool {
    is_alone(folder)
}

#[cfg(unix)]
fn is_alone(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    let metadata = folder.symlink_metadata();
    metadata
        .is_ok_and(|folder| folder.is_dir() && folder.uid() == user && folder.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_alone(folder: &Path) -> bool {
    folder
        .symlink_metadata()
        .is_ok_and(|folder| folder.is_dir())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    #[test]
    fn a_file_of_somebody_else_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(!is_ours(&path));
        fs::write(&path, "").unwrap();
        assert!(is_ours(&path));
        // Only the administrator can give files away.
        if chown(&path, Some(12345), None).is_ok() {
            assert!(!is_ours(&path));
        }
    }

    #[test]
    fn a_private_folder_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_private(folder.path()));
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(!is_private(folder.path()));
        assert!(!is_private(&folder.path().join("missing")));
    }
}
