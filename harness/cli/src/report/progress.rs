//! A progress bar for long runs, on a terminal.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use rolecall_core::problem::shown;

use super::{clean, screen};

/// How long a log is silent about work that is slow.
const SILENCE: Duration = Duration::from_secs(10);

/// A bar on standard error; nothing if that is no terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar for a number of things, with a word for the work and a word for the things. It shows
    /// nothing if there are none, or the user wants only errors.
    pub fn new(count: usize, what: &str, things: &'static str) -> Progress {
        if screen::is_quiet() || count == 0 {
            return Progress::hidden();
        }
        let bar = ProgressBar::new(u64::try_from(count).unwrap_or(u64::MAX));
        if let Ok(style) = ProgressStyle::with_template(&template(things)) {
            bar.set_style(style);
        }
        // The bar writes to the terminal itself, and the words may name somebody else's engine.
        bar.set_message(shown(what));
        Progress(bar)
    }

    /// The function to call when one more thing is done.
    pub fn step(&self) -> impl Fn() + Send + Sync + 'static {
        let bar = self.0.clone();
        move || bar.inc(1)
    }

    /// The same for things that take seconds each. Without a terminal, a line tells now and then how
    /// many are done, so that a log shows that the command is at work.
    pub fn slow_step(&self) -> impl Fn() + Send + Sync + 'static {
        let bar = self.0.clone();
        let said = Mutex::new(Instant::now());
        move || {
            bar.inc(1);
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            let count = bar.length().filter(|_| bar.is_hidden());
            if let Some(count) = count.filter(|_| said.elapsed() > SILENCE) {
                *said = Instant::now();
                let (what, done) = (bar.message(), bar.position());
                let _ = writeln!(clean::messages(), "{what}: {done} of {count}");
            }
        }
    }

    /// A bar that shows nothing, for runs that are over at once.
    pub fn hidden() -> Progress {
        Progress(ProgressBar::hidden())
    }

    /// A bar for work that may be slow; a hidden one for work that is not.
    pub fn of_slow(is_slow: bool, count: usize, what: &str, things: &'static str) -> Progress {
        if is_slow {
            Progress::new(count, what, things)
        } else {
            Progress::hidden()
        }
    }

    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// The layout of a bar that counts things of this name.
fn template(things: &str) -> String {
    format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {things} {{eta}} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bar writes to the terminal past `clean`.
    #[test]
    fn nothing_in_the_words_of_a_bar_is_obeyed() {
        let bar = Progress::new(1, "asking \u{1b}]0;owned\u{7}\n::error::", "pairs");
        let words = bar.0.message();
        assert!(!words.contains(char::is_control), "{words}");
    }

    #[test]
    fn a_bar_counts_what_it_names() {
        assert!(template("templates").contains("{human_pos}/{human_len} templates "));
        assert!(ProgressStyle::with_template(&template("templates")).is_ok());
    }
}
