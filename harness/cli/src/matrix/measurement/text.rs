//! The files of measurements.

use std::path::{Path, PathBuf};

use super::kept::{self, Kept, help, own_folder};
use super::results::Measurement;
use rolecall_core::file::{read_text, write_below};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json;
use rolecall_core::naming::is_portable;
use rolecall_core::problem::Problem;
use rolecall_core::rows;
use rolecall_suite::layout::Layout;
use rolecall_suite::reference::Identity;

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

impl Kept for Measurement {
    const FOLDER: &'static str = "";

    fn read(path: &Path) -> Result<Measurement, Problem> {
        read(path)
    }

    fn text(&self) -> String {
        self.text()
    }

    fn name(&self) -> String {
        self.name()
    }
}

/// All measurements over a suite, by name, and the problems with the files that cannot be read.
pub fn read_all(layout: &Layout) -> (Vec<Measurement>, Vec<Problem>) {
    kept::all(layout)
}

/// The problems with the files of a suite's measurements. A measurement that is out of date is
/// none.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    kept::problems::<Measurement>(layout)
}

pub fn read(path: &Path) -> Result<Measurement, Problem> {
    let text = read_text(path)?;
    let what = "the measurement of an engine";
    let read = json::read(path, &text, what);
    let mut measurement: Measurement = read.map_err(|problem| problem.help(help()))?;
    if let Some(constructs) = &mut measurement.constructs {
        let differ = std::mem::take(&mut constructs.differ).into_iter();
        let dialect = measurement.dialect;
        constructs.differ = differ
            .map(|(name, found)| (format!("{dialect}-{name}"), found))
            .collect();
    }
    measurement.settle();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if file_name(&measurement.engine).as_deref() == Some(&*name) {
        Ok(measurement)
    } else {
        let message = format!(
            "the measurement of {}, in a file with another name",
            measurement.engine
        );
        Err(Problem::new(path, message).help(help()))
    }
}

/// Writes a file that must not leave a folder.
pub(crate) fn write(within: &Path, path: &Path, text: String) -> Result<(), Problem> {
    let whole = |path: &Path| std::path::absolute(Path::new(".").join(path));
    let refused = |error| Problem::new(path, format!("cannot be written: {error}"));
    let (within, file) = (whole(within), whole(path));
    write_below(&within.map_err(refused)?, &file.map_err(refused)?, text)
}

/// A text with its checksum at its end: it shows changes by hand that nobody else would notice.
pub(crate) fn checked(whole: &str) -> String {
    let whole = whole.trim_end_matches("\n}\n");
    let checksum = Fingerprint::of(whole);
    format!("{whole},\n  \"checksum\": \"{checksum}\"\n}}\n")
}

impl Measurement {
    /// The file's text. Each template, each family, and each family's cases with one difference
    /// have one line.
    pub fn text(&self) -> String {
        checked(&rows::text(self))
    }

    /// Writes the measurement's file into a suite, or over the built-in suite into
    /// `rolecall-engines` of the user's folder. Returns its path, and whether it changed. Another speed alone is no change.
    pub fn write(&self, layout: &Layout) -> Result<(PathBuf, bool), Problem> {
        let (folder, within) = own_folder(layout);
        let name = file_name(&self.engine).ok_or_else(|| {
            let message = format!("{} cannot be the name of a file", self.name());
            Problem::new(&folder, message)
                .help("an engine says its name and its version in the first answer of the protocol")
        })?;
        let path = folder.join(name);
        if read(&path).is_ok_and(|kept| kept.is_same(self)) {
            return Ok((path, false));
        }
        write(&within, &path, self.text())?;
        Ok((path, true))
    }

    /// Whether both measurements say the same, apart from their speeds.
    pub fn is_same(&self, other: &Measurement) -> bool {
        let timeless = |one: &Measurement| Measurement {
            pairs_per_second: 0,
            deaths: 0,
            ..one.clone()
        };
        timeless(self) == timeless(other)
    }
}
