//! The whole suite: compares each changed file with the data that its checks use.
//!
//! Running every check for every byte of a copy of the suite, with its tens of millions of bytes,
//! would take days. So the tests compute once what a check compares a file with. They change the
//! file in memory, or alone in a folder, and use the checks' own comparisons.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use rolecall::card;
use rolecall::case_file::{read_family, read_tool};
use rolecall::coverage::TemplateCoverage;
use rolecall::engines::Engines;
use rolecall::fingerprint::Fingerprint;
use rolecall::layout::Layout;
use rolecall::parity::{self, Explanations};
use rolecall::record::{Record, Records};
use rolecall::report;
use rolecall::run::{Rendered, Runner};
use rolecall::snapshot::{self, Accepted, SnapshotStatus, Snapshots, contents};
use rolecall::suite::Suite;
use rolecall::template_file::read_template;
use rolecall_model::{Case, CaseId, Outcome, Template};
use serde_json::{Value, json};

use super::changes::Extent;
use super::checks::Check;
use super::files::Kind;
use super::{All, Figures, sabotage_text};
use crate::scratch;

/// Changes every file of a suite.
pub(crate) fn sabotage(layout: &Layout, extent: Extent) -> All {
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], None).unwrap();
    let suite = Suite::load_layout(layout);
    assert_eq!(suite.problems, []);
    let pairs: Vec<_> = suite.pairs().collect();
    let rendered = runner.render(&pairs).results;
    let whole = Whole {
        layout,
        extent,
        suite: &suite,
        rendered: &rendered,
        engines: &engines,
        inputs: suite
            .cases
            .iter()
            .map(|case| (&case.id, Fingerprint::of_case(case)))
            .collect(),
    };
    let file = |one: &Rendered<'_>| {
        (
            one.pair.template.name.clone(),
            one.pair.case.id.family().to_owned(),
        )
    };
    let files: Vec<&[Rendered<'_>]> = rendered.chunk_by(|a, b| file(a) == file(b)).collect();
    let mut all = All::new();
    let mut add = |kind: Kind, figures: Vec<Figures>| {
        for one in figures {
            all.entry(kind).or_default().add(one);
        }
    };
    let templates = suite.templates.par_iter();
    add(
        Kind::Snapshot,
        files
            .into_par_iter()
            .map(|file| whole.snapshots(file))
            .collect(),
    );
    add(
        Kind::Card,
        templates
            .clone()
            .map(|template| whole.card(template))
            .collect(),
    );
    add(
        Kind::Record,
        templates
            .clone()
            .map(|template| whole.record(template))
            .collect(),
    );
    add(
        Kind::Template,
        templates
            .clone()
            .map(|template| whole.template(template))
            .collect(),
    );
    add(
        Kind::Sidecar,
        templates.map(|template| whole.sidecar(template)).collect(),
    );
    add(
        Kind::Case,
        suite
            .cases
            .par_iter()
            .map(|case| whole.case(case))
            .collect(),
    );
    add(
        Kind::Tool,
        suite
            .used_tools
            .par_iter()
            .map(|path| whole.tool(path))
            .collect(),
    );
    add(Kind::Parity, whole.parity());
    all
}

struct Whole<'w> {
    layout: &'w Layout,
    extent: Extent,
    suite: &'w Suite,
    rendered: &'w [Rendered<'w>],
    engines: &'w Engines,
    inputs: HashMap<&'w CaseId, Fingerprint>,
}

