//! Folders: which kind one is, and what it holds.

use std::path::{Path, PathBuf};

use rolecall_model::{Dialect, TemplatePart};

use super::content::SourceContent;
use super::file::{self, FileKind};
use super::paths::name_of;
use super::remarks::is_same_template;
use super::{gguf, huggingface, modelfile, ollama};
use crate::template_file::{dialect_of, place, sidecar};
use rolecall_base::naming;
use rolecall_base::problem::{Note, Problem};
use rolecall_base::root::Root;

/// How many levels of folders are searched for models, as in `models/<publisher>/<model>`.
const DEPTH: usize = 3;

/// The message for a model without a template.
const NO_TEMPLATE: &str = "the model has no chat template";

/// Reads a folder.
pub(super) fn read(path: &Path) -> SourceContent {
    if let Some(found) = ollama::read_folder(path) {
        return found;
    }
    let in_cache = cached(path);
    let is_model = in_cache.is_some() || huggingface::is_model(path);
    let mut found = in_cache.unwrap_or_else(|| {
        Root::new(path).map_or_else(SourceContent::problem, |root| {
            gather(&root, path, &name_of(path), DEPTH)
        })
    });
    if found.is_empty() {
        found.problems.push(if is_model {
            Problem::new(path, NO_TEMPLATE).help(
                "transformers looks for chat_template.jinja, additional_chat_templates/ and `chat_template` in tokenizer_config.json, processors for chat_template.json too",
            )
        } else {
            Problem::new(path, "the folder holds no template (.jinja or .gotmpl)")
                .help("nor a model: a Modelfile, a GGUF file, a model folder or an Ollama store")
        });
    }
    found
}

/// The templates of a model in the Hugging Face cache, if the path is inside the cache.
fn cached(path: &Path) -> Option<SourceContent> {
    let snapshot = huggingface::cache::find(path)?;
    Some(snapshot.map_or_else(SourceContent::problem, |snapshot| {
        gather(&snapshot.root, &snapshot.folder, &snapshot.model, 0)
    }))
}

/// The templates of a folder. The name is for a model folder. If there are no templates, those of
/// the folders in it.
fn gather(root: &Root, folder: &Path, name: &str, depth: usize) -> SourceContent {
    let mut found = SourceContent::default();
    let entries = match root.entries(folder) {
        Ok(entries) => entries,
        Err(problem) => return SourceContent::problem(problem),
    };
    let is_model = huggingface::is_model(folder);
    if is_model {
        found.add(huggingface::read(root, folder, name));
    }
    let mut ignored = Vec::new();
    for path in &entries {
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
            ignored.push(path);
        } else {
            found.add(read_inside(root, path, kind));
        }
    }
    if is_model {
        ignored.retain(|path| name_of(path) != huggingface::TEMPLATE_FILE);
        for path in ignored {
            found.notes.push(Note::new(
                path,
                "transformers does not read this file: to use it, name the file itself",
            ));
        }
        compare_copies(&mut found, name);
    }
    if found.is_empty() && !is_model && depth > 0 {
        for path in entries.iter().filter(|path| path.is_dir()) {
            found.add(read_below(root, path, depth - 1));
        }
    }
    found
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

fn read_below(root: &Root, path: &Path, depth: usize) -> SourceContent {
    if name_of(path).starts_with('.') {
        return SourceContent::default();
    }
    if let Err(problem) = root.has(path) {
        return SourceContent::problem(problem);
    }
    let in_cache = cached(path);
    let is_model = in_cache.is_some() || huggingface::is_model(path);
    let mut found = in_cache.unwrap_or_else(|| gather(root, path, &name_of(path), depth));
    if is_model && found.is_empty() {
        found.notes.push(Note::new(path, NO_TEMPLATE));
    }
    found
}

/// A GGUF file beside its model holds a copy of the template, which may be older.
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
