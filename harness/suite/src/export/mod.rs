//! The suite as plain data, for those who do not run Rust: conversations, templates, what the
//! references do with them, and the constructs of the languages.
//!
//! An export contains the inputs and the records, and nothing from our own engines. It brings the
//! runners along, which use it in other languages. The same suite gives the same bytes. `form.rs`
//! defines the files; their JSON Schemas describe them for programs, and the `README.md` next to
//! them for people.

mod flags;

mod form;

mod expected;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use rolecall_core::{Case, Dialect, Template};
use serde::Serialize;
use serde_json::Value;
use walkdir::WalkDir;

pub use self::flags::Flag;
use self::form::{
    CasesFile, ConstructsFile, Counts, ExpectedFile, ExportedCase, ExportedConstruct, ExportedFile,
    ExportedReference, ExportedTemplate, Manifest,
};
use crate::construct::ConstructTable;
use crate::expectations::Expectations;
use crate::layout::Layout;
use crate::reference::{Identity, Reference};
use crate::suite::{Pair, Suite};
use rolecall_core::file::read_text;
use rolecall_core::fingerprint::Fingerprint;
use rolecall_core::problem::Problem;
use rolecall_front::front::Front;

/// The version of the format. It changes where a program that reads the files has to.
pub(crate) const FORMAT: u32 = 1;

/// The file that lists the contents.
const MANIFEST: &str = "manifest.json";

/// The kind of folder, as its list of files has it.
const KIND: &str = "rolecall export";

/// The folder of the runners, in an export and among the scripts.
const RUNNERS: &str = "runners";

/// The schemas of the files, as `schemas` generates them.
const SCHEMAS: [(&str, &str); 4] = [
    ("cases", include_str!("schema/cases.schema.json")),
    ("expected", include_str!("schema/expected.schema.json")),
    ("constructs", include_str!("schema/constructs.schema.json")),
    ("manifest", include_str!("schema/manifest.schema.json")),
];

const README: &str = include_str!("README.md");

