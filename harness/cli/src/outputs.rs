//! The files that the user names to be written. None of them is an input of the command, and none
//! replaces a file of another kind, whose name was probably a mistake.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command as Parser};
use rolecall_check::known_defects;
use rolecall_check::published::Index;
use rolecall_core::Dialect;
use rolecall_core::file::{Outputs, folder_of, replaceable};
use rolecall_core::problem::Problem;
use rolecall_io::protocol::ProtocolEngine;
use rolecall_io::source;
use rolecall_io::template_file::dialect_of;
use rolecall_suite::configuration::{self, Configuration};
use rolecall_suite::layout::Layout;

use crate::args::WRITTEN;
use crate::failure::Failure;

/// What the arguments of a command name.
#[derive(Debug, Default)]
pub(crate) struct Named {
    outputs: Vec<Output>,
    /// The values of all other arguments.
    others: Vec<String>,
}

#[derive(Debug)]
struct Output {
    /// The command and the option, such as `mask --write`.
    name: String,
    path: PathBuf,
}

/// The option that may put marks into the very template that it reads.
const MARKS: &str = "mask --write";

impl Named {
    /// What the parsed arguments name. The parser says which of them are outputs.
    pub(crate) fn of(parser: &Parser, parsed: &ArgMatches) -> Named {
        let mut named = Named::default();
        named.add(parser, parsed, parsed.subcommand_name().unwrap_or_default());
        named
    }

    fn add(&mut self, parser: &Parser, parsed: &ArgMatches, command: &str) {
        // Below the top, the parser repeats what holds for all commands.
        let is_below = parser.get_name() == command;
        for argument in parser.get_arguments() {
            let id = argument.get_id().as_str();
            let is_repeated = is_below && argument.is_global_set();
            if is_repeated || parsed.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            for value in parsed.get_raw(id).into_iter().flatten() {
                if argument.get_value_hint() == WRITTEN {
                    let name = format!("{command} --{}", argument.get_long().unwrap_or(id));
                    let path = PathBuf::from(value);
                    self.outputs.push(Output { name, path });
                } else {
                    self.others.push(value.to_string_lossy().into_owned());
                }
            }
        }
        if let Some((name, parsed)) = parsed.subcommand()
            && let Some(parser) = parser.find_subcommand(name)
        {
            self.add(parser, parsed, name);
        }
    }

    /// The files that are to be written.
    #[cfg(feature = "watch")]
    pub(crate) fn written(&self) -> Vec<&Path> {
        self.outputs.iter().map(|one| one.path.as_path()).collect()
    }

    /// Checks each of the files before the command begins. The result knows them until it is dropped.
    ///
    /// # Errors
    ///
    /// One of them is an input, holds something else than what would replace it, is named twice, or
    /// cannot be written.
    pub(crate) fn hold(&self) -> Result<Arc<Outputs>, Failure> {
        let mut names = HashSet::new();
        let mut files = Vec::new();
        for Output { name, path } in &self.outputs {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let folder = folder_of(path).canonicalize().unwrap_or_default();
            // Many systems do not tell capital letters from small ones.
            if !names.insert(folder.join(file.to_lowercase())) {
                let message = "two results would go into this file";
                let problem = Problem::new(path, message);
                return Err(problem.help("name another file for one of them").into());
            }
            hold_kind(name, path)?;
            // The folder is kept. What is replaced in it are the files of an earlier run.
            if name == "generate --write" && path.is_dir() {
                let entries = path.read_dir().into_iter().flatten().flatten();
                let is_generated = |path: &PathBuf| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    name.starts_with("generated-") && name.ends_with(".json")
                };
                files.extend(entries.map(|entry| entry.path()).filter(is_generated));
            } else if name != MARKS {
                replaceable(path)?;
                files.push(path.clone());
            }
        }
        let outputs = Outputs::of(&files);
        // A file may be a part of an argument: `log.jsonl:17`, or a word of a command line.
        for text in &self.others {
            let before = text.rsplit_once(':').map(|(file, _)| file.to_owned());
            let words = ProtocolEngine::words(text).unwrap_or_default();
            let words = words.into_iter().chain(before);
            let words: Vec<PathBuf> = words.chain([text.clone()]).map(PathBuf::from).collect();
            outputs.hold(words.iter().map(PathBuf::as_path))?;
        }
        outputs.hold(std::iter::empty())?;
        Ok(outputs)
    }
}

/// Fails if there is no folder for a file, or if what is there is of another kind.
fn hold_kind(name: &str, path: &Path) -> Result<(), Problem> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        let message = format!("there is no folder {} for it", folder.display());
        return Err(Problem::new(path, message).help("make the folder first, or name another file"));
    }
    if !path.is_file() {
        return Ok(());
    }
    let (command, option) = name.split_once(' ').unwrap_or_default();
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_result = command == "mock-model" && extension == "gguf";
    let other = match option {
        _ if name == MARKS => {
            (dialect_of(path) != Some(Dialect::Jinja)).then_some("no Jinja template")
        }
        "--html" => {
            (extension != "html" && extension != "htm").then_some("no page ending with .html")
        }
        "--write-index" => (!Index::is_one(path)).then_some("no index"),
        "--write-baseline" => (!known_defects::is_baseline(path)).then_some("no baseline"),
        "--output" if source::is_source(path) && !is_result => Some("a template"),
        _ => is_of_suite(path).then_some("a part of a suite"),
    };
    let Some(what) = other else {
        return Ok(());
    };
    let message = format!("this file is {what}, and {option} would replace it");
    Err(Problem::new(path, message)
        .help("name another file; or remove this one first, if it is to go"))
}

/// Whether a file is one of the suite around it: its `rolecall.toml`, an input, a snapshot or a record.
fn is_of_suite(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_default();
    let folder = folder_of(&real);
    let layout = match Layout::find_configuration(folder) {
        Some(file) => Configuration::read(&file)
            .map(|own| Layout::own(own, &Layout::builtin("")))
            .ok(),
        None => Layout::find(folder),
    };
    let parts = layout.map_or_else(Vec::new, |layout| layout.parts());
    let mut parts = parts.iter().filter_map(|part| part.canonicalize().ok());
    // A configuration that cannot be read is one, too.
    path.ends_with(configuration::FILE) || parts.any(|part| real.starts_with(part))
}
