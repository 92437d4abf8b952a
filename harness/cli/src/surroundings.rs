//! What is around the current folder where there is no suite: somebody's project, a model, or a
//! misspelt `rolecall.toml`.
//!
//! The built-in suite is there for everybody, in any folder. A user who believes that it tests
//! their own templates would take its result for theirs. So commands with a verdict do not use it in
//! a folder that looks like somebody's own, unless the user asks for it with `--builtin`.

use std::path::{Path, PathBuf};

use rolecall::configuration;
use rolecall::problem::closest;
use rolecall::source;

use crate::failure::Failure;

/// Files and folders that are at the root of a project.
const PROJECT: [&str; 9] = [
    ".git",
    ".hg",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "build.gradle",
];

/// The extensions of templates, and of files with templates in them.
const TEMPLATES: [&str; 5] = ["jinja", "jinja2", "j2", "gotmpl", "gguf"];

/// The extensions of files that somebody could take for a configuration.
const CONFIGURATIONS: [&str; 12] = [
    "toml", "tml", "tom", "yaml", "yml", "json", "ini", "cfg", "txt", "bak", "old", "orig",
];

/// What is around a folder that has no suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// A file that was probably meant to be `rolecall.toml`.
    Misspelt(PathBuf),
    /// Templates or a model in the folder itself.
    Templates(String),
    /// The root of a project, here or above, and the file that shows it.
    Project(PathBuf),
    /// Nothing of this kind.
    Nothing,
}

impl Surroundings {
    /// Looks around a folder: in it, and in the folders above up to the root of the project or the
    /// user's home.
    pub(crate) fn of(folder: &Path) -> Surroundings {
        let home = etcetera::home_dir().ok();
        let mut project = None;
        for above in folder.ancestors() {
            if let Some(file) = misspelt(above) {
                return Surroundings::Misspelt(file);
            }
            // Many people keep their settings in a repository at their home.
            if home.as_deref() == Some(above) {
                break;
            }
            project = PROJECT
                .iter()
                .map(|name| above.join(name))
                .find(|path| path.symlink_metadata().is_ok());
            if project.is_some() {
                break;
            }
        }
        if source::is_model(folder) {
            return Surroundings::Templates("a model".to_owned());
        }
        if let Some(name) = names(folder).find(|name| is_template(name)) {
            return Surroundings::Templates(format!("`{name}`"));
        }
        project.map_or(Surroundings::Nothing, Surroundings::Project)
    }

    /// Why a command with a verdict does not use the built-in suite here. Nothing where it may.
    ///
    /// A user who names an engine asks for that engine, not for the project's templates, so a
    /// project alone does not stop them.
    pub(crate) fn refusal(&self, names_engine: bool) -> Option<Failure> {
        let found = match self {
            Surroundings::Nothing => return None,
            Surroundings::Project(_) if names_engine => return None,
            Surroundings::Misspelt(file) => {
                return Some(Failure::Request(format!(
                    "there is no {file_name} here, so nothing of yours would be tested\n  should \
                     the name of {shown} be {file_name}? {BUILTIN}",
                    file_name = configuration::FILE,
                    shown = shown(file),
                )));
            }
            Surroundings::Templates(what) => format!("this folder has {what}"),
            Surroundings::Project(file) => {
                format!("there is a project here ({})", shown(file))
            }
        };
        Some(Failure::Request(format!(
            "{found}, but no {}, so nothing of yours would be tested\n  `rolecall check PATH` \
             prints the report card of a template or model, and `rolecall init` makes a suite of \
             your own here; {BUILTIN}",
            configuration::FILE,
        )))
    }
}

const BUILTIN: &str = "`--builtin` runs the suite that comes with Rolecall";

/// A path as messages show it: by name in this folder, otherwise whole.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// The names of what is in a folder, sorted. None of a folder that cannot be read.
fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.into_iter()
}

fn is_template(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| TEMPLATES.contains(&extension.to_lowercase().as_str()))
        || name == "Modelfile"
}

/// A file of a folder that was probably meant to be the configuration.
fn misspelt(folder: &Path) -> Option<PathBuf> {
    let name = names(folder).find(|name| is_misspelt(name))?;
    Some(folder.join(name))
}

fn is_misspelt(name: &str) -> bool {
    if name == configuration::FILE {
        return false;
    }
    let plain = name.trim_start_matches('.').to_lowercase();
    let plain = plain.replace(['_', ' ', '-'], "");
    let Some((stem, rest)) = plain.split_once('.') else {
        return false;
    };
    let is_configuration = rest
        .split('.')
        .all(|extension| CONFIGURATIONS.contains(&extension.trim_end_matches('~')));
    is_configuration && (stem.starts_with("rolecall") || closest(stem, ["rolecall"]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_meant_to_be_the_configuration() {
        for name in [
            "rolecal.toml",
            "Rolecall.toml",
            "rollcall.toml",
            ".rolecall.toml",
            "role-call.toml",
            "rolecall.tml",
            "rolecall.yaml",
            "rolecall.toml.bak",
            "rolecall.toml.txt",
            "rolecall.toml~",
            "rolecalls.toml",
        ] {
            assert!(is_misspelt(name), "{name}");
        }
        for name in [
            "rolecall.toml",
            "rolecall.md",
            "rolecall",
            "poetry.toml",
            "Cargo.toml",
            "roles.json",
            "ruff.toml",
        ] {
            assert!(!is_misspelt(name), "{name}");
        }
    }

    #[test]
    fn folders_are_told_by_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let project = folder.path().join("pyproject.toml");
        std::fs::write(&project, "").unwrap();
        assert_eq!(
            Surroundings::of(&below),
            Surroundings::Project(project.clone())
        );
        let found = Surroundings::of(&below);
        assert!(found.refusal(false).is_some() && found.refusal(true).is_none());
        std::fs::write(below.join("chat_template.jinja"), "").unwrap();
        let found = Surroundings::of(&below);
        assert_eq!(
            found,
            Surroundings::Templates("`chat_template.jinja`".to_owned())
        );
        assert!(found.refusal(true).is_some());
        let misspelt = folder.path().join("rolecal.toml");
        std::fs::write(&misspelt, "").unwrap();
        assert_eq!(Surroundings::of(&below), Surroundings::Misspelt(misspelt));
    }
}
