//! A Hugging Face model folder, read as transformers 5.24 reads it.
//!
//! A tokenizer (`from_pretrained` in `tokenization_utils_base.py`) takes its templates
//! from files, if there are any: `chat_template.jinja` is named `default`, each
//! `additional_chat_templates/<name>.jinja` has its name, and one named `default` wins
//! over `chat_template.jinja`. Only without files does `chat_template` in
//! `tokenizer_config.json` count: a string, a list of `{"name", "template"}`, or an object
//! from name to template. `get_chat_template` then picks `tool_use` where tools are given
//! and there is one, else `default`; so does the template that is named as the model is.
//!
//! A processor (`get_processor_dict` in `processing_utils.py`) takes `chat_template` of
//! `processor_config.json`, else of `chat_template.json`, else the files; it reads no
//! `tokenizer_config.json`, and refuses `chat_template.json` next to additional templates.
//!
//! The model's template is the tokenizer's; where it has none, the processor's. If the two differ,
//! the processor's is read too, as `<model>@processor`. Users of a model with a processor call the
//! processor, so its template has the processor's front. A model has a processor if it has one of
//! the files that only processors have: `processor_config.json`, `preprocessor_config.json` or
//! `chat_template.json`. `processor_class` in `tokenizer_config.json` says nothing, because models
//! without a processor have it too. `tokens` has the special tokens that a template sees. The table
//! that `scripts/record-sources.py` records compares all of this with transformers.

pub(super) mod cache;
mod named;
mod tokens;

use std::path::{Path, PathBuf};

use rolecall_core::{Dialect, Template, TemplatePart};
use serde_json::{Map, Value};

use super::content::SourceContent;
use super::object;
use super::paths::stem;
use super::remarks::{byte_order_mark, is_same_template, missing_tokens};
use crate::template_file::{EXTENSIONS, dialect_of};
use named::{NamedTemplates, TemplateText};
use rolecall_core::json::Node;
use rolecall_core::naming;
use rolecall_core::problem::{Note, Problem};
use rolecall_core::root::Root;
use rolecall_front::front::Front;
use tokens::SpecialTokens;

/// The name of the template that a model uses by default.
const DEFAULT: &str = "default";
pub(super) const TEMPLATE_FILE: &str = "chat_template.jinja";
const FOLDER: &str = "additional_chat_templates";
pub(super) const CONFIG_FILE: &str = "tokenizer_config.json";
const MAP_FILE: &str = "special_tokens_map.json";
const PROCESSOR_FILE: &str = "processor_config.json";
const LEGACY_FILE: &str = "chat_template.json";
const PREPROCESSOR_FILE: &str = "preprocessor_config.json";

const TOKENIZER_FILE: &str = "tokenizer.json";

/// The files that say how text is cut into tokens, and at which tokens a model stops.
const OF_TOKENIZERS: [&str; 4] = [
    TOKENIZER_FILE,
    CONFIG_FILE,
    "generation_config.json",
    "config.json",
];

/// The key of `tokenizer_config.json` under which transformers keeps how answers are read, since
/// 5.13.
const RESPONSE_KEY: &str = "response_template";

/// The files that only come with processors.
const OF_PROCESSORS: [&str; 3] = [PROCESSOR_FILE, PREPROCESSOR_FILE, LEGACY_FILE];

/// The files that only come with models.
const MARKS: [&str; 8] = [
    CONFIG_FILE,
    MAP_FILE,
    PROCESSOR_FILE,
    LEGACY_FILE,
    "config.json",
    "generation_config.json",
    PREPROCESSOR_FILE,
    TOKENIZER_FILE,
];

/// Whether a folder is one of a model.
pub(super) fn is_model(folder: &Path) -> bool {
    let is_sidecar = |path: &Path| {
        EXTENSIONS
            .iter()
            .any(|extension| path.with_extension(extension).exists())
    };
    folder.join(FOLDER).is_dir()
        || MARKS
            .iter()
            .map(|name| folder.join(name))
            // `config.json` beside `config.jinja` is the sidecar of a template, in a folder that is no
            // model.
            .any(|path| path.is_file() && !is_sidecar(&path))
}

/// Whether a folder in a model's folder belongs to the model, which has templates in it.
pub(super) fn is_of_model(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == FOLDER)
}

