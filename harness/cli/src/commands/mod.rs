//! The commands.

pub mod accept;
pub mod add;
pub mod completions;
pub mod cover;
pub mod diff;
pub mod export;
pub mod generate;
pub mod init;
pub mod list;
pub mod matrix;
pub mod mock_model;
pub mod mutate;
pub mod probe_engine;
pub mod reference;
pub mod render;
pub mod review;
pub mod serve;

pub mod roundtrip;

pub mod check;

pub mod lint;

pub mod infer;

pub mod run;

pub mod show;

#[cfg(feature = "fetch")]
pub mod fingerprint;

pub mod mask;

use std::io::{Write, stdin};

#[cfg(feature = "tokens")]
use rolecall_check::tokens::isolation::work;

use crate::args::{Arguments, Command};
use crate::failure::{Failure, Status};
use crate::report::explanation;

/// Runs a command; its result goes to `out`.
pub(crate) fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<Status, Failure> {
    match &arguments.command {
        Command::Run(arguments) => run::execute(arguments, out),
        Command::Render(arguments) => render::execute(arguments, out),
        Command::Add(arguments) => add::execute(arguments, out),
        Command::Check(arguments) => check::execute(arguments, out),
        Command::Show(arguments) => show::execute(arguments, out),
        Command::Review(arguments) => review::execute(arguments, out),
        Command::Accept(arguments) => accept::execute(arguments, out),
        Command::Init { folder } => init::execute(folder, out),
        Command::Infer(arguments) => infer::execute(arguments, out),
        Command::Cover(arguments) => cover::execute(arguments, out),
        Command::Mutate(arguments) => mutate::execute(arguments, out),
        Command::Mask(arguments) => mask::execute(arguments, out),
        Command::Generate(arguments) => generate::execute(arguments, out),
        Command::Roundtrip(arguments) => roundtrip::execute(arguments, out),
        Command::Export { folder, filters } => export::execute(folder, filters, out),
        Command::Diff(arguments) => diff::execute(arguments, out),
        Command::Matrix(arguments) => matrix::execute(arguments, out),
        Command::List(arguments) => list::execute(arguments, out),
        Command::Explain { names } => Ok(explanation::write(out, names).map(|()| Status::Fine)?),
        Command::Lint(arguments) => lint::execute(arguments, out),
        Command::Completions { shell } => completions::execute(*shell, out),
        #[cfg(feature = "fetch")]
        Command::Fingerprint(arguments) => fingerprint::execute(arguments, out),
        #[cfg(not(feature = "fetch"))]
        Command::Fingerprint(_) => Err(Failure::Request(run::NO_SERVERS.to_owned())),
        Command::MockModel(arguments) => mock_model::execute(arguments, out),
        Command::Serve { engine, limits } => serve::execute(engine, limits, out),
        Command::ProbeEngine(arguments) => probe_engine::execute(arguments, out),
        Command::Reference(command) => reference::execute(command, out),
        #[cfg(feature = "tokens")]
        Command::TokenizerWorker => Ok(work(stdin().lock(), out).map(|()| Status::Fine)?),
        Command::WatchGroups => {
            rolecall_io::protocol::watch_groups(stdin().lock());
            Ok(Status::Fine)
        }
    }
}
