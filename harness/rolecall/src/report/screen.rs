//! What the reader looks at: how wide it is, and whether only errors are wanted there.

use std::sync::OnceLock;

/// What the program was told, once, when it began.
static SCREEN: OnceLock<Screen> = OnceLock::new();

/// The width of tables and differences where nobody reads on a terminal, as in the logs of CI.
const USUAL: usize = 100;

/// No report is made for less.
const LEAST: usize = 40;

/// Wide enough for everything.
pub(super) const ENDLESS: usize = usize::MAX;

/// What the reader looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Screen {
    /// The columns that results have. Where that is not known, 100.
    pub results: Option<usize>,
    /// The columns that messages have. Where that is not known they stay on one line each:
    /// programs look for them in logs.
    pub messages: Option<usize>,
    /// Whether nothing but errors is wanted on standard error.
    pub is_quiet: bool,
}

/// Says what the reader looks at.
pub fn set(screen: Screen) {
    // Whoever came first has said it.
    let _ = SCREEN.set(screen);
}

fn screen() -> Screen {
    SCREEN.get().copied().unwrap_or_default()
}

/// The width of tables, cards and differences.
pub fn width() -> usize {
    screen().results.unwrap_or(USUAL).max(LEAST)
}

/// The width of messages: without an end where there is no terminal.
pub fn of_messages() -> usize {
    screen().messages.unwrap_or(ENDLESS).max(LEAST)
}

/// Whether nothing but errors is wanted on standard error.
pub fn is_quiet() -> bool {
    screen().is_quiet
}
