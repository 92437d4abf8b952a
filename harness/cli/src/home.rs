//! The suite of a command, and the user's folders: the suite around the current folder, or the
//! built-in one.

use std::path::PathBuf;
use std::sync::OnceLock;

use rolecall_core::environment;
use rolecall_core::invocation;
use rolecall_core::lock::FolderLock;
use rolecall_suite::layout::Layout;
use rolecall_suite::reference::Reference;
use rolecall_suite::workspace::Access;
use rolecall_suite::workspace::without_suite::Surroundings;

use crate::allowed::{self, is_own_checkout};
use crate::cache::cache_folder;
use crate::failure::{Failure, tell};

static IS_BUILTIN: OnceLock<bool> = OnceLock::new();

/// Sets whether the user asks for the built-in suite, whatever is around the current folder.
pub(crate) fn choose(is_builtin: bool) {
    // The first caller decides.
    let _ = IS_BUILTIN.set(is_builtin);
    invocation::set_builtin(is_builtin);
}

fn is_builtin_asked() -> bool {
    IS_BUILTIN.get().copied().unwrap_or(false)
}

/// Refuses to give a verdict on the built-in suite in a folder that looks like somebody's own,
/// unless the user asks for it. The user may take its result for theirs.
pub(crate) fn hold_meant(names_engine: bool) -> Result<(), Failure> {
    if is_builtin_asked() || !layout()?.is_read_only() {
        return Ok(());
    }
    let refusal = surroundings().refusal(names_engine);
    refusal.map_or(Ok(()), Err)
}

/// The surroundings of the current folder, where it has no suite.
pub(crate) fn surroundings() -> Surroundings {
    let here = std::env::current_dir().unwrap_or_default();
    Surroundings::find(&here)
}

/// Whether the user's folder has no suite, and they did not ask for the built-in one.
pub(crate) fn is_without_suite() -> Result<bool, Failure> {
    Ok(!is_builtin_asked() && layout()?.is_read_only())
}

/// Tells on which suite the command works.
pub(crate) fn tell_suite(layout: &Layout) {
    tell(&format!("suite: {layout}"));
}

/// Where this run of the program may look.
pub(crate) fn access() -> Access<'static> {
    Access {
        here: std::env::current_dir().ok(),
        cache: cache_folder(),
        is_builtin: is_builtin_asked(),
        tell: &tell,
    }
}

/// The suite around the current folder. Otherwise the built-in suite.
pub(crate) fn layout() -> Result<Layout, Failure> {
    access().layout()
}

/// The suite around the current folder, for commands that write into it.
pub(crate) fn writable_layout() -> Result<Layout, Failure> {
    let layout = layout()?;
    if layout.is_read_only() {
        if let Surroundings::Misspelt(_) = surroundings()
            && let Some(refusal) = surroundings().refusal(false)
        {
            return Err(refusal);
        }
        return Err(Failure::Request(format!(
            "there is no suite here, and the built-in one is not to be changed\n  `{}` makes a \
             suite of your own in this folder",
            invocation::command("init")
        )));
    }
    Ok(layout)
}

/// Keeps other programs from writing into a suite, until the lock is dropped.
pub(crate) fn lock(layout: &Layout) -> Result<FolderLock, Failure> {
    let lock = FolderLock::take(layout.root(), || {
        tell("waiting for another program that writes into this suite");
    })?;
    Ok(lock)
}

/// The built-in suite, as files.
pub(crate) fn builtin() -> Result<Layout, Failure> {
    access().builtin()
}

/// The folder in a checkout into which references are installed.
pub(crate) fn checkout_references(layout: &Layout) -> PathBuf {
    layout.root().join(".references")
}

/// The folder of the installed references: the one that the variable `ROLECALL_REFERENCES` names, or
/// `.references` in a checkout that may start its programs, otherwise a folder of the user's that all
/// suites share.
pub(crate) fn references_folder(layout: &Layout) -> Result<PathBuf, Failure> {
    if let Some(folder) = environment::path("ROLECALL_REFERENCES") {
        return Ok(folder);
    }
    let installed = checkout_references(layout);
    if layout.is_checkout() && (is_own_checkout(layout) || allowed::are_allowed(layout, &installed))
    {
        Ok(installed)
    } else {
        Ok(access().user_folder()?.join("references"))
    }
}

/// Whether both references are installed.
pub(crate) fn has_references() -> bool {
    let folder = layout().and_then(|layout| references_folder(&layout));
    folder.is_ok_and(|folder| {
        let mut references = Reference::ALL.iter();
        references.all(|reference| reference.program(&folder).is_ok())
    })
}

/// The folder of other engines that were set up: `.engines` of the suite.
pub(crate) fn engines_folder(layout: &Layout) -> PathBuf {
    layout.root().join(".engines")
}
