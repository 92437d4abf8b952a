//! The lists of templates, cases, engines, fronts, contracts and divergences.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use minijinja::{Value, context};
use rolecall_core::{Case, Dialect, Template, TemplatePart};
use serde::Serialize;

use super::json::{self, VERSION, document};
use super::text::text;
use rolecall_check::contract::{self, Contract, Severity};
use rolecall_core::invocation;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_io::template_file::place;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::exception::Exception;
use rolecall_suite::reference::Reference;
use rolecall_suite::suite::Suite;

/// A list: names and descriptions, under headings.
#[derive(Debug)]
pub struct Listing {
    document: ListDocument,
    /// What is not in the JSON: the places of templates, or the headings of the families of cases.
    beside: Vec<String>,
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
#[derive(Debug, Serialize)]
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

document! {
    struct TemplateEntry from (template: &Template) with {
        let named = template.sources_by_name().map(|(name, _)| name.to_string());
    } {
        name: String = template.name.to_string(),
        /// `jinja` or `go`.
        dialect: &'static str = template.dialect.name(),
        /// The template's file.
        path: PathBuf = template.path.clone(),
        /// The key in that file, if the template is the value of a key.
        key: Option<String> = template.part.key().map(str::to_owned),
        /// The front that prepares conversations for it.
        front: &'static str = Front::of(template).name(),
        /// The names of the model's templates, if it has several.
        templates: Vec<String> = named.collect(),
        bytes: usize = template.source.len(),
        about: Option<String> = template.about.clone(),
        origin: Option<String> = template.origin.clone(),
    }

    struct CaseEntry from (case: &Case) {
        /// The family and the name: `plain/user`.
        id: String = case.id.to_string(),
        path: PathBuf = case.path.clone(),
        about: Option<String> = case.about.clone(),
        /// `jinja`, `go` or both.
        dialects: Vec<&'static str> = names(&case.dialects),
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EngineEntry {
    name: String,
    /// `jinja` or `go`.
    dialect: &'static str,
    about: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FrontEntry {
    name: &'static str,
    /// `jinja`, `go` or both.
    dialects: Vec<&'static str>,
    about: &'static str,
}

document! {
    struct ContractEntry from (contract: &Contract) {
        name: &'static str = contract.id,
        /// The usual severity if a template breaks it.
        severity: Severity = contract.severity,
        /// `jinja`, `go` or both.
        dialects: Vec<&'static str> = names(contract.dialects),
        /// What the contract demands.
        meaning: &'static str = contract.meaning,
        /// What goes wrong if a template breaks it.
        guards_against: &'static str = contract.guards_against,
    }

    struct DivergenceEntry from (entry: &Exception) with {
        let (template, case) = entry.place.split_once(':').unwrap_or_default();
        let observed = entry.observed.iter();
        let observed = observed.map(|(pair, hash)| (pair.clone(), hash.to_string()));
    } {
        engine: String = entry.of.clone(),
        /// A template's name, or a pattern.
        template: String = template.to_owned(),
        /// A case's name, or a pattern.
        case: String = case.to_owned(),
        reason: String = entry.reason.clone(),
        issue: Option<String> = entry.issue.clone(),
        /// For each pair, the SHA-256 of the engine's transcript.
        observed: BTreeMap<String, String> = observed.collect(),
    }
}

fn names(dialects: &[Dialect]) -> Vec<&'static str> {
    dialects.iter().map(|dialect| dialect.name()).collect()
}

impl Listing {
    fn new(entries: Entries) -> Listing {
        let document = ListDocument {
            rolecall: VERSION,
            entries,
        };
        Listing {
            document,
            beside: Vec::new(),
        }
    }

    pub fn templates(suite: &Suite) -> Listing {
        // Where in another file a template was found.
        let origin = |template: &Template| match template.part {
            TemplatePart::Whole => String::new(),
            _ => place(template, None),
        };
        let templates = suite.templates.iter();
        Listing {
            beside: templates.clone().map(origin).collect(),
            ..Listing::new(Entries::Templates(
                templates.map(TemplateEntry::of).collect(),
            ))
        }
    }

    /// The cases of a suite, by family.
    pub fn cases(suite: &Suite) -> Listing {
        let heading = |case: &Case| {
            let family = case.id.family();
            let about = suite.families.iter().find(|(name, _)| name == family);
            about.map_or_else(
                || family.to_owned(),
                |(_, about)| format!("{family}: {about}"),
            )
        };
        Listing {
            beside: suite.written_cases().map(heading).collect(),
            ..Listing::new(Entries::Cases(
                suite.written_cases().map(CaseEntry::of).collect(),
            ))
        }
    }

    pub fn fronts() -> Listing {
        let fronts = Front::ALL.iter().map(|front| {
            let dialects = Dialect::ALL.into_iter();
            let dialects: Vec<_> = dialects.filter(|dialect| front.is_for(*dialect)).collect();
            FrontEntry {
                name: front.name(),
                dialects: names(&dialects),
                about: front.description(),
            }
        });
        Listing::new(Entries::Fronts(fronts.collect()))
    }

    /// The contracts of report cards, the worst first.
    pub fn contracts() -> Listing {
        let mut contracts = contract::ALL.to_vec();
        contracts.sort_by_key(|contract| contract.severity);
        let contracts = contracts.into_iter().map(ContractEntry::of);
        Listing::new(Entries::Contracts(contracts.collect()))
    }

    /// The engines: those in this process, then the references.
    pub fn engines(engines: &Engines) -> Listing {
        let own = engines.all().into_iter().map(|engine| EngineEntry {
            name: engine.name().to_owned(),
            dialect: engine.dialect().name(),
            about: engine.description(),
        });
        let references = Reference::ALL.iter().map(|reference| EngineEntry {
            name: reference.name.to_owned(),
            dialect: reference.dialect.name(),
            about: format!(
                "the reference, {}; `{}` installs it",
                reference.identity(),
                invocation::set_up_references()
            ),
        });
        Listing::new(Entries::Engines(own.chain(references).collect()))
    }

    /// The listed divergences from the references.
    pub fn divergences(divergences: &Divergences) -> Listing {
        let entries = divergences.entries.iter().map(DivergenceEntry::of);
        Listing::new(Entries::Divergences(entries.collect()))
    }

    /// The entries for people, each with the heading that it is under.
    fn rows(&self) -> Vec<(Option<&str>, Value)> {
        let row = |name: &str, dialect: Option<&'static str>, about: &str| {
            context! { name, dialect, about }
        };
        let beside = self.beside.iter();
        match &self.document.entries {
            Entries::Templates(all) => all
                .iter()
                .zip(beside)
                .map(|(one, origin)| {
                    let about = one.about.as_ref().unwrap_or(origin);
                    (None, row(&one.name, Some(one.dialect), about))
                })
                .collect(),
            Entries::Cases(all) => all
                .iter()
                .zip(beside)
                .map(|(one, heading)| {
                    let (_, name) = one.id.split_once('/').unwrap_or(("", &one.id));
                    (
                        Some(heading.as_str()),
                        row(name, None, one.about.as_deref().unwrap_or_default()),
                    )
                })
                .collect(),
            Entries::Engines(all) => all
                .iter()
                .map(|one| (None, row(&one.name, Some(one.dialect), &one.about)))
                .collect(),
            Entries::Fronts(all) => all
                .iter()
                .map(|one| (None, row(one.name, None, one.about)))
                .collect(),
            Entries::Contracts(all) => all
                .iter()
                .map(|one| (Some(one.severity.name()), row(one.name, None, one.meaning)))
                .collect(),
            Entries::Divergences(all) => all
                .iter()
                .map(|one| {
                    let issue = one.issue.as_ref().map(|issue| format!(" ({issue})"));
                    let about = format!("{}{}", one.reason, issue.unwrap_or_default());
                    (
                        None,
                        row(
                            &format!("{} {}:{}", one.engine, one.template, one.case),
                            None,
                            &about,
                        ),
                    )
                })
                .collect(),
        }
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.rows();
        let blocks = rows.chunk_by(|(a, _), (b, _)| a == b).map(|block| {
            let heading = block.first().and_then(|(heading, _)| *heading);
            context! { heading, rows => block.iter().map(|(_, row)| row.clone()).collect::<Value>() }
        });
        text!(out, include_str!("listing.txt"), { blocks => blocks.collect::<Value>() })
    }

    /// Writes the list as one JSON object: `{"rolecall": 1, "templates": […]}`.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(out, &self.document)
    }
}
