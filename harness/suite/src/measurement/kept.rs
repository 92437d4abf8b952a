//! Folders of measurements: those of a suite, and the user's over the built-in suite.

use std::path::{Path, PathBuf};

use crate::layout::Layout;
use crate::reference::Identity;
use rolecall_core::file::{is_draft, read_text, write_below};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::invocation;
use rolecall_core::json;
use rolecall_core::naming::is_portable;
use rolecall_core::owner::is_ours;
use rolecall_core::problem::Problem;
use rolecall_core::rows;

use super::results::Measurement;

impl Measurement {
    /// The name of who was measured, with the version: as in the names of files, and in options.
    pub fn name(&self) -> String {
        format!("{}@{}", self.engine.engine, self.engine.version)
    }

    fn text(&self) -> String {
        checked(&rows::text(self))
    }

    fn read(path: &Path) -> Result<Measurement, Problem> {
        let read = json::read(path, &read_text(path)?, "the measurement of an engine");
        let mut kept: Measurement = read.map_err(|problem| problem.help(help()))?;
        kept.settle();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A copy under another name would count an engine twice.
        if file_name(&kept.engine).as_deref() == Some(&*name) {
            return Ok(kept);
        }
        let message = format!(
            "the measurement of {}, in a file with another name",
            kept.engine
        );
        Err(Problem::new(path, message).help(help()))
    }

    /// Writes the file into a suite, or over the built-in suite into the user's folder. Returns its
    /// path, and whether it changed.
    pub fn write(&self, layout: &Layout) -> Result<(PathBuf, bool), Problem> {
        let (folder, within) = own_folder(layout);
        let name = file_name(&self.engine).ok_or_else(|| {
            let message = format!("{} cannot be the name of a file", self.name());
            Problem::new(&folder, message)
                .help("an engine says its name and its version in the first answer of the protocol")
        })?;
        let path = folder.join(name);
        if Measurement::read(&path).is_ok_and(|kept| kept.is_same(self)) {
            return Ok((path, false));
        }
        write(&within, &path, self.text())?;
        Ok((path, true))
    }
}

/// The name of the file for an engine and its version. None if these cannot be the name of a file
/// on every system.
pub fn file_name(engine: &Identity) -> Option<String> {
    let plain = |text: &str| -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        let kept = text.chars().map(|c| if allowed(c) { c } else { '-' });
        kept.collect::<String>().trim_matches(['-', '.']).to_owned()
    };
    let name = format!("{}@{}", plain(&engine.engine), plain(&engine.version));
    let is_name = !name.starts_with('@') && is_portable(&name);
    is_name.then(|| format!("{name}.json"))
}

/// Writes a file that must not leave a folder.
fn write(within: &Path, path: &Path, text: String) -> Result<(), Problem> {
    let whole = |path: &Path| std::path::absolute(Path::new(".").join(path));
    let refused = |error| Problem::new(path, format!("cannot be written: {error}"));
    let (within, file) = (whole(within), whole(path));
    write_below(&within.map_err(refused)?, &file.map_err(refused)?, text)
}

/// A text with its checksum at its end: it shows changes by hand that nobody else would notice.
fn checked(whole: &str) -> String {
    let whole = whole.trim_end_matches("\n}\n");
    let checksum = Fingerprint::of(whole);
    format!("{whole},\n  \"checksum\": \"{checksum}\"\n}}\n")
}

/// The folder of the measurements of a suite.
fn folder(layout: &Layout) -> PathBuf {
    layout.snapshots().join("engines")
}

/// The folder of measurements over the built-in suite, which itself is not written to.
const OWN_FOLDER: &str = "rolecall-engines";

/// The folder that holds the user's measurements over the built-in suite: the current one, or the
/// nearest one above it that has such measurements, as a `rolecall.toml` is found from below. A
/// folder of another user above is not the user's.
fn above_own() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let mut up = PathBuf::new();
    for (at, folder) in here.ancestors().enumerate() {
        let own = folder.join(OWN_FOLDER);
        if own.is_dir() && (at == 0 || is_ours(folder) && is_ours(&own)) {
            return up;
        }
        up.push("..");
    }
    PathBuf::new()
}

/// Where a measurement over a suite is written: the folder of the files, and the folder that it must
/// not leave.
fn own_folder(layout: &Layout) -> (PathBuf, PathBuf) {
    if layout.is_read_only() {
        let above = above_own();
        (above.join(OWN_FOLDER), above)
    } else {
        (folder(layout), layout.snapshots())
    }
}

/// All measurements over a suite, by name, and the problems with the files that cannot be
/// read. Those over the built-in suite are the built-in ones and the user's: of one engine the user's.
pub fn read_all(layout: &Layout) -> (Vec<Measurement>, Vec<Problem>) {
    let (mut kept, mut problems) = read_folder(&folder(layout));
    if layout.is_read_only() {
        let (own, of_own) = read_folder(&own_folder(layout).0);
        kept.retain(|one| own.iter().all(|other| other.name() != one.name()));
        kept.extend(own);
        problems.extend(of_own);
    }
    kept.sort_by_key(Measurement::name);
    (kept, problems)
}

/// The problems with the files of a suite's measurements. A measurement that is out of date is none.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    let problem = |path: PathBuf| match Measurement::read(&path) {
        Err(problem) => Some(problem),
        Ok(kept) if read_text(&path).ok() != Some(kept.text()) => {
            let message = "edited after it was written";
            Some(Problem::new(path, message).help(help()))
        }
        Ok(_) => None,
    };
    paths(&folder(layout))
        .into_iter()
        .filter_map(problem)
        .collect()
}

fn read_folder(folder: &Path) -> (Vec<Measurement>, Vec<Problem>) {
    let mut kept = Vec::new();
    let mut problems = Vec::new();
    for path in paths(folder) {
        match Measurement::read(&path) {
            Ok(one) => kept.push(one),
            Err(problem) => problems.push(problem),
        }
    }
    (kept, problems)
}

fn paths(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder);
    let paths = entries.into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = paths.map(|entry| entry.path()).collect();
    // Earlier versions kept other measurements in a folder below.
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    paths.retain(|path| !path.is_dir() && !is_draft(&name(path)));
    paths.sort();
    paths
}

fn help() -> String {
    format!(
        "it is written by `{}`, never by hand",
        invocation::command("matrix update")
    )
}
