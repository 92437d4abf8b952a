//! How far a long run has come, on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error; nothing where that is no terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar for a number of pairs, with what is done to them.
    pub fn new(pairs: usize, what: &str) -> Progress {
        let bar = ProgressBar::new(u64::try_from(pairs).unwrap_or(u64::MAX));
        let style = "{msg} {wide_bar} {human_pos}/{human_len} pairs {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        Progress(bar)
    }

    /// What to call when one more pair is done.
    pub fn step(&self) -> impl Fn() + Send + Sync + 'static {
        let bar = self.0.clone();
        move || bar.inc(1)
    }

    /// A bar that shows nothing, for runs that are over at once.
    pub fn hidden() -> Progress {
        Progress(ProgressBar::hidden())
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
