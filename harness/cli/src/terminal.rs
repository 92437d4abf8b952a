//! How wide a stream's terminal is.

use std::io::{self, IsTerminal};

/// The columns of the terminal for results.
#[allow(clippy::disallowed_methods)] // Nothing is written.
pub(crate) fn of_results() -> Option<usize> {
    width(&io::stdout())
}

/// The columns of a stream's terminal. Without a terminal, the variable `COLUMNS` decides, if it is
/// set.
pub(crate) fn width(stream: &(impl IsTerminal + Terminal)) -> Option<usize> {
    let terminal = stream
        .is_terminal()
        .then(|| stream.columns())
        .flatten()
        .map(usize::from);
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(said).filter(|columns| *columns > 0)
}

/// A stream that may be a terminal.
pub(crate) trait Terminal {
    /// Its columns, if they are known.
    fn columns(&self) -> Option<u16>;
}

#[cfg(unix)]
impl<T: std::os::fd::AsFd> Terminal for T {
    fn columns(&self) -> Option<u16> {
        terminal_size::terminal_size_of(self).map(|(width, _)| width.0)
    }
}

#[cfg(windows)]
impl<T: std::os::windows::io::AsHandle> Terminal for T {
    fn columns(&self) -> Option<u16> {
        terminal_size::terminal_size_of(self).map(|(width, _)| width.0)
    }
}
