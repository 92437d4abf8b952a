//! The surroundings of the current folder where there is no suite: somebody's project, a model, or
//! a misspelt `rolecall.toml`.
//!
//! The built-in suite is there for everybody, in any folder. A user who believes that it tests
//! their own templates would take its result for theirs. So commands with a verdict use it only in
//! an empty folder that belongs to no project, unless the user asks for it with `--builtin`.

use std::path::{Path, PathBuf};

use crate::configuration;
use crate::snapshot::CARDS;
use rolecall_core::problem::closest;
use rolecall_io::source;

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

/// The files that `init` writes, besides the configuration.
const WORKFLOW: &str = ".github/workflows/rolecall.yml";

/// Files that a system puts into any folder which it shows.
const OF_SYSTEMS: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// The extensions of files that somebody could take for a configuration.
const CONFIGURATIONS: [&str; 12] = [
    "toml", "tml", "tom", "yaml", "yml", "json", "ini", "cfg", "txt", "bak", "old", "orig",
];

/// The surroundings of a folder that has no suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Surroundings {
    /// A file that was probably meant to be `rolecall.toml`.
    Misspelt(PathBuf),
    /// Templates or a model in the folder itself.
    Templates(String),
    /// What belongs to a suite, here or above, and has lost its configuration.
    Remains(PathBuf),
    /// The root of a project, here or above, and the file that shows it.
    Project(PathBuf),
    /// Some file or folder of somebody's.
    Something(String),
    /// Nothing: an empty folder that belongs to no project.
    Nothing,
}

impl Surroundings {
    /// Looks around a folder: in it, and in the folders above up to the root of the project or the
    /// user's home.
    pub fn find(folder: &Path) -> Surroundings {
        let home = std::env::home_dir();
        let mut remains = None;
        let mut project = None;
        for above in folder.ancestors() {
            if let Some(file) = misspelt(above) {
                return Surroundings::Misspelt(file);
            }
            remains = remains.or_else(|| remains_of_suite(above));
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
        let here = names(folder);
        if source::is_model(folder) {
            return Surroundings::Templates("a model".to_owned());
        }
        let has_template = |name: &&String| source::is_source(&folder.join(name));
        if let Some(name) = here.iter().flatten().find(has_template) {
            return Surroundings::Templates(format!("`{name}`"));
        }
        if let Some(found) = remains {
            return Surroundings::Remains(found);
        }
        if let Some(found) = project {
            return Surroundings::Project(found);
        }
        match here.as_deref() {
            Some([]) => Surroundings::Nothing,
            Some([first, ..]) => Surroundings::Something(format!("`{first}`")),
            None => Surroundings::Something("files that cannot be read".to_owned()),
        }
    }

    /// Why a command with a verdict does not use the built-in suite here. Nothing where it may.
    ///
    /// A user who names an engine asks for that engine, not for the project's templates, so a
    /// project alone does not stop them.
    pub fn refusal(&self, names_engine: bool) -> Option<Failure> {
        let found = match self {
            Surroundings::Nothing => return None,
            Surroundings::Project(_) | Surroundings::Something(_) if names_engine => return None,
            Surroundings::Misspelt(file) => {
                return Some(Failure::Request(format!(
                    "there is no {file_name} here, so nothing of yours would be tested\n  should \
                     the name of {shown} be {file_name}? {BUILTIN}",
                    file_name = configuration::FILE,
                    shown = shown(file),
                )));
            }
            Surroundings::Templates(what) => format!("this folder has {what}"),
            Surroundings::Remains(path) => {
                format!("here is a part of a suite ({})", shown(path))
            }
            Surroundings::Project(file) => {
                format!("there is a project here ({})", shown(file))
            }
            Surroundings::Something(what) => format!("this folder is not empty, it has {what}"),
        };
        Some(Failure::Request(format!(
            "{found}, but there is no {}, so nothing of yours would be tested\n  `rolecall check \
             PATH` prints the report card of a template or model, and `rolecall init` makes a \
             suite of your own here; {BUILTIN}",
            configuration::FILE,
        )))
    }
}

/// The folder of the repository that a folder belongs to, which may not exist yet. A repository at the
/// user's home has their settings, and does not count.
pub fn repository_of(folder: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(folder).ok()?;
    let there = whole
        .ancestors()
        .find_map(|above| above.canonicalize().ok())?;
    let home = std::env::home_dir();
    let mut above = there
        .ancestors()
        .take_while(|above| home.as_deref() != Some(above));
    let root = above.find(|above| above.join(".git").symlink_metadata().is_ok());
    root.map(Path::to_path_buf)
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

/// The names of the entries of a folder, sorted. None of a folder that cannot be read.
fn names(folder: &Path) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let name = entry.ok()?.file_name().to_string_lossy().into_owned();
        if !OF_SYSTEMS.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort();
    Some(names)
}

/// What a folder has of a suite: its workflow, or accepted snapshots.
fn remains_of_suite(folder: &Path) -> Option<PathBuf> {
    let workflow = folder.join(WORKFLOW);
    if workflow.exists() {
        return Some(workflow);
    }
    let snapshots = folder.join("snapshots");
    let is_accepted = |file: &String| {
        let extension = Path::new(file).extension();
        extension.is_some_and(|extension| extension == "snap") || file == "reference.json"
    };
    let folders = [snapshots.clone(), snapshots.join(CARDS)];
    let mut names = folders.iter().filter_map(|folder| names(folder)).flatten();
    names.any(|file| is_accepted(&file)).then_some(snapshots)
}

/// A file of a folder that was probably meant to be the configuration.
fn misspelt(folder: &Path) -> Option<PathBuf> {
    let name = names(folder)?.into_iter().find(|name| is_misspelt(name))?;
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
    fn only_an_empty_folder_is_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        assert_eq!(Surroundings::find(here), Surroundings::Nothing);
        std::fs::write(here.join(".DS_Store"), "").unwrap();
        assert_eq!(Surroundings::find(here), Surroundings::Nothing);
        std::fs::create_dir(here.join(".svn")).unwrap();
        let found = Surroundings::find(here);
        assert_eq!(found, Surroundings::Something("`.svn`".to_owned()));
        assert!(found.refusal(false).is_some() && found.refusal(true).is_none());
    }

    #[test]
    fn folders_are_known_by_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        std::fs::create_dir(&below).unwrap();
        let project = folder.path().join("pyproject.toml");
        std::fs::write(&project, "").unwrap();
        assert_eq!(
            Surroundings::find(&below),
            Surroundings::Project(project.clone())
        );
        let found = Surroundings::find(&below);
        assert!(found.refusal(false).is_some() && found.refusal(true).is_none());
        std::fs::write(below.join("chat_template.jinja"), "").unwrap();
        let found = Surroundings::find(&below);
        assert_eq!(
            found,
            Surroundings::Templates("`chat_template.jinja`".to_owned())
        );
        assert!(found.refusal(true).is_some());
        std::fs::remove_file(below.join("chat_template.jinja")).unwrap();
        let accepted = folder.path().join("snapshots/plain.snap");
        std::fs::create_dir_all(accepted.parent().unwrap()).unwrap();
        std::fs::write(accepted, "").unwrap();
        let found = Surroundings::find(&below);
        let remains = folder.path().join("snapshots");
        assert_eq!(found, Surroundings::Remains(remains));
        assert!(found.refusal(true).is_some());
        let misspelt = folder.path().join("rolecal.toml");
        std::fs::write(&misspelt, "").unwrap();
        assert_eq!(Surroundings::find(&below), Surroundings::Misspelt(misspelt));
    }
}
