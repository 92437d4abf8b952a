//! The files of an export, as they are written.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use super::flags::Flag;

/// `cases.json`: every conversation once.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct CasesFile {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    /// What the cases of a family have in common, by family.
    pub(super) families: BTreeMap<String, String>,
    /// The cases, by name: `family/case`.
    pub(super) cases: BTreeMap<String, ExportedCase>,
}

/// One conversation, as it is written in its case file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExportedCase {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<String>,
    /// What many languages lose of it before a template sees it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) flags: BTreeSet<Flag>,
    /// The dialects that the shape exists in: `jinja`, `go` or both.
    pub(super) dialects: Vec<&'static str>,
    /// What the clock shows while the template runs, in UTC.
    pub(super) now: String,
    /// The messages. Keys are in the order in which a template sees them.
    pub(super) messages: Vec<Value>,
    /// The tools; null is Python's `None`.
    pub(super) tools: Option<Vec<Value>>,
    /// The documents; null is Python's `None`.
    pub(super) documents: Option<Vec<Value>>,
    /// Whether the prompt shall end with the opening of the assistant's turn.
    pub(super) add_generation_prompt: bool,
    /// The field of the last message that the model shall go on with. No template sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) continue_final_message: Option<String>,
    /// Further variables of the template. They win over those of the expected file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) variables: Map<String, Value>,
}

/// `expected/<reference>/<front>/<template>.json`: what a reference does with the cases.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExpectedFile {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    /// The template's name.
    pub template: String,
    /// The file of its source.
    pub(super) source: String,
    /// The SHA-256 of that file.
    pub(super) source_sha256: String,
    /// Which reference it was.
    pub(super) reference: ExportedReference,
    /// What the application does to a conversation before the template sees it: `raw` is
    /// nothing.
    pub(super) front: &'static str,
    /// The front whose file has the answer for the cases that are not in this one. Null where
    /// this file has all cases that the front can be asked for.
    pub(super) otherwise: Option<&'static str>,
    /// What the template is given besides the case: the special tokens of its model, and
    /// variables of its own.
    pub(super) variables: Map<String, Value>,
    /// What a server of Ollama knows of the model, and goes by before the template is asked.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) setup: Map<String, Value>,
    /// What the reference does, by the name of the case.
    pub(super) cases: BTreeMap<String, ExpectedCase>,
}

/// A reference and what it is made of, with versions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExportedReference {
    /// Its name.
    pub engine: String,
    /// Its version.
    pub(super) version: String,
    /// What else it is made of, with versions.
    pub(super) components: BTreeMap<String, String>,
}

/// What the reference does with a case.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExpectedCase {
    #[serde(flatten)]
    pub(super) answer: ExpectedAnswer,
    /// Variables that are made of the case; they are added to those of the file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) variables: Map<String, Value>,
}

/// An outcome of a reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(super) enum ExpectedAnswer {
    /// A prompt. To agree is to give the same text, byte for byte.
    Rendered {
        /// The prompt.
        text: String,
        /// The SHA-256 of its UTF-8.
        sha256: String,
    },
    /// The template refused by way of `raise_exception`. To agree is to tell the same message.
    Raised {
        /// What it said.
        message: String,
        /// The SHA-256 of its UTF-8.
        sha256: String,
    },
    /// The reference could not. To agree is to fail, in whatever words.
    Failed {
        /// How far it came: `input` is before the template, `parse`, `render`.
        stage: &'static str,
        /// What the reference said. Its words are its own.
        message: String,
        /// The line of the template, where the reference knows it.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<usize>,
    },
    /// A limit ran out.
    Exceeded {
        /// Which one.
        limit: &'static str,
    },
}

/// `constructs.json`: small templates, each about one thing that its language can do.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ConstructsFile {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    /// What every template of a dialect is given, by dialect. No front comes before them.
    pub(super) contexts: BTreeMap<&'static str, ExportedCase>,
    /// The constructs, by name: the dialect, and the beginning of the SHA-256 of the template.
    pub(super) constructs: BTreeMap<String, ExportedConstruct>,
}

/// A small template, and what the reference gives for it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExportedConstruct {
    /// `jinja` or `go`.
    pub(super) dialect: &'static str,
    /// Its source.
    pub template: String,
    /// What it uses of its language, by name.
    pub(super) uses: BTreeSet<String>,
    #[serde(flatten)]
    pub(super) answer: ExpectedAnswer,
}

/// `manifest.json`: what there is, with what it can be checked by.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Manifest {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    /// The version of the format. It changes where a program that reads the files has to.
    pub(super) format: u32,
    /// The version of Rolecall that wrote it.
    pub(super) rolecall: String,
    /// What is counted.
    pub(super) counts: Counts,
    /// The references, with versions.
    pub(super) references: Vec<ExportedReference>,
    /// What the flags of cases mean.
    pub(super) flags: BTreeMap<&'static str, &'static str>,
    /// The templates, by name.
    pub(super) templates: BTreeMap<String, ExportedTemplate>,
    /// Every other file, with its size in bytes and its SHA-256.
    pub(super) files: BTreeMap<String, ExportedFile>,
}

/// How much there is.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Counts {
    pub(super) cases: usize,
    pub(super) templates: usize,
    pub(super) expected: usize,
    pub(super) constructs: usize,
}

/// What is to know about a template.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExportedTemplate {
    /// `jinja` or `go`.
    pub(super) dialect: &'static str,
    /// The file of its source.
    pub(super) source: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<String>,
    /// Where it came from, and its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// The front of those who use it.
    pub(super) front: &'static str,
    /// What the reference does, by front.
    pub(super) expected: BTreeMap<&'static str, String>,
}

/// Size and content of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ExportedFile {
    /// Its size in bytes.
    pub(super) bytes: usize,
    /// Its SHA-256.
    pub(super) sha256: String,
}
