//! Finds the engines that the arguments name.

use std::path::{Path, PathBuf};

use rolecall::engines::Engines;
use rolecall::problem::closest;
use rolecall::protocol::{ProtocolEngine, ProtocolLimits};
use rolecall::reference::Reference;
use rolecall::replay::Replay;
use rolecall::suite::Suite;
use rolecall_jinja::Minijinja;
use rolecall_model::Engine;

use crate::args::RenderingArguments;
use crate::failure::Failure;
use crate::home;
use crate::limits::ChosenLimits;
#[cfg(feature = "fetch")]
use crate::servers::{Named, Server};

/// An engine that was asked for.
pub(crate) enum Choice<'e> {
    /// One of this process.
    InProcess(&'e dyn Engine),
    /// Another program.
    Program(Box<ProtocolEngine>),
    /// A server.
    #[cfg(feature = "fetch")]
    Server(Server),
    /// Results that were rendered elsewhere.
    Replay(Replay),
}

impl Choice<'_> {
    /// The engine.
    pub(crate) fn engine(&self) -> &dyn Engine {
        match self {
            Choice::InProcess(engine) => *engine,
            Choice::Program(program) => program.as_ref(),
            #[cfg(feature = "fetch")]
            Choice::Server(server) => server,
            Choice::Replay(replay) => replay,
        }
    }

    /// The other program that it is, if it is one.
    pub(crate) fn program(&self) -> Option<&ProtocolEngine> {
        match self {
            Choice::Program(program) => Some(program),
            Choice::InProcess(_) | Choice::Replay(_) => None,
            #[cfg(feature = "fetch")]
            Choice::Server(_) => None,
        }
    }

    /// Whether it is not of this process: that takes its time.
    pub(crate) fn is_slow(&self) -> bool {
        !matches!(self, Choice::InProcess(_) | Choice::Replay(_))
    }
}

/// An engine by name, or the program of a command line.
pub(crate) fn open<'e>(
    engines: &'e Engines,
    name: &str,
    limits: &ChosenLimits,
) -> Result<Choice<'e>, Failure> {
    // That one does not count all that it takes.
    if let Some(engine) = engines.by_name(name).filter(|_| name != Minijinja::PLAIN) {
        return Ok(Choice::InProcess(engine));
    }
    if let Some(reference) = Reference::by_name(name) {
        return reference_program(&reference, &limits.program)
            .map(|program| Choice::Program(Box::new(program)));
    }
    #[cfg(feature = "fetch")]
    if let Some(named) = Named::parse(name) {
        let server = named.open(&limits.program).map_err(Failure::Request)?;
        return Ok(Choice::Server(server));
    }
    let program = ProtocolEngine::spawn(words(name, limits)?, limits.program.clone())?;
    Ok(Choice::Program(Box::new(program)))
}

/// The program that an engine was set up as, `.engines/NAME` at the root of the suite; that it
/// was not, of one that can be.
fn launcher(name: &str) -> Result<Option<PathBuf>, Failure> {
    let layout = home::layout()?;
    let program = home::engines_folder(&layout).join(name);
    if name.starts_with('.') {
        return Ok(None);
    }
    if is_executable(&program) {
        // A path without a folder is looked for elsewhere.
        return Ok(Some(std::path::absolute(&program).unwrap_or(program)));
    }
    if layout.scripts().join("engines").join(name).is_dir() {
        return Err(Failure::Request(format!(
            "the engine `{name}` is not set up: {} is not there\n  `scripts/setup-engines {name}` \
             in a checkout of Rolecall sets it up",
            program.display()
        )));
    }
    Ok(None)
}

/// The names of the engines that are set up.
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

/// Whether a path leads to a program that can be started.
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

