#![doc = include_str!("../README.md")]
//!
//! The crate parses the arguments, calls the library, and turns the result into a report and an exit
//! code. Each module uses only modules above it in the list.

#![cfg_attr(test, allow(clippy::disallowed_methods))]
#![cfg_attr(not(test), deny(clippy::string_slice))]

#[cfg(feature = "fetch")]
pub mod servers;

pub mod report;

mod failure;
mod limits;

mod data;
mod program;

mod cache;

mod allowed;

mod home;

mod completion;
mod terminal;

mod args;

mod interactive;

mod conversations;

mod inputs;
mod output;
mod outputs;

mod engines;
mod page;

#[cfg(feature = "fetch")]
mod served;

mod vocabulary;

mod session;

mod cards;
mod coverage;
mod references;

mod roundtrip;

mod likeness;

pub mod commands;

pub mod library;

#[cfg(feature = "schema")]
pub mod schemas;

#[cfg(feature = "watch")]
mod watch;

use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use crate::report::clean;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use clap_complete::CompleteEnv;
use rolecall_core::guard;
use rolecall_core::invisible::is_obeyed;
use rolecall_core::invocation::{self, Site};
use rolecall_core::problem::shown;
use rolecall_io::protocol;
use rolecall_suite::workspace::is_place;

pub use program::Started;

use failure::{Failure, Status, complain};
use output::Sink;
use outputs::Named;

/// Runs the command and finishes its output.
fn execute(arguments: &args::Arguments, named: &Named) -> Result<Status, Failure> {
    allowed::allow(arguments.output.allow_engines);
    home::choose(arguments.output.builtin);
    // The command's own: it ends with the command, after the last result is written.
    let _outputs = named.hold()?;
    #[cfg(feature = "watch")]
    if arguments.command.is_watched() {
        return watch::repeat(&named.written());
    }
    #[cfg(not(feature = "watch"))]
    if arguments.command.is_watched() {
        return Err(Failure::Request(
            "this program was built without the feature `watch`, and sees no file change\n  in the \
             repository, `cargo run --package rolecall-cli --` has it"
                .to_owned(),
        ));
    }
    let mut sink = Sink::open(&arguments.output, &arguments.command)?;
    let status = commands::execute(arguments, &mut sink)?;
    sink.close()?;
    Ok(status)
}

/// Prints what the parser of the arguments says: help, the version, or what is wrong with them.
fn answer(error: &clap::Error) -> u8 {
    let meant = meant(error);
    // It may repeat an argument, and that may be the name of a file that somebody else chose.
    let text = error.render().to_string();
    let mut arguments = program::arguments().into_iter();
    let is_harmless = clean::plain(text.as_bytes()) == text
        && !arguments.any(|one| one.to_string_lossy().contains(is_obeyed));
    let printed = if is_harmless {
        error.print()
    } else {
        clean::messages().write_all(text.as_bytes())
    };
    if let Some(hint) = meant {
        failure::tell(&format!("\n{hint}"));
    }
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&Failure::Output(error).to_string());
            2
        }
        _ => u8::try_from(error.exit_code()).unwrap_or(2),
    }
}

/// The names that commands and options had, and those that they have now.
const RENAMED: [(&str, &str); 18] = [
    ("man", "help COMMAND"),
    ("parity", "diff A B"),
    ("puppet", "mock-model"),
    ("read-back", "roundtrip"),
    ("--common", "diff --engines A,B"),
    ("--differ", "diff --engines A,B"),
    ("--downloads", "check MODEL MODEL"),
    ("--html", "run --html FILE"),
    ("--last-failed", "run FILTER…"),
    ("--prove", "lint FILE --templates TEMPLATE"),
    ("--read-back", "--roundtrip"),
    ("--recorded", "roundtrip --cases FILE"),
    (
        "--roundtrip",
        "roundtrip --engine READER`, or `run --roundtrip",
    ),
    ("--results", "diff A B"),
    ("--shard", "run FILTER…"),
    ("trust", "--allow-engines"),
    ("--twins", "diff A B"),
    ("--write-recorded", "roundtrip --all"),
];

