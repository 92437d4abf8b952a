//! The few styles that reports use.

use std::fmt;

use anstyle::{AnsiColor, Style};
use rolecall_model::OutcomeKind;

/// As it is.
pub(super) const PLAIN: Style = Style::new();
/// Headings.
pub(super) const HEADING: Style = Style::new().bold();
/// What is there but need not be read.
pub(super) const QUIET: Style = Style::new().dimmed();
/// As it should be.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Worth a look.
pub(super) const NOTE: Style = AnsiColor::Yellow.on_default();
/// Not as it should be.
pub(super) const BAD: Style = AnsiColor::Red.on_default();
/// The changed part of a line that is no longer there.
pub(super) const GONE: Style = AnsiColor::Red.on_default().bold().underline();
/// The changed part of a line that came.
pub(super) const CAME: Style = AnsiColor::Green.on_default().bold().underline();

/// A text in a style.
pub(super) struct Styled<T>(pub(super) Style, pub(super) T);

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Padding is applied to the text, so that it counts no escape codes.
        write!(f, "{}", self.0)?;
        self.1.fmt(f)?;
        write!(f, "{:#}", self.0)
    }
}

/// The style of an outcome: a refusal is as good a result as a prompt, a crash is not.
pub(super) fn of_outcome(kind: OutcomeKind) -> Style {
    match kind {
        OutcomeKind::Rendered => GOOD,
        OutcomeKind::Raised => AnsiColor::Cyan.on_default(),
        OutcomeKind::Failed => NOTE,
        OutcomeKind::Exceeded | OutcomeKind::Crashed | OutcomeKind::NotAsked => BAD,
    }
}
