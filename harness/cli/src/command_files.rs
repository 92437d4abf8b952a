//! The files that a command of a folder starts, as far as words name them.
//!
//! A line such as `jinja = "./run.sh"` says little about what runs: `run.sh` may start another
//! program, and that may load others. So a file that a command names counts as a part of it, and so
//! does each file that is named in one of those, with or without the ending of its name. Only files
//! below the folder count: whatever is elsewhere does not come with the folder. What a program loads
//! by a name that it builds is not known.

use rolecall_core::Cut;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use rolecall_core::file::read_bytes;
use rolecall_core::fingerprint::Fingerprint;

/// The largest file whose content is compared. Only the size of a larger one is.
const MOST_COMPARED: u64 = 64 << 20;

/// The largest file in which names of others are looked for.
const MOST_READ: usize = 1 << 20;

/// How many files one command may have, and how many entries of a folder are looked at.
const MOST_FILES: usize = 1_000;
const MOST_ENTRIES: usize = 10_000;

/// The endings of files that are no programs. Such a file counts only if it is named in full.
const DATA: [&str; 15] = [
    "json", "jsonl", "jinja", "jinja2", "j2", "gotmpl", "md", "txt", "toml", "yaml", "yml", "snap",
    "lock", "csv", "html",
];

/// The files, without their endings, that run if their folder is named.
const OF_FOLDERS: [&str; 5] = ["__init__", "__main__", "index", "main", "mod"];

/// The files below a folder that a command starts, by their paths there, with what their content is
/// compared by. The folder's path has no links.
pub(crate) fn files(folder: &Path, command: &str) -> BTreeMap<String, String> {
    let root = folder.to_path_buf();
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let mut search = Search {
        here: here.unwrap_or_else(|_| root.clone()),
        root,
        listings: HashMap::new(),
        waiting: Vec::new(),
        found: BTreeMap::new(),
    };
    search.look_for(command, None);
    for word in shlex_words(command) {
        search.look_at(&word, None);
    }
    while let Some((text, of)) = search.waiting.pop() {
        search.look_for(&text, of.parent());
    }
    let files = search.found.into_iter().map(|(path, content)| {
        let below = path.strip_prefix(&search.root).unwrap_or(&path);
        (below.to_string_lossy().replace('\\', "/"), content)
    });
    files.collect()
}

/// What the content of a file is compared by.
pub(crate) fn content(path: &Path) -> String {
    match read_bytes(path, MOST_COMPARED) {
        Ok(bytes) => Fingerprint::of(bytes).to_string(),
        Err(_) => match path.metadata() {
            Ok(metadata) => format!("{} bytes", metadata.len()),
            Err(_) => "not there".to_owned(),
        },
    }
}

pub(crate) fn shlex_words(command: &str) -> Vec<String> {
    rolecall_io::protocol::ProtocolEngine::words(command).unwrap_or_default()
}

struct Search {
    root: PathBuf,
    /// The current folder, in which engines start.
    here: PathBuf,
    listings: HashMap<PathBuf, Listing>,
    /// The texts that were found and not looked at, with their files.
    waiting: Vec<(String, PathBuf)>,
    found: BTreeMap<PathBuf, String>,
}

#[derive(Default)]
struct Listing {
    names: HashSet<String>,
    /// By each beginning of a name that comes before a dot.
    programs: HashMap<String, Vec<String>>,
}

impl Search {
    /// Looks for names of files in a text. The folder is that of the file that has the text.
    fn look_for(&mut self, text: &str, folder: Option<&Path>) {
        let is_of_name = |c: char| c.is_alphanumeric() || "_-./+@".contains(c);
        let words = text.split(|c: char| !is_of_name(c));
        let words = words.map(|word| match word.trim_end_matches('.') {
            "" if !word.is_empty() => ".",
            word => word,
        });
        let words: HashSet<&str> = words.filter(|word| !word.is_empty()).collect();
        for word in words {
            self.look_at(word, folder);
        }
    }

