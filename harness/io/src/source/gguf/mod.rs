//! The chat templates of a GGUF file.
//!
//! The template is the metadata's `tokenizer.chat_template`, a further one
//! `tokenizer.chat_template.<name>`; `tokenizer.chat_templates` lists the further names. llama.cpp
//! uses `tool_use` for conversations with tools. transformers 5.24, given the file as `gguf_file`,
//! reads only the first.
//!
//! The special tokens are the same that transformers 5.24 takes from the file: the texts in
//! `tokenizer.ggml.tokens` at the IDs of bos, eos, unknown and padding. llama.cpp gives its
//! templates the first two.

mod reader;

mod metadata;
mod vocabulary;

use std::fs::File;
use std::io::{Cursor, Read as _};
use std::path::Path;

use rolecall_core::{Dialect, Template, TemplatePart};

use super::content::SourceContent;
use super::paths::stem;
use super::remarks::{byte_order_mark, missing_tokens};
pub(super) use metadata::DEFAULT_KEY;
use metadata::Metadata;
use reader::GgufError;
use rolecall_core::file::open_file;
use rolecall_core::naming;
use rolecall_core::problem::{Location, Note, Problem};
use rolecall_core::root::{Root, open_within};
use vocabulary::Vocabulary;

/// The message for a file without templates.
pub(super) const NO_TEMPLATE: &str = "the metadata holds no chat template";

/// Whether a file begins as a GGUF file does.
pub fn is_gguf(path: &Path) -> bool {
    let mut magic = [0; 4];
    open_file(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == reader::MAGIC
}

/// The beginning of a GGUF file as a file of its own, which has all of the metadata and no tensor.
/// None if more of the file is needed. If the file is damaged, the problem names `path`.
pub fn without_tensors(path: &Path, start: &[u8]) -> Result<Option<Vec<u8>>, Problem> {
    metadata::without_tensors(start).map_err(|broken| broken.in_file(path))
}

/// Reads the templates in the beginning of a GGUF file; they get the name of the file. None if more of
/// the file is needed. If the file is damaged, the problem names `path`.
pub fn templates_in_start(path: &Path, start: &[u8]) -> Result<Option<SourceContent>, Problem> {
    let Some(file) = without_tensors(path, start)? else {
        return Ok(None);
    };
    let length = file.len() as u64;
    let metadata = Metadata::read(Cursor::new(file), length);
    let metadata = metadata.map_err(|broken| broken.in_file(path))?;
    Ok(Some(templates(path, &stem(path), metadata)))
}

/// Reads the templates of a GGUF file; they get the name of the model. With a bound, the file lies
/// in that folder.
pub(super) fn read(bound: Option<&Root>, path: &Path, model: &str) -> SourceContent {
    match read_by(bound, path, Metadata::read) {
        Ok(metadata) => templates(path, model, metadata),
        Err(problem) => SourceContent::problem(problem),
    }
}

/// The address of the model that the model of a GGUF file was made from, if the file says so.
pub fn base_of_gguf(path: &Path) -> Option<String> {
    read_by(None, path, Metadata::read).ok()?.base
}

/// Reads the tokens of a GGUF file.
pub fn read_vocabulary(path: &Path) -> Result<Vocabulary, Problem> {
    read_by(None, path, Vocabulary::read)
}

/// Reads something of a GGUF file, given the file and its length.
fn read_by<T>(
    bound: Option<&Root>,
    path: &Path,
    read: fn(File, u64) -> Result<T, GgufError>,
) -> Result<T, Problem> {
    let unreadable = |error: std::io::Error| Problem::new(path, format!("cannot be read: {error}"));
    let file = open_within(bound, path)?;
    let metadata = file.metadata().map_err(unreadable)?;
    read(file, metadata.len()).map_err(|broken| broken.in_file(path))
}

impl GgufError {
    fn in_file(self, path: &Path) -> Problem {
        let problem = Problem::new(path, self.message).at(Location::Byte(self.offset));
        match self.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

fn templates(path: &Path, model: &str, metadata: Metadata) -> SourceContent {
    let mut found = SourceContent::default();
    let named = metadata
        .variants
        .into_iter()
        .map(|(name, text)| (Some(name), text));
    for (variant, text) in metadata
        .template
        .map(|text| (None, text))
        .into_iter()
        .chain(named)
    {
        let mut template = Template::from_source("", Dialect::Jinja, &text);
        template.name = naming::of_model(model, variant.as_deref());
        template.path = path.to_path_buf();
        template.part = TemplatePart::Key(match variant {
            Some(variant) => format!("{DEFAULT_KEY}.{variant}"),
            None => DEFAULT_KEY.to_owned(),
        });
        template.special_tokens.clone_from(&metadata.special_tokens);
        template.vocabulary = vec![path.to_path_buf()];
        found.notes.extend(byte_order_mark(&template));
        found.notes.extend(missing_tokens(&template));
        found.templates.push(template);
    }
    for name in metadata.listed {
        let key = format!("{DEFAULT_KEY}.{name}");
        let is_there = found
            .templates
            .iter()
            .any(|template| template.part == TemplatePart::Key(key.clone()));
        if !is_there && name != "default" {
            let message = format!("lists a template {name:?}, but has none of that name");
            found.notes.push(Note::new(path, message));
        }
    }
    if found.templates.is_empty() {
        found
            .problems
            .push(Problem::new(path, NO_TEMPLATE).help(format!(
                "there is no `{DEFAULT_KEY}`; projectors, adapters and later parts of a split model have none"
            )));
    }
    found
}
