//! The program `git`, which only reads, and only the content of the repository.
//!
//! The configuration of a repository that somebody else made can name commands: to fetch what is
//! missing, to look for changed files, to page. Git is started in a way in which it uses none of
//! them, and it is ended after half a minute.

// Git is started here.
#![allow(clippy::disallowed_methods)]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::protocol::ProcessGroup;

/// The longest that one call of Git may take.
const LONGEST: Duration = Duration::from_secs(30);

/// The most bytes of one answer of Git, besides the content of files.
const MOST_LISTED: u64 = 64 << 20;

/// Settings that replace those of the repository, because they name commands.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.alternateRefsCommand=false",
    "credential.helper=",
    "uploadpack.packObjectsHook=",
];

/// A running Git. It is ended when this is dropped.
struct RunningGit {
    child: Child,
    group: Arc<ProcessGroup>,
    /// The end of this channel ends the thread that watches the time.
    _timer: Sender<()>,
}

/// The objects of the repository, read one after the other from one `git cat-file`.
pub struct GitObjects {
    git: RunningGit,
    answers: BufReader<ChildStdout>,
}

/// Runs Git in the current folder. Returns its output, or its error message.
pub fn output(arguments: &[&str]) -> Result<Vec<u8>, String> {
    let mut git = RunningGit::start(arguments, Stdio::null(), Stdio::piped())?;
    let failed = |error: io::Error| format!("git cannot be read: {error}");
    let errors = git.child.stderr.take();
    // Git must not wait until somebody reads its errors.
    let errors = thread::Builder::new().spawn(move || {
        let mut words = Vec::new();
        let mut rest = io::sink();
        if let Some(mut errors) = errors {
            let _ = errors.by_ref().take(4096).read_to_end(&mut words);
            let _ = io::copy(&mut errors, &mut rest);
        }
        words
    });
    let errors = errors.map_err(failed)?;
    let mut output = Vec::new();
    if let Some(stdout) = git.child.stdout.take() {
        let read = stdout.take(MOST_LISTED + 1).read_to_end(&mut output);
        read.map_err(failed)?;
    }
    if output.len() as u64 > MOST_LISTED {
        // The status says nothing here: Git was cut off in the middle of its list.
        return Err(format!("git lists more than {MOST_LISTED} bytes"));
    }
    let status = git.child.wait().map_err(failed)?;
    if status.success() {
        return Ok(output);
    }
    let words = errors.join().unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    // A Git that says nothing was most likely ended by the timer, by a signal.
    let Some(first) = words.lines().next() else {
        return Err(format!(
            "git ended ({status}); it may take {} s",
            LONGEST.as_secs()
        ));
    };
    Err(first.trim_start_matches("fatal: ").to_owned())
}

impl RunningGit {
    fn start(arguments: &[&str], stdin: Stdio, stderr: Stdio) -> Result<RunningGit, String> {
        let mut command = Command::new("git");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .args(arguments)
            // The words of errors become part of messages, without the `fatal: ` that only English has.
            .env("LC_ALL", "C")
            // Nothing is fetched that the repository lacks. Versions of Git before 2.44 do not know
            // the first variable, and are held by the second.
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(stderr);
        ProcessGroup::lead(&mut command);
        let child = command.spawn().map_err(|error| missing_git(&error))?;
        let group = Arc::new(ProcessGroup::of(&child));
        let (timer, ended) = channel::<()>();
        let watched = Arc::clone(&group);
        let watch = thread::Builder::new().spawn(move || {
            if ended.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                watched.end();
            }
        });
        watch.map_err(|error| format!("git cannot be watched: {error}"))?;
        Ok(RunningGit {
            child,
            group,
            _timer: timer,
        })
    }
}

impl Drop for RunningGit {
    fn drop(&mut self) {
        // The helpers of Git first: they may hold its pipes open.
        self.group.end();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl GitObjects {
    pub fn open() -> Result<GitObjects, String> {
        let arguments = ["cat-file", "--batch"];
        let mut git = RunningGit::start(&arguments, Stdio::piped(), Stdio::null())?;
        let answers = git.child.stdout.take().ok_or("git says nothing")?;
        Ok(GitObjects {
            git,
            answers: BufReader::new(answers),
        })
    }

    /// The bytes of a file of at most `most` bytes. Git answers `<hash> blob <size>`, a line break,
    /// the bytes, a line break.
    pub fn read(&mut self, hash: &str, most: u64) -> Result<Vec<u8>, String> {
        let failed = |error: io::Error| format!("git ended early: {error}");
        let questions = self.git.child.stdin.as_mut().ok_or("git takes nothing")?;
        writeln!(questions, "{hash}")
            .and_then(|()| questions.flush())
            .map_err(failed)?;
        let mut head = String::new();
        let line = self.answers.by_ref().take(4096).read_line(&mut head);
        line.map_err(failed)?;
        // For a hash that is not there Git answers `<hash> missing`, and `missing` is no number.
        let size = head
            .trim_end()
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or_else(|| format!("git says: {}", head.trim_end()))?;
        if size > most {
            return Err(format!(
                "too large: {size} bytes, where at most {most} are expected"
            ));
        }
        let mut bytes = Vec::new();
        let answers = self.answers.by_ref();
        answers
            .take(size + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.pop() != Some(b'\n') {
            return Err("git ended early".to_owned());
        }
        Ok(bytes)
    }
}

fn missing_git(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        "the program `git` is not installed".to_owned()
    } else {
        format!("the program `git` cannot be started: {error}")
    }
}
