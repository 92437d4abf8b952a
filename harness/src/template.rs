//! Templates: a source, its dialect, and what goes with it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use jsonc_parser::ast;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::{self, Document};
use crate::problem::{Problem, read_text};

/// The language that a template is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Jinja, as Hugging Face transformers runs it.
    Jinja,
    /// Go's `text/template`, as Ollama runs it.
    Go,
}

/// A template's name: its file's name without the extension, or the name of its model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TemplateName(Arc<str>);

/// A chat template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Its name.
    pub name: TemplateName,
    /// The file it stands in.
    pub path: PathBuf,
    /// Which part of that file it is.
    pub part: Part,
    /// The language it is written in.
    pub dialect: Dialect,
    /// The source, byte for byte: line endings are as in the file.
    pub source: String,
    /// What it is, in a sentence.
    pub about: Option<String>,
    /// Where it came from, and its licence.
    pub origin: Option<String>,
    /// What it shares with its twins: templates that are meant to give the same prompts.
    pub family: Option<String>,
    /// `bos_token` and its kin, as the tokenizer would pass them.
    pub special_tokens: Map<String, Value>,
    /// Variables that this template reads besides the standard ones.
    pub variables: Vec<(String, Variable)>,
    /// Contracts that this template breaks on purpose, each with the reason.
    pub broken: Vec<(String, String)>,
}

/// Which part of its file a template is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The value of a key, in JSON or GGUF.
    Key(String),
    /// What begins in this line, counted from 1, in a Modelfile.
    Line(usize),
}

impl Part {
    /// The key whose value it is.
    pub fn key(&self) -> Option<&str> {
        match self {
            Part::Key(key) => Some(key),
            Part::Whole | Part::Line(_) => None,
        }
    }
}

/// The value of a template's own variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Variable {
    /// The same for every case.
    Value(Value),
    /// The JSON text of the case's tools; absent when the case has none.
    ToolsJson {
        /// Spaces a level, or everything on one line.
        indent: Option<usize>,
    },
}

/// A template's sidecar: `<name>.json` beside the template.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Sidecar {
    /// The JSON Schema of this file, for editors.
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// What the template is, in a sentence.
    about: Option<String>,
    /// Where it came from, and its licence.
    origin: Option<String>,
    /// A name that templates share which are meant to give the same prompts, such as a
    /// Jinja template and its port to Go.
    family: Option<String>,
    /// The tokenizer's special tokens: `bos_token`, `eos_token`, …
    special_tokens: Option<std::collections::BTreeMap<String, String>>,
    /// Variables that the template reads besides the standard ones. A value
    /// `{"$json": "tools", "indent": 4}` stands for the JSON text of the case's tools.
    variables: Option<Map<String, Value>>,
    /// Contracts of `rolecall check` that the template breaks on purpose, each with the
    /// reason.
    broken: Option<std::collections::BTreeMap<String, String>>,
}

impl Dialect {
    /// Both dialects.
    pub const ALL: [Dialect; 2] = [Dialect::Jinja, Dialect::Go];

