//! The sessions: what users type, and what they see. Each file `*.session` in `harness/tests/sessions` is
//! a test; the page there explains the format.

mod file;
mod output;
mod run;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Trial};
use walkdir::WalkDir;

use self::file::Session;
use crate::extent::is_everything;

/// The folder of the sessions, from the top of the repository.
const FOLDER: &str = "harness/tests/sessions";

/// Of so many sessions one is tried if nobody asks for more.
const ONE_OF: u64 = 12;

/// One test for each session, named after its file: `session::first-hour/a-mistyped-name`.
///
/// Unless somebody names tests or wants everything, most sessions are ignored: always the same ones, and
/// none whose file is malformed, or which have snapshots, because insta has to see each of them.
pub(crate) fn tests(arguments: &Arguments) -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let is_asked_for = is_everything() || arguments.filter.is_some();
    let entries = WalkDir::new(&folder).sort_by_file_name().into_iter();
    let paths = entries.flatten().map(walkdir::DirEntry::into_path);
    let test = |path: PathBuf| {
        let path = path.strip_prefix(&folder).unwrap_or(&path);
        let name = path.with_extension("").to_string_lossy().replace('\\', "/");
        let session = Session::read(&folder, path);
        let is_chosen = name.bytes().map(u64::from).sum::<u64>() % ONE_OF == 0;
        let is_plain = session.as_ref().is_ok_and(|one| !one.has_snapshot());
        let is_ignored = is_plain && !is_asked_for && !is_chosen;
        Trial::test(format!("session::{name}"), move || Ok(session?.complain()?))
            .with_ignored_flag(is_ignored)
    };
    paths
        .filter(|path| path.extension().is_some_and(|one| one == "session"))
        .map(test)
        .collect()
}
