//! Writing an export into its folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::file::{is_there, read_text};
use crate::problem::Problem;

/// The file that says what there is.
pub(super) const MANIFEST: &str = "manifest.json";

/// Writes files, by their paths below a folder, into that folder. A folder that is there has to
/// be empty or an export: it is replaced as a whole.
pub(super) fn write(files: &BTreeMap<String, String>, folder: &Path) -> Result<(), Problem> {
    // What a link names is replaced, and the link stays.
    let folder = &folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_there = is_there(folder);
    if is_there && !may_be_replaced(folder) {
        let help = format!(
            "nothing was written: name another folder, or an export, which has a {MANIFEST}"
        );
        return Err(Problem::new(folder, "is neither empty nor an export").help(help));
    }
    let failed =
        |error: std::io::Error| Problem::new(folder, format!("cannot be written: {error}"));
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(failed)?;
    // It goes away by itself, with what is in it.
    let draft = tempfile::Builder::new()
        .prefix(".rolecall-")
        .suffix(".draft")
        .tempdir_in(parent)
        .map_err(failed)?;
    let whole = draft.path().join("new");
    for (path, text) in files {
        let path = whole.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, text).map_err(failed)?;
    }
    let before = draft.path().join("old");
    if is_there {
        fs::rename(folder, &before).map_err(failed)?;
    }
    fs::rename(&whole, folder).map_err(|error| {
        // What was there comes back; where even that fails, it is in the draft's folder.
        let _ = fs::rename(&before, folder);
        failed(error)
    })
}

/// Whether a folder is empty or an export.
fn may_be_replaced(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return false;
    };
    let is_export = || {
        let manifest = read_text(&folder.join(MANIFEST)).ok();
        let manifest = manifest.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        manifest.is_some_and(|manifest| {
            manifest.get("format").is_some() && manifest.get("rolecall").is_some()
        })
    };
    entries.next().is_none() || is_export()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_export(text: &str, folder: &Path) -> Result<(), Problem> {
        let manifest = r#"{"format": 1, "rolecall": "0.0.0"}"#;
        let files = [
            (MANIFEST.to_owned(), manifest.to_owned()),
            (format!("templates/{text}"), text.to_owned()),
        ];
        write(&files.into(), folder)
    }

    #[test]
    fn an_export_replaces_an_export_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b");
        write_export("one", &folder).unwrap();
        write_export("two", &folder).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("templates/two")).unwrap(),
            "two"
        );
        assert!(!folder.join("templates/one").exists());
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);

        let other = parent.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("mine"), "mine").unwrap();
        let problem = write_export("three", &other).unwrap_err().to_string();
        assert!(problem.contains("neither empty nor an export"), "{problem}");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
        fs::remove_file(other.join("mine")).unwrap();
        write_export("three", &other).unwrap();
        assert!(other.join("templates/three").exists());
    }
}
