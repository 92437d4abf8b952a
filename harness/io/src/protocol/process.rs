//! One program at the other end of the protocol.

// Engines are started here.
#![allow(clippy::disallowed_methods)]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::group::ProcessGroup;
use super::secrets::withheld;

/// A running program. It is killed when this is dropped, with everything that it started.
///
/// Three threads serve its pipes, so that a program which never reads, or never stops
/// writing, blocks nobody. They end with the pipes.
pub struct Process {
    child: Child,
    group: ProcessGroup,
    requests: Option<Sender<Vec<u8>>>,
    answers: Receiver<OutputLine>,
    errors: LastWords,
}

/// One read from a program's standard output.
enum OutputLine {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// The output ended within a line.
    Cut,
    /// The line is longer than an answer may be.
    TooLong,
}

/// The last words of a program, on standard error or another stream.
pub(super) struct LastWords {
    tail: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

/// Bytes of standard error that are kept.
const TAIL: usize = 2000;

/// How long a program may take to end after it closed its output, or was asked to stop.
const GRACE: Duration = Duration::from_secs(1);

impl Process {
    /// Starts a program. `longest` is the most bytes of one line.
    pub fn spawn(command: &[String], longest: usize) -> Result<Process, String> {
        Process::spawn_with(command, &[], longest)
    }

    /// Starts a program with variables in its environment. It does not get the user's secrets.
    /// Backtraces of Rust programs are switched off: only the end of standard error is kept, and
    /// the message comes before the backtrace.
    pub fn spawn_with(
        command: &[String],
        environment: &[(&str, &str)],
        longest: usize,
    ) -> Result<Process, String> {
        let (program, _) = command.split_first().ok_or("no program is named")?;
        let (mut child, group) = start(command, environment, Stdio::piped())?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(format!("`{program}` has no standard streams"));
        };
        let (requests, to_write) = channel();
        // With this bound, a program that writes unasked has to wait for a reader.
        let (lines, answers) = sync_channel(1);
        // The system may refuse a thread.
        let refused = |error: io::Error| format!("no thread for `{program}`: {error}");
        let thread = thread::Builder::new;
        thread()
            .spawn(move || write_requests(stdin, &to_write))
            .map_err(refused)?;
        thread()
            .spawn(move || read_answers(stdout, longest, &lines))
            .map_err(refused)?;
        let errors = LastWords::of(stderr).map_err(refused)?;
        Ok(Process {
            child,
            group,
            requests: Some(requests),
            answers,
            errors,
        })
    }

    /// Sends a request and waits for the line that answers it.
    pub fn ask(&mut self, request: &impl Serialize, limit: Duration) -> Result<Vec<u8>, String> {
        self.send(request)?;
        match self.answers.recv_timeout(limit) {
            Ok(OutputLine::Whole(line)) => Ok(line),
            Ok(OutputLine::TooLong) => Err("its answer is longer than the limit".to_owned()),
            Ok(OutputLine::Cut) => Err(self.ending("in the middle of an answer")),
            Err(RecvTimeoutError::Disconnected) => Err(self.ending("instead of answering")),
            Err(RecvTimeoutError::Timeout) => Err(format!(
                "no answer within {} s{}",
                limit.as_secs_f64(),
                // It still runs, so that its errors have no end to wait for.
                self.errors.last_words(Duration::ZERO)
            )),
        }
    }

    /// Asks the program to end, and kills it if it does not. Returns whether it ended by
    /// itself.
    pub fn stop(self, request: &impl Serialize) -> bool {
        let _ = self.send(request);
        self.close()
    }

    /// Closes the program's input, and kills it if it does not end. Returns whether it ended by
    /// itself.
    pub fn close(mut self) -> bool {
        self.requests = None;
        self.wait(GRACE).is_some()
    }

    /// A line that nobody asked for, if one comes.
    pub fn overhear(&mut self, limit: Duration) -> Option<Vec<u8>> {
        match self.answers.recv_timeout(limit) {
            Ok(OutputLine::Whole(line)) => Some(line),
            Ok(OutputLine::Cut | OutputLine::TooLong) | Err(_) => None,
        }
    }

    fn send(&self, request: &impl Serialize) -> Result<(), String> {
        let mut line = serde_json::to_vec(request)
            .map_err(|error| format!("the request has no JSON form: {error}"))?;
        line.push(b'\n');
        // If the program is gone, the missing answer shows it.
        if let Some(requests) = &self.requests {
            let _ = requests.send(line);
        }
        Ok(())
    }

