//! A response template in a file, and what an inspection finds in it, with places.

use std::path::{Path, PathBuf};

use rolecall_core::Template;
use rolecall_core::file::{is_there, read_text};
use rolecall_core::json::{self, place_of};
use rolecall_core::problem::{Location, Problem};
use rolecall_io::template_file::sidecar;
use rolecall_response::{Finding, Inspection, ResponseTemplate, TemplateErrorKind};
use serde_json::Value;

/// The file of a model folder that has its response template.
const CONFIG_FILE: &str = "tokenizer_config.json";

/// The key of a response template in `tokenizer_config.json` and in sidecars.
const KEY: &str = "response_template";

/// What an inspection finds in a file.
#[derive(Debug)]
pub struct Inspected {
    pub path: PathBuf,
    /// The findings, each with its place.
    pub findings: Vec<(Option<Location>, Finding)>,
    /// The fields that the inspection could not try.
    pub untried: Vec<String>,
}

/// A file with a response template.
struct ResponseFile<'a> {
    path: &'a Path,
    text: String,
    /// The keys that lead to the response template: none if the file is nothing else.
    below: &'static str,
    response_template: Value,
    end_tokens: Vec<String>,
}

/// Inspects the response template of a file or of a model folder.
///
/// # Errors
///
/// There is no file, it has no response template, or none that can be used.
pub fn inspect_file(path: &Path) -> Result<Inspected, Problem> {
    let in_folder = path.join(CONFIG_FILE);
    let path = if path.is_dir() { &in_folder } else { path };
    ResponseFile::open(path)?.inspect()
}

/// Reads the response template of a file or of a model folder, which transformers has to accept.
///
/// # Errors
///
/// There is no file, it has no response template, or none that can be used.
pub fn read_file(path: &Path) -> Result<Value, Problem> {
    let in_folder = path.join(CONFIG_FILE);
    let path = if path.is_dir() { &in_folder } else { path };
    let file = ResponseFile::open(path)?;
    file.compiled()?;
    Ok(file.response_template)
}

/// Inspects the response template of a template. None if it has none.
///
/// # Errors
///
/// The response template cannot be used.
pub fn inspect_template(template: &Template) -> Option<Result<Inspected, Problem>> {
    let response_template = template.response_template.as_ref()?;
    let path = file_of(template, response_template);
    Some(ResponseFile::of(template, response_template, &path).inspect())
}

/// The problem with the response template of a template that transformers refuses. Every answer would
/// fail, for this one reason.
pub fn unusable(template: &Template) -> Option<Problem> {
    let response_template = template.response_template.as_ref()?;
    let error = ResponseTemplate::from_json(response_template).err()?;
    if matches!(error.kind, TemplateErrorKind::Unsupported) {
        return None;
    }
    let path = file_of(template, response_template);
    let file = ResponseFile::of(template, response_template, &path);
    let name = &template.name;
    let message = format!("`response_template` of {name} cannot be used: {error}");
    Some(Problem {
        position: file.place(&error.path),
        ..Problem::new(&path, message)
    })
}

/// The file in which a template's response template is: its sidecar, the file of the template
/// itself, or one next to it.
fn file_of(template: &Template, response_template: &Value) -> PathBuf {
    let config = template.path.with_file_name(CONFIG_FILE);
    let in_folder = template.path.join(CONFIG_FILE);
    let places = [
        sidecar(&template.path),
        template.path.clone(),
        config,
        in_folder,
    ];
    let has_it = |path: &&PathBuf| {
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        let text = (is_json && is_there(path)).then(|| read_text(path).ok());
        let value = text
            .flatten()
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        value.is_some_and(|value| value.get(KEY) == Some(response_template))
    };
    places.iter().find(has_it).unwrap_or(&template.path).clone()
}

/// The special tokens that a file names: those of `tokenizer_config.json`, or of a sidecar.
fn end_tokens(file: &Value) -> Vec<String> {
    let named = file.as_object().into_iter().flatten();
    let named = named.filter(|(key, _)| key.ends_with("_token"));
    let listed = file.get("special_tokens").and_then(Value::as_object);
    let tokens = named.chain(listed.into_iter().flatten());
    let text = |(_, value): (&String, &Value)| {
        let text = value.as_str().or_else(|| value.get("content")?.as_str())?;
        (!text.is_empty()).then(|| text.to_owned())
    };
    tokens.filter_map(text).collect()
}

impl ResponseFile<'_> {
    /// The file of a template, whose response template is known.
    fn of<'a>(template: &Template, response_template: &Value, path: &'a Path) -> ResponseFile<'a> {
        let special = template.special_tokens.values().filter_map(Value::as_str);
        ResponseFile {
            text: read_text(path).unwrap_or_default(),
            path,
            below: KEY,
            response_template: response_template.clone(),
            end_tokens: special.map(str::to_owned).collect(),
        }
    }

    fn open(path: &Path) -> Result<ResponseFile<'_>, Problem> {
        let text = read_text(path)?;
        let value: Value = json::read(path, &text, "JSON")?;
        let (below, response_template) = match value.get(KEY) {
            Some(inner) => (KEY, inner.clone()),
            None if value.get("fields").is_some() => ("", value.clone()),
            None => {
                let message =
                    format!("there is no `{KEY}`, and no `fields` of a response template");
                return Err(Problem::new(path, message).help(
                    "name a tokenizer_config.json or a sidecar with one, or a file that is one",
                ));
            }
        };
        Ok(ResponseFile {
            path,
            text,
            below,
            response_template,
            end_tokens: end_tokens(&value),
        })
    }

    /// The response template, checked and compiled.
    fn compiled(&self) -> Result<ResponseTemplate, Problem> {
        ResponseTemplate::from_json(&self.response_template).map_err(|error| {
            let message = if error.kind.may_be_sound() {
                error.to_string()
            } else {
                format!("not a response template: {error}")
            };
            let problem = Problem::new(self.path, message);
            Problem {
                position: self.place(&error.path),
                ..problem
            }
        })
    }

    fn inspect(self) -> Result<Inspected, Problem> {
        let template = self.compiled()?;
        let Inspection {
            findings, untried, ..
        } = template.inspect(&self.end_tokens);
        let findings = findings.into_iter();
        Ok(Inspected {
            findings: findings
                .map(|finding| (self.place(&finding.path()), finding))
                .collect(),
            untried,
            path: self.path.to_path_buf(),
        })
    }

    /// The place of what keys lead to in the response template.
    fn place(&self, keys: &str) -> Option<Location> {
        let keys = [self.below, keys]
            .into_iter()
            .filter(|part| !part.is_empty());
        let keys: Vec<&str> = keys.collect();
        place_of(&self.text, &keys.join(".")).map(Location::Text)
    }
}

impl Inspected {
    /// The findings of the worse level as problems of the suite.
    pub fn warnings(self) -> Vec<Problem> {
        let of_level =
            |finding: &Finding| finding.rule.level() == rolecall_response::Level::Warning;
        let findings = self.findings.into_iter();
        let warnings = findings.filter(|(_, finding)| of_level(finding));
        let as_problem = |(position, finding): (Option<Location>, Finding)| {
            let evidence = finding.evidence.lines().join("; ");
            let message = format!("{}: {} ({evidence})", finding.rule.id(), finding.message);
            Problem {
                position,
                ..Problem::new(&self.path, message).help(finding.help)
            }
        };
        warnings.map(as_problem).collect()
    }
}
