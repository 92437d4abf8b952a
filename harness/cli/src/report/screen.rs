//! The reader's screen: its width, and whether the reader wants only errors there.

use std::sync::OnceLock;

/// The screen, which the program sets once when it starts.
static SCREEN: OnceLock<Screen> = OnceLock::new();

/// The width of tables and differences if nobody reads on a terminal, as in the logs of CI.
const USUAL: usize = 100;

/// The least width that reports support.
const LEAST: usize = 40;

/// Wide enough for everything.
pub(crate) const ENDLESS: usize = usize::MAX;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Screen {
    /// The columns for results. If the width is not known, 100.
    pub results: Option<usize>,
    /// The columns for messages. If the width is not known, each message stays on one line, because
    /// programs look for messages in logs.
    pub messages: Option<usize>,
    /// Whether results are shown in colours.
    pub has_colours: bool,
    /// Whether the user wants only errors on standard error.
    pub is_quiet: bool,
}

pub fn set(screen: Screen) {
    // The first caller decides.
    let _ = SCREEN.set(screen);
}

fn screen() -> Screen {
    SCREEN.get().copied().unwrap_or_default()
}

/// The width of tables, cards and differences.
pub fn width() -> usize {
    screen().results.unwrap_or(USUAL).max(LEAST)
}

/// Whether results are shown in colours. Without them, what only colours say has to be said in words.
pub(crate) fn has_colours() -> bool {
    screen().has_colours
}

/// The columns for results, if they are known: without them, as in a pipe, nothing has to be cut.
pub(crate) fn limit() -> Option<usize> {
    screen().results.map(|columns| columns.max(LEAST))
}

/// The width of messages: unlimited without a terminal.
pub fn of_messages() -> usize {
    screen().messages.unwrap_or(ENDLESS).max(LEAST)
}

/// Whether the user wants only errors on standard error.
pub fn is_quiet() -> bool {
    screen().is_quiet
}

/// The lines before the last line of a result, if the user wants only that line: which suite it is
/// about.
pub(crate) fn whose(origin: &str) -> String {
    if is_quiet() {
        format!("{origin}: ")
    } else {
        String::new()
    }
}
