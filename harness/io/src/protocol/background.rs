//! A program that is not asked through its pipes, such as a server.

// Servers are started here.
#![allow(clippy::disallowed_methods)]

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::group::ProcessGroup;
use super::process::{LastWords, start};

/// A running program. It is killed when this is dropped, with everything that it started.
///
/// All that it writes is read, so that it never has to wait, and the end of it is kept.
pub struct BackgroundProcess {
    child: Child,
    group: ProcessGroup,
    errors: LastWords,
    output: LastWords,
}

/// The pause before a program is looked at again.
const PAUSE: Duration = Duration::from_millis(5);

/// How long the last words of a program may take after its end.
const GRACE: Duration = Duration::from_secs(2);

impl BackgroundProcess {
    /// Starts a program. It does not get the user's secrets.
    pub fn spawn(command: &[String]) -> Result<BackgroundProcess, String> {
        let (mut child, group) = start(command, &[], Stdio::null())?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("the program has no standard streams".to_owned());
        };
        let refused = |error: std::io::Error| format!("no thread for the program: {error}");
        Ok(BackgroundProcess {
            errors: LastWords::of(stderr).map_err(refused)?,
            output: LastWords::of(stdout).map_err(refused)?,
            child,
            group,
        })
    }

    /// How the program ended, with its last words. None if it still runs.
    pub fn ending(&mut self) -> Option<String> {
        let how = match self.child.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) if status.success() => String::new(),
            Ok(Some(status)) => format!(" ({status})"),
            Err(error) => format!(" ({error})"),
        };
        let words = match self.errors.last_words(GRACE) {
            // Some servers write their errors to standard output.
            words if words.is_empty() => self.output.last_words(GRACE),
            words => words,
        };
        Some(format!("it ended{how}{words}"))
    }

    /// What a program writes that ends by itself within a time: its output, then its errors. None if
    /// it does not end.
    pub fn output(mut self, limit: Duration) -> Option<String> {
        let begin = Instant::now();
        while !matches!(self.child.try_wait(), Ok(Some(_))) {
            if begin.elapsed() > limit {
                return None;
            }
            thread::sleep(PAUSE);
        }
        Some(self.output.text(GRACE) + &self.errors.text(GRACE))
    }
}

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        self.group.end();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
