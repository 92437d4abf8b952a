//! Finds imports that run upwards, and the shortest circle.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use super::modules::{Module, Modules};

/// An import that runs upwards.
pub(crate) struct Upwards<'m> {
    file: &'m Path,
    line: usize,
    target: &'m [String],
    is_own_folder: bool,
}

impl fmt::Display for Upwards<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target: Vec<&str> = std::iter::once("crate")
            .chain(self.target.iter().map(String::as_str))
            .collect();
        let why = if self.is_own_folder {
            "in which it is"
        } else {
            "which is above it"
        };
        write!(
            f,
            "{}:{} imports {}, {why}",
            self.file.display(),
            self.line,
            target.join("::")
        )
    }
}

/// The imports of a crate that run upwards.
pub(crate) fn upwards(modules: &Modules) -> Vec<Upwards<'_>> {
    let mut found = Vec::new();
    for module in modules.iter() {
        for import in &module.imports {
            let Some(target) = modules.get(&import.path) else {
                continue;
            };
            let is_own_folder = module.path.starts_with(&target.path);
            // A `mod.rs` is above everything in its folder.
            let is_downwards = target.path.starts_with(&module.path) || target.place < module.place;
            if is_own_folder || !is_downwards {
                found.push(Upwards {
                    file: &module.file,
                    line: import.line,
                    target: &target.path,
                    is_own_folder,
                });
            }
        }
    }
    found
}

/// A path from a file back to itself, if there is one: the shortest for the first file that has
/// one.
pub(crate) fn circle(modules: &Modules) -> Option<String> {
    let mut ways: Vec<Vec<&Module>> = modules
        .iter()
        .filter_map(|m| way_back(modules, m))
        .collect();
    ways.sort_by_key(Vec::len);
    let way = ways.first()?;
    let names: Vec<String> = way
        .iter()
        .map(|module| module.file.display().to_string())
        .collect();
    Some(names.join(" → "))
}

/// The shortest path from a module back to itself.
fn way_back<'m>(modules: &'m Modules, start: &'m Module) -> Option<Vec<&'m Module>> {
    let mut seen = HashSet::new();
    let mut ways = vec![vec![start]];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in &ways {
            let last = way.last()?;
            for import in &last.imports {
                let Some(next) = modules.get(&import.path) else {
                    continue;
                };
                let way = [way.as_slice(), &[next]].concat();
                if std::ptr::eq(next, start) {
                    return Some(way);
                }
                if seen.insert(&next.path) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}
