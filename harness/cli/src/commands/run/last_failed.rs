//! Which pairs failed in the last run of a suite, for `run --last-failed`.
//!
//! A file in the user's cache has a line for each of them. A run of a part of the suite leaves the
//! lines of the other pairs as they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rolecall_core::file::{is_there, read_text, write_whole};
use rolecall_core::fingerprint::Checksum;
use rolecall_suite::conclusion::Fault;
use rolecall_suite::layout::Layout;
use rolecall_suite::run::Compared;
use rolecall_suite::suite::Pair;

use crate::args::RunArguments;
use crate::cache::cache_folder;
use crate::failure::tell;

/// The pairs that failed in the last runs of a suite with an engine.
pub(crate) struct LastFailed {
    path: PathBuf,
    names: BTreeSet<String>,
}

impl LastFailed {
    /// What is known of a suite and the engine that the user names. `None` without a suite or a cache.
    pub(crate) fn of(layout: Option<&Layout>, arguments: &RunArguments) -> Option<LastFailed> {
        // Only the suite's own records say what is wrong.
        if !arguments.against.is_empty() {
            return None;
        }
        // The root of a suite in the current folder is an empty path.
        let root = Path::new(".").join(layout?.root()).canonicalize().ok()?;
        let engine = arguments.rendering.engine.as_deref().unwrap_or_default();
        let which = Checksum::of(format!("{}\0{engine}", root.display()));
        let path = cache_folder()?.join("last-failed").join(which.to_string());
        // A file that cannot be read is as good as none: the next run writes it anew.
        let text = if is_there(&path) {
            read_text(&path).unwrap_or_default()
        } else {
            String::new()
        };
        Some(LastFailed {
            path,
            names: text.lines().map(str::to_owned).collect(),
        })
    }

    /// The pairs to run: with `--last-failed` those that failed, or all if none of them did.
    pub(crate) fn chosen<'s>(
        known: Option<&LastFailed>,
        arguments: &RunArguments,
        pairs: Vec<Pair<'s>>,
    ) -> Vec<Pair<'s>> {
        match known {
            Some(known) if arguments.last_failed => known.only(pairs),
            _ => pairs,
        }
    }

    fn only<'s>(&self, pairs: Vec<Pair<'s>>) -> Vec<Pair<'s>> {
        let failed = pairs.iter().filter(|pair| self.names.contains(&name(pair)));
        let failed: Vec<Pair<'s>> = failed.copied().collect();
        if failed.is_empty() {
            tell("none of these pairs failed in the last run, so all of them are run");
            return pairs;
        }
        failed
    }

    /// Learns how a pair did.
    pub(crate) fn learn(known: &mut Option<LastFailed>, compared: &Compared<'_>) {
        if let Some(known) = known {
            known.add(compared);
        }
    }

    fn add(&mut self, compared: &Compared<'_>) {
        let name = name(&compared.rendered.pair);
        if Fault::of(compared).is_some() {
            self.names.insert(name);
        } else {
            self.names.remove(&name);
        }
    }

    /// Writes what failed. That it cannot be written harms nothing but the next `--last-failed`.
    pub(crate) fn write(&self) {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let text = names.join("\n");
        if text.len() <= MOST {
            let _ = write_whole(&self.path, text);
        }
    }
}

/// The most bytes of a file: a million pairs that all fail need no list.
const MOST: usize = 8 << 20;

fn name(pair: &Pair<'_>) -> String {
    format!("{} {}", pair.template.name, pair.case.id)
}
