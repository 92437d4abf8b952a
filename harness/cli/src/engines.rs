//! The engines that the arguments name.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::report::diagnostic::died;
#[cfg(feature = "fetch")]
use crate::servers::{Credentials, Server, ServerName};
use rolecall_core::file::is_there;
use rolecall_core::invocation;
use rolecall_core::problem::{misspelt, shown, with_did_you_mean};
use rolecall_core::{Engine, TemplateReader};
use rolecall_front::engines::Engines;
use rolecall_io::protocol::{DeathCount, ProtocolEngine, ProtocolLimits};
use rolecall_suite::reference::Reference;
use rolecall_suite::saved_run::SavedRun;

use crate::allowed::{self, is_own_checkout};
use crate::failure::{Failure, complain};
use crate::limits::ChosenLimits;
use crate::{home, program};

/// An engine that the user chose.
pub(crate) enum ChosenEngine<'e> {
    InProcess(&'e dyn Engine),
    Program(Box<ProtocolEngine>),
    #[cfg(feature = "fetch")]
    Server(Server),
}

impl ChosenEngine<'_> {
    pub(crate) fn engine(&self) -> &dyn Engine {
        match self {
            ChosenEngine::InProcess(engine) => *engine,
            ChosenEngine::Program(program) => program.as_ref(),
            #[cfg(feature = "fetch")]
            ChosenEngine::Server(server) => server,
        }
    }

    /// The external program, if the engine is one.
    pub(crate) fn program(&self) -> Option<&ProtocolEngine> {
        match self {
            ChosenEngine::Program(program) => Some(program),
            ChosenEngine::InProcess(_) => None,
            #[cfg(feature = "fetch")]
            ChosenEngine::Server(_) => None,
        }
    }

    /// The engine with its description, if it is a server that parses answers.
    pub(crate) fn reading_server(&self) -> Option<(&dyn TemplateReader, String)> {
        match self {
            #[cfg(feature = "fetch")]
            ChosenEngine::Server(server) if server.reads_answers() => {
                Some((server, server.description()))
            }
            _ => None,
        }
    }

    /// Whether the engine is outside of this process, which makes it slow.
    pub(crate) fn is_slow(&self) -> bool {
        !matches!(self, ChosenEngine::InProcess(_))
    }
}

/// An engine by the name on the command line, or the program of a command line.
pub(crate) fn open<'e>(
    engines: &'e Engines,
    name: &str,
    limits: &ChosenLimits,
) -> Result<ChosenEngine<'e>, Failure> {
    open_with(true, engines, name, limits)
}

/// An engine by name. Only a server that the user names is given a key: somebody else may have written
/// a `rolecall.toml`.
fn open_with<'e>(
    #[cfg_attr(not(feature = "fetch"), allow(unused_variables))] has_keys: bool,
    engines: &'e Engines,
    name: &str,
    limits: &ChosenLimits,
) -> Result<ChosenEngine<'e>, Failure> {
    // The names of this program come first, so that no file of a folder can take the place of one.
    if let Some(engine) = engines.by_name(name) {
        return Ok(ChosenEngine::InProcess(engine));
    }
    if let Some(reference) = Reference::by_name(name) {
        return reference_program(&reference, &limits.program)
            .map(|program| ChosenEngine::Program(Box::new(program)));
    }
    #[cfg(feature = "fetch")]
    if let Some(named) = ServerName::parse(name) {
        let credentials = if has_keys {
            Credentials::FromEnvironment
        } else {
            Credentials::None
        };
        let server = named.open(&limits.program, credentials);
        let server = server.map_err(Failure::Request)?;
        return Ok(ChosenEngine::Server(server));
    }
    #[cfg(not(feature = "fetch"))]
    if name.contains("=http://") || name.contains("=https://") {
        return Err(Failure::Request(format!(
            "`{name}` is a server, and this program was built without the feature `fetch`\n  in \
             the repository, `cargo run --package rolecall-cli --` has it"
        )));
    }
    let program = started(&words(name, limits)?, &limits.program)?;
    Ok(ChosenEngine::Program(Box::new(program)))
}

/// The programs that this process has started, by name, each with the count of its deaths.
static STARTED: Mutex<Vec<(String, DeathCount)>> = Mutex::new(Vec::new());

/// Starts a program. Its deaths are reported at the end of the command.
fn started(words: &[String], limits: &ProtocolLimits) -> Result<ProtocolEngine, Failure> {
    let program = ProtocolEngine::spawn(words, limits.clone())?;
    let mut all = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    all.push((program.name().to_owned(), program.death_count()));
    Ok(program)
}

/// Writes which programs died in requests that they answered when they were asked again. Returns
/// whether there are any: then nothing that they answered is beyond doubt.
pub(crate) fn complain_of_deaths() -> bool {
    let all = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut have_died = false;
    for (name, count) in &*all {
        let deaths = count.deaths();
        if deaths.count > 0 {
            complain(&shown(&died(name, &deaths)));
            have_died = true;
        }
    }
    have_died
}

/// The program of an engine that was set up: `.engines/NAME` at the root of the suite. An error if
/// `NAME` can be set up but was not.
fn launcher(name: &str) -> Result<Option<PathBuf>, Failure> {
    let layout = home::layout()?;
    let program = home::engines_folder(&layout).join(name);
    if name.starts_with('.') {
        return Ok(None);
    }
    if is_executable(&program) {
        if !is_own_checkout(&layout) {
            allowed::require(&allowed::of_program(&layout, &program))?;
        }
        // The system searches `PATH` for a program without a folder.
        return Ok(Some(std::path::absolute(&program).unwrap_or(program)));
    }
    if layout.scripts().join("engines").join(name).is_dir() {
        return Err(Failure::Request(format!(
            "the engine `{name}` is not set up: {} is not there\n  `scripts/setup-engines {}` in a \
             checkout of Rolecall sets it up",
            program.display(),
            invocation::word(name)
        )));
    }
    Ok(None)
}

