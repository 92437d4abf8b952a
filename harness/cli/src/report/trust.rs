//! What the user has allowed a folder's files to start.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use minijinja::{Value, context};

use super::text::text;
use rolecall_core::problem::{shown, shown_path};

/// The files that a command starts, and their content.
type Files = BTreeMap<String, String>;

/// Writes what a folder may start from now on, and where that is kept.
pub fn write<'c>(
    out: &mut dyn Write,
    folder: &Path,
    commands: impl Iterator<Item = (&'c str, &'c Files)>,
    kept: &Path,
) -> io::Result<()> {
    let folder = context! { name => name(folder), is_new => true, commands => all(commands) };
    text!(out, include_str!("trust.txt"), { folders => vec![folder], kept => shown_path(kept) })
}

/// How many files of a command are shown.
const MOST_FILES: usize = 20;

fn all<'c>(commands: impl Iterator<Item = (&'c str, &'c Files)>) -> Value {
    let commands = commands.map(|(command, files)| {
        context! {
            name => shown(command),
            files => files.keys().take(MOST_FILES).map(|file| shown(file)).collect::<Vec<_>>(),
            more => files.len().saturating_sub(MOST_FILES),
        }
    });
    commands.collect()
}

/// Writes that a folder names no command.
pub fn write_nothing(out: &mut dyn Write, folder: &Path) -> io::Result<()> {
    writeln!(
        out,
        "{} names no command and holds no program: there is nothing to allow",
        name(folder)
    )
}

/// Writes that nothing of a folder is allowed any more.
pub fn write_forgotten(out: &mut dyn Write, folder: &Path, was_trusted: bool) -> io::Result<()> {
    let folder = name(folder);
    if was_trusted {
        writeln!(out, "{folder} may start nothing from now on")
    } else {
        writeln!(out, "{folder} was not trusted before")
    }
}

/// Writes all folders with what they may start.
pub fn write_all<'t>(
    out: &mut dyn Write,
    folders: impl Iterator<Item = (&'t str, &'t BTreeMap<String, Files>)>,
) -> io::Result<()> {
    let folders = folders.map(|(folder, commands)| {
        let commands = commands
            .iter()
            .map(|(command, files)| (command.as_str(), files));
        context! { name => shown(folder), is_new => false, commands => all(commands) }
    });
    let kept = None::<&str>;
    text!(out, include_str!("trust.txt"), { folders => folders.collect::<Vec<_>>(), kept })
}

/// A folder's name; an empty path is the current folder.
fn name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        "this folder".to_owned()
    } else {
        shown_path(folder)
    }
}
