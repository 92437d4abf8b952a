//! What a folder's files may start: nothing, until the user has said so for this folder and these
//! commands.
//!
//! A `rolecall.toml` can name commands and addresses, and a folder can hold programs in `.engines`
//! and `.references`. Somebody else may have written them. The user's answers are kept in a file of
//! the user's configuration, by folder: the commands, and the content of the files that they start,
//! as far as `command_files` finds them. A command or a file that was changed since is a new one,
//! and so is another folder in the place of the first one. The files are compared when the command
//! is chosen, and again right before and after each start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::UNIX_EPOCH;

use etcetera::BaseStrategy as _;
use rolecall_core::environment;
use rolecall_core::file::{read_text, write_whole};
use rolecall_core::invocation;
use rolecall_core::lock::FolderLock;
use rolecall_core::owner;
use rolecall_core::problem::Problem;
use rolecall_suite::configuration::Configuration;
use rolecall_suite::layout::Layout;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::{Failure, tell};
use crate::{command_files, program};

/// The file in the folder of the user's configuration.
const FILE: &str = "trusted.json";

/// The folders of programs in a suite.
const PROGRAMS: [&str; 2] = [".engines", ".references"];

/// The option `--allow-engines`, or the variable of that meaning.
static IS_ALL_ALLOWED: OnceLock<bool> = OnceLock::new();

/// Something that a folder's files would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FolderCommand {
    /// The file that names it, or that it is.
    pub(crate) file: PathBuf,
    /// What is compared and kept: the line of the file, or the program's path.
    pub(crate) words: String,
    /// The same for people.
    pub(crate) shown: String,
    runs: String,
}

/// The files that a command starts, with their content.
type Files = BTreeMap<String, String>;

/// The answers of the user.
#[derive(Debug, Default)]
pub(crate) struct Trusted {
    folders: BTreeMap<String, TrustedFolder>,
}

/// What the user said about a folder.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct TrustedFolder {
    /// When the folder was made: another one may take its place.
    made: String,
    /// The commands that may start, with the files that they start.
    pub(crate) commands: BTreeMap<String, Files>,
}

/// The files that this process relies on, with their trusted content.
static RELIED_ON: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Sets whether this run may start everything that folders name.
pub(crate) fn allow(is_allowed: bool) {
    let is_allowed = is_allowed || environment::is_yes("ROLECALL_ALLOW_ENGINES");
    // The first caller decides.
    let _ = IS_ALL_ALLOWED.set(is_allowed);
}

/// Fails unless the user trusts a command of a folder.
pub(crate) fn require(folder: &Path, command: &FolderCommand) -> Result<(), Failure> {
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
    let files = command.files(folder);
    let Some(why) = Trusted::read()?.objection(folder, command, &files) else {
        let mut relied_on = RELIED_ON.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.into_iter();
        relied_on.extend(files.map(|(file, content)| (real(folder).join(file), content)));
        return Ok(());
    };
    let trust = invocation::command(&format!("trust{}", argument(folder)));
    Err(Failure::Request(format!(
        "{why}\n  {}\n  `{trust}` shows what the folder may start, and allows it from then on; \
         `--allow-engines` allows it once, as in CI",
        command.shown
    )))
}

/// Fails if a file that this process relies on is not as the user trusted it.
pub(crate) fn hold() -> Result<(), String> {
    let relied_on = RELIED_ON.lock().unwrap_or_else(PoisonError::into_inner);
    match relied_on
        .iter()
        .find(|(file, content)| command_files::content(file) != **content)
    {
        Some((file, _)) => Err(format!(
            "{} was changed since Rolecall looked at it, so it is not asked",
            file.display()
        )),
        None => Ok(()),
    }
}

/// Whether all programs in a folder of a suite may be started, and there are any.
pub(crate) fn are_allowed(layout: &Layout, folder: &Path) -> bool {
    let programs = commands(layout);
    let mut programs = programs
        .iter()
        .filter(|one| one.file.starts_with(folder))
        .peekable();
    programs.peek().is_some() && programs.all(|one| require(layout.root(), one).is_ok())
}

/// The folder as an argument of `trust`, unless it is the current one.
fn argument(folder: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let folder = real(folder);
    if here.is_ok_and(|here| here.starts_with(&folder)) {
        return String::new();
    }
    format!(" {}", invocation::word(&folder.to_string_lossy()))
}

/// Everything that the files of a suite would start.
pub(crate) fn commands(layout: &Layout) -> Vec<FolderCommand> {
    let configured = layout
        .configuration()
        .into_iter()
        .flat_map(|configuration| {
            let engines = configuration.engines.iter();
            engines.map(|(dialect, engine)| of_line(configuration, dialect.name(), engine))
        });
    let mut commands: Vec<FolderCommand> = configured.collect();
    for folder in PROGRAMS {
        let entries = std::fs::read_dir(layout.root().join(folder));
        let entries = entries.into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.is_file());
        paths.sort();
        commands.extend(paths.iter().map(|path| of_program(layout, path)));
    }
    commands
}

