//! What the user has allowed a folder's files to start.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use super::style::{HEADING, QUIET, Styled};
use rolecall_base::problem::{shown, shown_path};

/// Writes what a folder may start from now on, and where that is kept.
pub fn write(out: &mut dyn Write, folder: &Path, commands: &[&str], kept: &Path) -> io::Result<()> {
    let folder = name(folder);
    writeln!(out, "{} may start from now on:", Styled(HEADING, folder))?;
    for command in commands {
        writeln!(out, "  {}", shown(command))?;
    }
    let kept = format!(
        "kept in {}; `rolecall trust --forget` takes it back",
        shown_path(kept)
    );
    writeln!(out, "{}", Styled(QUIET, kept))
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
    folders: impl Iterator<Item = (&'t str, &'t BTreeSet<String>)>,
) -> io::Result<()> {
    let mut is_empty = true;
    for (folder, commands) in folders {
        is_empty = false;
        writeln!(out, "{}", Styled(HEADING, shown(folder)))?;
        for command in commands {
            writeln!(out, "  {}", shown(command))?;
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
