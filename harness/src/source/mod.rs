//! Sources: where users have their templates, and how to read them out of there.
//!
//! A path is taken for what it is:
//!
//! | path | what is read |
//! |---|---|
//! | a `.jinja` or `.gotmpl` file | the template, with its sidecar |
//! | a `Modelfile`, `Modelfile.*` or `*.modelfile` | its `TEMPLATE` |
//! | a GGUF file, by its extension or its first bytes | the chat templates in its metadata |
//! | a model folder | what transformers would use |
//! | `models--org--name`, as in the Hugging Face cache, or one of its snapshots | the same; the snapshot is that of `refs/main` |
//! | an Ollama store, something below its `manifests`, or `STORE/model:tag` | the models' templates |
//! | any other folder | its templates, Modelfiles and GGUF files; where there are none, those of the folders in it |
//!
//! A folder is a *model folder* when it holds `additional_chat_templates/`, or one of the
//! files that come with a model: `config.json`, `tokenizer.json`, `tokenizer_config.json`,
//! `special_tokens_map.json`, `generation_config.json`, `processor_config.json`,
//! `preprocessor_config.json`, `chat_template.json`. A file that is a template's sidecar,
//! such as `config.json` beside `config.jinja`, does not count.
//!
//! Nothing outside a given path is read. A link is followed where it leads to something
//! inside; in the Hugging Face cache that is the folder of the repository, in an Ollama
//! store the store. Files are refused by their size before they are read.

mod folder;
mod gguf;
mod huggingface;
mod modelfile;
mod object;
mod ollama;

use std::path::Path;

use crate::problem::{Note, Problem};
use crate::template::{Dialect, Template, read_template};

/// What a source gave.
#[derive(Debug, Default)]
pub struct Found {
    /// The templates.
    pub templates: Vec<Template>,
    /// What there is to know about them, such as that two files disagree.
    pub notes: Vec<Note>,
    /// What is wrong; what is not named here was read.
    pub problems: Vec<Problem>,
}

impl Found {
    /// Nothing but a problem.
    fn problem(problem: Problem) -> Found {
        Found {
            problems: vec![problem],
            ..Found::default()
        }
    }

    /// Adds what another source gave.
    fn add(&mut self, other: Found) {
        self.templates.extend(other.templates);
        self.notes.extend(other.notes);
        self.problems.extend(other.problems);
    }

    fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.problems.is_empty()
    }
}

/// What a file is, as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Template,
    Modelfile,
    Gguf,
}

/// Reads the templates of a file or folder.
pub fn read(path: &Path) -> Found {
    if path.is_dir() {
        return folder::read(path);
    }
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) if path.is_symlink() => {
            return Found::problem(Problem::new(path, "a link that leads nowhere"));
        }
        Ok(false) => {
            return ollama::read_model(path)
                .unwrap_or_else(|| Found::problem(Problem::new(path, "no such file or folder")));
        }
        Err(error) => {
            let message = format!("cannot be read: {error}");
            return Found::problem(Problem::new(path, message));
        }
    }
    if let Some(found) = ollama::read_manifest(path) {
        return found;
    }
    match kind_of_file(path).or_else(|| gguf::is_gguf(path).then_some(Kind::Gguf)) {
        Some(kind) => read_file(path, kind),
        None => Found::problem(Problem::new(path, "not a template").help(
            "a template is a .jinja or .gotmpl file, a Modelfile or a GGUF file; of a model, name the folder",
        )),
    }
}

/// What a file is by its name.
fn kind_of_file(path: &Path) -> Option<Kind> {
    if Dialect::of_file(path).is_some() {
        return Some(Kind::Template);
    }
    if path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
    {
        return Some(Kind::Gguf);
    }
    modelfile::is_modelfile(path).then_some(Kind::Modelfile)
}

fn read_file(path: &Path, kind: Kind) -> Found {
    match kind {
        Kind::Template => read_one(path),
        Kind::Modelfile => modelfile::read(path),
        Kind::Gguf => gguf::read(path, &stem(path)),
    }
}

/// A template file with its sidecar.
fn read_one(path: &Path) -> Found {
    let template = match read_template(path) {
        Ok(template) => template,
        Err(problems) => {
            return Found {
                problems,
                ..Found::default()
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
    Found {
        templates: vec![template],
        notes,
        problems: Vec::new(),
    }
}

/// Says that a template begins with a byte order mark: transformers and Ollama both take
/// it for text.
fn byte_order_mark(template: &Template) -> Option<Note> {
    template.source.starts_with('\u{FEFF}').then(|| {
        Note::new(
            &template.path,
            "begins with a byte order mark, which is part of every prompt",
        )
    })
}

/// The names of special tokens that the template speaks of and that nothing sets.
fn missing_tokens(template: &Template) -> Option<Note> {
    const NAMES: [&str; 7] = [
        "bos_token",
        "eos_token",
        "unk_token",
        "sep_token",
        "pad_token",
        "cls_token",
        "mask_token",
    ];
    let missing: Vec<_> = NAMES
        .into_iter()
        .filter(|name| template.source.contains(name))
        .filter(|name| !template.special_tokens.contains_key(*name))
        .map(|name| format!("`{name}`"))
        .collect();
    (!missing.is_empty()).then(|| {
        let message = format!(
            "the template speaks of {}, which nothing here sets: undefined",
            missing.join(" and ")
        );
        Note::new(&template.path, message)
    })
}

/// Whether two Jinja sources are one template: line endings are normalised before it is
/// compiled, and one line break at the end is dropped (Jinja2 3.1.6).
fn is_same_template(a: &str, b: &str) -> bool {
    let normalised = |text: &str| {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)
    };
    normalised(a) == normalised(b)
}

/// A file's name without the extension.
fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The name of a file or folder, also where the path ends in `.` or `..`.
fn name_of(path: &Path) -> String {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    name(path)
        .or_else(|| name(&path.canonicalize().ok()?))
        .unwrap_or_else(|| "model".to_owned())
}
