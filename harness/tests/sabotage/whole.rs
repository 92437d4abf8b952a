//! The whole suite: compares each changed file with the data that its checks use.
//!
//! Running every check for every byte of a copy of the suite, with its tens of millions of bytes,
//! would take days. So the tests compute once what a check compares a file with. They change the
//! file in memory, or alone in a folder, and use the checks' own comparisons.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use rolecall_check::card;
use rolecall_cli::report;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::{Case, CaseId, Template};
use rolecall_explore::coverage::TemplateCoverage;
use rolecall_front::engines::Engines;
use rolecall_io::template_file::read_template;
use rolecall_suite::case_file::{read_family, read_tool};
use rolecall_suite::layout::Layout;
use rolecall_suite::record::Record;
use rolecall_suite::records::{AskedTemplates, Records};
use rolecall_suite::run::{Rendered, Runner};
use rolecall_suite::snapshot::{FamilyFile, PairText, SnapshotStatus, Snapshots, contents};
use rolecall_suite::suite::Suite;
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
    let rendered = runner.render(&pairs);
    let snapshots = Snapshots::of(layout);
    let records = Records::read(layout, &snapshots, &suite.templates);
    let whole = Whole {
        layout,
        snapshots: &snapshots,
        records: &records,
        extent,
        suite: &suite,
        engines: &engines,
        inputs: suite
            .cases
            .iter()
            .map(|case| (&case.id, Fingerprint::of_case(case)))
            .collect(),
    };
    let mut all = All::new();
    let mut add = |kind: Kind, figures: Vec<Figures>| {
        for one in figures {
            all.entry(kind).or_default().add(one);
        }
    };
    let templates = suite.templates.par_iter();
    add(
        Kind::Snapshot,
        rendered.par_iter().map(|one| whole.snapshot(one)).collect(),
    );
    add(
        Kind::Card,
        templates
            .clone()
            .map(|template| whole.card(template))
            .collect(),
    );
    add(
        Kind::Asked,
        templates
            .clone()
            .map(|template| whole.asked(template))
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
    all
}

struct Whole<'w> {
    layout: &'w Layout,
    snapshots: &'w Snapshots,
    records: &'w Records,
    extent: Extent,
    suite: &'w Suite,
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

    /// What is accepted and recorded of a pair, in a file of its own: files are read section by
    /// section. What comes before the sections is changed once for each template.
    fn snapshot(&self, rendered: &Rendered<'_>) -> Figures {
        let pair = &rendered.pair;
        let family = pair.case.id.family();
        let alone = Suite {
            templates: vec![pair.template.clone()],
            cases: vec![pair.case.clone()],
            ..Suite::default()
        };
        let before = self.snapshots.family(family).pair(pair);
        let folder = scratch::folder();
        let layout = Layout::new(folder.path());
        std::fs::create_dir(layout.snapshots()).unwrap();
        let asked = AskedTemplates::read(self.snapshots).unwrap();
        asked.write(&Snapshots::of(&layout)).unwrap();
        let text = self.snapshots.written(&alone, family, |_| before.clone());
        let header = self
            .snapshots
            .written(&alone, family, |_| PairText::default());
        let is_first = self.suite.cases.first().map(|case| &case.id) == Some(&pair.case.id);
        let first = if is_first { 0 } else { header.len() - 1 };
        let path = self.snapshots.file(family);
        let record = self.records.of(&pair.template.name).unwrap();
        let lines = record.lines(&pair.case.id);
        let noticed = |changed: &[u8]| {
            let file = FamilyFile::parse(path.clone(), changed.to_vec());
            if file.compare(pair, &rendered.outcome) != SnapshotStatus::Same {
                return Some(Check::Pairs);
            }
            let problems = self.snapshots.problems_of(&alone, family, &file).all();
            if !problems.is_empty() {
                return Some(Check::Lint);
            }
            let now = file.pair(pair);
            if now.answers != before.answers {
                return Some(Check::Readings);
            }
            if now.reference != before.reference {
                return Some(Check::Lint);
            }
            let snapshots = Snapshots::of(&layout);
            std::fs::write(snapshots.file(family), changed).unwrap();
            let read = Records::read(&layout, &snapshots, &alone.templates);
            if !read.problems.is_empty() {
                return Some(Check::Lint);
            }
            let answer = read.answer(pair, || self.inputs[&pair.case.id]);
            if !answer.is_ok_and(|answer| answer.agrees(&rendered.outcome)) {
                return Some(Check::Pairs);
            }
            let of_pair = |record: &Record| {
                let all = record.readings.clone().into_iter();
                all.filter(|(id, _)| id.case == pair.case.id)
                    .collect::<Vec<_>>()
            };
            let is_read = read
                .of(&pair.template.name)
                .is_some_and(|read| of_pair(read) == of_pair(record));
            (!is_read).then_some(Check::Readings)
        };
        assert_eq!(before.record, lines);
        let places = first..text.len();
        let mut figures = sabotage_text(
            Kind::Snapshot,
            &path,
            text.as_bytes(),
            places,
            self.extent,
            &[],
            noticed,
        );
        figures.files = usize::from(is_first);
        figures
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
            let is_as_written = text == Some(&self.snapshots.written_text(template, &card));
            (!is_as_written).then_some(Check::Lint)
        })
    }

    fn examined(&self, template: &Template) -> (Vec<String>, String) {
        let card = card::examine(self.engines.for_dialect(template.dialect), template);
        (
            card.complaints(template),
            report::card::plain(&card).unwrap(),
        )
    }

    /// What the reference of a template was asked with, in a file of its own.
    fn asked(&self, template: &Template) -> Figures {
        let folder = scratch::folder();
        let layout = Layout::new(folder.path());
        let snapshots = Snapshots::of(&layout);
        let mut asked = AskedTemplates::default();
        let record = self.records.of(&template.name).unwrap();
        asked.set(&template.name, record.asked.clone());
        let path = AskedTemplates::file(&snapshots);
        std::fs::create_dir(snapshots.root()).unwrap();
        let noticed = |changed: &[u8]| {
            std::fs::write(&path, changed).unwrap();
            let Ok(read) = AskedTemplates::read(&snapshots) else {
                return Some(Check::Files);
            };
            let Some(now) = read.of(&template.name) else {
                return Some(Check::Pairs);
            };
            if now.staleness(template).is_some() {
                return Some(Check::Pairs);
            }
            if now.staleness_of_answers(template).is_some() {
                return Some(Check::Readings);
            }
            (read.text().as_bytes() != changed).then_some(Check::Lint)
        };
        let text = asked.text();
        self.sabotage(Kind::Asked, &path, text.as_bytes(), noticed)
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
                Ok(read) => record.asked.staleness(&read).map(|_| Check::Pairs),
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
            if record.asked.staleness(&read).is_some() {
                return Some(Check::Pairs);
            }
            let named = serde_json::from_slice::<Value>(changed).unwrap();
            if named["$schema"] != schema {
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
        let engine = self.engines.for_dialect(template.dialect);
        let pairs = self.suite.pairs_among(template, &self.suite.cases);
        let coverage = TemplateCoverage::measure(engine, template, pairs, |_, _| {}).unwrap();
        let whole = coverage.whole();
        whole.reached == whole.all && coverage.unused_explanations().is_empty()
    }

    fn record_of(&self, template: &Template) -> &Record {
        self.records.of(&template.name).unwrap()
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
}
