//! What the user has allowed a folder's files to start.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::style::{HEADING, QUIET, Styled};
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
    let folder = name(folder);
    writeln!(out, "{} may start from now on:", Styled(HEADING, folder))?;
    for (command, files) in commands {
        write_command(out, command, files)?;
    }
    let kept = format!(
        "if a command or one of these files changes, you are asked again; what else the programs \
         load or start is not compared\nkept in {}; `rolecall trust --forget` takes it back",
        shown_path(kept)
    );
    for line in kept.lines() {
        writeln!(out, "{}", Styled(QUIET, line))?;
    }
    Ok(())
}

/// How many files of a command are shown.
const MOST_FILES: usize = 20;

fn write_command(out: &mut dyn Write, command: &str, files: &Files) -> io::Result<()> {
    writeln!(out, "  {}", shown(command))?;
    for file in files.keys().take(MOST_FILES) {
        writeln!(out, "    with {} as it is now", shown(file))?;
    }
    if files.len() > MOST_FILES {
        writeln!(out, "    and with {} more files", files.len() - MOST_FILES)?;
    }
    Ok(())
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
    let mut is_empty = true;
    for (folder, commands) in folders {
        is_empty = false;
        writeln!(out, "{}", Styled(HEADING, shown(folder)))?;
        for (command, files) in commands {
            write_command(out, command, files)?;
        }
    }
    if is_empty {
        writeln!(out, "no folder is trusted")?;
    }
    Ok(())
}

/// A folder's name; an empty path is the current folder.
fn name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        "this folder".to_owned()
    } else {
        shown_path(folder)
    }
}
