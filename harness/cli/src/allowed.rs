//! What a folder's files may start: nothing, unless the user allows it for this command.
//!
//! A `rolecall.toml` can name commands and addresses, and a folder can hold programs in `.engines`
//! and `.references`. Somebody else may have written them. Nothing that is kept from an earlier run
//! could tell whether they do the same as then: a command starts files that name others. So each
//! command that starts them says so itself, by an option or a variable.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rolecall_core::environment;
use rolecall_core::owner;
use rolecall_suite::configuration::Configuration;
use rolecall_suite::layout::Layout;
use serde_json::Value;

use crate::failure::Failure;
use crate::program;

/// The variable that does what the option `--allow-engines` does.
const VARIABLE: &str = "ROLECALL_ALLOW_ENGINES";

static IS_ALL_ALLOWED: OnceLock<bool> = OnceLock::new();

/// Something that a folder's files would start.
pub(crate) struct FolderCommand {
    /// The file that names it, or that it is.
    file: PathBuf,
    /// What it is, for people.
    shown: String,
}

/// Sets whether this run may start everything that folders name.
pub(crate) fn allow(is_allowed: bool) {
    let is_allowed = is_allowed || environment::is_yes(VARIABLE);
    // The first caller decides.
    let _ = IS_ALL_ALLOWED.set(is_allowed);
}

/// Fails unless the user allows what the files of folders name, and this file is the user's own.
pub(crate) fn require(command: &FolderCommand) -> Result<(), Failure> {
    // Whoever owns the folder can put another file in the place of this one.
    for path in [folder_of(&command.file), command.file.as_path()] {
        if !owner::is_ours(path) {
            return Err(Failure::Request(format!(
                "{} belongs to another user, so nothing that it names is started\n  {}\n  to use \
                 it, take it over with `chown`, or name the engine yourself with `--engine`",
                path.display(),
                command.shown
            )));
        }
    }
    if IS_ALL_ALLOWED.get().copied().unwrap_or_default() {
        return Ok(());
    }
    Err(Failure::Request(format!(
        "this folder's files name a command, and nothing was started\n  {}\n  if you know what it \
         does, add `--allow-engines` to this command; in CI, `{VARIABLE}=1` does the same",
        command.shown
    )))
}

/// Whether all programs in a folder may be started, and there are any.
pub(crate) fn are_allowed(layout: &Layout, folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let mut programs = files.filter(|path| path.is_file()).peekable();
    programs.peek().is_some() && programs.all(|path| require(&of_program(layout, &path)).is_ok())
}

/// The engine of a dialect in a `rolecall.toml`.
pub(crate) fn of_line(configuration: &Configuration, dialect: &str, engine: &str) -> FolderCommand {
    let (file, engine) = (configuration.path.clone(), Value::from(engine));
    let shown = format!("{}: {dialect} = {engine}", file.display());
    FolderCommand { file, shown }
}

/// A program in a folder of a suite.
pub(crate) fn of_program(layout: &Layout, path: &Path) -> FolderCommand {
    let below = path.strip_prefix(layout.root()).unwrap_or(path);
    let below = below.to_string_lossy().replace('\\', "/");
    FolderCommand {
        file: path.to_path_buf(),
        shown: format!("the program {below}"),
    }
}

/// A folder without links. An empty path is the current folder.
fn real(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    folder
        .canonicalize()
        .unwrap_or_else(|_| folder.to_path_buf())
}

fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Whether a checkout is the one that this program was built in and is run from. The user runs its
/// code already, so its programs need no further word.
pub(crate) fn is_own_checkout(layout: &Layout) -> bool {
    let root = real(layout.root());
    if !layout.is_checkout() || !owner::is_ours(&root) {
        return false;
    }
    // `cargo run` and `cargo test` name the package that they run.
    let package = environment::path("CARGO_MANIFEST_DIR").map(|folder| real(&folder));
    let is_run_by_cargo =
        package.is_some_and(|package| package == root || package.starts_with(root.join("harness")));
    let program = program::file().and_then(|program| program.canonicalize().ok());
    is_run_by_cargo || program.is_some_and(|program| program.starts_with(root.join("target")))
}
