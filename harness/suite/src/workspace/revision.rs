//! Templates as they were in a revision of a Git repository: `REVISION:PATH`.
//!
//! The program `git` reads the files. They are written into a temporary folder, byte for byte as
//! Git has them, and loaded from there like any others. Nothing in the repository changes.

// The folder is new, and nobody else knows its name.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::suite::Suite;
use rolecall_core::file::is_there;
use rolecall_core::invocation;
use rolecall_core::problem::{closest, meant};
use rolecall_io::template_file::sidecar;
use tempfile::TempDir;

use crate::failure::Failure;
use rolecall_io::git::{self, GitObjects};

/// The most bytes of a file: everything that sources read of a model is smaller.
const MOST: u64 = 64 << 20;
/// The most bytes of all files of a folder.
const MOST_TOGETHER: u64 = 512 << 20;
/// The most files of a folder.
const MOST_FILES: usize = 10_000;
/// The beginning of a Git LFS pointer, which Git has in place of the file.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revision<'t> {
    /// The name of the revision: `HEAD~1`, a branch, a tag, a hash.
    name: &'t str,
    /// The path, from the top of the repository, or after `./` from the current folder.
    path: &'t str,
}

/// The files of a revision. They exist as long as this value.
#[derive(Debug)]
pub struct RevisionFiles {
    folder: TempDir,
    /// The text that replaces the folder in names of files.
    prefix: String,
    /// The requested path, in the folder.
    pub path: PathBuf,
    /// The same path in the user's files, if there is such a path.
    pub now: Option<PathBuf>,
}

/// A file that Git has below a path.
#[derive(Debug)]
struct GitFile {
    /// 100644 and such for files, 120000 for links, 160000 for other repositories.
    mode: String,
    hash: String,
    /// From the top of the repository.
    path: String,
}