/// The engine of a dialect in a `rolecall.toml`.
pub(crate) fn of_line(configuration: &Configuration, dialect: &str, engine: &str) -> FolderCommand {
    let words = format!("{dialect} = {}", Value::from(engine));
    FolderCommand {
        shown: format!("{}: {words}", configuration.path.display()),
        file: configuration.path.clone(),
        words,
        runs: engine.to_owned(),
    }
}

/// A program in a folder of a suite.
pub(crate) fn of_program(layout: &Layout, path: &Path) -> FolderCommand {
    let below = path.strip_prefix(layout.root()).unwrap_or(path);
    let below = below.to_string_lossy().replace('\\', "/");
    FolderCommand {
        file: path.to_path_buf(),
        shown: format!("the program {below}"),
        runs: below.clone(),
        words: below,
    }
}

impl FolderCommand {
    /// The files that it starts, as they are now.
    pub(crate) fn files(&self, folder: &Path) -> Files {
        command_files::files(&real(folder), &self.runs)
    }
}

impl Trusted {
    pub(crate) fn read() -> Result<Trusted, Failure> {
        let Ok(path) = file() else {
            return Ok(Trusted::default());
        };
        if !path.exists() {
            return Ok(Trusted::default());
        }
        if !owner::is_ours(&path) {
            let message = "belongs to another user, so nothing is trusted because of it";
            return Err(Problem::new(path, message).into());
        }
        let text = read_text(&path)?;
        let wrong = || {
            Problem::new(&path, "not what `rolecall trust` writes")
                .help("remove the file, and trust your folders again")
        };
        let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
        let folders = value.get("folders").and_then(Value::as_object);
        let mut trusted = Trusted::default();
        for (folder, value) in folders.ok_or_else(wrong)? {
            // Earlier versions kept the commands alone: they do not say which programs were meant.
            let is_old = value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_string));
            let known = if is_old {
                TrustedFolder::default()
            } else {
                TrustedFolder::deserialize(value).map_err(|_| wrong())?
            };
            trusted.folders.insert(folder.clone(), known);
        }
        Ok(trusted)
    }

    /// Changes the answers, and writes them. Other programs wait meanwhile.
    pub(crate) fn change(with: impl FnOnce(&mut Trusted)) -> Result<PathBuf, Failure> {
        let path = file()?;
        let _lock = FolderLock::take(folder_of(&path), || {
            tell("waiting for another program that changes what is trusted");
        })?;
        let mut trusted = Trusted::read()?;
        with(&mut trusted);
        let text = format!("{:#}\n", json!({ "folders": trusted.folders }));
        write_whole(&path, text)?;
        Ok(path)
    }

    /// Trusts these commands of a folder and the files that they start, and no others.
    pub(crate) fn set(&mut self, folder: &Path, commands: &[(FolderCommand, Files)]) {
        let commands = commands.iter();
        let commands = commands.map(|(command, files)| (command.words.clone(), files.clone()));
        let known = TrustedFolder {
            made: made(folder),
            commands: commands.collect(),
        };
        self.folders.insert(key(folder), known);
    }

    /// Trusts nothing of a folder any more. Returns whether anything was trusted.
    pub(crate) fn forget(&mut self, folder: &Path) -> bool {
        self.folders.remove(&key(folder)).is_some()
    }

    /// The trusted folders with their commands.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, Files>)> {
        let folders = self.folders.iter();
        folders.map(|(folder, known)| (folder.as_str(), &known.commands))
    }

    /// Why a command with these files is not trusted.
    fn objection(&self, folder: &Path, command: &FolderCommand, files: &Files) -> Option<String> {
        let Some(known) = self.folders.get(&key(folder)) else {
            let why = "this folder's files name a command, and nothing was started: you have not \
                       trusted them yet";
            return Some(why.to_owned());
        };
        let what = if known.made != made(folder) {
            "this folder is another one than the folder that you trusted in its place".to_owned()
        } else if let Some(trusted) = known.commands.get(&command.words) {
            let is_new = |(file, content): &(&String, &String)| trusted.get(*file) != Some(content);
            let (file, _) = files.iter().find(is_new)?;
            let file = rolecall_core::problem::shown(file);
            format!("{file}, which the command starts, is new or was changed since you trusted it")
        } else {
            "this command is new since you trusted the folder".to_owned()
        };
        Some(format!("{what}, so nothing was started"))
    }
}

/// When a folder was made, as far as its file system knows: a text to compare.
fn made(folder: &Path) -> String {
    let metadata = real(folder).metadata();
    let made = metadata.and_then(|metadata| metadata.created());
    let since = made
        .ok()
        .and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    since.map_or_else(String::new, |since| since.as_nanos().to_string())
}

/// The file with the answers: in `ROLECALL_CONFIG`, or in the system's folder for configuration, such
/// as `~/.config/rolecall`.
fn file() -> Result<PathBuf, Failure> {
    let folder = environment::path("ROLECALL_CONFIG").or_else(|| {
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(strategy.config_dir().join("rolecall"))
    });
    let folder = folder.ok_or_else(|| {
        Failure::Request(
            "there is no folder for your configuration\n  name one with the variable \
             ROLECALL_CONFIG"
                .to_owned(),
        )
    })?;
    Ok(std::path::absolute(&folder).unwrap_or(folder).join(FILE))
}

fn key(folder: &Path) -> String {
    real(folder).to_string_lossy().into_owned()
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