/// What a user probably meant: a command by its old name, or a template in the place of a command.
fn meant(error: &clap::Error) -> Option<String> {
    let kind = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    let ContextValue::String(word) = error.get(kind)? else {
        return None;
    };
    if let Some((_, now)) = RENAMED.iter().find(|(old, _)| old == word) {
        return Some(format!("`{word}` is now `{now}`"));
    }
    if ["--accept", "--bless", "--update", "-u"].contains(&word.as_str()) {
        let commands = ["accept", "review"].map(invocation::command);
        return Some(format!(
            "to accept new results: {}",
            shown(&commands.join(", or "))
        ));
    }
    let is_command = kind == ContextKind::InvalidSubcommand;
    (is_command && is_place(word)).then(|| {
        let command = invocation::command(&format!("check {}", invocation::word(word)));
        format!("to check a template or a model: {}", shown(&command))
    })
}

/// Starts the threads that read files side by side. If the system gives no more threads, this one
/// reads them all.
fn start_readers() {
    if rayon::ThreadPoolBuilder::new().build_global().is_err() {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1);
        // If this fails, too, the readers themselves say so.
        let _ = alone.use_current_thread().build_global();
    }
}

/// The stack of the command: the usual one of a program, whatever `ulimit -s` gives to this one.
const STACK: usize = 8 << 20;

/// Runs the command that this process's arguments name.
pub fn main() -> ExitCode {
    let thread = thread::Builder::new().stack_size(STACK);
    let ended = match thread.spawn(|| run(Started::as_process())) {
        Ok(command) => command.join().unwrap_or_else(|panic| resume_unwind(panic)),
        // The system gives no more threads.
        Err(_) => run(Started::as_process()),
    };
    ExitCode::from(ended)
}

/// Runs a command, once in a process, and returns its exit code.
pub fn run(started: Started) -> u8 {
    // The words of a panic may be those of a template.
    std::panic::set_hook(Box::new(|info| {
        complain(&format!("internal error, please report: {info}"));
    }));
    guard::keep_quiet();
    start_readers();
    program::set(started);
    if let Ok(words) = program::again(&["watch-groups"]) {
        protocol::watch_with(words);
    }
    let folder = std::env::current_dir().ok();
    let complete = CompleteEnv::with_factory(args::Arguments::command).var(completion::VARIABLE);
    match complete.try_complete(program::arguments(), folder.as_deref()) {
        Ok(false) => {}
        Ok(true) => return 0,
        Err(error) => return answer(&error),
    }
    let arguments = program::as_files_after_dashes(program::arguments());
    let mut parser = args::parser(&arguments);
    let parsed = parser.try_get_matches_from_mut(arguments).and_then(|all| {
        let arguments = args::Arguments::from_arg_matches(&all);
        let arguments = arguments.map_err(|error| error.format(&mut parser))?;
        Ok((arguments, Named::of(&parser, &all)))
    });
    let (arguments, named) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return answer(&error),
    };
    if let Some(folder) = folder {
        invocation::set(Site::of(&folder));
        invocation::set_reference_check(home::has_references);
    }
    let ended = execute(&arguments, &named);
    let internal_errors = guard::take_internal_errors();
    for one in &internal_errors {
        complain(one);
    }
    let have_died = engines::complain_of_deaths() || !internal_errors.is_empty();
    match ended {
        Ok(Status::Fine) if have_died => Status::Nonconforming.code(),
        Ok(Status::BadInput) => {
            failure::complain_of_input();
            Status::BadInput.code()
        }
        Ok(status) => status.code(),
        Err(failure) => {
            complain(&failure::text(&failure));
            2
        }
    }
}
