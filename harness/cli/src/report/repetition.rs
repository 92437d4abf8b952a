//! The report on pairs that an engine was asked a second time.

use std::io::{self, Write};

use super::numbers::counted;
use super::style::{BAD, Styled};
use super::wrapping::paragraph;
use rolecall_suite::repetition::Repeated;

const MOST: usize = 6;

/// Writes which pairs a new process answered differently, if there are any.
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
        "{} in a fresh process: {names}; of {} that differ, {asked} were asked again, each in its \
         own process. Earlier requests change this engine's answers, so do not trust the figures\n",
        Styled(BAD, format!("{pairs} answered differently")),
        counted(*differing, "pair", "pairs"),
    );
    paragraph(out, &text, 2)
}
