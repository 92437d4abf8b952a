//! What a shell completes: names of contracts, engines, fronts, templates and cases, beside commands
//! and options.
//!
//! The shell asks this program, so it gets the names of the suite around the current folder. A suite
//! that cannot be read completes nothing, and nothing is said or started.

use std::ffi::OsStr;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter as _};
use rolecall_check::contract;
use rolecall_check::probe::catalogue;
use rolecall_core::Dialect;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_suite::suite::Suite;

use crate::home;

/// The variable with which a shell asks for candidates.
pub(crate) const VARIABLE: &str = "ROLECALL_COMPLETE";

/// The script for bash, which breaks words of ours at colons and equals signs.
pub(crate) const BASH: &str = include_str!("completion.bash");

/// The candidates that begin with what is typed.
fn begun(
    typed: &OsStr,
    names: impl IntoIterator<Item = impl Into<String>>,
) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let names = names.into_iter().map(Into::into);
    names
        .filter(|name| name.starts_with(typed.as_ref()))
        .map(CompletionCandidate::new)
        .collect()
}

pub(crate) fn contracts(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let of_logs = contract::LOG_RULES.iter().map(|rule| &rule.contract);
    let all = contract::ALL.iter().copied().chain(of_logs);
    all.filter(|contract| contract.id.starts_with(typed.as_ref()))
        .map(|contract| CompletionCandidate::new(contract.id).help(Some(contract.meaning.into())))
        .collect()
}

pub(crate) fn fronts(typed: &OsStr) -> Vec<CompletionCandidate> {
    begun(typed, Front::ALL.map(Front::name))
}

pub(crate) fn dialects(typed: &OsStr) -> Vec<CompletionCandidate> {
    begun(typed, Dialect::ALL.map(|dialect| dialect.to_string()))
}

/// The engines in this program, and those that `scripts/setup-engines` has set up.
pub(crate) fn engines(typed: &OsStr) -> Vec<CompletionCandidate> {
    let engines = Engines::default();
    let all = engines.all().into_iter();
    let mut names: Vec<String> = all.map(|engine| engine.name().to_owned()).collect();
    if let Ok(layout) = home::layout() {
        let entries = std::fs::read_dir(home::engines_folder(&layout));
        let entries = entries.into_iter().flatten().flatten();
        names.extend(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    }
    names.sort();
    names.dedup();
    begun(typed, names)
}

/// Two engines, separated by a comma.
pub(crate) fn engine_pairs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let Some((first, second)) = text.rsplit_once(',') else {
        return engines(typed);
    };
    let candidates = engines(OsStr::new(second)).into_iter();
    candidates
        .map(|candidate| candidate.add_prefix(format!("{first},")))
        .collect()
}

/// The suite around the current folder.
fn suite() -> Option<Suite> {
    Some(Suite::load_layout(&home::layout().ok()?))
}

fn templates(typed: &OsStr) -> Vec<CompletionCandidate> {
    let suite = suite();
    let templates = suite.iter().flat_map(|suite| &suite.templates);
    begun(typed, templates.map(|template| template.name.as_str()))
}

pub(crate) fn cases(typed: &OsStr) -> Vec<CompletionCandidate> {
    let suite = suite();
    let cases = suite.iter().flat_map(|suite| &suite.cases);
    begun(typed, cases.map(|case| case.id.to_string()))
}

/// The cases, and the conversations of the report card.
pub(crate) fn cases_and_probes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = cases(typed);
    let probes = catalogue::ALL.iter();
    all.extend(begun(
        typed,
        probes.map(|probe| format!("probe/{}", probe.name)),
    ));
    all
}

/// A template, or behind a colon a case.
pub(crate) fn filters(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    match text.split_once(':') {
        Some((template, case)) => cases(OsStr::new(case))
            .into_iter()
            .map(|candidate| candidate.add_prefix(format!("{template}:")))
            .collect(),
        None => templates(typed),
    }
}

pub(crate) fn templates_or_paths(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = templates(typed);
    all.extend(PathCompleter::any().complete(typed));
    all
}

pub(crate) fn filters_or_paths(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = filters(typed);
    all.extend(PathCompleter::any().complete(typed));
    all
}
