//! Ollama's model store: `manifests/<host>/<namespace>/<model>/<tag>` and the blobs that
//! they name (`manifest/*.go` and `GetModel` in `server/images.go`, August 2026).
//!
//! A model's Go template is the last layer of the type `template` (or `prompt`, its old
//! name), its Jinja template `tokenizer.chat_template` of the GGUF file in the layer
//! `model`. Ollama uses
//!
//! - neither, where the configuration names a `renderer`,
//! - the one that is there, if there is only one,
//! - of both the Go template, where the configuration names a `parser`, for gpt-oss, and
//!   before version 0.30; since then perhaps the Jinja template, see `choice`.
//!
//! If a model has both, the Go template has the model's name and the other one is `<model>@gguf`. A
//! note says which one Ollama uses.
//!
//! Ollama does not check blobs against their digests. For templates that is checked here, and a
//! difference is reported.

mod choice;
mod name;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rolecall_core::{Dialect, OllamaSetup, Template, TemplatePart};

use super::content::SourceContent;
use super::gguf;
use super::object::{JsonFile, read_object};
use super::remarks::byte_order_mark;
pub use name::ModelName;
use rolecall_core::file::{is_there, read_text};
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::json::{self, Node, NodeKind};
use rolecall_core::naming;
use rolecall_core::problem::{Note, Problem, closest};
use rolecall_core::root::Root;

const TEMPLATE_LAYERS: [&str; 2] = [
    "application/vnd.ollama.image.template",
    "application/vnd.ollama.image.prompt",
];
const MODEL_LAYER: &str = "application/vnd.ollama.image.model";
const SYSTEM_LAYER: &str = "application/vnd.ollama.image.system";
const MESSAGES_LAYER: &str = "application/vnd.ollama.image.messages";
const PARAMETERS_LAYER: &str = "application/vnd.ollama.image.params";

/// Reads a store, the folder that Ollama keeps it in, or the models below a folder of its
/// manifests, if the path is one of them.
pub(super) fn read_folder(path: &Path) -> Option<SourceContent> {
    let (store, from) = match store_at(path) {
        Some(store) => {
            let manifests = store.join("manifests");
            (store, manifests)
        }
        None => (store_around(path)?, path.to_path_buf()),
    };
    Some(Store::open(&store).map_or_else(SourceContent::problem, |store| store.read_below(&from)))
}

/// Reads the model of a manifest, if the path is one.
pub(super) fn read_manifest(path: &Path) -> Option<SourceContent> {
    let store = store_around(path)?;
    let below = below_manifests(&store, path)?;
    let name = ModelName::of_path(&below)?;
    Some(Store::open(&store).map_or_else(SourceContent::problem, |store| store.read_alone(&name)))
}

/// Reads `STORE/model:tag`, if the path begins with a store.
pub(super) fn read_model(path: &Path) -> Option<SourceContent> {
    let (start, store) = path
        .ancestors()
        .skip(1)
        .find_map(|start| Some((start, store_at(start)?)))?;
    let text = path.strip_prefix(start).ok()?.to_str()?;
    Some(
        Store::open(&store).map_or_else(SourceContent::problem, |store| {
            match ModelName::parse(text) {
                Some(name) if is_there(&store.manifest(&name)) => store.read_alone(&name),
                _ => SourceContent::problem(store.unknown(path, text)),
            }
        }),
    )
}

fn is_store(path: &Path) -> bool {
    path.join("manifests").is_dir() && path.join("blobs").is_dir()
}

/// The store at a path: the path, or `models` in it.
fn store_at(path: &Path) -> Option<PathBuf> {
    [path.to_path_buf(), path.join("models")]
        .into_iter()
        .find(|path| is_store(path))
}

/// The store in whose manifests a path lies.
fn store_around(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    // The path as written first, so that messages show what the user typed.
    [path, &absolute].into_iter().find_map(|path| {
        path.ancestors()
            .filter(|folder| folder.file_name().is_some_and(|name| name == "manifests"))
            .filter_map(Path::parent)
            .find(|store| !store.as_os_str().is_empty() && is_store(store))
            .map(Path::to_path_buf)
    })
}