impl Whole<'_> {
    fn sabotage(
        &self,
        kind: Kind,
        name: &Path,
        bytes: &[u8],
        noticed: impl Fn(&[u8]) -> Option<Check>,
    ) -> Figures {
        let names: Vec<String> = self
            .suite
            .cases
            .iter()
            .map(|case| case.id.to_string())
            .collect();
        sabotage_text(
            kind,
            name,
            bytes,
            0..bytes.len(),
            self.extent,
            &names,
            noticed,
        )
    }

    /// The file of a template and a family, with their pairs.
    fn snapshots(&self, rendered: &[Rendered<'_>]) -> Figures {
        let pair = rendered[0].pair;
        let path = Snapshots::of(self.layout).file(&pair.template.name, pair.case.id.family());
        let bytes = std::fs::read(&path).unwrap();
        self.sabotage(Kind::Snapshot, &path, &bytes, |changed| {
            let accepted = Accepted::of(path.clone(), changed);
            let is_same = |one: &Rendered<'_>| {
                let name = one.pair.case.id.name();
                accepted.compare(name, &one.outcome) == SnapshotStatus::Same
            };
            if !rendered.iter().all(is_same) {
                return Some(Check::Pairs);
            }
            let pairs = rendered.iter().map(|one| one.pair);
            (!Snapshots::of(self.layout)
                .problems(&accepted, pairs)
                .is_empty())
            .then_some(Check::Lint)
        })
    }

    fn card(&self, template: &Template) -> Figures {
        let path = Snapshots::of(self.layout).card(&template.name);
        let (complaints, card) = self.examined(template);
        assert!(complaints.is_empty());
        let bytes = std::fs::read(&path).unwrap();
        self.sabotage(Kind::Card, &path, &bytes, |changed| {
            let text = std::str::from_utf8(changed).ok();
            if text.and_then(contents) != Some(&card) {
                return Some(Check::Cards);
            }
            let is_as_written = text == Some(&snapshot::text_file(template, &card));
            (!is_as_written).then_some(Check::Lint)
        })
    }

    fn examined(&self, template: &Template) -> (Vec<String>, String) {
        let card = card::examine(
            self.engines.for_dialect(template.dialect).unwrap(),
            template,
        );
        (
            card.complaints(template),
            report::card::plain(&card).unwrap(),
        )
    }

    /// Each line in a record of its own, because the harness reads records line by line.
    fn record(&self, template: &Template) -> Figures {
        let path = Records::file(&self.layout.snapshots(), &template.name);
        let whole = Record::read(&path).unwrap();
        let outcomes: HashMap<&CaseId, &Outcome> = self
            .rendered
            .iter()
            .filter(|rendered| rendered.pair.template.name == template.name)
            .map(|rendered| (&rendered.pair.case.id, &rendered.outcome))
            .collect();
        let mut figures = Figures::default();
        for (index, (id, entry)) in whole.cases.iter().enumerate() {
            let mut record = Record::clone(&whole);
            record.cases = [(id.clone(), entry.clone())].into();
            let text = record.text();
            // What stands before and behind the lines is changed once.
            let places = if index == 0 {
                0..text.len()
            } else {
                text.find(&format!("    \"{id}\"")).unwrap()..text.rfind("\n  }\n}").unwrap()
            };
            let noticed = |changed: &[u8]| {
                let Ok(record) = serde_json::from_slice::<Record>(changed) else {
                    return Some(Check::Lint);
                };
                // The unchanged record was not stale, so only a change can make it stale.
                let is_new = (&record.reference, record.template, record.settings)
                    != (&whole.reference, whole.template, whole.settings);
                if is_new && record.staleness(template).is_some() {
                    return Some(Check::Pairs);
                }
                let is_same = record.cases.get(id).is_some_and(|entry| {
                    entry.input == self.inputs[id] && entry.answer.agrees(outcomes[id])
                });
                if !is_same {
                    return Some(Check::Pairs);
                }
                (record.text().as_bytes() != changed).then_some(Check::Lint)
            };
            let bytes = text.as_bytes();
            figures.add(sabotage_text(
                Kind::Record,
                &path,
                bytes,
                places,
                self.extent,
                &[],
                noticed,
            ));
        }
        figures.files = 1;
        figures
    }

    fn template(&self, template: &Template) -> Figures {
        let record = self.record_of(template);
        let folder = scratch::folder();
        let path = folder.path().join(template.path.file_name().unwrap());
        let bytes = std::fs::read(&template.path).unwrap();
        self.sabotage(Kind::Template, &template.path, &bytes, |changed| {
            std::fs::write(&path, changed).unwrap();
            match read_template(&path) {
                Err(_) => Some(Check::Files),
                Ok(read) => record.staleness(&read).map(|_| Check::Pairs),
            }
        })
    }

    fn sidecar(&self, template: &Template) -> Figures {
        let record = self.record_of(template);
        let folder = scratch::folder();
        let path = folder.path().join(template.path.file_name().unwrap());
        std::fs::copy(&template.path, &path).unwrap();
        let original = template.path.with_extension("json");
        let bytes = std::fs::read(&original).unwrap();
        let (_, card) = self.examined(template);
        let schema = "../schema/template.schema.json";
        self.sabotage(Kind::Sidecar, &original, &bytes, |changed| {
            std::fs::write(path.with_extension("json"), changed).unwrap();
            let Ok(read) = read_template(&path) else {
                return Some(Check::Files);
            };
            if record.staleness(&read).is_some() {
                return Some(Check::Pairs);
            }
            let named = serde_json::from_slice::<Value>(changed).unwrap();
            // A family of one, and a schema that is another.
            if read.family != template.family || named["$schema"] != schema {
                return Some(Check::Lint);
            }
            if read.response_template != template.response_template {
                return Some(Check::Readings);
            }
            if read.unreached != template.unreached && !self.is_covered(&read) {
                return Some(Check::Lint);
            }
            if read.broken == template.broken {
                return None;
            }
            let (complaints, text) = self.examined(&read);
            (!complaints.is_empty() || text != card).then_some(Check::Cards)
        })
    }

    /// Whether the cases reach every place of a template that nobody has explained, and every
    /// explanation explains something, as `lint` demands it.
    fn is_covered(&self, template: &Template) -> bool {
        let engine = self.engines.for_dialect(template.dialect).unwrap();
        let pairs = self.suite.pairs_among(template, &self.suite.cases);
        let coverage = TemplateCoverage::of(engine, template, pairs, |_, _| {}).unwrap();
        let whole = coverage.whole();
        whole.reached == whole.all && coverage.idle_explanations().is_empty()
    }

    fn record_of(&self, template: &Template) -> Record {
        Record::read(&Records::file(&self.layout.snapshots(), &template.name)).unwrap()
    }

    /// A case in a file of its own.
    fn case(&self, case: &Case) -> Figures {
        let text = std::fs::read_to_string(&case.path).unwrap();
        let mut file: Value = serde_json::from_str(&text).unwrap();
        let cases = file["cases"].as_object_mut().unwrap();
        cases.retain(|name, _| name == case.id.name());
        let bytes = serde_json::to_string_pretty(&file).unwrap() + "\n";
        let folder = scratch::folder();
        let path = folder.path().join(case.path.file_name().unwrap());
        let input = self.inputs[&case.id];
        self.sabotage(Kind::Case, &path, bytes.as_bytes(), |changed| {
            std::fs::write(&path, changed).unwrap();
            let family = read_family(&path, &[self.layout.tools()]);
            let [read] = family.cases.as_slice() else {
                return Some(Check::Files);
            };
            if !family.problems.is_empty() {
                return Some(Check::Files);
            }
            // Another name, or another dialect: pairs without a snapshot.
            if read.id != case.id || read.dialects != case.dialects {
                return Some(Check::Pairs);
            }
            if Fingerprint::of_case(read) != input {
                return Some(Check::Pairs);
            }
            let named = serde_json::from_slice::<Value>(changed).unwrap();
            (named["$schema"] != "../schema/cases.schema.json").then_some(Check::Lint)
        })
    }

    fn tool(&self, original: &Path) -> Figures {
        let tool = read_tool(original).unwrap();
        let folder = scratch::folder();
        let path = folder.path().join(original.file_name().unwrap());
        let bytes = std::fs::read(original).unwrap();
        // The tool belongs to its cases' input.
        let input = |tool: &Value| {
            let mut case = Case::from_messages(vec![json!({})]);
            case.tools = Some(vec![tool.clone()]);
            Fingerprint::of_case(&case)
        };
        self.sabotage(Kind::Tool, original, &bytes, |changed| {
            std::fs::write(&path, changed).unwrap();
            match read_tool(&path) {
                Err(_) => Some(Check::Files),
                Ok(read) => (input(&read) != input(&tool)).then_some(Check::Pairs),
            }
        })
    }

    /// Piece by piece, because each comparison takes time.
    fn parity(&self) -> Vec<Figures> {
        const PIECE: usize = 512;
        let families = parity::families(self.suite);
        let parities = parity::compare(self.suite, &families, self.rendered);
        let names: Vec<String> = self
            .suite
            .cases
            .iter()
            .map(|case| case.id.to_string())
            .collect();
        let bytes = std::fs::read(self.layout.parity()).unwrap();
        let starts: Vec<usize> = (0..bytes.len()).step_by(PIECE).collect();
        let piece = |start: &usize| {
            let places = *start..bytes.len().min(start + PIECE);
            let folder = scratch::folder();
            let path = folder.path().join("parity.json");
            let noticed = |changed: &[u8]| {
                std::fs::write(&path, changed).unwrap();
                let explanations = Explanations::read(&path).ok();
                let unexplained = explanations.map(|known| known.unexplained(&parities));
                (unexplained != Some(0)).then_some(Check::Parity)
            };
            sabotage_text(
                Kind::Parity,
                &path,
                &bytes,
                places,
                self.extent,
                &names,
                noticed,
            )
        };
        starts.par_iter().map(piece).collect()
    }
}
