//! Groups of processes: a program and everything that it starts end together.
//!
//! A shell that runs an adapter, or an adapter with helpers, is more than one process. Each engine
//! leads a group, and the whole group is ended at a time-out, at the end of the engine, and at the end
//! of this process. If this process is killed, it can end nothing any more. So a second small process
//! may watch over the groups: its standard input closes when this process ends, however it ends.
//!
//! Systems other than Unix have no such groups: only the program itself is ended there.

// The watching process is started here.
#![allow(clippy::disallowed_methods)]

use std::io::{BufRead, Write as _};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

/// A program and everything that it started. They are ended when this is dropped.
#[derive(Debug)]
pub struct ProcessGroup {
    /// The number of the first process, which is the number of the group.
    id: u32,
}

/// The process that watches over all groups.
#[derive(Debug)]
enum Watch {
    /// It is started with the first group.
    Planned(Vec<String>),
    Running(Child),
}

static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

/// Names the command of a process that watches over the groups: it has to call [`watch_groups`].
/// Without it, programs may stay behind if this process is killed.
pub fn watch_with(command: Vec<String>) {
    *WATCH.lock().unwrap_or_else(PoisonError::into_inner) = Some(Watch::Planned(command));
}

/// Watches over the groups of another process, whose words come in `input`. Returns when the input
/// ends; then the groups that are left are ended.
pub fn watch_groups(input: impl BufRead) {
    let mut groups: Vec<u32> = Vec::new();
    for line in input.lines() {
        let Ok(line) = line else { break };
        let (sign, number) = line.split_at_checked(1).unwrap_or_default();
        match (sign, number.parse()) {
            ("+", Ok(id)) => groups.push(id),
            ("-", Ok(id)) => groups.retain(|group| *group != id),
            _ => {}
        }
    }
    groups.into_iter().for_each(end);
}

impl ProcessGroup {
    /// Makes a command the leader of a group of its own.
    pub fn lead(command: &mut Command) {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        #[cfg(not(unix))]
        let _ = command;
    }

    /// The group that a process leads.
    pub fn of(child: &Child) -> ProcessGroup {
        let id = child.id();
        tell('+', id);
        ProcessGroup { id }
    }

    pub fn end(&self) {
        end(self.id);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
        tell('-', self.id);
    }
}

#[cfg(unix)]
fn end(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // The group 1 would be every process, and this process must not end itself.
    let group = i32::try_from(group).ok().filter(|group| *group > 1);
    if let Some(group) = group.and_then(Pid::from_raw) {
        // It may have ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end(_: u32) {}

/// Tells the watching process that a group began (`+`) or ended (`-`).
fn tell(sign: char, group: u32) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Watch::Planned(words)) = &*watch {
        *watch = started(words).map(Watch::Running);
    }
    if let Some(Watch::Running(child)) = &mut *watch
        && let Some(input) = &mut child.stdin
    {
        // Without the watching process, groups still end with their engines.
        let _ = writeln!(input, "{sign}{group}");
    }
}

#[cfg(unix)]
fn started(words: &[String]) -> Option<Child> {
    use std::process::Stdio;
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    // What a terminal sends to this process must not end it, too.
    ProcessGroup::lead(&mut command);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

#[cfg(not(unix))]
fn started(_: &[String]) -> Option<Child> {
    None
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    fn sleeper() -> Child {
        let mut command = Command::new("sh");
        ProcessGroup::lead(&mut command);
        command
            .args(["-c", "sleep 600 & echo; wait"])
            .stdout(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Returns when all processes that have the pipe are gone.
    fn wait_for_all(child: &mut Child) {
        let mut text = String::new();
        let mut out = child.stdout.take().unwrap();
        std::io::Read::read_to_string(&mut out, &mut text).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_group_ends_as_a_whole() {
        let mut child = sleeper();
        drop(ProcessGroup::of(&child));
        wait_for_all(&mut child);
    }

    #[test]
    fn groups_end_when_nobody_watches_any_more() {
        let (mut kept, mut ended) = (sleeper(), sleeper());
        let words = format!("+{}\n+{}\nx\n+\n-{}\n", kept.id(), ended.id(), kept.id());
        watch_groups(words.as_bytes());
        wait_for_all(&mut ended);
        assert!(kept.try_wait().unwrap().is_none());
        end(kept.id());
        wait_for_all(&mut kept);
    }
}
