//! Single files: which kind one is, and its templates.

use std::path::Path;

use super::content::SourceContent;
use super::paths::{name_of, stem};
use super::remarks::byte_order_mark;
use super::{gguf, huggingface, modelfile};
use crate::template_file::{dialect_of, read_template_in, sidecar};
use rolecall_core::Template;
use rolecall_core::problem::Note;
use rolecall_core::root::Root;

/// What a file is, as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Template,
    Modelfile,
    Gguf,
}

/// What a file is by its name.
pub(super) fn kind(path: &Path) -> Option<FileKind> {
    if dialect_of(path).is_some() {
        return Some(FileKind::Template);
    }
    if path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
    {
        return Some(FileKind::Gguf);
    }
    modelfile::is_modelfile(path).then_some(FileKind::Modelfile)
}

/// Reads a file. With a bound, it lies in that folder.
pub(super) fn read(bound: Option<&Root>, path: &Path, kind: FileKind) -> SourceContent {
    match kind {
        FileKind::Template => read_one(bound, path),
        FileKind::Modelfile => modelfile::read(bound, path),
        FileKind::Gguf => gguf::read(bound, path, &stem(path)),
    }
}

/// The `chat_template.jinja` of a model folder, where its tokenizer's configuration is next to it.
/// A sidecar says more than the model's own files, so a file that has one is read with that.
fn of_model(bound: Option<&Root>, path: &Path) -> Option<SourceContent> {
    let is_template = path
        .file_name()
        .is_some_and(|name| name == huggingface::TEMPLATE_FILE);
    let has_tokens = path.with_file_name(huggingface::CONFIG_FILE).exists();
    // With a bound, the folder is read as a whole, and the model in it by its own rules.
    if !is_template || !has_tokens || sidecar(path).exists() || bound.is_some() {
        return None;
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let root = Root::new(folder).ok()?;
    let mut found = huggingface::read(&root, folder, &name_of(folder));
    let is_it = |template: &Template| template.path.file_name() == path.file_name();
    found.templates.retain(is_it);
    for template in &mut found.templates {
        template.path = path.to_path_buf();
    }
    (!found.templates.is_empty()).then_some(found)
}

/// A template file with its sidecar.
///
/// A model's `chat_template.jinja` is read as its model has it, with the model's special tokens.
fn read_one(bound: Option<&Root>, path: &Path) -> SourceContent {
    if let Some(found) = of_model(bound, path) {
        return found;
    }
    let template = match read_template_in(bound, path) {
        Ok(template) => template,
        Err(problems) => {
            return SourceContent {
                problems,
                ..SourceContent::default()
            };
        }
    };
    let mut notes = byte_order_mark(&template).into_iter().collect::<Vec<_>>();
    if template.source.trim().is_empty() {
        notes.push(Note::new(
            path,
            "there is nothing in it: every prompt is as empty",
        ));
    }
    SourceContent {
        templates: vec![template],
        notes,
        problems: Vec::new(),
    }
}
