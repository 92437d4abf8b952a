//! Sources: the places where users keep their templates, and how to read them.
//!
//! The kind of a path decides what is read:
//!
//! | path | what is read |
//! |---|---|
//! | a `.jinja`, `.jinja2`, `.j2` or `.gotmpl` file | the template, with its sidecar |
//! | a `Modelfile`, `Modelfile.*` or `*.modelfile` | its `TEMPLATE` |
//! | a GGUF file, by its extension or its first bytes | the chat templates in its metadata |
//! | a model folder, or its `tokenizer_config.json`, `chat_template.json` or `processor_config.json` | what transformers would use |
//! | `models--org--name`, as in the Hugging Face cache, or one of its snapshots | the same; the snapshot is that of `refs/main` |
//! | an Ollama store, something below its `manifests`, or `STORE/model:tag` | the models' templates |
//! | any other folder | its templates, Modelfiles and GGUF files, and all that is in the folders in it |
//!
//! A folder is read whole, up to [`MOST_LEVELS`] levels, [`MOST_FOLDERS`] folders and
//! [`MOST_TEMPLATES`] templates; more is a problem. Hidden folders do not count. Folders that tools
//! fill, such as `node_modules`, and folders in that of a model are left out with a note.
//!
//! A folder is a *model folder* when it holds `additional_chat_templates/`, or one of the files
//! that come with a model: `config.json`, `tokenizer.json`, `tokenizer_config.json`,
//! `special_tokens_map.json`, `generation_config.json`, `processor_config.json`,
//! `preprocessor_config.json`, `chat_template.json`. A file that is a template's sidecar, such as
//! `config.json` next to `config.jinja`, does not count.
//!
//! Nothing outside the given path is read. A link is followed only if it leads to something inside:
//! in the Hugging Face cache, inside the folder of the repository; in an Ollama store, inside the
//! store. Files that are too large are refused before they are read.

mod content;
mod object;
mod paths;
mod remarks;

// One kind of source each.
mod gguf;
mod huggingface;
mod modelfile;

mod ollama;

mod file;

mod folder;

use std::path::Path;

use rolecall_core::Template;
use rolecall_core::file::MOST_CASES;
use rolecall_core::problem::Problem;

pub use content::SourceContent;
pub use folder::{MOST_FOLDERS, MOST_LEVELS, MOST_TEMPLATES};
pub use gguf::{base_of_gguf, is_gguf, read_vocabulary, templates_in_start, without_tensors};
pub use ollama::ModelName;
pub use remarks::renew_notes;

use file::FileKind;

/// Whether a folder is a model folder, as on the Hugging Face hub.
pub fn is_model(folder: &Path) -> bool {
    huggingface::is_model(folder)
}

/// Whether a file is one in which templates are, by its name.
pub fn is_source(file: &Path) -> bool {
    folder::is_source(file)
}

/// Reads the templates of a file or folder. Templates and special tokens that are larger than those of
/// any model are problems.
pub fn read(path: &Path) -> SourceContent {
    let mut found = read_all(path);
    let templates = std::mem::take(&mut found.templates);
    for template in templates {
        match excess(&template) {
            None => found.templates.push(template),
            Some(message) => found.problems.push(Problem::new(&template.path, message)),
        }
    }
    found
}

/// What messages say about a path that leads to nothing.
pub const NOT_THERE: &str = "no such file or folder";

/// The most bytes of a special token.
pub const MOST_TOKEN: usize = 4096;

/// The most bytes of all special tokens of a model together.
pub const MOST_TOKENS: usize = 1 << 20;

/// What is too large in a template, in words.
fn excess(template: &Template) -> Option<String> {
    let size = template.source.len();
    if size as u64 > MOST_CASES {
        return Some(format!(
            "the template is too large: {size} bytes, where at most {MOST_CASES} are expected"
        ));
    }
    let sizes = template.special_tokens.iter().map(|(name, token)| {
        let size = token
            .as_str()
            .map_or_else(|| token.to_string().len(), str::len);
        (name, size)
    });
    let mut all = 0;
    for (name, size) in sizes {
        all += size;
        if size > MOST_TOKEN {
            return Some(format!(
                "the special token `{name}` is too large: {size} bytes, where at most \
                 {MOST_TOKEN} are expected"
            ));
        }
    }
    (all > MOST_TOKENS).then(|| {
        format!("the special tokens are too large: {all} bytes, where at most {MOST_TOKENS} are expected")
    })
}

fn read_all(path: &Path) -> SourceContent {
    if path.is_dir() {
        return folder::read(path);
    }
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) if path.is_symlink() => {
            return SourceContent::problem(Problem::new(path, "a link that leads nowhere"));
        }
        // A model of a store, `STORE/model:tag`, is no file.
        Ok(false) => {
            return ollama::read_model(path)
                .unwrap_or_else(|| SourceContent::problem(Problem::new(path, NOT_THERE)));
        }
        Err(error) => {
            let message = format!("cannot be read: {error}");
            return SourceContent::problem(Problem::new(path, message));
        }
    }
    // First, because a tag may be named like a template file.
    if let Some(found) = ollama::read_manifest(path) {
        return found;
    }
    // Before the ending is looked at: the template of such a file needs the model's other files.
    if huggingface::is_configuration(path) {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        return folder::read(folder.unwrap_or(Path::new(".")));
    }
    // By its first bytes, too: blobs, in which Ollama and the hub's cache keep files, have no ending.
    match file::kind(path).or_else(|| gguf::is_gguf(path).then_some(FileKind::Gguf)) {
        Some(kind) => file::read(None, path, kind),
        None => SourceContent::problem(Problem::new(path, "not a template").help(
            "a template is a .jinja, .jinja2, .j2 or .gotmpl file, a Modelfile or a GGUF file; of a model, name the folder",
        )),
    }
}
