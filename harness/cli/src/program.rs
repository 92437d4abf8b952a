//! This program as it was started, and how it starts itself again. Workers and engines run in new
//! processes, and so does the command each time that `--watch` repeats it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rolecall_suite::workspace::stdin;

#[derive(Debug, Clone)]
pub struct Started {
    /// The arguments; the first one is the name of the command.
    pub arguments: Vec<OsString>,
    /// The words that start the command again. More arguments follow them. The last word is the
    /// file of the program.
    pub again: Vec<String>,
}

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

static AGAIN: OnceLock<Vec<String>> = OnceLock::new();

impl Started {
    /// A process that runs nothing but the command.
    pub fn as_process() -> Started {
        let program = std::env::current_exe();
        let program = program.map(|program| program.to_string_lossy().into_owned());
        Started {
            arguments: std::env::args_os().collect(),
            again: program.into_iter().collect(),
        }
    }
}

/// Keeps how the command was started.
pub(crate) fn set(started: Started) {
    // A process runs one command.
    let _ = ARGUMENTS.set(started.arguments);
    set_again(started.again);
}

/// Keeps how the command is started, in a program that does not run it itself.
pub(crate) fn set_again(words: Vec<String>) {
    let _ = AGAIN.set(words);
}

/// The arguments of the command; the first one is its name.
pub(crate) fn arguments() -> Vec<OsString> {
    let arguments = ARGUMENTS.get_or_init(|| Started::as_process().arguments);
    arguments.clone()
}

/// The words that start the command again, with these arguments.
pub(crate) fn again(arguments: &[&str]) -> io::Result<Vec<String>> {
    let mut words = AGAIN.get_or_init(|| Started::as_process().again).clone();
    if words.is_empty() {
        let message = "its own file has no known place";
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    words.extend(arguments.iter().map(|&argument| argument.to_owned()));
    Ok(words)
}

/// The file of the program, if it is known.
pub(crate) fn file() -> Option<PathBuf> {
    again(&[]).ok()?.pop().map(PathBuf::from)
}

/// Arguments in which each name after `--` is the name of a file. A list of files, such as that of
/// a hook, may have files that are named like models on a hub or like standard input.
pub(crate) fn as_files_after_dashes(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let dashes = arguments.iter().position(|one| one == "--");
    let after = dashes.map_or(arguments.len(), |dashes| dashes + 1);
    for one in &mut arguments[after..] {
        if one == stdin::NAME || rolecall_io::remote::is_name(Path::new(one)) {
            *one = Path::new(".").join(&one).into_os_string();
        }
    }
    arguments
}
