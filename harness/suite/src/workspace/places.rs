//! The templates that somebody names by their places: paths, models by name, standard input.

use std::iter::repeat;
use std::path::{Path, PathBuf};

use rolecall_core::file::is_there;
use rolecall_core::problem::{Note, Problem, closest, meant, shown_path};
use rolecall_io::settings::{Settings, Unread};
use rolecall_io::source::{self, NOT_THERE};

use super::stdin::{self, Stdin};
use super::suite_around::Access;
use crate::failure::Failure;
use crate::suite::Suite;

/// The places of templates, found on this machine.
pub(super) struct Places {
    /// As they were named.
    pub(super) named: Vec<PathBuf>,
    /// The paths to load them from.
    pub(super) paths: Vec<PathBuf>,
    stdin: Option<Stdin>,
    problems: Vec<Problem>,
    notes: Vec<Note>,
}

impl Places {
    /// Finds places. Reads standard input if it is one of them, and fetches models that are not on this
    /// machine.
    pub(super) fn find(access: &Access<'_>, named: &[PathBuf]) -> Result<Places, Failure> {
        let mut places = Places {
            named: named.to_vec(),
            paths: Vec::new(),
            stdin: None,
            problems: Vec::new(),
            notes: Vec::new(),
        };
        for path in named {
            places.add(access, path)?;
        }
        Ok(places)
    }

    fn add(&mut self, access: &Access<'_>, path: &Path) -> Result<(), Failure> {
        if path == Path::new(stdin::NAME) {
            if self.stdin.is_some() {
                let message = "standard input, `-`, is named twice and can be read once";
                return Err(Failure::Request(message.to_owned()));
            }
            let stdin = Stdin::read()?;
            self.paths.push(stdin.path().to_path_buf());
            self.stdin = Some(stdin);
            return Ok(());
        }
        match rolecall_io::remote::find(path, access.cache.as_deref()) {
            None => self.paths.push(path.to_path_buf()),
            Some(Ok(found)) => {
                if let Some(fetched) = &found.fetched {
                    (access.tell)(fetched);
                }
                self.paths.push(found.path);
                self.notes.extend(found.notes);
            }
            Some(Err(problem)) => self.problems.push(problem),
        }
        Ok(())
    }

    /// Adds to the loaded templates the user's settings and what is known about their origin.
    pub(super) fn settle(&self, suite: &mut Suite, settings: &Settings) {
        set_all(settings, suite);
        for problem in &mut suite.problems {
            let is_named = problem.message == NOT_THERE && self.named.contains(&problem.path);
            if is_named && problem.help.is_none() {
                let is_option = problem.path.to_string_lossy().starts_with('-');
                problem.help = is_option
                    .then(|| "after `--` everything is a file; options come before it".to_owned())
                    .or_else(|| rolecall_io::remote::meant(&problem.path))
                    .or_else(|| near(&problem.path));
            }
        }
        if let Some(stdin) = &self.stdin {
            stdin.rename(suite);
        }
        suite.problems.extend(self.problems.iter().cloned());
        suite.notes.splice(0..0, self.notes.iter().cloned());
    }
}

/// The question whether another path was meant than one that does not exist: one of its names may be
/// misspelt.
pub fn near(path: &Path) -> Option<String> {
    let mut parts: Vec<_> = path
        .ancestors()
        .take_while(|part| !is_there(part))
        .collect();
    parts.retain(|part| *part != Path::new(""));
    let first = parts.pop()?;
    let folder = match first.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    let name = first.file_name()?.to_string_lossy();
    let near = first.with_file_name(closest(&name, names.iter().map(String::as_str))?);
    // What follows may be misspelt, too.
    let rest = path.strip_prefix(first).ok()?;
    let whole = if rest == Path::new("") {
        near
    } else {
        near.join(rest)
    };
    if is_there(&whole) {
        Some(meant(shown_path(&whole)))
    } else {
        self::near(&whole)
    }
}

/// Sets special tokens and variables on all templates. It is a problem if none of them reads one, and
/// another name was probably meant.
pub(super) fn set_all(settings: &Settings, suite: &mut Suite) {
    let unread = settings.unread(&suite.templates).into_iter();
    let options = settings
        .special_tokens
        .iter()
        .map(|_| "--special-token")
        .chain(repeat("--variable"));
    for (unread, option) in unread.zip(options) {
        if let Some(Unread {
            what,
            meant: Some(meant),
        }) = unread
        {
            let problem = Problem::new(option, format!("no template reads {what}"));
            suite.problems.push(problem.help(meant));
        }
    }
    suite.templates.iter_mut().for_each(|one| settings.set(one));
    source::renew_notes(&mut suite.notes, &suite.templates);
}
