//! Environment variables. As in most programs, an empty variable counts as unset.

use std::path::PathBuf;

/// The text of a variable, without white space around it.
pub fn text(name: &str) -> Option<String> {
    let text = std::env::var(name).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Whether a variable says yes, as Python's tools around models write it: `1`, `on`, `yes` or
/// `true`.
pub fn is_yes(name: &str) -> bool {
    text(name).is_some_and(|text| {
        ["1", "on", "yes", "true"]
            .iter()
            .any(|yes| text.eq_ignore_ascii_case(yes))
    })
}

/// The path of a variable; `~` at its beginning is the user's home.
pub fn path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(name).filter(|path| !path.is_empty())?);
    match (path.strip_prefix("~"), home()) {
        (Ok(below), Some(home)) => Some(home.join(below)),
        _ => Some(path),
    }
}

/// The user's home folder, as the system names it. None if the system knows none.
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}
