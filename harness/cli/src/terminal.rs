//! How wide the terminal of a stream is.

// Nothing is written.
#![allow(clippy::disallowed_methods)]

use std::io::{self, IsTerminal as _};

#[cfg(not(target_family = "wasm"))]
use terminal_size::terminal_size_of;
use terminal_size::{Height, Width};

/// There are no terminals.
#[cfg(target_family = "wasm")]
fn terminal_size_of<T>(_: &T) -> Option<(Width, Height)> {
    None
}

/// The columns of the terminal for results.
pub(crate) fn of_results() -> Option<usize> {
    let stream = io::stdout();
    columns(terminal_size_of(&stream).filter(|_| stream.is_terminal()))
}

/// The columns of the terminal for messages.
pub(crate) fn of_messages() -> Option<usize> {
    let stream = io::stderr();
    columns(terminal_size_of(&stream).filter(|_| stream.is_terminal()))
}

/// The columns of a terminal. Without one, the variable `COLUMNS` decides, if it is set.
fn columns(terminal: Option<(Width, Height)>) -> Option<usize> {
    let terminal = terminal.map(|(width, _)| usize::from(width.0));
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(said).filter(|columns| *columns > 0)
}
