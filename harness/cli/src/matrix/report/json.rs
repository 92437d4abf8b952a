//! Measurements as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::detail::by_construct;
use crate::matrix::engines::Matrix;
use crate::matrix::measurement::{Measurement, Share};
use crate::report::json::VERSION;

/// What `matrix --format json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Document"))]
pub struct MatrixDocument {
    /// The version of this format: 1.
    rolecall: u32,
    engines: Vec<EngineEntry>,
}

/// An engine in one version.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EngineEntry {
    engine: String,
    version: String,
    components: BTreeMap<String, String>,
    /// `jinja` or `go`.
    dialect: &'static str,
    /// The reference that gives the verdicts.
    reference: String,
    /// How many templates load.
    templates: ShareEntry,
    /// Pairs in which the reference gives a prompt.
    prompts: ShareEntry,
    /// The same, for the templates that load.
    prompts_of_loaded: ShareEntry,
    /// Pairs in which the reference gives no prompt.
    refusals: ShareEntry,
    /// Small templates of one construct each.
    constructs: Option<ShareEntry>,
    /// On the machine of the measurement.
    pairs_per_second: usize,
    /// In how many requests it died, and answered only when it was asked again.
    deaths: usize,
    /// The changes since the measurement.
    changed_since: Vec<String>,
    /// The engine in detail, if the user asked for it by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<EngineDetail>,
}

/// How many agree with the reference, and how many there are.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ShareEntry {
    agree: usize,
    of: usize,
}

/// An engine in detail.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Detail"))]
struct EngineDetail {
    by_template: BTreeMap<String, ShareEntry>,
    /// Why templates do not load.
    refused: BTreeMap<String, String>,
    by_family: BTreeMap<String, ShareEntry>,
    by_construct: BTreeMap<String, ShareEntry>,
    /// The differences, those in the most pairs first.
    differences: Vec<DifferenceEntry>,
}

/// A difference in some pairs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DifferenceEntry {
    /// The outcome of the pairs: `rendered`, `raised`, `failed`, `exceeded`, `crashed`.
    found: &'static str,
    cause: String,
    /// The pair with the shortest conversation.
    example: ExampleEntry,
    /// `template:family/name`.
    pairs: Vec<String>,
}

/// A pair with the lines around the first difference, as transcripts show them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ExampleEntry {
    pair: String,
    expected: String,
    found: String,
}

impl From<Share> for ShareEntry {
    fn from(share: Share) -> ShareEntry {
        ShareEntry {
            agree: share.agree,
            of: share.all,
        }
    }
}

/// Writes the table as one JSON object. If the user named engines, writes only those, in detail.
pub fn write_json(out: &mut dyn Write, matrix: &Matrix, chosen: &[&Measurement]) -> io::Result<()> {
    let entry = |engine: &Measurement, has_detail: bool| EngineEntry {
        engine: engine.engine.engine.clone(),
        version: engine.engine.version.clone(),
        components: engine.engine.components.clone(),
        dialect: engine.dialect.name(),
        reference: engine.suite.reference.to_string(),
        templates: engine.loaded().into(),
        prompts: engine.prompts().into(),
        prompts_of_loaded: engine.prompts_of_loaded().into(),
        refusals: engine.refusals().into(),
        constructs: engine.construct_share().map(Into::into),
        pairs_per_second: engine.pairs_per_second,
        deaths: engine.deaths,
        changed_since: matrix.staleness(engine).0,
        detail: has_detail.then(|| detail(matrix, engine)),
    };
    let engines = if chosen.is_empty() {
        let all = matrix.measurements().iter();
        all.map(|engine| entry(engine, false)).collect()
    } else {
        chosen.iter().map(|engine| entry(engine, true)).collect()
    };
    let document = MatrixDocument {
        rolecall: VERSION,
        engines,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn detail(matrix: &Matrix, engine: &Measurement) -> EngineDetail {
    let shares = |shares: Vec<(String, Option<Share>)>| -> BTreeMap<String, ShareEntry> {
        let known = shares
            .into_iter()
            .filter_map(|(name, share)| Some((name, share?)));
        known.map(|(name, share)| (name, share.into())).collect()
    };
    let templates = engine.templates.keys();
    let refused = engine.templates.iter();
    let families = engine.families.keys();
    let differences = engine.by_size().into_iter();
    let constructs = by_construct(matrix, engine).into_iter();
    EngineDetail {
        by_template: shares(
            templates
                .map(|name| (name.to_string(), engine.of_template(name)))
                .collect(),
        ),
        refused: refused
            .filter_map(|(name, template)| {
                let refused = template.refused.as_ref()?;
                Some((name.to_string(), refused.message.clone()))
            })
            .collect(),
        by_family: shares(
            families
                .map(|name| (name.clone(), engine.of_family(name)))
                .collect(),
        ),
        by_construct: constructs
            .map(|(name, share)| (name, share.into()))
            .collect(),
        differences: differences
            .map(|group| DifferenceEntry {
                found: group.found.name(),
                cause: group.cause.clone(),
                example: ExampleEntry {
                    pair: format!("{}:{}", group.example.template, group.example.case),
                    expected: group.example.expected.clone(),
                    found: group.example.found.clone(),
                },
                pairs: group
                    .pairs
                    .iter()
                    .map(|pair| format!("{}:{}", pair.template, pair.case))
                    .collect(),
            })
            .collect(),
    }
}