impl<'t> Revision<'t> {
    /// The revision and the path of a text. None if nothing in the text can be a revision.
    pub fn parse(text: &'t str) -> Option<Revision<'t>> {
        let (name, path) = text.split_once(':')?;
        let is_drive = name.len() == 1 && cfg!(windows);
        let is_name = !name.is_empty() && !name.starts_with('-') && !is_drive;
        // `hf:` and `ollama:` begin the names of models, and `https:` begins an address.
        let is_other = matches!(name, "hf" | "ollama") || path.starts_with("//");
        (is_name && !is_other).then_some(Revision { name, path })
    }

    /// Whether the repository around the current folder has the revision.
    pub fn exists(&self) -> bool {
        let tree = format!("{}^{{tree}}", self.name);
        git::output(&["rev-parse", "--verify", "--quiet", &tree]).is_ok()
    }

    /// The error for an unknown revision, in words.
    pub fn unknown(&self) -> String {
        let Err(error) = git::output(&["rev-parse", "--git-dir"]) else {
            let refs =
                git::output(&["for-each-ref", "--format=%(refname:short)"]).unwrap_or_default();
            let refs = String::from_utf8_lossy(&refs).into_owned();
            let has_commits = git::output(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
            let near = closest(self.name, refs.lines().chain(has_commits.then_some("HEAD")));
            let help = match near {
                Some(name) => meant(format_args!("{name}:{}", self.path)),
                None if has_commits => "`git log --oneline` lists those of this branch".to_owned(),
                None => "it has no commit on this branch yet".to_owned(),
            };
            return format!(
                "no file is named `{}:{}`, and no revision of this Git repository `{}`\n  {help}",
                self.name, self.path, self.name
            );
        };
        format!(
            "no file `{}:{}`, and as a Git revision it cannot be read: {error}",
            self.name, self.path
        )
    }

    /// Writes the revision's files at the path into a temporary folder.
    pub fn extract(&self) -> Result<RevisionFiles, Failure> {
        let top = self.git(&["rev-parse", "--show-prefix"])?;
        let top = String::from_utf8_lossy(&top)
            .trim_end_matches('\n')
            .to_owned();
        let path = self.path_from_top(&top)?;
        let entries = self.entries(&path)?;
        let is_file = entries.iter().any(|entry| entry.path == path);
        if let Some(entry) = entries.iter().find(|entry| entry.path == path)
            && !entry.mode.starts_with("100")
        {
            let what = if entry.mode == "120000" {
                "a link: name what it leads to"
            } else {
                "another repository: name a path in that one"
            };
            return Err(self.failure(&format!("is {what}")));
        }
        let wanted = if is_file {
            let sidecar = sidecar(Path::new(&path));
            let sidecar = sidecar.to_string_lossy().replace('\\', "/");
            let sidecars = self.entries_of(&[&sidecar])?;
            let other = sidecars.into_iter().filter(|entry| entry.path != path);
            entries.into_iter().chain(other).collect()
        } else {
            entries
        };
        let wanted: Vec<GitFile> = wanted
            .into_iter()
            .filter(|entry| entry.mode.starts_with("100") && (is_file || may_be_read(&entry.path)))
            .collect();
        if wanted.len() > MOST_FILES {
            return Err(self.failure("has too many files: name a folder in it"));
        }
        let folder = TempDir::with_prefix("rolecall-")?;
        // A folder's name is the model's name. Git has no name for the top folder.
        let root = folder.path().join(self.repository());
        std::fs::create_dir_all(&root)?;
        self.write(&wanted, &root)?;
        let now = self.top().map(|top| top.join(&path));
        Ok(RevisionFiles {
            now: now.filter(|path| is_there(path)),
            path: if path.is_empty() {
                root
            } else {
                root.join(&path)
            },
            prefix: format!("{}:", self.name),
            folder,
        })
    }

    /// The path from the top of the repository, as Git spells it.
    fn path_from_top(&self, here: &str) -> Result<String, Failure> {
        let given = self.path.replace('\\', "/");
        let is_relative = given == "." || given.starts_with("./") || given.starts_with("../");
        let whole = if is_relative {
            format!("{here}{given}")
        } else {
            given
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in whole.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_some() => {}
                ".." => return Err(self.failure("leads out of the repository")),
                part => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    /// Everything at a path and below it.
    fn entries(&self, path: &str) -> Result<Vec<GitFile>, Failure> {
        let entries = self.entries_of(&[path])?;
        if !entries.is_empty() {
            return Ok(entries);
        }
        let here = format!("./{path}");
        let here = Revision {
            path: &here,
            ..*self
        };
        let is_here = here.git(&["cat-file", "-e", &format!("{}:{}", here.name, here.path)]);
        if is_here.is_ok() {
            let help = meant(format_args!("{}:{}", here.name, here.path));
            return Err(self.missing(&help));
        }
        let all = self.git(&[
            "ls-tree",
            "-r",
            "-z",
            "--full-tree",
            "--name-only",
            self.name,
        ])?;
        let all = String::from_utf8_lossy(&all).into_owned();
        let files = all.split('\0').map(Path::new);
        let names: BTreeSet<_> = files
            .flat_map(Path::ancestors)
            .filter_map(Path::to_str)
            .filter(|name| !name.is_empty())
            .collect();
        let help = closest(path, names.iter().copied()).map_or_else(
            || {
                format!(
                    "`git ls-tree -r --full-tree --name-only {}` lists what there is",
                    invocation::word(self.name)
                )
            },
            |near| meant(format_args!("{}:{near}", self.name)),
        );
        Err(self.missing(&help))
    }

    fn entries_of(&self, paths: &[&str]) -> Result<Vec<GitFile>, Failure> {
        let mut arguments = vec!["ls-tree", "-r", "-z", "--full-tree", self.name];
        let named: Vec<&str> = paths
            .iter()
            .copied()
            .filter(|path| !path.is_empty())
            .collect();
        if !named.is_empty() {
            arguments.push("--");
            arguments.extend(named);
        }
        let listed = self.git(&arguments)?;
        let mut entries = Vec::new();
        for line in listed
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            let line = String::from_utf8_lossy(line);
            let Some((facts, path)) = line.split_once('\t') else {
                continue;
            };
            let facts: Vec<&str> = facts.split(' ').collect();
            if let [mode, _, hash] = facts.as_slice() {
                entries.push(GitFile {
                    mode: (*mode).to_owned(),
                    hash: (*hash).to_owned(),
                    path: path.to_owned(),
                });
            }
        }
        Ok(entries)
    }

    /// The folder that holds the repository.
    fn top(&self) -> Option<PathBuf> {
        let top = self.git(&["rev-parse", "--show-toplevel"]).ok()?;
        Some(PathBuf::from(String::from_utf8_lossy(&top).trim_end()))
    }

    /// The name of the folder that holds the repository.
    fn repository(&self) -> PathBuf {
        let top = self.top().unwrap_or_default();
        top.file_name()
            .map_or_else(|| PathBuf::from("repository"), PathBuf::from)
    }

    fn write(&self, entries: &[GitFile], root: &Path) -> Result<(), Failure> {
        let mut objects = GitObjects::open().map_err(|error| self.failure(&error))?;
        let mut left = MOST_TOGETHER;
        for entry in entries {
            let of_entry =
                |error: String| Failure::Request(format!("{}:{}: {error}", self.name, entry.path));
            let bytes = objects
                .read(&entry.hash, MOST.min(left))
                .map_err(of_entry)?;
            left -= bytes.len() as u64;
            if bytes.starts_with(LFS) && is_template(&entry.path) {
                let message = "Git has only a pointer to it, because it is stored with Git LFS";
                return Err(of_entry(message.to_owned()));
            }
            let is_plain = |part: &str| !matches!(part, "" | "." | ".." | ".git");
            if !entry.path.split('/').all(is_plain) {
                continue;
            }
            let path = root.join(&entry.path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        git::output(arguments).map_err(|error| self.failure(&format!("cannot be read: {error}")))
    }

    fn failure(&self, message: &str) -> Failure {
        Failure::Request(format!("{}:{} {message}", self.name, self.path))
    }

    fn missing(&self, help: &str) -> Failure {
        Failure::Request(format!(
            "the revision `{}` has no file or folder `{}`\n  {help}",
            self.name, self.path
        ))
    }
}

impl RevisionFiles {
    /// Names files by their revision in messages.
    pub fn rename(&self, suite: &mut Suite) {
        let rename = |path: &mut PathBuf| {
            let below = path.strip_prefix(self.folder.path()).ok();
            // The first part of the path is the repository itself.
            let below = below.map(|below| below.iter().skip(1).collect::<PathBuf>());
            if let Some(below) = below {
                *path = PathBuf::from(format!("{}{}", self.prefix, below.display()));
            }
        };
        suite
            .problems
            .iter_mut()
            .for_each(|problem| rename(&mut problem.path));
        suite
            .notes
            .iter_mut()
            .for_each(|note| rename(&mut note.path));
        for template in &mut suite.templates {
            rename(&mut template.path);
            for (_, named) in &mut template.named {
                rename(&mut named.path);
            }
        }
    }
}

/// Whether a source may read a file with this name, unlike the weights of a model.
fn may_be_read(path: &str) -> bool {
    let extension = Path::new(path).extension().unwrap_or_default();
    let extension = extension.to_string_lossy().to_lowercase();
    extension == "json" || is_template(path)
}

fn is_template(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let endings = [".jinja", ".jinja2", ".j2", ".gotmpl", ".gguf", ".modelfile"];
    name.starts_with("modelfile") || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_comes_before_the_first_colon() {
        let parsed = |text| Revision::parse(text).map(|revision| (revision.name, revision.path));
        assert_eq!(parsed("HEAD~1:a/b.jinja"), Some(("HEAD~1", "a/b.jinja")));
        assert_eq!(parsed("v1.0:"), Some(("v1.0", "")));
        for text in [
            "a.jinja",
            ":a",
            "--x:y",
            "hf:org/name",
            "ollama:gemma3:12b",
            "https://x/y",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn paths_are_from_the_top_unless_they_begin_with_a_dot() {
        let from_top = |path| {
            let revision = Revision { name: "HEAD", path };
            revision
                .path_from_top("sub/")
                .map_err(|error| error.to_string())
        };
        assert_eq!(from_top("a/b/"), Ok("a/b".to_owned()));
        assert_eq!(from_top("./a"), Ok("sub/a".to_owned()));
        assert_eq!(from_top("../a"), Ok("a".to_owned()));
        assert_eq!(from_top(""), Ok(String::new()));
        assert_eq!(
            from_top("../../a"),
            Err("HEAD:../../a leads out of the repository".to_owned())
        );
    }
}
