//! Folders: which kind one is, and what it holds.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rolecall_core::{Dialect, TemplatePart};

use super::content::SourceContent;
use super::file::{self, FileKind};
use super::paths::name_of;
use super::remarks::is_same_template;
use super::{gguf, huggingface, modelfile, ollama};
use crate::template_file::{dialect_of, place, sidecar};
use rolecall_core::file::MOST_CONFIGURATION;
use rolecall_core::naming;
use rolecall_core::problem::{Note, Problem};
use rolecall_core::root::Root;
use serde_json::Value;

/// How many levels of folders below a folder are read.
pub const MOST_LEVELS: usize = 8;

/// The most folders below a folder that are read.
pub const MOST_FOLDERS: usize = 10_000;

/// The most templates of a folder.
pub const MOST_TEMPLATES: usize = 10_000;

/// Folders that tools fill with the work of others: thousands of files, and none of the user's.
const OF_TOOLS: [&str; 5] = [
    "__pycache__",
    "node_modules",
    "site-packages",
    "target",
    "venv",
];

/// The message for a model without a template.
const NO_TEMPLATE: &str = "the model has no chat template";

pub(super) fn read(path: &Path) -> SourceContent {
    if let Some(found) = ollama::read_folder(path) {
        return found;
    }
    let in_cache = cached(path);
    let is_model = in_cache.is_some() || huggingface::is_model(path);
    let mut found = in_cache.unwrap_or_else(|| match Root::new(path) {
        Ok(root) => Walk::new(&root).read(path),
        Err(problem) => SourceContent::problem(problem),
    });
    if found.is_empty() {
        found.problems.push(if let Some(base) = adapted(path) {
            Problem::new(path, "this is an adapter without a chat template").help(format!(
                "its base model is `{base}`: name that one, as a folder or as hf:ORG/NAME"
            ))
        } else if is_model {
            Problem::new(path, NO_TEMPLATE).help(
                "transformers looks for chat_template.jinja, additional_chat_templates/ and `chat_template` in tokenizer_config.json, processors for chat_template.json too",
            )
        } else {
            Problem::new(path, "the folder holds no template (.jinja, .jinja2, .j2 or .gotmpl)")
                .help("nor a model: a Modelfile, a GGUF file, a model folder or an Ollama store")
        });
    }
    found
}

/// The model that an adapter was trained from. The package `peft` writes it beside the adapter.
fn adapted(path: &Path) -> Option<String> {
    let root = Root::new(path).ok()?;
    let file = path.join("adapter_config.json");
    let bytes = root.bytes(&file, MOST_CONFIGURATION).ok()??;
    let config: Value = serde_json::from_slice(&bytes).ok()?;
    Some(config.get("base_model_name_or_path")?.as_str()?.to_owned())
}

/// The templates of a model in the Hugging Face cache, if the path is inside the cache.
fn cached(path: &Path) -> Option<SourceContent> {
    let snapshot = huggingface::cache::find(path)?;
    Some(snapshot.map_or_else(SourceContent::problem, |snapshot| {
        let mut found = SourceContent::default();
        match snapshot.root.entries(&snapshot.folder) {
            Ok(entries) => {
                let folder = (&*snapshot.folder, snapshot.model.as_str());
                files(&mut found, &snapshot.root, folder, &entries);
            }
            Err(problem) => found.problems.push(problem),
        }
        found
    }))
}

/// A folder that is read whole: its files, and the folders below it.
struct Walk<'r> {
    root: &'r Root,
    found: SourceContent,
    /// The folders that were read, without links in their paths.
    seen: HashSet<PathBuf>,
    /// Links to folders. They are read at the end, unless the folder was read under its own name.
    links: Vec<(PathBuf, usize)>,
    is_full: bool,
}

