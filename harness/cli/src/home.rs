//! The suite of a command, and the user's folders: the suite around the current folder, or the
//! built-in one.

use std::path::{Path, PathBuf};

use rolecall::configuration::Configuration;
use rolecall::layout::Layout;

use crate::cache::cache_folder;
use crate::failure::Failure;

/// The suite around the current folder: a `rolecall.toml` or a checkout, the nearer one. Otherwise
/// the built-in suite.
pub(crate) fn layout() -> Result<Layout, Failure> {
    let Ok(here) = std::env::current_dir() else {
        return builtin();
    };
    if let Some(file) = Layout::find_configuration(&here) {
        let configuration = Configuration::read(&near(&file)).map_err(Failure::Problems)?;
        return Ok(Layout::own(configuration, &builtin()?));
    }
    match Layout::find(&here) {
        Some(layout) => Ok(Layout::new(near(layout.root()))),
        None => builtin(),
    }
}

/// The suite around the current folder, for commands that write into it.
pub(crate) fn writable_layout() -> Result<Layout, Failure> {
    let layout = layout()?;
    if layout.is_read_only() {
        return Err(Failure::Request(
            "there is no suite here, and the built-in one is not to be changed\n  `rolecall init` \
             makes a suite of your own in this folder"
                .to_owned(),
        ));
    }
    Ok(layout)
}

/// The built-in suite, as files.
pub(crate) fn builtin() -> Result<Layout, Failure> {
    let unpack = |folder: &Path| rolecall_builtin::unpacked(folder);
    let folder = match unpack(&user_folder()) {
        Ok(folder) => folder,
        // There is no home, or it cannot be written to.
        Err(first) => unpack(&std::env::temp_dir().join("rolecall")).map_err(|_| {
            Failure::Request(format!(
                "the built-in suite cannot be unpacked into {}: {first}\n  name a folder with \
                 the variable ROLECALL_CACHE",
                user_folder().display()
            ))
        })?,
    };
    Ok(Layout::builtin(folder))
}

/// The user's folder for files that can be made again. Without one, a folder of the system.
fn user_folder() -> PathBuf {
    let folder = cache_folder().unwrap_or_else(|| std::env::temp_dir().join("rolecall"));
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The folder of the installed references: `.references` in a checkout, otherwise a folder of the
/// user's that all suites share.
pub(crate) fn references_folder(layout: &Layout) -> PathBuf {
    if layout.is_checkout() {
        layout.root().join(".references")
    } else {
        user_folder().join("references")
    }
}

/// The folder of other engines that were set up: `.engines` of the suite.
pub(crate) fn engines_folder(layout: &Layout) -> PathBuf {
    layout.root().join(".engines")
}

/// A path below the current folder as a relative path, which is shorter to read.
fn near(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&here) {
        Ok(below) => below.to_path_buf(),
        Err(_) => path.to_path_buf(),
    }
}
