//! What insta does: it asserts each file of snapshots, and leaves pending ones for `rolecall review` and
//! `cargo insta review`.

use std::path::{Path, PathBuf};
use std::sync::Once;

use insta::Settings;
use rolecall_core::file::is_there;
use rolecall_core::guard;

/// The commands that review what a test has left.
pub(crate) const COMMANDS: &str = "`cargo run -- review`, or `cargo insta review`";

/// Keeps the panics of insta off the screen: the tests report what differs themselves.
fn keep_quiet() {
    static QUIET: Once = Once::new();
    QUIET.call_once(guard::keep_quiet);
}

/// What a test says that found nothing, where insta did.
pub(crate) const OTHERWISE: &str = "insta does not find this text in the accepted file";

/// Asserts with insta that a folder's snapshot of that name is a text, and returns whether it is. So
/// `cargo insta test --unreferenced` knows which files are used. insta leaves a pending snapshot if they
/// differ, and removes one if they do not.
///
/// insta trims texts, but a transcript shows every byte, and its end. The tests compare byte by byte
/// besides, because they say what differs.
pub(crate) fn assert(folder: &Path, name: &str, input: &Path, text: &str) -> bool {
    let file = folder.join(format!("{name}.snap"));
    // insta would wait for a pipe, or read what a link leads to. The tests report such a file.
    if is_there(&file) && (file.is_symlink() || !file.is_file()) {
        return true;
    }
    is_accepted(&settings(folder, input), name, text)
}

/// How insta asserts a snapshot in a folder that was made from a file.
pub(crate) fn settings(folder: &Path, input: &Path) -> Settings {
    let mut settings = Settings::new();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(input);
    settings
}

/// Whether insta finds a text in the snapshot of that name, where it panics if not.
pub(crate) fn is_accepted(settings: &Settings, name: &str, text: &str) -> bool {
    keep_quiet();
    guard::catch(|| settings.bind(|| insta::assert_snapshot!(name, text))).is_ok()
}

/// The file that waits for review next to a snapshot, and its bytes, if there is one.
pub(crate) fn pending(folder: &Path, name: &str) -> Option<(PathBuf, Vec<u8>)> {
    let path = folder.join(format!("{name}.snap.new"));
    let bytes = std::fs::read(&path).ok()?;
    Some((path, bytes))
}
