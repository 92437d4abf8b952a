//! Conversations that the user names: a file, or standard input.

use std::io::Read as _;
use std::path::Path;

use rolecall_core::file::{MOST_CASES, read_text_of};
use rolecall_core::problem::Problem;
use rolecall_suite::conversation::{self, Conversations};

use crate::failure::Failure;
use crate::stdin;

/// The name that messages use for standard input.
const SHOWN: &str = "<stdin>";

/// Reads the conversations of a file, or of standard input.
pub(crate) fn read(path: &Path) -> Result<Conversations, Failure> {
    if path != Path::new(stdin::NAME) {
        let text = read_text_of(path, MOST_CASES)?;
        return conversation::read(path, &text).map_err(Failure::Problems);
    }
    let shown = Path::new(SHOWN);
    let mut text = String::new();
    let mut bounded = std::io::stdin().lock().take(MOST_CASES + 1);
    let read = bounded.read_to_string(&mut text);
    read.map_err(|error| Problem::new(shown, format!("cannot be read: {error}")))?;
    if text.len() as u64 > MOST_CASES {
        let message = format!("too large: at most {MOST_CASES} bytes are expected");
        return Err(Problem::new(shown, message).into());
    }
    conversation::read(shown, &text).map_err(Failure::Problems)
}
