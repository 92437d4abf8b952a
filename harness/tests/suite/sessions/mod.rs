//! The sessions: what users type, and what they see. Each file `*.session` in `harness/tests/sessions` is
//! a test; the page there explains the format.

mod file;
mod output;
mod run;

use std::path::PathBuf;

use libtest_mimic::{Arguments, Trial};

use self::file::Session;
use crate::test_files::{self, is_left_out};

/// The folder of the sessions, from the top of the repository.
const FOLDER: &str = "harness/tests/sessions";

/// Of so many sessions one is tried if nobody asks for more.
const ONE_OF: u64 = 12;

/// One test for each session, named after its file: `session::first-hour/a-mistyped-name`.
///
/// Unless somebody names tests or wants everything, most sessions are ignored: always the same ones, and
/// none whose file is malformed, or which have snapshots, because insta has to see each of them.
pub(crate) fn tests(arguments: &Arguments) -> Vec<Trial> {
    let folder = test_files::folder(FOLDER);
    let test = |path: PathBuf| {
        let path = path.strip_prefix(&folder).unwrap_or(&path);
        let name = path.with_extension("").to_string_lossy().replace('\\', "/");
        let session = Session::read(&folder, path);
        let is_plain = session.as_ref().is_ok_and(|one| !one.has_snapshot());
        let is_ignored = is_plain && is_left_out(&name, arguments, ONE_OF);
        Trial::test(format!("session::{name}"), move || Ok(session?.complain()?))
            .with_ignored_flag(is_ignored)
    };
    test_files::files(&folder, "session").map(test).collect()
}
