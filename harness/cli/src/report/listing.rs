//! The lists of templates, cases, engines, fronts, contracts and divergences.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use rolecall_core::{Case, Dialect, Template, TemplatePart};
use serde::Serialize;

use super::columns::{Cell, Columns};
use super::json::{self, VERSION};
use super::screen;
use super::style::{HEADING, PLAIN, QUIET, Styled};
use super::wrapping::wrapped;
use rolecall_check::contract::{self, Contract, Severity};
use rolecall_core::invocation;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_io::template_file::place;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::reference::Reference;
use rolecall_suite::suite::Suite;

/// A list: rows of a name and a description, under headings.
#[derive(Debug)]
pub struct Listing {
    rows: Vec<ListRow>,
    entries: Entries,
}

/// The list of `list --format json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Document"))]
pub struct ListDocument {
    /// The version of this format: 1.
    rolecall: u32,
    #[serde(flatten)]
    entries: Entries,
}

/// The entries, under the word that the user asked for.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Entries {
    Templates(Vec<TemplateEntry>),
    Cases(Vec<CaseEntry>),
    Engines(Vec<EngineEntry>),
    Fronts(Vec<FrontEntry>),
    Contracts(Vec<ContractEntry>),
    Divergences(Vec<DivergenceEntry>),
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TemplateEntry {
    name: String,
    /// `jinja` or `go`.
    dialect: &'static str,
    /// The template's file.
    path: PathBuf,
    /// The key in that file, if the template is the value of a key.
    key: Option<String>,
    /// The front that prepares conversations for it.
    front: &'static str,
    /// The names of the model's templates, if it has several.
    templates: Vec<String>,
    bytes: usize,
    about: Option<String>,
    origin: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CaseEntry {
    /// The family and the name: `plain/user`.
    id: String,
    path: PathBuf,
    about: Option<String>,
    /// `jinja`, `go` or both.
    dialects: Vec<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EngineEntry {
    name: String,
    /// `jinja` or `go`.
    dialect: &'static str,
    about: String,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FrontEntry {
    name: &'static str,
    /// `jinja`, `go` or both.
    dialects: Vec<&'static str>,
    about: &'static str,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ContractEntry {
    name: &'static str,
    /// The usual severity if a template breaks it.
    severity: Severity,
    /// `jinja`, `go` or both.
    dialects: Vec<&'static str>,
    /// What the contract demands.
    meaning: &'static str,
    /// What goes wrong if a template breaks it.
    guards_against: &'static str,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DivergenceEntry {
    engine: String,
    /// A template's name, or a pattern.
    template: String,
    /// A case's name, or a pattern.
    case: String,
    reason: String,
    issue: Option<String>,
    /// For each pair, the SHA-256 of the engine's transcript.
    observed: BTreeMap<String, String>,
}

#[derive(Debug)]
struct ListRow {
    heading: Option<String>,
    name: String,
    /// For templates and engines only.
    dialect: Option<Dialect>,
    about: String,
}

/// Where in another file a template was found.
fn origin(template: &Template) -> String {
    match template.part {
        TemplatePart::Whole => String::new(),
        _ => place(template, None),
    }
}

impl Listing {
    pub fn templates(suite: &Suite) -> Listing {
        let rows = suite.templates.iter().map(|template| ListRow {
            heading: None,
            name: template.name.to_string(),
            dialect: Some(template.dialect),
            about: template.about.clone().unwrap_or_else(|| origin(template)),
        });
        Listing {
            rows: rows.collect(),
            entries: Entries::Templates(suite.templates.iter().map(template_entry).collect()),
        }
    }

    /// The cases of a suite, by family.
    pub fn cases(suite: &Suite) -> Listing {
        let mut last = "";
        let mut rows = Vec::new();
        for case in suite.written_cases() {
            let family = case.id.family();
            let heading = (family != last).then(|| {
                let about = suite.families.iter().find(|(name, _)| name == family);
                match about {
                    Some((_, about)) => format!("{family}: {about}"),
                    None => family.to_owned(),
                }
            });
            last = family;
            rows.push(ListRow {
                heading,
                name: case.id.name().to_owned(),
                dialect: None,
                about: case.about.clone().unwrap_or_default(),
            });
        }
        Listing {
            rows,
            entries: Entries::Cases(suite.written_cases().map(case_entry).collect()),
        }
    }

    pub fn fronts() -> Listing {
        let entry = |front: &Front| {
            let dialects = Dialect::ALL.into_iter();
            let dialects = dialects.filter(|dialect| front.is_for(*dialect));
            FrontEntry {
                name: front.name(),
                dialects: dialects.map(Dialect::name).collect(),
                about: front.description(),
            }
        };
        Listing {
            rows: Front::ALL
                .iter()
                .map(|front| ListRow {
                    heading: None,
                    name: front.name().to_owned(),
                    dialect: None,
                    about: front.description().to_owned(),
                })
                .collect(),
            entries: Entries::Fronts(Front::ALL.iter().map(entry).collect()),
        }
    }

    /// The contracts of report cards, the worst first.
    pub fn contracts() -> Listing {
        let mut contracts = contract::ALL.to_vec();
        contracts.sort_by_key(|contract| contract.severity);
        let mut last = None;
        let row = |contract: &&Contract| ListRow {
            heading: (last.replace(contract.severity) != Some(contract.severity))
                .then(|| contract.severity.name().to_owned()),
            name: contract.id.to_owned(),
            dialect: None,
            about: contract.meaning.to_owned(),
        };
        let entry = |contract: &&Contract| ContractEntry {
            name: contract.id,
            severity: contract.severity,
            dialects: contract
                .dialects
                .iter()
                .map(|dialect| dialect.name())
                .collect(),
            meaning: contract.meaning,
            guards_against: contract.guards_against,
        };
        Listing {
            rows: contracts.iter().map(row).collect(),
            entries: Entries::Contracts(contracts.iter().map(entry).collect()),
        }
    }

    /// The engines: those in this process, then the references.
    pub fn engines(engines: &Engines) -> Listing {
        let known: Vec<(&str, Dialect, String)> = engines
            .all()
            .iter()
            .map(|engine| (engine.name(), engine.dialect(), engine.description()))
            .chain(Reference::ALL.iter().map(|reference| {
                let about = format!(
                    "the reference, {}; `{}` installs it",
                    reference.identity(),
                    invocation::set_up_references()
                );
                (reference.name, reference.dialect, about)
            }))
            .collect();
        Listing {
            rows: known
                .iter()
                .map(|(name, dialect, about)| ListRow {
                    heading: None,
                    name: (*name).to_owned(),
                    dialect: Some(*dialect),
                    about: about.clone(),
                })
                .collect(),
            entries: Entries::Engines(
                known
                    .into_iter()
                    .map(|(name, dialect, about)| EngineEntry {
                        name: name.to_owned(),
                        dialect: dialect.name(),
                        about,
                    })
                    .collect(),
            ),
        }
    }

    /// The listed divergences from the references.
    pub fn divergences(divergences: &Divergences) -> Listing {
        Listing {
            rows: divergences
                .entries
                .iter()
                .map(|entry| ListRow {
                    heading: None,
                    name: format!("{} {}", entry.of, entry.place),
                    dialect: None,
                    about: match &entry.issue {
                        Some(issue) => format!("{} ({issue})", entry.reason),
                        None => entry.reason.clone(),
                    },
                })
                .collect(),
            entries: Entries::Divergences(
                divergences
                    .entries
                    .iter()
                    .map(|entry| {
                        let observed = entry.observed.iter();
                        let observed =
                            observed.map(|(pair, hash)| (pair.clone(), hash.to_string()));
                        let (template, case) = entry.place.split_once(':').unwrap_or_default();
                        DivergenceEntry {
                            engine: entry.of.clone(),
                            template: template.to_owned(),
                            case: case.to_owned(),
                            reason: entry.reason.clone(),
                            issue: entry.issue.clone(),
                            observed: observed.collect(),
                        }
                    })
                    .collect(),
            ),
        }
    }

    fn has_headings(&self) -> bool {
        self.rows.iter().any(|row| row.heading.is_some())
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = Columns::default();
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(heading) = &row.heading {
                // Headings span the columns, so each block is written separately.
                std::mem::take(&mut columns).write(out)?;
                if index > 0 {
                    writeln!(out)?;
                }
                let heading = Styled(HEADING, heading).to_string();
                writeln!(out, "{}", wrapped(&heading, screen::width(), 2))?;
            }
            let indent = if self.has_headings() { "  " } else { "" };
            let name = Cell::new(PLAIN, format!("{indent}{}", row.name));
            let dialect = row.dialect.map(|dialect| Cell::new(QUIET, dialect.name()));
            let about = Cell::new(QUIET, &row.about);
            columns.row(std::iter::once(name).chain(dialect).chain([about]));
        }
        columns.write(out)
    }

    /// Writes the list as one JSON object: `{"rolecall": 1, "templates": […]}`.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let document = ListDocument {
            rolecall: VERSION,
            entries: self.entries.clone(),
        };
        json::write(out, &document)
    }
}

fn template_entry(template: &Template) -> TemplateEntry {
    let named = template.sources_by_name().map(|(name, _)| name.to_string());
    TemplateEntry {
        name: template.name.to_string(),
        dialect: template.dialect.name(),
        path: template.path.clone(),
        key: template.part.key().map(str::to_owned),
        front: Front::of(template).name(),
        templates: named.collect(),
        bytes: template.source.len(),
        about: template.about.clone(),
        origin: template.origin.clone(),
    }
}

fn case_entry(case: &Case) -> CaseEntry {
    CaseEntry {
        id: case.id.to_string(),
        path: case.path.clone(),
        about: case.about.clone(),
        dialects: case.dialects.iter().map(|dialect| dialect.name()).collect(),
    }
}