/// The names of the engines that were set up.
fn set_up() -> Vec<String> {
    let folder = home::layout().map(|layout| home::engines_folder(&layout));
    let entries = folder.map(std::fs::read_dir).into_iter().flatten();
    let files = entries
        .flatten()
        .flatten()
        .filter(|entry| is_executable(&entry.path()));
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

/// Whether a path leads to a program that this user can start.
fn is_executable(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        metadata.is_file()
    }
}

/// The present name of an engine that had another one in earlier versions. Other names stay as they
/// are.
pub(crate) fn name_now(name: &str) -> &str {
    if name == "gotmpl" {
        "rolecall-go"
    } else {
        name
    }
}

/// The error for an unknown engine.
pub(crate) fn unknown(engines: &Engines, name: &str) -> Failure {
    if name == "minijinja" {
        return Failure::Request(
            "plain `minijinja` is no engine of this program any more\n  in a checkout of Rolecall, \
             `scripts/setup-engines minijinja` sets it up; `rolecall-jinja` has the prompts of \
             transformers"
                .to_owned(),
        );
    }
    let set_up = set_up();
    let known: Vec<&str> = engines
        .all()
        .iter()
        .map(|engine| engine.name())
        .chain(Reference::ALL.iter().map(|reference| reference.name))
        .chain(set_up.iter().map(String::as_str))
        .collect();
    let message = format!("no engine is named `{name}`");
    let message = with_did_you_mean(message, name_now(name), &known);
    let listed: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    Failure::Request(format!(
        "{message}\n  there are {}; a program is named by its command \
         line, such as './adapter' or 'node adapter.mjs', a server as \
         llama-server=http://127.0.0.1:8080",
        listed.join(", ")
    ))
}

/// The engines of the `rolecall.toml` around the current folder.
pub(crate) fn configured<'e>(
    engines: &'e Engines,
    limits: &ChosenLimits,
) -> Result<Vec<ChosenEngine<'e>>, Failure> {
    let layout = home::layout()?;
    let Some(configuration) = layout.configuration() else {
        return Ok(Vec::new());
    };
    let mut chosen = Vec::new();
    for (dialect, name) in &configuration.engines {
        // The engines of this program and the user's own references need no word.
        if engines.by_name(name).is_none() && Reference::by_name(name).is_none() {
            let known = engines.all().into_iter().map(Engine::name);
            let known = known.chain(Reference::ALL.iter().map(|reference| reference.name));
            // Otherwise the name would count as a command of the folder, and the help would say to
            // allow it.
            if misspelt(name_now(name), known).is_some() && !is_there(&layout.root().join(name)) {
                return Err(unknown(engines, name));
            }
            allowed::require(&allowed::of_line(configuration, dialect.name(), name))?;
        }
        let choice = open_with(false, engines, name, limits)?;
        let found = choice.engine().dialect();
        if found != *dialect {
            return Err(Failure::Request(format!(
                "{}: the engine `{name}` is for {found} templates, not for {dialect}",
                configuration.path.display()
            )));
        }
        chosen.push(choice);
    }
    Ok(chosen)
}

/// The command line, in words, that runs an engine as an external program: one of this program's
/// own engines, a reference, or an engine that was set up. Other texts stay as they are.
pub(crate) fn words(text: &str, limits: &ChosenLimits) -> Result<Vec<String>, Failure> {
    let engines = limits.engines();
    if SavedRun::is_one(Path::new(text)) {
        return Err(Failure::Request(format!(
            "{} has saved results, and is no engine\n  `diff A B` compares two such files",
            shown(text)
        )));
    }
    if engines.by_name(text).is_some() {
        return served(text, limits);
    }
    let words = ProtocolEngine::words(text)?;
    // No engine has such a name: this is a command line or a path.
    if text.contains(char::is_whitespace) || text.contains(['/', '\\']) {
        return Ok(words);
    }
    let program = match Reference::by_name(text) {
        Some(reference) => Some(installed(&reference)?),
        None => launcher(text)?,
    };
    let program = program.ok_or_else(|| unknown(&engines, text))?;
    Ok(vec![program.to_string_lossy().into_owned()])
}

/// The command line that runs one of this program's engines in a process of its own.
fn served(name: &str, limits: &ChosenLimits) -> Result<Vec<String>, Failure> {
    program::again(&["serve", name, "--limits", &limits.of_render()])
        .map_err(|error| Failure::Request(format!("cannot find this program: {error}")))
}

fn installed(reference: &Reference) -> Result<PathBuf, Failure> {
    let layout = home::layout()?;
    let found = reference.program(&home::references_folder(&layout)?);
    let installed = home::checkout_references(&layout).join(reference.name);
    if found.is_err() && layout.is_checkout() && installed.is_file() {
        // It is there, and the user has not said that it may be started.
        allowed::require(&allowed::of_program(&layout, &installed))?;
    }
    Ok(found?)
}

/// Starts a reference if it is installed in the right versions.
pub(crate) fn reference_program(
    reference: &Reference,
    limits: &ProtocolLimits,
) -> Result<ProtocolEngine, Failure> {
    let program = installed(reference)?;
    let words = vec![program.to_string_lossy().into_owned()];
    let engine = started(&words, limits)?;
    reference.check(&engine)?;
    Ok(engine)
}
