//! What came of asking an engine a second time.

use std::io::{self, Write};

use super::numbers::counted;
use super::screen;
use super::style::{BAD, Styled};
use super::wrapping::wrapped;
use crate::repetition::Repeated;

/// Pairs that are named.
const MOST: usize = 6;

/// Writes which pairs a new process answered otherwise, if there are any.
pub fn write(out: &mut dyn Write, repeated: &Repeated) -> io::Result<()> {
    let Repeated {
        asked,
        differing,
        changed,
    } = repeated;
    if changed.is_empty() {
        return Ok(());
    }
    let pairs = counted(changed.len(), "pair", "pairs");
    let mut names = changed[..changed.len().min(MOST)].join(", ");
    if changed.len() > MOST {
        names += ", …";
    }
    let text = format!(
        "{} in a fresh process: {names}; of {} that differ {asked} were asked again, each alone. \
         What the engine was asked before changes what it answers: the figures are not to be \
         trusted",
        Styled(BAD, format!("{pairs} answered otherwise")),
        counted(*differing, "pair", "pairs"),
    );
    writeln!(out, "{}\n", wrapped(&text, screen::width(), 2))
}
