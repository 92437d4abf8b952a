//! Environment variables, as most programs take them: one that is empty is not set.

use std::path::PathBuf;

/// The text of a variable, without white space around it.
#[cfg(feature = "fetch")]
pub(crate) fn text(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Whether a variable says yes, as Python's tools around models write it: `1`, `on`, `yes` or
/// `true`.
#[cfg(feature = "fetch")]
pub(crate) fn is_yes(name: &str) -> bool {
    text(name).is_some_and(|text| {
        ["1", "on", "yes", "true"]
            .iter()
            .any(|yes| text.eq_ignore_ascii_case(yes))
    })
}

/// The path of a variable; `~` at its beginning is the user's home.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name).filter(|path| !path.is_empty())?);
    match (path.strip_prefix("~"), home()) {
        (Ok(below), Some(home)) => Some(home.join(below)),
        _ => Some(path),
    }
}

/// The user's home.
pub(crate) fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}
