//! One program at the other end of the protocol.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

/// A running program. It is killed when this is dropped.
///
/// Three threads keep the pipes moving, so that a program which does not read, or writes
/// without end, can block nobody. They end with the program's pipes.
pub(super) struct Process {
    child: Child,
    requests: Option<Sender<Vec<u8>>>,
    answers: Receiver<Line>,
    errors: Errors,
}

/// What came out of a program.
enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// The output ended within a line.
    Cut,
    /// The line is longer than an answer may be.
    TooLong,
}

/// What a program wrote to standard error lately.
struct Errors {
    tail: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

/// Bytes of standard error that are kept.
const TAIL: usize = 2000;

/// How long a program that closed its output may take to end, and one that was asked to.
const GRACE: Duration = Duration::from_secs(1);

impl Process {
    /// Starts a program. `longest` is how long a line of it may be, in bytes.
    pub(super) fn spawn(command: &[String], longest: usize) -> Result<Process, String> {
        Process::spawn_with(command, &[], longest)
    }

    /// Starts a program with variables in its environment. A program in Rust prints no
    /// backtrace: what it says comes before that, and the end of it is kept.
    pub(super) fn spawn_with(
        command: &[String],
        environment: &[(&str, &str)],
        longest: usize,
    ) -> Result<Process, String> {
        let (program, arguments) = command.split_first().ok_or("no program is named")?;
        let mut child = Command::new(program)
            .args(arguments)
            .env("RUST_BACKTRACE", "0")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound if is_assignment(program) => format!(
                    "there is no program `{program}`: no shell reads the command line; \
                     `env {program} …` sets a variable"
                ),
                io::ErrorKind::NotFound => format!("there is no program `{program}`"),
                _ => format!("`{program}` cannot be started: {error}"),
            })?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(format!("`{program}` has no standard streams"));
        };
        let (requests, to_write) = channel();
        // A program that writes without being asked waits for someone to read.
        let (lines, answers) = sync_channel(1);
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (ending, ended) = channel();
        thread::spawn(move || write_requests(stdin, &to_write));
        thread::spawn(move || read_answers(stdout, longest, &lines));
        let kept = Arc::clone(&tail);
        thread::spawn(move || {
            read_errors(stderr, &kept);
            // Nobody may be waiting any more.
            let _ = ending.send(());
        });
        Ok(Process {
            child,
            requests: Some(requests),
            answers,
            errors: Errors { tail, ended },
        })
    }

    /// Sends a request and waits for the line that answers it.
    pub(super) fn ask(
        &mut self,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<Vec<u8>, String> {
        self.send(request)?;
        match self.answers.recv_timeout(limit) {
            Ok(Line::Whole(line)) => Ok(line),
            Ok(Line::TooLong) => Err("its answer is longer than the limit".to_owned()),
            Ok(Line::Cut) => Err(self.ending("in the middle of an answer")),
            Err(RecvTimeoutError::Disconnected) => Err(self.ending("instead of answering")),
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "no answer within {} s{}",
                limit.as_secs_f64(),
                self.errors.last_words(Duration::ZERO)
            )),
        }
    }

    /// Asks the program to end, and sees to it that it does. Returns whether it did so itself.
    pub(super) fn stop(self, request: &impl Serialize) -> bool {
        let _ = self.send(request);
        self.close()
    }

    /// Ends the program's input, and sees to it that the program ends. Returns whether it did so
    /// itself.
    pub(super) fn close(mut self) -> bool {
        self.requests = None;
        self.wait(GRACE).is_some()
    }

    /// A line that nobody asked for, if one comes.
    pub(super) fn overhear(&mut self, limit: Duration) -> Option<Vec<u8>> {
        match self.answers.recv_timeout(limit) {
            Ok(Line::Whole(line)) => Some(line),
            Ok(Line::Cut | Line::TooLong) | Err(_) => None,
        }
    }

    fn send(&self, request: &impl Serialize) -> Result<(), String> {
        let mut line = serde_json::to_vec(request)
            .map_err(|error| format!("the request has no JSON form: {error}"))?;
        line.push(b'\n');
        // If the program is gone, its end is seen where the answer should be.
        if let Some(requests) = &self.requests {
            let _ = requests.send(line);
        }
        Ok(())
    }

    /// That the program ended, how, and what it said last.
    fn ending(&mut self, when: &str) -> String {
        let (what, how) = match self.wait(GRACE) {
            Some(status) if status.success() => ("ended", String::new()),
            Some(status) => ("ended", format!(" ({status})")),
            None => ("closed its output", String::new()),
        };
        format!("it {what} {when}{how}{}", self.errors.last_words(GRACE))
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Errors {
    /// The end of what was written to standard error, after a program's end.
    fn last_words(&self, wait: Duration) -> String {
        let _ = self.ended.recv_timeout(wait);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        match String::from_utf8_lossy(&tail).trim() {
            "" => String::new(),
            words => format!("; it said: {words}"),
        }
    }
}

/// Whether a shell would take a word for an assignment, as in `A=1 node adapter.mjs`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn write_requests(mut stdin: ChildStdin, requests: &Receiver<Vec<u8>>) {
    for request in requests {
        if stdin
            .write_all(&request)
            .and_then(|()| stdin.flush())
            .is_err()
        {
            return;
        }
    }
}

fn read_answers(stdout: ChildStdout, longest: usize, lines: &SyncSender<Line>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
        let Ok(read) = stdout.by_ref().take(limit).read_until(b'\n', &mut line) else {
            return;
        };
        if read == 0 {
            return;
        }
        let found = if line.ends_with(b"\n") {
            line.pop();
            Line::Whole(line)
        } else if line.len() > longest {
            Line::TooLong
        } else {
            Line::Cut
        };
        let is_last = !matches!(found, Line::Whole(_));
        if lines.send(found).is_err() || is_last {
            return;
        }
    }
}

fn read_errors(mut stderr: ChildStderr, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut chunk) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..read]);
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }
}
