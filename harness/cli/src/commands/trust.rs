//! The command `trust`: allows what a folder's files want to start.

use std::io::Write;
use std::path::Path;

use crate::{home, report};
use rolecall_core::owner;
use rolecall_suite::layout::Layout;

use crate::failure::{Failure, Status};
use crate::trust::{self, FolderCommand, Trusted};

/// Lists the trusted folders.
pub(super) fn list(out: &mut dyn Write) -> Result<Status, Failure> {
    report::trust::write_all(out, Trusted::read()?.folders())?;
    Ok(Status::Fine)
}

pub(super) fn execute(
    named: &Path,
    is_forgotten: bool,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let layout = home::layout_around(named)?;
    let folder = layout.root();
    if is_forgotten {
        let mut was_trusted = false;
        Trusted::change(|trusted| was_trusted = trusted.forget(folder))?;
        report::trust::write_forgotten(out, folder, was_trusted)?;
        return Ok(Status::Fine);
    }
    let commands = own_commands(&layout, named)?;
    if commands.is_empty() {
        report::trust::write_nothing(out, folder)?;
        return Ok(Status::Fine);
    }
    let commands: Vec<_> = commands
        .into_iter()
        .map(|command| {
            let files = command.files(folder);
            (command, files)
        })
        .collect();
    let kept = Trusted::change(|trusted| trusted.set(folder, &commands))?;
    let shown = commands.iter();
    let shown = shown.map(|(command, files)| (command.shown.as_str(), files));
    report::trust::write(out, folder, shown, &kept)?;
    Ok(Status::Fine)
}

/// What a suite wants to start. All of it must be the user's own.
fn own_commands(layout: &Layout, folder: &Path) -> Result<Vec<FolderCommand>, Failure> {
    if layout.is_read_only() {
        return Err(Failure::Request(format!(
            "there is no suite in {}: no file there names a command",
            folder.display()
        )));
    }
    let commands = trust::commands(layout);
    let mut all = commands.iter();
    if let Some(foreign) = all.find(|command| !owner::is_ours(&command.file)) {
        return Err(Failure::Request(format!(
            "{} belongs to another user, who could change it at any time: nothing is trusted",
            foreign.file.display()
        )));
    }
    Ok(commands)
}