/// The names of the schemas, and their right contents.
#[cfg(feature = "schema")]
pub fn schemas() -> [(&'static str, String); 4] {
    use crate::schema::written;

    [
        ("cases", written::<CasesFile>()),
        ("expected", written::<ExpectedFile>()),
        ("constructs", written::<ConstructsFile>()),
        ("manifest", written::<Manifest>()),
    ]
}

/// The files of an export, by their paths below its folder, with `/`.
#[derive(Debug, Default)]
pub struct Export {
    files: BTreeMap<String, String>,
    counts: Counts,
    /// Pairs that are missing in the files because the reference's answer is unknown,
    /// with the reason.
    pub left_out: Vec<String>,
}

impl Export {
    /// The export of some pairs of a suite: the templates and cases that are in them.
    ///
    /// # Errors
    ///
    /// The tables of constructs, or what was recorded, cannot be read.
    pub fn gather(
        layout: &Layout,
        suite: &Suite,
        pairs: &[Pair<'_>],
    ) -> Result<Export, Vec<Problem>> {
        let templates: BTreeMap<&str, &Template> = pairs
            .iter()
            .map(|pair| (pair.template.name.as_str(), pair.template))
            .collect();
        let expectations = Expectations::read(layout, templates.values().copied())?;
        let mut export = Export::default();
        let mut listed = BTreeMap::new();
        for template in templates.values() {
            let of_template = |pair: &&Pair<'_>| std::ptr::eq(pair.template, *template);
            let pairs: Vec<Pair<'_>> = pairs.iter().filter(of_template).copied().collect();
            let entry = export.add_template(template, &pairs, &expectations);
            listed.insert(template.name.to_string(), entry);
        }
        export.add_cases(suite, pairs);
        let dialects: BTreeSet<&str> = templates.values().map(|t| t.dialect.name()).collect();
        let has_dialect = |dialect: &Dialect| dialects.contains(dialect.name());
        let constructs = Dialect::ALL
            .into_iter()
            .filter(has_dialect)
            .map(|dialect| ConstructTable::read(layout, dialect))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|problem| vec![problem])?;
        export.add_constructs(constructs);
        export.add_words(&listed);
        export
            .add_runners(layout)
            .map_err(|problem| vec![problem])?;
        export.add_manifest(listed);
        Ok(export)
    }

    /// The files: their paths below the folder, and their texts.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Checks that an export may be written to a folder, before it is made.
    ///
    /// # Errors
    ///
    /// The folder holds something else, as for [`Export::write`].
    pub fn may_be_written(folder: &Path) -> Result<(), Problem> {
        rolecall_core::folder::hold(folder, KIND)
    }

    /// Writes the files. A folder that is there has to be empty, or an export with nothing else in
    /// it: that is replaced as a whole once the new one is complete.
    ///
    /// # Errors
    ///
    /// The folder holds something else, or cannot be written. Then it stays as it was.
    pub fn write(&self, folder: &Path) -> Result<(), Problem> {
        rolecall_core::folder::replace(folder, &self.files, KIND)
    }

    /// How many templates, cases, expected answers and constructs there are, each with the words
    /// for one and for several.
    pub fn counts(&self) -> [(usize, [&'static str; 2]); 4] {
        let Counts {
            templates,
            cases,
            expected,
            constructs,
        } = self.counts;
        [
            (templates, ["template", "templates"]),
            (cases, ["conversation", "conversations"]),
            (expected, ["expected answer", "expected answers"]),
            (constructs, ["construct", "constructs"]),
        ]
    }

    fn add_template(
        &mut self,
        template: &Template,
        pairs: &[Pair<'_>],
        expectations: &Expectations,
    ) -> ExportedTemplate {
        let extension = match template.dialect {
            Dialect::Jinja => "jinja",
            Dialect::Go => "gotmpl",
        };
        let source = format!("templates/{}.{extension}", template.name);
        let reference = exported(&Reference::of(template.dialect).identity());
        let mut entry = ExportedTemplate {
            dialect: template.dialect.name(),
            source: source.clone(),
            about: template.about.clone(),
            origin: template.origin.clone(),
            front: Front::of(template).name(),
            expected: BTreeMap::new(),
        };
        let answers = expected::answers(template, pairs, expectations);
        self.left_out.extend(answers.left_out);
        for (front, otherwise, cases) in answers.by_front {
            let path = format!(
                "expected/{}/{}/{}.json",
                reference.engine,
                front.name(),
                template.name
            );
            self.counts.expected += cases.len();
            let file = ExpectedFile {
                schema: "../../../schema/expected.schema.json",
                template: template.name.to_string(),
                source: source.clone(),
                source_sha256: Fingerprint::of_source(template).to_string(),
                reference: reference.clone(),
                front: front.name(),
                otherwise: otherwise.map(Front::name),
                variables: expected::variables(template),
                setup: template.setup.to_json(),
                cases,
            };
            entry.expected.insert(front.name(), path.clone());
            self.add_json(path, &file, &["cases"]);
        }
        self.counts.templates += 1;
        self.files.insert(source, template.source.clone());
        entry
    }

    fn add_cases(&mut self, suite: &Suite, pairs: &[Pair<'_>]) {
        let cases: BTreeMap<String, ExportedCase> = pairs
            .iter()
            .filter(|pair| pair.case.front.is_none())
            .map(|pair| (pair.case.id.to_string(), conversation(pair.case)))
            .collect();
        let families: BTreeSet<&str> = pairs.iter().map(|pair| pair.case.id.family()).collect();
        let about = suite.families.iter();
        let about = about.filter(|(name, _)| families.contains(name.as_str()));
        self.counts.cases = cases.len();
        let file = CasesFile {
            schema: "schema/cases.schema.json",
            families: about.cloned().collect(),
            cases,
        };
        self.add_json("cases.json".to_owned(), &file, &["families", "cases"]);
    }

    fn add_constructs(&mut self, tables: Vec<ConstructTable>) {
        let mut file = ConstructsFile {
            schema: "schema/constructs.schema.json",
            contexts: BTreeMap::new(),
            constructs: BTreeMap::new(),
        };
        for table in tables {
            let dialect = table.dialect.name();
            file.contexts.insert(dialect, conversation(&table.case));
            for row in table.rows {
                let Some(answer) = expected::answer(&row.expected) else {
                    continue;
                };
                let construct = ExportedConstruct {
                    dialect,
                    answer,
                    template: row.template.source.clone(),
                    uses: row.uses.clone(),
                };
                file.constructs.insert(row.id().to_owned(), construct);
            }
        }
        self.counts.constructs = file.constructs.len();
        self.add_json(
            "constructs.json".to_owned(),
            &file,
            &["contexts", "constructs"],
        );
    }

    /// Adds the files for people, and the schemas.
    fn add_words(&mut self, templates: &BTreeMap<String, ExportedTemplate>) {
        for (name, text) in SCHEMAS {
            let path = format!("schema/{name}.schema.json");
            self.files.insert(path, text.to_owned());
        }
        self.files.insert("README.md".to_owned(), README.to_owned());
        self.files
            .insert("LICENSE.md".to_owned(), licence(templates));
    }

    /// Adds the runners of other languages: each is a folder of a few files. What somebody has
    /// installed below it does not belong to it.
    fn add_runners(&mut self, layout: &Layout) -> Result<(), Problem> {
        let folder = layout.scripts().join(RUNNERS);
        let files = WalkDir::new(&folder).min_depth(2).max_depth(2);
        for entry in files.into_iter().filter_map(Result::ok) {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !entry.file_type().is_file() || is_hidden {
                continue;
            }
            let below = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            let path = format!("{RUNNERS}/{}", parts.join("/"));
            self.files.insert(path, read_text(entry.path())?);
        }
        Ok(())
    }

    fn add_manifest(&mut self, templates: BTreeMap<String, ExportedTemplate>) {
        let dialects: BTreeSet<&str> = templates.values().map(|entry| entry.dialect).collect();
        let references = Reference::ALL.into_iter();
        let files = self.files.iter().map(|(path, text)| {
            let file = ExportedFile {
                bytes: text.len(),
                sha256: Fingerprint::of(text).to_string(),
            };
            (path.clone(), file)
        });
        let manifest = Manifest {
            schema: "schema/manifest.schema.json",
            format: FORMAT,
            rolecall: env!("CARGO_PKG_VERSION").to_owned(),
            counts: std::mem::take(&mut self.counts),
            references: references
                .filter(|reference| dialects.contains(reference.dialect.name()))
                .map(|reference| exported(&reference.identity()))
                .collect(),
            flags: Flag::ALL.map(|flag| (flag.name(), flag.meaning())).into(),
            templates,
            files: files.collect(),
        };
        let lists = ["flags", "references", "templates", "files"];
        self.add_json(MANIFEST.to_owned(), &manifest, &lists);
        self.counts = manifest.counts;
    }

    /// Adds a file. The entries of the named lists get a line each.
    fn add_json(&mut self, path: String, file: &impl Serialize, lists: &[&str]) {
        // All of it is plain data: it always has a JSON form.
        let value = serde_json::to_value(file).unwrap_or_default();
        self.files.insert(path, lines(&value, lists));
    }
}

/// A case as it is in the files.
fn conversation(case: &Case) -> ExportedCase {
    ExportedCase {
        about: case.about.clone(),
        flags: Flag::of(case),
        dialects: case.dialects.iter().map(|dialect| dialect.name()).collect(),
        now: case.now.to_string(),
        messages: case.messages.clone(),
        tools: case.tools.clone(),
        documents: case.documents.clone(),
        add_generation_prompt: case.add_generation_prompt,
        continue_final_message: case.continue_final_message.clone(),
        variables: case.variables.clone(),
    }
}

fn exported(identity: &Identity) -> ExportedReference {
    ExportedReference {
        engine: identity.engine.clone(),
        version: identity.version.clone(),
        components: identity.components.clone(),
    }
}

/// JSON that can be reviewed: a line for each key, and in the lists one for each entry.
fn lines(value: &Value, lists: &[&str]) -> String {
    let Value::Object(fields) = value else {
        return format!("{value}\n");
    };
    let fields = fields.iter().map(|(key, value)| {
        let key = Value::from(key.as_str());
        let is_list = lists.iter().any(|list| key == *list);
        let entries: Vec<String> = match value {
            Value::Object(entries) if is_list => entries
                .iter()
                .map(|(name, entry)| format!("    {}: {entry}", Value::from(name.as_str())))
                .collect(),
            Value::Array(entries) if is_list => {
                entries.iter().map(|entry| format!("    {entry}")).collect()
            }
            _ => return format!("  {key}: {value}"),
        };
        let [open, close] = if value.is_array() {
            ['[', ']']
        } else {
            ['{', '}']
        };
        format!("  {key}: {open}\n{}\n  {close}", entries.join(",\n"))
    });
    let fields: Vec<String> = fields.collect();
    format!("{{\n{}\n}}\n", fields.join(",\n"))
}

fn licence(templates: &BTreeMap<String, ExportedTemplate>) -> String {
    let mut text = String::from(
        "# Licence\n\n\
         The conversations, the constructs, what is expected of them, the schemas and the runners \
         are Rolecall's, under the MIT licence or the Apache License 2.0, as you choose. Templates \
         keep the licence of where they came from:\n\n",
    );
    for (name, template) in templates {
        let origin = template.origin.as_deref().unwrap_or("not said");
        let _ = writeln!(text, "- `{name}`: {origin}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_entry_of_a_list_has_a_line() {
        let value = json!({"a": {"x": 1, "y": [2]}, "b": {"z": {}}, "c": [1, 2], "d": {}});
        let expected = "{\n  \"a\": {\n    \"x\": 1,\n    \"y\": [2]\n  },\n  \"b\": {\"z\":{}},\n  \
                        \"c\": [\n    1,\n    2\n  ],\n  \"d\": {\n\n  }\n}\n";
        let text = lines(&value, &["a", "c", "d"]);
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