    /// A message that the program ended: how, and its last words.
    fn ending(&mut self, when: &str) -> String {
        let (what, how) = match self.wait(GRACE) {
            Some(status) if status.success() => ("ended", String::new()),
            Some(status) => ("ended", format!(" ({status})")),
            None => ("closed its output", String::new()),
        };
        format!("it {what} {when}{how}{}", self.errors.last_words(GRACE))
    }

    /// Whether the program has ended, and says that nothing was wrong: it may answer and exit.
    pub(super) fn has_ended_well(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(status)) if status.success())
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                // The standard library cannot wait for a process with a limit.
                Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Some of it may have ended by itself.
        self.group.end();
        let _ = self.child.kill();
        // Without it the process would stay in the system's table until this one ends.
        let _ = self.child.wait();
    }
}

impl LastWords {
    /// Reads a stream to its end, and keeps its last bytes.
    pub(super) fn of(stream: impl Read + Send + 'static) -> io::Result<LastWords> {
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (ending, ended) = channel();
        let kept = Arc::clone(&tail);
        let reader = move || {
            read_errors(stream, &kept);
            // Nobody may be waiting any more.
            let _ = ending.send(());
        };
        thread::Builder::new().spawn(reader)?;
        Ok(LastWords { tail, ended })
    }

    /// The end of the stream. Waits for more of it, until the stream ends.
    pub(super) fn text(&self, wait: Duration) -> String {
        let _ = self.ended.recv_timeout(wait);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).into_owned()
    }

    /// The end of the stream, as the last part of a message.
    pub(super) fn last_words(&self, wait: Duration) -> String {
        match self.text(wait).trim() {
            "" => String::new(),
            words => format!("; it said: {words}"),
        }
    }
}

/// Starts a program as the leader of a group of its own, without the user's secrets.
pub(super) fn start(
    command: &[String],
    environment: &[(&str, &str)],
    stdin: Stdio,
) -> Result<(Child, ProcessGroup), String> {
    let (program, arguments) = command.split_first().ok_or("no program is named")?;
    let mut command = Command::new(program);
    ProcessGroup::lead(&mut command);
    for name in withheld() {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        .envs(environment.iter().copied())
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if is_assignment(program) => format!(
            "{NO_PROGRAM} `{program}`: no shell reads the command line; \
                     `env {program} …` sets a variable"
        ),
        io::ErrorKind::NotFound => format!("{NO_PROGRAM} `{program}`"),
        _ => format!("`{program}` cannot be started: {error}"),
    })?;
    let group = ProcessGroup::of(&child);
    Ok((child, group))
}

/// Whether a shell would take a word for an assignment, as in `A=1 node adapter.mjs`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// How the reason begins why a program that is not there does not start.
pub(super) const NO_PROGRAM: &str = "there is no program";

/// The command line of words, as a user types it.
pub(super) fn written(words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// A sentence about a file that a command line probably names and that is not there: the reason why
/// `python3 adaptor.py` does not start.
pub(super) fn missing_file(words: &[String]) -> Option<String> {
    let is_file = |word: &&String| {
        let path = Path::new(word.as_str());
        let has_ending = path.extension().is_some_and(|ending| {
            let ending = ending.to_string_lossy();
            ending.starts_with(|c: char| c.is_ascii_alphabetic())
        });
        let is_path = has_ending || word.contains(std::path::is_separator);
        is_path && !word.starts_with('-') && !word.contains(['=', ' ', ':']) && !path.exists()
    };
    let missing = words.iter().skip(1).find(is_file)?;
    Some(format!("there is no file `{missing}` in this folder"))
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

fn read_answers(stdout: ChildStdout, longest: usize, lines: &SyncSender<OutputLine>) {
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
            OutputLine::Whole(line)
        } else if line.len() > longest {
            OutputLine::TooLong
        } else {
            OutputLine::Cut
        };
        // What follows a cut or an endless line cannot be told apart from the rest of it.
        let is_last = !matches!(found, OutputLine::Whole(_));
        if lines.send(found).is_err() || is_last {
            return;
        }
    }
}

fn read_errors(mut stderr: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut chunk) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(chunk.get(..read).unwrap_or(&chunk));
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }
}
