//! The files of these measurements.

use std::path::{Path, PathBuf};

use rolecall_core::file::read_text;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json;
use rolecall_core::problem::Problem;
use rolecall_core::rows;
use rolecall_suite::layout::Layout;
use rolecall_suite::reference::Reference;

use super::results::RoundtripMeasurement;
use crate::matrix::measurement::kept::{self, Kept, ROUNDTRIP, help, own_folder};
use crate::matrix::measurement::{checked, file_name, write};

impl RoundtripMeasurement {
    /// The file's text.
    pub fn text(&self) -> String {
        checked(&rows::text(self))
    }

    /// Writes the measurement's file into a suite, or over the built-in suite into the user's folder.
    /// Returns its path, and whether it changed.
    pub fn write(&self, layout: &Layout) -> Result<(PathBuf, bool), Problem> {
        let (folder, within) = own_folder(layout);
        let folder = folder.join(ROUNDTRIP);
        let name = file_name(&self.reader).ok_or_else(|| {
            let message = format!("{} cannot be the name of a file", self.name());
            Problem::new(&folder, message).help("a reader has a name and a version")
        })?;
        let path = folder.join(name);
        if read(&path).is_ok_and(|kept| kept == *self) {
            return Ok((path, false));
        }
        write(&within, &path, self.text())?;
        Ok((path, true))
    }
}

impl Kept for RoundtripMeasurement {
    const FOLDER: &'static str = ROUNDTRIP;

    fn read(path: &Path) -> Result<RoundtripMeasurement, Problem> {
        read(path)
    }

    fn text(&self) -> String {
        self.text()
    }

    fn name(&self) -> String {
        self.name()
    }
}

/// All of these measurements over a suite, those of references first, then by name, and the problems
/// with the files that cannot be read.
pub fn read_all(layout: &Layout) -> (Vec<RoundtripMeasurement>, Vec<Problem>) {
    let (mut measurements, problems) = kept::all(layout);
    // The others are next to the references. Sorting keeps their order.
    let is_other = |one: &RoundtripMeasurement| Reference::by_name(&one.reader.engine).is_none();
    measurements.sort_by_key(is_other);
    (measurements, problems)
}

/// The problems with the files of a suite's measurements of this kind.
pub fn problems(layout: &Layout) -> Vec<Problem> {
    kept::problems::<RoundtripMeasurement>(layout)
}

pub fn read(path: &Path) -> Result<RoundtripMeasurement, Problem> {
    let text = read_text(path)?;
    let what = "the measurement of a reader";
    let read = json::read(path, &text, what);
    let mut measurement: RoundtripMeasurement = read.map_err(|problem| problem.help(help()))?;
    measurement.checksum = Fingerprint::of("");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if file_name(&measurement.reader).as_deref() != Some(&*name) {
        let reader = &measurement.reader;
        let message = format!("the measurement of {reader}, in a file with another name");
        return Err(Problem::new(path, message).help(help()));
    }
    Ok(measurement)
}