    /// Adds the files that a word may mean.
    fn look_at(&mut self, word: &str, folder: Option<&Path>) {
        let mut bases = vec![self.root.clone(), self.here.clone()];
        bases.extend(folder.map(Path::to_path_buf));
        // Python writes a dot between the names of a package and of its module.
        let dotted = (word.contains('.') && !word.contains('/')).then(|| word.replace('.', "/"));
        for base in bases {
            for word in dotted.iter().map(String::as_str).chain([word]) {
                self.add_named(&base, &normal(&base.join(word)));
            }
        }
    }

    fn add_named(&mut self, base: &Path, path: &Path) {
        if !path.starts_with(&self.root) {
            return;
        }
        let below = path.ancestors().skip(1).take_while(|one| *one != base);
        for folder in [path].into_iter().chain(below) {
            if self.is_listed(folder) && folder.is_dir() {
                for name in OF_FOLDERS {
                    self.add_programs(folder, name);
                }
            }
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        let name = name.to_string_lossy();
        if self.listing(folder).names.contains(&*name) {
            self.add(path);
        }
        self.add_programs(folder, &name);
    }

    /// Whether there is something with this path.
    fn is_listed(&mut self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        let name = name.to_string_lossy();
        path == self.root
            || path.starts_with(&self.root) && self.listing(folder).names.contains(&*name)
    }

    /// Adds the programs with a name that has any ending.
    fn add_programs(&mut self, folder: &Path, name: &str) {
        let programs = self.listing(folder).programs.get(name).cloned();
        for program in programs.unwrap_or_default() {
            self.add(&folder.join(program));
        }
    }

    fn add(&mut self, path: &Path) {
        let is_known = self.found.contains_key(path) || self.found.len() >= MOST_FILES;
        if is_known || !path.is_file() {
            return;
        }
        self.found.insert(path.to_path_buf(), content(path));
        let bytes = read_bytes(path, u64::try_from(MOST_READ).unwrap_or(u64::MAX));
        if let Some(text) = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            self.waiting.push((text, path.to_path_buf()));
        }
    }

    fn listing(&mut self, folder: &Path) -> &Listing {
        if !self.listings.contains_key(folder) {
            let listing = Listing::of(folder);
            self.listings.insert(folder.to_path_buf(), listing);
        }
        &self.listings[folder]
    }
}

impl Listing {
    fn of(folder: &Path) -> Listing {
        let mut listing = Listing::default();
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.take(MOST_ENTRIES) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            if !DATA.contains(&ending) {
                for (at, _) in name.match_indices('.').filter(|(at, _)| *at > 0) {
                    let programs = listing.programs.entry(name.cut(..at).to_owned());
                    programs.or_default().push(name.clone());
                }
            }
            listing.names.insert(name);
        }
        listing
    }
}

/// A path without `.` and `..`, by its words alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_names_is_pinned_and_what_that_names() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        for (name, text) in [
            ("run.sh", "#!/bin/sh\nexec python3 -m tools.adapter \"$@\""),
            ("tools/__init__.py", ""),
            ("tools/adapter.py", "import json\nfrom . import helper"),
            ("tools/helper.py", "open('words.txt')"),
            ("tools/words.txt", ""),
            ("tools/adapter.json", ""),
            ("tools/unused.py", ""),
            ("chat.jinja", ""),
            ("lib/index.js", ""),
            ("json.py", ""),
        ] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let checked = |command: &str| {
            let files = files(&folder, command);
            files.into_keys().collect::<Vec<_>>().join(" ")
        };
        let whole = "json.py run.sh tools/__init__.py tools/adapter.py tools/helper.py \
                     tools/words.txt";
        assert_eq!(checked("./run.sh"), whole);
        assert_eq!(checked("sh -c 'cd . && ./run.sh --fast'"), whole);
        assert_eq!(checked("env A=1 python3 --file=tools/helper.py"), {
            "tools/__init__.py tools/helper.py tools/words.txt"
        });
        assert_eq!(checked("node lib"), "lib/index.js");
        assert_eq!(checked("node ./missing.mjs chat"), "");
        assert_eq!(checked("cat ../outside /etc/passwd"), "");
    }
}