/// Files next to a model's further templates that look like templates, and that transformers does
/// not read: it reads those that end in `.jinja`.
pub(super) fn unread_templates(root: &Root, folder: &Path) -> Vec<PathBuf> {
    // What is wrong with the folder is a problem already.
    let entries = root.entries(&folder.join(FOLDER)).unwrap_or_default();
    let is_unread = |path: &PathBuf| dialect_of(path).is_some() && !is_further_template(path);
    entries.into_iter().filter(is_unread).collect()
}

fn is_further_template(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "jinja")
}

/// Whether a file is one of those in which a model keeps its template.
pub(super) fn is_configuration(path: &Path) -> bool {
    let names = [CONFIG_FILE, PROCESSOR_FILE, LEGACY_FILE];
    let is_one = path.file_name().is_some_and(|name| {
        let mut names = names.iter();
        names.any(|known| name == *known)
    });
    is_one && path.parent().is_some_and(is_model_around)
}

/// Whether the folder of a file is a model folder. No folder is the current one.
fn is_model_around(folder: &Path) -> bool {
    is_model(if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    })
}

/// Reads a model folder; its templates are named after the model.
pub(super) fn read(root: &Root, folder: &Path, name: &str) -> SourceContent {
    let mut model = ModelFolder {
        root,
        folder,
        name,
        found: SourceContent::default(),
    };
    let read = model.read();
    let mut found = model.found;
    if let Err(problem) = read {
        // With only a part of its files, the model would give other prompts.
        found.templates.clear();
        found.problems.push(problem);
    }
    found
}

struct ModelFolder<'m> {
    root: &'m Root,
    folder: &'m Path,
    name: &'m str,
    found: SourceContent,
}