/// The path of a manifest below `manifests`.
fn below_manifests(store: &Path, path: &Path) -> Option<PathBuf> {
    let manifests = store.join("manifests");
    let absolute = std::path::absolute(path).ok()?;
    [path, &absolute]
        .into_iter()
        .find_map(|path| path.strip_prefix(&manifests).ok())
        .map(Path::to_path_buf)
}

struct Store {
    root: Root,
}

#[derive(Debug, Default)]
struct Manifest {
    config: Option<String>,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    media_type: String,
    digest: String,
}

#[derive(Debug, Default)]
struct ModelConfig {
    format: String,
    family: String,
    renderer: String,
    parser: String,
}

impl Store {
    fn open(path: &Path) -> Result<Store, Problem> {
        Root::new(path).map(|root| Store { root })
    }

    fn manifests(&self) -> PathBuf {
        self.root.path().join("manifests")
    }

    fn manifest(&self, name: &ModelName) -> PathBuf {
        self.manifests().join(name.path())
    }

    /// The names of the models below a folder of manifests.
    fn names(&self, folder: &Path) -> Result<Vec<ModelName>, Problem> {
        let mut names = Vec::new();
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            // A manifest lies four names below: host, namespace, model and tag. No folder below that is
            // read.
            let depth = below_manifests(self.root.path(), &folder)
                .map_or(4, |below| below.components().count());
            for path in self.root.entries(&folder)? {
                if path.is_dir() && depth < 3 {
                    folders.push(path);
                } else {
                    // A manifest that is not a file becomes a problem of that model.
                    names.extend(
                        below_manifests(self.root.path(), &path)
                            .and_then(|below| ModelName::of_path(&below)),
                    );
                }
            }
        }
        names.sort();
        Ok(names)
    }

    /// The problem that the store has no model of this name.
    fn unknown(&self, path: &Path, text: &str) -> Problem {
        let names: Vec<String> = self
            .names(&self.manifests())
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect();
        let help = closest(text, names.iter().map(String::as_str)).map_or_else(
            || match names.len() {
                0 => "the store holds no model".to_owned(),
                1..=20 => format!("there are {}", names.join(", ")),
                more => format!("there are {more} others"),
            },
            |name| format!("did you mean {name}?"),
        );
        let message = format!(
            "no model {text:?} in the store {}",
            self.root.path().display()
        );
        Problem::new(path, message).help(help)
    }

    fn read_below(&self, folder: &Path) -> SourceContent {
        let names = match self.names(folder) {
            Ok(names) => names,
            Err(problem) => return SourceContent::problem(problem),
        };
        let mut found = SourceContent::default();
        for name in &names {
            let model = self.read(name);
            if model.is_empty() {
                let message = format!("{name} has no template");
                found.notes.push(Note::new(self.manifest(name), message));
            }
            found.add(model);
        }
        if found.is_empty() {
            let message = match names.len() {
                0 => "the store holds no model".to_owned(),
                models => format!("none of the {models} models has a template"),
            };
            found.problems.push(Problem::new(folder, message));
        }
        found
    }

    fn read_alone(&self, name: &ModelName) -> SourceContent {
        let mut found = self.read(name);
        if found.is_empty() {
            let problem = Problem::new(self.manifest(name), format!("{name} has no template"));
            found.problems.push(problem.help(
                "neither a layer of the type template, nor a chat template in the GGUF file",
            ));
        }
        found
    }

    fn read(&self, name: &ModelName) -> SourceContent {
        let mut found = SourceContent::default();
        if let Err(problem) = self.read_into(name, &mut found) {
            found.problems.push(problem);
        }
        found
    }

    fn read_into(&self, name: &ModelName, found: &mut SourceContent) -> Result<(), Problem> {
        let path = self.manifest(name);
        let text = self
            .root
            .text(&path)?
            .ok_or_else(|| Problem::new(&path, "no such manifest"))?;
        let manifest = read_object(&path, &text, manifest)?;
        let config = match &manifest.config {
            Some(digest) => self.config(&path, digest)?,
            None => ModelConfig::default(),
        };
        let last = |types: &[&str]| {
            let mut layers = manifest.layers.iter().rev();
            layers.find(|layer| types.contains(&layer.media_type.as_str()))
        };
        let mut go = match last(&TEMPLATE_LAYERS) {
            Some(layer) => Some(self.template(&path, name, &layer.digest, found)?),
            None => None,
        };
        if let Some(template) = &mut go {
            let reported = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
            template.setup = OllamaSetup {
                model: Some(name.model().to_owned()),
                family: reported(&config.family),
                parser: reported(&config.parser),
                system: match last(&[SYSTEM_LAYER]) {
                    Some(layer) => Some(read_text(&self.blob(&path, &layer.digest)?)?),
                    None => None,
                },
                messages: match last(&[MESSAGES_LAYER]) {
                    Some(layer) => messages(&self.blob(&path, &layer.digest)?)?,
                    None => Vec::new(),
                },
                stops: match last(&[PARAMETERS_LAYER]) {
                    Some(layer) => stops(&self.blob(&path, &layer.digest)?)?,
                    None => Vec::new(),
                },
            };
        }
        let mut jinja = match last(&[MODEL_LAYER]) {
            Some(layer) if matches!(config.format.as_str(), "" | "gguf") => {
                self.gguf(&path, name, &layer.digest, go.is_some())?
            }
            _ => SourceContent::default(),
        };
        if let (Some(template), Some(layer)) = (&mut go, last(&[MODEL_LAYER]))
            && let Ok(weights) = self.blob(&path, &layer.digest)
            && gguf::is_gguf(&weights)
        {
            template.vocabulary = vec![weights];
        }
        if go.is_some() && !jinja.problems.is_empty() {
            // Ollama goes on with the template that it has.
            for problem in jinja.problems.drain(..) {
                found.notes.push(Note::new(problem.path, problem.message));
            }
        }
        self.tell_what_is_used(name, &config, go.as_ref(), &jinja, found);
        found.templates.extend(go);
        found.add(jinja);
        Ok(())
    }

    fn tell_what_is_used(
        &self,
        name: &ModelName,
        config: &ModelConfig,
        go: Option<&Template>,
        jinja: &SourceContent,
        found: &mut SourceContent,
    ) {
        let path = self.manifest(name);
        // As `shouldUseHarmony` in Ollama knows gpt-oss, for which it has a parser of its own.
        let is_harmony = ["gptoss", "gpt-oss"].contains(&config.family.as_str())
            && go.is_some_and(|template| {
                template.source.contains("<|start|>") && template.source.contains("<|end|>")
            });
        if go.is_none() && jinja.templates.is_empty() {
            return;
        }
        if !config.renderer.is_empty() {
            let message = format!(
                "Ollama renders {name} by code of its own, {:?}, not by its template",
                config.renderer
            );
            found.notes.push(Note::new(path, message));
            return;
        }
        let key = TemplatePart::Key(gguf::DEFAULT_KEY.to_owned());
        let in_weights = jinja.templates.iter().find(|jinja| jinja.part == key);
        let (Some(go), Some(jinja)) = (go, in_weights) else {
            return;
        };
        let names = (&go.name, &jinja.name);
        let has_parser = is_harmony || !config.parser.is_empty();
        let message = match choice::prefers_jinja(&go.source, &jinja.source) {
            Some(_) if has_parser => format!("Ollama uses {}, not {}", names.0, names.1),
            Some(true) => format!(
                "Ollama 0.30 and later uses {}, earlier versions use {}",
                names.1, names.0
            ),
            Some(false) => format!("Ollama uses {}, not {}", names.0, names.1),
            None => format!("Ollama cannot parse {}", names.0),
        };
        let message = format!("{name} has two templates: {message}");
        found.notes.push(Note::new(path, message));
    }

    fn blob(&self, manifest: &Path, digest: &str) -> Result<PathBuf, Problem> {
        let hex = digest
            .strip_prefix("sha256:")
            .or_else(|| digest.strip_prefix("sha256-"))
            .filter(|hex| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(hex) = hex else {
            let message = format!("not a digest: {digest:?}");
            return Err(Problem::new(manifest, message));
        };
        let path = self.root.path().join("blobs").join(format!("sha256-{hex}"));
        if self.root.has(&path)? {
            Ok(path)
        } else {
            let message = format!("the blob {digest} is missing");
            Err(Problem::new(manifest, message).help("pull the model again"))
        }
    }

    fn config(&self, manifest: &Path, digest: &str) -> Result<ModelConfig, Problem> {
        let path = self.blob(manifest, digest)?;
        let text = read_text(&path)?;
        read_object(&path, &text, |_, object| {
            let text = |key| object.text_of(key).unwrap_or_default();
            Ok(ModelConfig {
                format: text("model_format"),
                family: text("model_family"),
                renderer: text("renderer"),
                parser: text("parser"),
            })
        })
    }

    fn template(
        &self,
        manifest: &Path,
        name: &ModelName,
        digest: &str,
        found: &mut SourceContent,
    ) -> Result<Template, Problem> {
        let path = self.blob(manifest, digest)?;
        let text = read_text(&path)?;
        let real = Fingerprint::of(&text).to_string();
        if !digest.to_ascii_lowercase().ends_with(&real) {
            let message = "is not what its digest says; Ollama uses it all the same";
            found.notes.push(Note::new(&path, message));
        }
        let mut template = Template::from_source("", Dialect::Go, &text);
        template.name = naming::of_model(&name.to_string(), None);
        template.path = path;
        found.notes.extend(byte_order_mark(&template));
        Ok(template)
    }

    /// The template in the weights. Named ones are not used by Ollama.
    fn gguf(
        &self,
        manifest: &Path,
        name: &ModelName,
        digest: &str,
        is_second: bool,
    ) -> Result<SourceContent, Problem> {
        let path = match self.blob(manifest, digest) {
            Ok(path) => path,
            // Ollama goes on with the template that it has.
            Err(problem) if is_second => {
                let message = format!(
                    "{}: whether Ollama 0.30 and later uses a Jinja template in these weights is not known",
                    problem.message
                );
                return Ok(SourceContent::problem(Problem::new(problem.path, message)));
            }
            Err(problem) => return Err(problem),
        };
        let name = if is_second {
            format!("{name}@gguf")
        } else {
            name.to_string()
        };
        let mut found = gguf::read(None, &path, &name);
        found
            .problems
            .retain(|problem| problem.message != gguf::NO_TEMPLATE);
        Ok(found)
    }
}

