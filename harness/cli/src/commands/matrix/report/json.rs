//! Measurements as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::commands::matrix::report::detail::by_construct;
use crate::report::json::{VERSION, document};
use rolecall_suite::measurement::matrix::Matrix;
use rolecall_suite::measurement::{DifferenceGroup, Example, Measurement, Share};

document! {
    /// What `matrix --format json` prints.
    #[cfg_attr(feature = "schema", schemars(rename = "Document"))]
    pub struct MatrixDocument from (matrix: &Matrix, chosen: &[&Measurement]) with {
        let entry = |engine: &Measurement| EngineEntry::of(matrix, engine, !chosen.is_empty());
        let engines = if chosen.is_empty() {
            matrix.measurements().iter().map(entry).collect()
        } else {
            chosen.iter().map(|engine| entry(engine)).collect()
        };
    } {
        /// The version of this format: 1.
        rolecall: u32 = VERSION,
        engines: Vec<EngineEntry> = engines,
    }

    /// An engine in one version.
    struct EngineEntry from (matrix: &Matrix, engine: &Measurement, has_detail: bool) {
        engine: String = engine.engine.engine.clone(),
        version: String = engine.engine.version.clone(),
        components: BTreeMap<String, String> = engine.engine.components.clone(),
        /// `jinja` or `go`.
        dialect: &'static str = engine.dialect.name(),
        /// The reference that gives the verdicts.
        reference: String = engine.reference.to_string(),
        /// How many templates load.
        templates: ShareEntry = ShareEntry::of(engine.loaded()),
        /// Pairs in which the reference gives a prompt.
        prompts: ShareEntry = ShareEntry::of(engine.prompts()),
        /// The same, for the templates that load.
        prompts_of_loaded: ShareEntry = ShareEntry::of(engine.prompts_of_loaded()),
        /// Pairs in which the reference gives no prompt.
        refusals: ShareEntry = ShareEntry::of(engine.refusals()),
        /// Small templates of one construct each.
        constructs: Option<ShareEntry> = engine.construct_share().map(ShareEntry::of),
        /// On the machine of the measurement.
        pairs_per_second: usize = engine.pairs_per_second,
        /// In how many requests it died, and answered only when it was asked again.
        deaths: usize = engine.deaths,
        /// The changes since the measurement.
        changed_since: Vec<String> = matrix.staleness(engine),
        /// The engine in detail, if the user asked for it by name.
        detail?: Option<EngineDetail> = has_detail.then(|| EngineDetail::of(matrix, engine)),
    }

    /// How many agree with the reference, and how many there are.
    struct ShareEntry from (share: Share) {
        agree: usize = share.agree,
        of: usize = share.all,
    }

    /// An engine in detail.
    #[cfg_attr(feature = "schema", schemars(rename = "Detail"))]
    struct EngineDetail from (matrix: &Matrix, engine: &Measurement) with {
        let shares = |shares: Vec<(String, Option<Share>)>| -> BTreeMap<String, ShareEntry> {
            let known = shares.into_iter().filter_map(|(name, share)| Some((name, share?)));
            known.map(|(name, share)| (name, ShareEntry::of(share))).collect()
        };
        let templates = engine.templates.keys();
        let refused = engine.templates.iter();
        let families = engine.families.keys();
        let differences = engine.by_size().into_iter();
        let constructs = by_construct(matrix, engine).into_iter();
    } {
        by_template: BTreeMap<String, ShareEntry> =
            shares(templates.map(|name| (name.to_string(), engine.of_template(name))).collect()),
        /// Why templates do not load.
        refused: BTreeMap<String, String> = refused
            .filter_map(|(name, template)| {
                let refused = template.refused.as_ref()?;
                Some((name.to_string(), refused.clone()))
            })
            .collect(),
        by_family: BTreeMap<String, ShareEntry> =
            shares(families.map(|name| (name.clone(), engine.of_family(name))).collect()),
        by_construct: BTreeMap<String, ShareEntry> =
            constructs.map(|(name, share)| (name, ShareEntry::of(share))).collect(),
        /// The differences, those in the most pairs first.
        differences: Vec<DifferenceEntry> =
            differences.map(DifferenceEntry::of).collect(),
    }

    /// A difference in some pairs.
    struct DifferenceEntry from (group: &DifferenceGroup) {
        /// The outcome of the pairs: `rendered`, `raised`, `failed`, `exceeded`, `crashed`.
        found: &'static str = group.found.name(),
        cause: String = group.cause.clone(),
        /// The pair with the shortest conversation.
        example: ExampleEntry = ExampleEntry::of(&group.example),
        /// `template:family/name`.
        pairs: Vec<String> =
            group.pairs.iter().map(|pair| format!("{}:{}", pair.template, pair.case)).collect(),
    }

    /// A pair with the lines around the first difference, as transcripts show them.
    struct ExampleEntry from (example: &Example) {
        pair: String = format!("{}:{}", example.template, example.case),
        expected: String = example.expected.clone(),
        found: String = example.found.clone(),
    }
}

/// Writes the table as one JSON object. If the user named engines, writes only those, in detail.
pub fn write_json(out: &mut dyn Write, matrix: &Matrix, chosen: &[&Measurement]) -> io::Result<()> {
    let document = MatrixDocument::of(matrix, chosen);
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
