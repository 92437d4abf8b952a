//! Conversations that the user names: a file, or standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rolecall_core::problem::Problem;
use rolecall_suite::conversation::{self, Conversations, MOST_LOG, is_log};
use rolecall_suite::workspace::stdin;

use crate::failure::Failure;

/// The name that messages use for standard input.
const SHOWN: &str = "<stdin>";

/// Reads the conversations of a file, or of standard input.
pub(crate) fn read(path: &Path) -> Result<Conversations, Failure> {
    if path != Path::new(stdin::NAME) {
        return conversation::read_file(path).map_err(Failure::Problems);
    }
    let shown = Path::new(SHOWN);
    let mut bytes = Vec::new();
    // One byte more than is allowed tells a text that is too large from one that just fits.
    let mut bounded = std::io::stdin().lock().take(MOST_LOG + 1);
    let read = bounded.read_to_end(&mut bytes);
    read.map_err(|error| Problem::new(shown, format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MOST_LOG {
        let message = format!("too large: at most {MOST_LOG} bytes are expected");
        return Err(Problem::new(shown, message).into());
    }
    let text = conversation::decoded(shown, bytes)?;
    conversation::read(shown, &text).map_err(Failure::Problems)
}

/// Takes the logs out of some paths to templates: files of JSON Lines.
pub(crate) fn among(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.iter().cloned().partition(|path| !is_log(path))
}

/// The name of the case that a word means, and the file that it is in, if the word says so: a file and
/// a line are one conversation, and a log alone is all of it.
pub(crate) fn chosen(word: Option<String>) -> (Option<String>, Option<PathBuf>) {
    let Some(word) = word else {
        return (None, None);
    };
    let path = PathBuf::from(&word);
    if is_log(&path) {
        return (None, Some(path));
    }
    // The last colon: the path may have another, as in `C:\logs\chat.jsonl:3`.
    match word.rsplit_once(':') {
        Some((file, line)) if Path::new(file).is_file() || is_log(Path::new(file)) => {
            let path = PathBuf::from(file);
            (Some(conversation::id(&path, line).to_string()), Some(path))
        }
        _ => (Some(word), None),
    }
}