/// The texts at which a model's answers end.
fn stops(path: &Path) -> Result<Vec<String>, Problem> {
    let parameters: HashMap<String, serde_json::Value> = parsed(path, "an object of parameters")?;
    let stops = parameters.get("stop").and_then(serde_json::Value::as_array);
    let texts = stops.into_iter().flatten().filter_map(|stop| stop.as_str());
    Ok(texts.map(str::to_owned).collect())
}

/// The value of a small JSON file.
fn parsed<T: serde::de::DeserializeOwned>(path: &Path, what: &str) -> Result<T, Problem> {
    let text = read_text(path)?;
    json::read(path, &text, what)
}

/// Role and text of the messages that a model brings.
fn messages(path: &Path) -> Result<Vec<(String, String)>, Problem> {
    let messages: Vec<HashMap<String, serde_json::Value>> = parsed(path, "a list of messages")?;
    let text = |message: &HashMap<String, serde_json::Value>, name| {
        let text = message.get(name).and_then(serde_json::Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let message = |message| {
        (
            text(message, "role").to_lowercase(),
            text(message, "content"),
        )
    };
    Ok(messages.iter().map(message).collect())
}

fn manifest(document: &JsonFile<'_>, object: &Node<'_>) -> Result<Manifest, Problem> {
    let config = object
        .entry("config")
        .and_then(|config| config.text_of("digest"));
    let no_layers = Node {
        range: 0..0,
        kind: NodeKind::List(Vec::new()),
    };
    let layers = object.get("layers").unwrap_or(&no_layers);
    let NodeKind::List(items) = &layers.kind else {
        return Err(document.problem(layers, "`layers` must be an array"));
    };
    let layers =
        items.iter().map(
            |layer| match (layer.text_of("mediaType"), layer.text_of("digest")) {
                (Some(media_type), Some(digest)) => Ok(Layer { media_type, digest }),
                _ => Err(document.problem(layer, "a layer needs a `mediaType` and a `digest`")),
            },
        );
    Ok(Manifest {
        config: config.filter(|digest| !digest.is_empty()),
        layers: layers.collect::<Result<_, _>>()?,
    })
}