    /// The word for it in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Jinja => "jinja",
            Dialect::Go => "go",
        }
    }

    /// The dialect of a file, by its extension: `.jinja` or `.gotmpl`.
    pub fn of_file(path: &Path) -> Option<Dialect> {
        match path.extension()?.to_str()? {
            "jinja" => Some(Dialect::Jinja),
            "gotmpl" => Some(Dialect::Go),
            _ => None,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl TemplateName {
    /// A name as it is; [`TemplateName::is_plain`] tells whether the suite may use it.
    pub fn new(name: &str) -> TemplateName {
        TemplateName(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name can be a folder of snapshots on every system: lower-case
    /// letters, digits, dots, dashes and underscores, the first a letter or a digit.
    pub fn is_plain(&self) -> bool {
        self.0
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
            && self.0.starts_with(|c: char| c.is_ascii_alphanumeric())
    }
}

impl TemplateName {
    /// A name from the name of a model and perhaps of one of its templates,
    /// `model@variant`. Whatever a terminal or a filter would take for something else
    /// than a name, such as `:` and control characters, is replaced.
    pub fn of_model(model: &str, variant: Option<&str>) -> TemplateName {
        let tidy = |c: char, others: &str| {
            if c.is_alphanumeric() || others.contains(c) {
                c
            } else {
                '_'
            }
        };
        let mut name: String = model
            .replace(':', "@")
            .chars()
            .map(|c| tidy(c, "._-+@/"))
            .collect();
        if let Some(variant) = variant {
            name.push('@');
            name.extend(variant.chars().map(|c| tidy(c, "._-+")));
        }
        TemplateName(name.into())
    }
}

impl fmt::Display for TemplateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Template {
    /// A template that is not in a file.
    pub fn from_source(name: &str, dialect: Dialect, source: &str) -> Template {
        Template {
            name: TemplateName::new(name),
            path: PathBuf::new(),
            part: Part::Whole,
            dialect,
            source: source.to_owned(),
            about: None,
            origin: None,
            family: None,
            special_tokens: Map::new(),
            variables: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Where the template stands, or a line of it: `path:line`, and the key where it is
    /// the value of one.
    pub fn place(&self, line: Option<usize>) -> String {
        let path = self.path.display();
        match (&self.part, line) {
            (Part::Whole, None) => path.to_string(),
            (Part::Whole, Some(line)) => format!("{path}:{line}"),
            (Part::Line(first), line) => {
                format!("{path}:{}", first + line.unwrap_or(1).saturating_sub(1))
            }
            (Part::Key(key), None) => format!("{path} ({})", key.escape_debug()),
            (Part::Key(key), Some(line)) => {
                format!("{path} ({}, line {line})", key.escape_debug())
            }
        }
    }
}

/// Reads a template and its sidecar.
///
/// A template whose sidecar is broken is not returned: rendered without its special
/// tokens it would give prompts that mean nothing.
pub fn read_template(path: &Path) -> Result<Template, Vec<Problem>> {
    let mut problems = Vec::new();
    let Some(dialect) = Dialect::of_file(path) else {
        return Err(vec![
            Problem::new(path, "not a template").help("a template is a .jinja or a .gotmpl file"),
        ]);
    };
    let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else {
        return Err(vec![Problem::new(path, "the file's name is not UTF-8")]);
    };
    let source = read_text(path)
        .map_err(|problem| problems.push(problem))
        .ok();
    let sidecar_path = path.with_extension("json");
    let sidecar = if sidecar_path.exists() && !is_legacy_template(&sidecar_path) {
        read_sidecar(&sidecar_path)
            .map_err(|found| problems.extend(found))
            .ok()
    } else {
        Some(SidecarContent::default())
    };
    match (source, sidecar) {
        (Some(source), Some(sidecar)) => Ok(Template {
            name: TemplateName::new(name),
            path: path.to_path_buf(),
            part: Part::Whole,
            dialect,
            source,
            about: sidecar.about,
            origin: sidecar.origin,
            family: sidecar.family,
            special_tokens: sidecar.special_tokens,
            variables: sidecar.variables,
            broken: sidecar.broken,
        }),
        _ => Err(problems),
    }
}

#[derive(Default)]
struct SidecarContent {
    about: Option<String>,
    origin: Option<String>,
    family: Option<String>,
    special_tokens: Map<String, Value>,
    variables: Vec<(String, Variable)>,
    broken: Vec<(String, String)>,
}

/// Whether a file that stands where a sidecar would is transformers' own
/// `chat_template.json`, in which processors keep a template.
fn is_legacy_template(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == "chat_template.json")
        && read_text(path)
            .ok()
            .and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok())
            .is_some_and(|object| object.contains_key("chat_template"))
}

static SIDECAR_KEYS: LazyLock<Vec<String>> = LazyLock::new(json::keys::<Sidecar>);

fn read_sidecar(path: &Path) -> Result<SidecarContent, Vec<Problem>> {
    let text = read_text(path).map_err(|problem| vec![problem])?;
    let examined = json::examine(path, &text, |document, root| {
        let fields = document.fields(root, "the sidecar", &SIDECAR_KEYS)?;
        let mut content = SidecarContent::default();
        if let Some(value) = fields.get("about") {
            content.about = document.string(value, "`about`");
        }
        if let Some(value) = fields.get("origin") {
            content.origin = document.string(value, "`origin`");
        }
        if let Some(value) = fields.get("family") {
            content.family = document.string(value, "`family`");
        }
        if let Some(value) = fields.get("special_tokens") {
            for (name, property) in document.entries(value, "`special_tokens`")? {
                let token = document.string(&property.value, &format!("token `{name}`"))?;
                content
                    .special_tokens
                    .insert(name.to_owned(), Value::String(token));
            }
        }
        if let Some(value) = fields.get("variables") {
            for (name, property) in document.entries(value, "`variables`")? {
                let variable = read_variable(document, &property.value)?;
                content.variables.push((name.to_owned(), variable));
            }
        }
        if let Some(value) = fields.get("broken") {
            for (name, property) in document.entries(value, "`broken`")? {
                let why = document.string(&property.value, &format!("the reason for `{name}`"))?;
                content.broken.push((name.to_owned(), why));
            }
        }
        Some(content)
    });
    match examined.value {
        Some(content) if examined.problems.is_empty() => Ok(content),
        _ => Err(examined.problems),
    }
}

fn read_variable(document: &mut Document<'_>, value: &ast::Value<'_>) -> Option<Variable> {
    let is_generated = matches!(value, ast::Value::Object(object) if object.get("$json").is_some());
    if !is_generated {
        return document.verbatim(value).map(Variable::Value);
    }
    let known = ["$json".to_owned(), "indent".to_owned()];
    let fields = document.fields(value, "a generated variable", &known)?;
    let source = fields.get("$json")?;
    if document.string(source, "`$json`")? != "tools" {
        document.problem(source, "`$json` can only stand for \"tools\"");
    }
    let indent = match fields.get("indent") {
        None => None,
        Some(value) => {
            let indent = document
                .verbatim(value)?
                .as_u64()
                .filter(|indent| *indent <= 16);
            if indent.is_none() {
                document.problem(value, "`indent` must be a number from 0 to 16");
            }
            indent.and_then(|indent| usize::try_from(indent).ok())
        }
    };
    Some(Variable::ToolsJson { indent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sidecar_is_optional_and_a_broken_one_is_not_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jinja");
        std::fs::write(&path, "a\r\nb\r\n").unwrap();
        let template = read_template(&path).unwrap();
        assert_eq!(template.source, "a\r\nb\r\n");
        assert_eq!(template.name.as_str(), "t");

        let sidecar = folder.path().join("t.json");
        std::fs::write(
            &sidecar,
            r#"{"special_tokens": {"bos_token": "<s>"}, "variables": {"z": {"$json": "tools", "indent": 4}, "a": 1}}"#,
        )
        .unwrap();
        let template = read_template(&path).unwrap();
        assert_eq!(template.special_tokens["bos_token"], "<s>");
        assert_eq!(
            template.variables,
            [
                ("z".to_owned(), Variable::ToolsJson { indent: Some(4) }),
                ("a".to_owned(), Variable::Value(1.into())),
            ]
        );

        std::fs::write(&sidecar, r#"{"special_token": {}, "origin": 3}"#).unwrap();
        let problems: Vec<_> = read_template(&path)
            .unwrap_err()
            .iter()
            .map(|problem| problem.message.clone())
            .collect();
        assert_eq!(
            problems,
            [
                "unknown key `special_token` in the sidecar",
                "`origin` must be a string, not a number"
            ]
        );
    }

    #[test]
    fn a_source_that_is_not_utf8_has_a_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jinja");
        std::fs::write(&path, b"ok\nb\xFFd").unwrap();
        let problems = read_template(&path).unwrap_err();
        assert!(
            problems[0]
                .to_string()
                .contains("t.jinja:2:2: not UTF-8: byte 0xFF at offset 4"),
            "{}",
            problems[0]
        );
    }

    #[test]
    fn what_processors_keep_beside_a_template_is_no_sidecar() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat_template.jinja");
        std::fs::write(&path, "F").unwrap();
        let beside = folder.path().join("chat_template.json");
        std::fs::write(&beside, r#"{"chat_template": "L"}"#).unwrap();
        assert_eq!(read_template(&path).unwrap().source, "F");
        std::fs::write(&beside, r#"{"about": 1}"#).unwrap();
        assert!(read_template(&path).is_err());
    }

    #[test]
    fn names_of_models_hold_nothing_that_means_something_elsewhere() {
        let name = |model, variant| TemplateName::of_model(model, variant).to_string();
        assert_eq!(name("org/Model-1.5", None), "org/Model-1.5");
        assert_eq!(name("gemma3:12b", Some("tool_use")), "gemma3@12b@tool_use");
        assert_eq!(name("a b\u{1b}[1m*", Some("../x:y")), "a_b__1m_@.._x_y");
    }

    #[test]
    fn plain_names() {
        assert!(TemplateName::new("qwen2.5").is_plain());
        assert!(TemplateName::new("gemma-3-t1").is_plain());
        for bad in ["", "..", ".hidden", "a/b", "Qwen", "a b"] {
            assert!(!TemplateName::new(bad).is_plain(), "{bad}");
        }
    }
}
