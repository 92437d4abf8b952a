//! The option `--watch`: the command is done again whenever one of its files changes.
//!
//! Each time is a process of its own, so nothing is left of the time before.

// This program itself is started, with the arguments that the user gave.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::report::counted;
use console::Term;
use notify::event::{Event, EventKind};
use notify::{RecursiveMode, Watcher as _};

use crate::failure::{Failure, Status, tell};
use crate::{home, program};

const OPTION: &str = "--watch";

/// How long no file has to change until the command is done again: an editor writes more than once.
const QUIET: Duration = Duration::from_millis(100);

/// Does the command of this process again and again, until the user ends it. Changes of `written`,
/// which it writes itself, do not count.
pub(crate) fn repeat(written: &[&Path]) -> Result<Status, Failure> {
    let arguments: Vec<OsString> = program::arguments().into_iter().skip(1).collect();
    let arguments: Vec<OsString> = arguments.into_iter().filter(|one| one != OPTION).collect();
    if arguments.iter().any(|one| one == "-") {
        return Err(Failure::Request(format!(
            "standard input is read once, so {OPTION} cannot see it change\n  give the name of a \
             file"
        )));
    }
    let words = program::again(&[])?;
    let watched = watched(&arguments)?;
    let written: Vec<PathBuf> = written.iter().map(|path| whole(path)).collect();
    let (sender, events) = mpsc::channel();
    let mut system = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if let Ok(event) = event {
            // Nobody listens when the program ends.
            let _ = sender.send(event);
        }
    })
    .map_err(|error| refused(&error))?;
    let mut places = BTreeSet::new();
    for path in &watched {
        // Editors replace a file by another of its name, so its folder is watched.
        places.insert(match path.parent() {
            Some(folder) if !path.is_dir() => (folder, false),
            _ => (path.as_path(), true),
        });
    }
    for (folder, is_whole) in places {
        let mode = if is_whole {
            RecursiveMode::Recursive
        } else {
            RecursiveMode::NonRecursive
        };
        system
            .watch(folder, mode)
            .map_err(|error| refused(&error))?;
    }
    loop {
        if std::io::stdout().is_terminal() {
            Term::stdout().clear_screen()?;
        }
        if let Some((program, first)) = words.split_first() {
            Command::new(program)
                .args(first)
                .args(&arguments)
                .status()?;
        }
        tell(&format!(
            "watching {}; Ctrl-C ends it",
            counted(watched.len(), "file or folder", "files and folders")
        ));
        wait(&events, &watched, &written)?;
    }
}

/// Waits until a file of interest has changed, and for a moment none does.
fn wait(events: &Receiver<Event>, watched: &[PathBuf], written: &[PathBuf]) -> Result<(), Failure> {
    let is_of_interest = |event: &Event| {
        // The command itself opens all these files, which are events, too: it would start itself again
        // without end.
        !matches!(event.kind, EventKind::Access(_))
            && event.paths.iter().any(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                // Editors keep drafts and backups under such names, and so does this program while it
                // writes a file.
                let is_made = name.starts_with('.') || name.ends_with('~');
                !is_made
                    && !written.contains(path)
                    && watched.iter().any(|one| path.starts_with(one))
            })
    };
    loop {
        let event = events.recv().map_err(|_| {
            Failure::Request("the system no longer says which files change".to_owned())
        })?;
        if is_of_interest(&event) {
            break;
        }
    }
    while events.recv_timeout(QUIET).is_ok() {}
    Ok(())
}

/// The files and folders that the arguments name, and those of the suite around the current folder.
fn watched(arguments: &[OsString]) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = BTreeSet::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        // The parser takes `--cases=FILE` as one word.
        let value = match text.split_once('=') {
            Some((option, value)) if option.starts_with('-') => value,
            _ => &text,
        };
        let path = Path::new(value);
        if path.exists() {
            paths.insert(whole(path));
        }
    }
    let layout = home::layout()?;
    if layout.is_read_only() {
        if paths.is_empty() {
            // `check` without a word looks at the current folder.
            paths.insert(whole(Path::new(".")));
        }
    } else {
        let parts = layout.parts();
        let parts = parts.iter().filter(|path| path.exists());
        paths.extend(parts.map(|path| whole(path)));
    }
    Ok(paths.into_iter().collect())
}

/// A path as the system names it in events.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_path_buf())
}

fn refused(error: &notify::Error) -> Failure {
    Failure::Request(format!("the files cannot be watched: {error}"))
}
