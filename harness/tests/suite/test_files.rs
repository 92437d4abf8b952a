//! Tests that are files: the lines of such a file, where the files are, and which of them are tried.

use std::iter::{Peekable, Zip};
use std::ops::RangeFrom;
use std::path::{Path, PathBuf};
use std::str::Lines;

use libtest_mimic::Arguments;
use walkdir::WalkDir;

use crate::extent::is_everything;

/// A line that is wrong, and what to write instead.
pub(crate) type Malformed = (usize, String);

pub(crate) fn malformed<T>(line: usize, why: &str) -> Result<T, Malformed> {
    Err((line, why.to_owned()))
}

/// The lines of a file that are not yet read, with their numbers.
pub(crate) struct Rest<'t>(pub(crate) Peekable<Zip<RangeFrom<usize>, Lines<'t>>>);

impl<'t> Rest<'t> {
    pub(crate) fn of(text: &'t str) -> Rest<'t> {
        Rest((1..).zip(text.lines()).peekable())
    }

    /// The text of the next lines that have a mark, each behind a space.
    pub(crate) fn marked(&mut self, mark: &str) -> Option<String> {
        let text = |line: &'t str| match line.strip_prefix(mark)? {
            "" => Some(""),
            rest => rest.strip_prefix(' '),
        };
        let mut lines = Vec::new();
        while let Some((_, line)) = self.0.next_if(|(_, line)| text(line).is_some()) {
            lines.extend(text(line));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A folder of the repository.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files in a folder that have this extension, sorted.
pub(crate) fn files(
    folder: &Path,
    extension: &'static str,
) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let paths = entries.flatten().map(walkdir::DirEntry::into_path);
    paths.filter(move |path| path.extension().is_some_and(|one| one == extension))
}

/// Whether a test is left out: one of so many is tried, always the same ones, unless somebody names tests
/// or wants everything.
pub(crate) fn is_left_out(name: &str, arguments: &Arguments, one_of: u64) -> bool {
    let is_chosen = name.bytes().map(u64::from).sum::<u64>() % one_of == 0;
    !is_chosen && !is_everything() && arguments.filter.is_none()
}