impl<'r> Walk<'r> {
    fn new(root: &'r Root) -> Walk<'r> {
        Walk {
            root,
            found: SourceContent::default(),
            seen: HashSet::new(),
            links: Vec::new(),
            is_full: false,
        }
    }

    fn read(mut self, path: &Path) -> SourceContent {
        self.seen.extend(path.canonicalize());
        self.folder(path, MOST_LEVELS);
        while let Some((link, levels)) = self.links.pop() {
            self.below(&link, levels);
        }
        self.found
    }

    /// Reads a folder, and so many levels below it. A model has its templates in its own folder.
    fn folder(&mut self, folder: &Path, levels: usize) {
        let entries = match self.root.entries(folder) {
            Ok(entries) => entries,
            Err(problem) => return self.found.problems.push(problem),
        };
        self.is_full |= files(
            &mut self.found,
            self.root,
            (folder, &name_of(folder)),
            &entries,
        );
        let folders = entries.iter().filter(|path| path.is_dir());
        let folders = folders.filter(|path| !name_of(path).starts_with('.'));
        if huggingface::is_model(folder) {
            self.found.notes.extend(unread_models(folder, folders));
            return;
        }
        for path in folders {
            if OF_TOOLS.contains(&name_of(path).as_str()) {
                let message = "not read, because tools fill such a folder: to read it, name it";
                self.found.notes.push(Note::new(path, message));
            } else if levels == 0 {
                let message = format!("not read: more than {MOST_LEVELS} levels below");
                let problem = Problem::new(path, message).help("name the folder itself");
                self.found.problems.push(problem);
                return;
            } else if path.is_symlink() {
                self.links.push((path.clone(), levels - 1));
            } else {
                self.below(path, levels - 1);
            }
        }
    }

    /// Reads a folder below the one that was named, if nothing read it before.
    fn below(&mut self, path: &Path, levels: usize) {
        if self.is_full {
            return;
        }
        // A link may lead outside of the folder.
        if let Err(problem) = self.root.has(path) {
            return self.found.problems.push(problem);
        }
        if !path.canonicalize().is_ok_and(|real| self.seen.insert(real)) {
            return;
        }
        // The folder that was named is one of those that were seen.
        if self.seen.len() - 1 > MOST_FOLDERS {
            self.is_full = true;
            return self.found.problems.push(too_many(path));
        }
        if let Some(found) = ollama::read_folder(path) {
            return self.found.add(found);
        }
        let before = (self.found.templates.len(), self.found.problems.len());
        let in_cache = cached(path);
        let is_model = in_cache.is_some() || huggingface::is_model(path);
        match in_cache {
            Some(found) => self.found.add(found),
            None => self.folder(path, levels),
        }
        let is_empty = before == (self.found.templates.len(), self.found.problems.len());
        if is_model && is_empty {
            self.found.notes.push(Note::new(path, NO_TEMPLATE));
        }
    }
}

/// The problem with a file or folder, and all that follow it, because there are too many.
fn too_many(path: &Path) -> Problem {
    let message = format!(
        "not read: at most {MOST_FOLDERS} folders and {MOST_TEMPLATES} templates are expected"
    );
    Problem::new(path, message).help("name the folders of your templates")
}

/// A note on folders in a model's folder that have templates of their own. What a model is trained
/// on is in its own folder, and not in that of one of its checkpoints.
fn unread_models<'p>(model: &Path, folders: impl Iterator<Item = &'p PathBuf>) -> Option<Note> {
    let has_templates = |folder: &&PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths = entries.map(|entry| entry.path());
        !huggingface::is_of_model(folder) && paths.any(|path| is_source(&path))
    };
    let names: Vec<String> = folders
        .filter(has_templates)
        .map(|path| name_of(path))
        .collect();
    let message = format!(
        "templates in folders of a model are not read: {}; to read them, name the folders",
        names.join(", ")
    );
    (!names.is_empty()).then(|| Note::new(model, message))
}

/// Whether a file is one of those in which templates are, by its name.
pub(super) fn is_source(path: &Path) -> bool {
    file::kind(path).is_some() && !path.is_dir()
}