/// That there is no engine of a name.
pub(crate) fn unknown(engines: &Engines, name: &str) -> Failure {
    let set_up = set_up();
    let known: Vec<&str> = engines
        .all()
        .iter()
        .map(|engine| engine.name())
        .chain(Reference::ALL.iter().map(|reference| reference.name))
        .chain(set_up.iter().map(String::as_str))
        .collect();
    let help = closest(name, known.iter().copied())
        .map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
    let listed: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    Failure::Request(format!(
        "no engine is named `{name}`{help}\n  there are {}; a program is named by its command \
         line, such as './adapter' or 'node adapter.mjs', a server as \
         llama-server=http://127.0.0.1:8080",
        listed.join(", ")
    ))
}

/// The engines that are to be used instead of the usual ones: that of `--engine`, or else those
/// of the `rolecall.toml` around the current folder.
pub(crate) fn chosen<'e>(
    engines: &'e Engines,
    arguments: &RenderingArguments,
) -> Result<Vec<Choice<'e>>, Failure> {
    let limits = arguments.limits.chosen();
    match &arguments.engine {
        Some(name) => Ok(vec![open(engines, name, &limits)?]),
        None => configured(engines, &limits),
    }
}

/// The engines whose results stand in files.
pub(crate) fn replayed(files: &[PathBuf], suite: &Suite) -> Result<Vec<Choice<'static>>, Failure> {
    let replays = Replay::read(files, suite).map_err(|problem| Failure::Problems(vec![problem]))?;
    Ok(replays.into_iter().map(Choice::Replay).collect())
}

/// The program that `--engine` names, if it names one; `chosen` are the engines that are used.
pub(crate) fn program<'c>(
    arguments: &RenderingArguments,
    chosen: &'c [Choice<'_>],
) -> Option<&'c ProtocolEngine> {
    let named = arguments.engine.as_ref().and(chosen.first());
    named.and_then(Choice::program)
}

/// The engines of the `rolecall.toml` around the current folder.
pub(crate) fn configured<'e>(
    engines: &'e Engines,
    limits: &ChosenLimits,
) -> Result<Vec<Choice<'e>>, Failure> {
    let layout = home::layout()?;
    let Some(configuration) = layout.configuration() else {
        return Ok(Vec::new());
    };
    let mut chosen = Vec::new();
    for (dialect, name) in &configuration.engines {
        let choice = open(engines, name, limits)?;
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

/// The command line, in words, of an engine as another program: of one of this program's own, a
/// reference or one that is set up by its name, else as it is written.
pub(crate) fn words(text: &str, limits: &ChosenLimits) -> Result<Vec<String>, Failure> {
    let engines = limits.engines();
    if engines.by_name(text).is_some() {
        return served(text, limits);
    }
    let words = ProtocolEngine::words(text)?;
    if text.contains(char::is_whitespace) || text.contains(['/', '\\']) {
        return Ok(words);
    }
    let program = match Reference::by_name(text) {
        Some(reference) => Some(reference.program(&home::references_folder(&home::layout()?))?),
        None => launcher(text)?,
    };
    let program = program.ok_or_else(|| unknown(&engines, text))?;
    Ok(vec![program.to_string_lossy().into_owned()])
}

/// The command line of an engine of this program in a process of its own: what it takes too much of
/// ends that process and not this one.
fn served(name: &str, limits: &ChosenLimits) -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Request(format!("cannot find this program: {error}")))?;
    let words = [
        &program.to_string_lossy(),
        "serve",
        name,
        "--limits",
        &limits.of_render(),
    ];
    Ok(words.map(str::to_owned).to_vec())
}

/// Starts a reference, if it is installed in the versions that it should have.
pub(crate) fn reference_program(
    reference: &Reference,
    limits: &ProtocolLimits,
) -> Result<ProtocolEngine, Failure> {
    let program = reference.program(&home::references_folder(&home::layout()?))?;
    let words = vec![program.to_string_lossy().into_owned()];
    let engine = ProtocolEngine::spawn(words, limits.clone())?;
    reference.check(&engine)?;
    Ok(engine)
}