impl ModelFolder<'_> {
    fn read(&mut self) -> Result<(), Problem> {
        let (in_config, tokens, response_template) = self.config()?;
        let files = self.files()?;
        let processor = match self.processor(&files) {
            Ok(processor) => processor,
            // A tokenizer does without it.
            Err(problem) if !files.is_empty() || !in_config.is_empty() => {
                let message = format!("AutoProcessor refuses this: {}", problem.message);
                self.found.notes.push(Note::new(problem.path, message));
                NamedTemplates::default()
            }
            Err(problem) => return Err(problem),
        };
        let tokenizer = if files.is_empty() {
            in_config
        } else {
            self.compare(&in_config, &files);
            for_tokenizers(files)
        };
        let special_tokens = tokens.settle(&mut self.found)?;
        if tokenizer.is_empty() {
            if !processor.is_empty() {
                let message = "the template is the processor's: AutoTokenizer finds none";
                self.found.notes.push(Note::new(self.folder, message));
            }
            self.take(&processor, &processor, &special_tokens);
        } else {
            self.take(&tokenizer, &processor, &special_tokens);
            self.take_processors(&tokenizer, &processor, &special_tokens);
        }
        for template in &mut self.found.templates {
            template.response_template.clone_from(&response_template);
        }
        Ok(())
    }

    /// What `tokenizer_config.json` and `special_tokens_map.json` say: the templates, the special
    /// tokens, and how answers are read.
    fn config(&self) -> Result<(NamedTemplates, SpecialTokens, Option<Value>), Problem> {
        let path = self.folder.join(CONFIG_FILE);
        let (named, mut tokens, response_template) = match self.root.text(&path)? {
            Some(text) => object::read_object(&path, &text, |document, object| {
                Ok((
                    NamedTemplates::of_value(document, object)?,
                    SpecialTokens::of_config(document, object),
                    object.get(RESPONSE_KEY).map(Node::value),
                ))
            })?,
            None => (NamedTemplates::default(), SpecialTokens::default(), None),
        };
        let path = self.folder.join(MAP_FILE);
        let reads_map = tokens.reads_map();
        let met = self.root.text(&path).and_then(|text| match text {
            Some(text) => object::read_object(&path, &text, |document, object| {
                tokens.meet_map(document, object);
                Ok(())
            }),
            None => Ok(()),
        });
        // A problem in a file that transformers does not read changes nothing.
        if reads_map {
            met?;
        }
        Ok((named, tokens, response_template))
    }

    /// The templates that are files of their own.
    fn files(&self) -> Result<NamedTemplates, Problem> {
        let mut named = NamedTemplates::default();
        let mut add = |name: &str, path: &Path| -> Result<(), Problem> {
            if let Some(text) = self.root.text(path)? {
                named.set(
                    name,
                    TemplateText::new(path, TemplatePart::Whole, text),
                    path,
                )?;
            }
            Ok(())
        };
        add(DEFAULT, &self.folder.join(TEMPLATE_FILE))?;
        // From the end: of `default` and `file` the former counts.
        for path in self
            .root
            .entries(&self.folder.join(FOLDER))?
            .into_iter()
            .rev()
        {
            if is_further_template(&path) && path.is_file() {
                // Kept next to `chat_template.jinja`, until the rule of the tokenizer or the
                // processor is applied.
                let name = format!("{FOLDER}/{}", stem(&path));
                add(&name, &path)?;
            }
        }
        Ok(named)
    }

    fn processor(&self, files: &NamedTemplates) -> Result<NamedTemplates, Problem> {
        let read = |file: &str| -> Result<Option<(PathBuf, NamedTemplates)>, Problem> {
            let path = self.folder.join(file);
            let Some(text) = self.root.text(&path)? else {
                return Ok(None);
            };
            let named = object::read_object(&path, &text, NamedTemplates::of_value)?;
            Ok(Some((path, named)))
        };
        let legacy = match read(LEGACY_FILE)? {
            Some((path, named)) if named.is_empty() => {
                return Err(Problem::new(path, "no `chat_template` in it"));
            }
            Some((path, _)) if files.iter().any(|(name, _)| name != DEFAULT) => {
                let message = format!("{LEGACY_FILE} next to {FOLDER}/");
                return Err(Problem::new(path, message)
                    .help(format!("keep the template in {TEMPLATE_FILE}")));
            }
            legacy => legacy,
        };
        for (_, named) in read(PROCESSOR_FILE)?.into_iter().chain(legacy) {
            if !named.is_empty() {
                return Ok(named);
            }
        }
        Ok(for_processors(files))
    }

    /// Says where `tokenizer_config.json` and the files disagree.
    fn compare(&mut self, in_config: &NamedTemplates, files: &NamedTemplates) {
        let used = for_tokenizers(files.clone());
        for (name, unused) in in_config.iter() {
            let message = match used.get(name) {
                Some(used) if is_same_template(&used.text, &unused.text) => continue,
                Some(used) => format!(
                    "the template `{name}` differs from {}, which transformers 5.24 uses",
                    used.path.display()
                ),
                None => format!(
                    "the template `{name}` is not used: transformers 5.24 takes only files where there are any, such as {}",
                    files
                        .iter()
                        .next()
                        .map_or(TEMPLATE_FILE.to_owned(), |(_, file)| file
                            .path
                            .display()
                            .to_string())
                ),
            };
            self.found.notes.push(Note::new(&unused.path, message));
        }
        for name in [DEFAULT, "file"] {
            let extra = files.get(&format!("{FOLDER}/{name}"));
            if let (Some(extra), Some(main)) = (extra, files.get(DEFAULT)) {
                let message = format!(
                    "a tokenizer uses it in place of {}, a processor does not (transformers 5.24)",
                    main.path.display()
                );
                self.found.notes.push(Note::new(&extra.path, message));
            }
        }
    }

    fn has_processor(&self) -> bool {
        let mut files = OF_PROCESSORS.iter().map(|name| self.folder.join(name));
        files.any(|path| path.is_file())
    }

    /// Takes the templates of the model. A template that its processor also has gets the
    /// processor's front.
    fn take(
        &mut self,
        named: &NamedTemplates,
        processor: &NamedTemplates,
        special_tokens: &Map<String, Value>,
    ) {
        let has_processor = self.has_processor();
        let mut taken: Vec<(String, Template)> = Vec::new();
        for (name, source) in named.iter() {
            let variant = (name != DEFAULT).then_some(name);
            let mut template = self.template(variant, source, special_tokens);
            let same = processor.get(name).filter(|_| has_processor);
            if same.is_some_and(|same| is_same_template(&same.text, &source.text)) {
                template.front = Some(Front::TransformersProcessor.name().to_owned());
            }
            self.found.notes.extend(byte_order_mark(&template));
            self.found.notes.extend(missing_tokens(&template));
            taken.push((name.to_owned(), template));
        }
        let templates = taken.iter().map(|(_, template)| template.clone());
        self.found.templates.extend(templates);
        if taken.iter().any(|(name, _)| name != DEFAULT) {
            self.let_one_stand_for_all(taken);
        }
    }

    /// Lets the template with the model's name take the place of all named templates, because an
    /// application selects one for each conversation. Each also remains under its own name.
    fn let_one_stand_for_all(&mut self, named: Vec<(String, Template)>) {
        let get = |wanted: &str| {
            let mut named = named.iter();
            named.find_map(|(name, template)| (name == wanted).then_some(template))
        };
        let own = naming::of_model(self.name, None);
        // A processor does not use it.
        let for_tools = get("tool_use").filter(|tools| Front::of(tools) == Front::Transformers);
        let mut note = |message: String| self.found.notes.push(Note::new(self.folder, message));
        if let Some(tools) = for_tools {
            note(format!(
                "transformers uses {} for conversations with tools, and so does {own}",
                tools.name
            ));
        }
        if get(DEFAULT).is_none() {
            note(
                "no template is named `default`: users of transformers have to choose one"
                    .to_owned(),
            );
            let Some(tools) = for_tools else {
                return;
            };
            let mut template = tools.clone();
            template.name = own.clone();
            self.found.templates.push(template);
        }
        let mut templates = self.found.templates.iter_mut();
        if let Some(template) = templates.find(|template| template.name == own) {
            template.named = named;
        }
    }

    /// The processor's template, where it is another one than the tokenizer's.
    fn take_processors(
        &mut self,
        tokenizer: &NamedTemplates,
        processor: &NamedTemplates,
        special_tokens: &Map<String, Value>,
    ) {
        let Some(other) = processor.get(DEFAULT) else {
            return;
        };
        let own = tokenizer.get(DEFAULT);
        if own.is_some_and(|own| is_same_template(&own.text, &other.text)) {
            return;
        }
        let mut template = self.template(Some("processor"), other, special_tokens);
        template.front = Some(Front::TransformersProcessor.name().to_owned());
        let message = format!(
            "the processor's template, here {}; AutoTokenizer uses {} (transformers 5.24)",
            template.name,
            own.map_or("none".to_owned(), |own| own.path.display().to_string())
        );
        self.found.notes.push(Note::new(&other.path, message));
        self.found.templates.push(template);
    }

    /// The files that say how text is cut into tokens, the tokenizer first. None without a
    /// tokenizer that may be read.
    fn vocabulary(&self) -> Vec<PathBuf> {
        let paths = OF_TOKENIZERS.iter().map(|name| self.folder.join(name));
        let there = paths.filter(|path| self.root.has(path).unwrap_or(false));
        let there: Vec<PathBuf> = there.collect();
        let is_tokenizer = |path: &PathBuf| path.ends_with(TOKENIZER_FILE);
        if there.first().is_some_and(is_tokenizer) {
            there
        } else {
            Vec::new()
        }
    }

    fn template(
        &self,
        variant: Option<&str>,
        source: &TemplateText,
        special_tokens: &Map<String, Value>,
    ) -> Template {
        let mut template = Template::from_source("", Dialect::Jinja, &source.text);
        template.name = naming::of_model(self.name, variant);
        template.path.clone_from(&source.path);
        template.part = source.part.clone();
        template.special_tokens.clone_from(special_tokens);
        template.vocabulary = self.vocabulary();
        template
    }
}

/// The templates that a tokenizer takes from the files. There, a template named `file` replaces
/// `chat_template.jinja`, and one named `default` becomes the default template.
fn for_tokenizers(files: NamedTemplates) -> NamedTemplates {
    files.rename(
        |name| match name.strip_prefix("additional_chat_templates/") {
            Some("file") => DEFAULT,
            Some(name) => name,
            None => name,
        },
    )
}

/// The templates that a processor takes from the files: `chat_template.jinja` wins.
fn for_processors(files: &NamedTemplates) -> NamedTemplates {
    let mut named = files.clone().rename(|name| {
        name.strip_prefix("additional_chat_templates/")
            .unwrap_or(name)
    });
    if let Some(main) = files.get(DEFAULT) {
        named.replace(DEFAULT, main.clone());
    }
    named.retain(|source| !source.text.is_empty());
    named
}