/// Adds the templates of the files in a folder, but not of the folders in it. The name is for a
/// model folder. Returns whether there are more templates than are read.
fn files(
    all: &mut SourceContent,
    root: &Root,
    (folder, name): (&Path, &str),
    entries: &[PathBuf],
) -> bool {
    let mut is_full = false;
    let mut found = SourceContent::default();
    let is_model = huggingface::is_model(folder);
    if is_model {
        found.add(huggingface::read(root, folder, name));
    }
    let mut ignored = Vec::new();
    for path in entries {
        if path.is_dir() {
            let kind = file::kind(path);
            if matches!(kind, Some(FileKind::Template | FileKind::Modelfile)) && !is_model {
                let message = "a folder that is named like a template";
                found.problems.push(Problem::new(path, message));
            }
            continue;
        }
        let Some(kind) = file::kind(path) else {
            continue;
        };
        if is_model && kind == FileKind::Template && dialect_of(path) == Some(Dialect::Jinja) {
            ignored.push(path.clone());
        } else if all.templates.len() + found.templates.len() >= MOST_TEMPLATES {
            found.problems.push(too_many(path));
            is_full = true;
            break;
        } else {
            found.add(read_inside(root, path, kind));
        }
    }
    if is_model {
        ignored.retain(|path| name_of(path) != huggingface::TEMPLATE_FILE);
        ignored.extend(huggingface::unread_templates(root, folder));
        for path in ignored {
            found.notes.push(Note::new(
                path,
                "transformers does not read this file: to use it, name the file itself",
            ));
        }
        compare_copies(&mut found, name);
    }
    all.add(found);
    is_full
}

fn read_inside(root: &Root, path: &Path, kind: FileKind) -> SourceContent {
    // A sidecar that is a link must not lead outside either.
    let sidecar = (kind == FileKind::Template).then(|| sidecar(path));
    for path in std::iter::once(path).chain(sidecar.as_deref()) {
        if let Err(problem) = root.has(path) {
            return SourceContent::problem(problem);
        }
    }
    let mut found = file::read(Some(root), path, kind);
    // Projectors, adapters and the later parts of a split model have no template, and a Modelfile
    // needs none.
    let lacks_one = |problem: &Problem| {
        problem.message == gguf::NO_TEMPLATE || problem.message.starts_with(modelfile::NO_TEMPLATE)
    };
    let (lacking, problems) = found.problems.into_iter().partition(lacks_one);
    found.problems = problems;
    if kind == FileKind::Modelfile {
        let lacking: Vec<Problem> = lacking;
        let notes = lacking
            .into_iter()
            .map(|problem| Note::new(problem.path, problem.message));
        found.notes.extend(notes);
    }
    found
}

/// A GGUF file next to its model holds a copy of the template, which may be older.
fn compare_copies(found: &mut SourceContent, name: &str) {
    let name = naming::of_model(name, None);
    let Some(used) = found
        .templates
        .iter()
        .find(|template| template.name == name && template.dialect == Dialect::Jinja)
    else {
        return;
    };
    let is_copy = |path: &PathBuf| file::kind(path) == Some(FileKind::Gguf);
    let copies = found.templates.iter().filter(|template| {
        is_copy(&template.path) && template.part == TemplatePart::Key(gguf::DEFAULT_KEY.to_owned())
    });
    let mut notes = Vec::new();
    for copy in copies {
        if !is_same_template(&copy.source, &used.source) {
            let message = format!("its template differs from the one in {}", place(used, None));
            notes.push(Note::new(&copy.path, message));
        }
        for (token, text) in &copy.special_tokens {
            if let Some(other) = used.special_tokens.get(token)
                && other != text
            {
                let message =
                    format!("`{token}` is {text} here, and {other} in the model's folder");
                notes.push(Note::new(&copy.path, message));
            }
        }
    }
    found.notes.extend(notes);
}
