//! Names by paths.

use std::path::Path;

/// A file's name without the extension.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The name of a file or folder, also where the path ends in `.` or `..`.
pub(super) fn name_of(path: &Path) -> String {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    name(path)
        .or_else(|| name(&path.canonicalize().ok()?))
        .unwrap_or_else(|| "model".to_owned())
}
