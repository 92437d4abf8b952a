//! Single files: which kind one is, and its templates.

use std::path::Path;

use super::content::SourceContent;
use super::paths::stem;
use super::remarks::byte_order_mark;
use super::{gguf, huggingface, modelfile};
use crate::template_file::{dialect_of, read_template_in};
use rolecall_base::problem::Note;
use rolecall_base::root::Root;

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

/// A template file with its sidecar.
fn read_one(bound: Option<&Root>, path: &Path) -> SourceContent {
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
    let is_of_a_model = path
        .file_name()
        .is_some_and(|name| name == huggingface::TEMPLATE_FILE)
        && path.with_file_name(huggingface::CONFIG_FILE).exists();
    if is_of_a_model {
        notes.push(Note::new(
            path,
            "read without the special tokens of its model: name the folder to have them",
        ));
    }
    SourceContent {
        templates: vec![template],
        notes,
        problems: Vec::new(),
    }
}
