//! Pending snapshots, as `rolecall review` and `cargo insta review` show them.

use std::path::{Path, PathBuf};
use std::sync::Once;

use rolecall_core::file::is_there;
use rolecall_core::guard;

/// The commands that review what a test has left.
pub(crate) const COMMANDS: &str = "`cargo run -- review`, or `cargo insta review`";

/// Keeps the panics of insta off the screen: the tests report what differs themselves.
fn keep_quiet() {
    static QUIET: Once = Once::new();
    QUIET.call_once(guard::keep_quiet);
}

/// Compares a text with a folder's snapshot of that name, as insta does: leaves a pending snapshot
/// if they differ, and removes one if they do not.
///
/// The result of insta's own comparison is ignored: insta trims texts, and the tests compare byte
/// by byte.
pub(crate) fn leave(folder: &Path, name: &str, input: &Path, text: &str) {
    let file = folder.join(format!("{name}.snap"));
    // insta would wait for a pipe, or read what a link leads to.
    if is_there(&file) && (file.is_symlink() || !file.is_file()) {
        return;
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(input);
    // insta panics where they differ.
    keep_quiet();
    let _ = guard::catch(|| settings.bind(|| insta::assert_snapshot!(name, text)));
}

/// The file that waits for review next to a snapshot, and its bytes, if there is one.
pub(crate) fn pending(folder: &Path, name: &str) -> Option<(PathBuf, Vec<u8>)> {
    let path = folder.join(format!("{name}.snap.new"));
    let bytes = std::fs::read(&path).ok()?;
    Some((path, bytes))
}
