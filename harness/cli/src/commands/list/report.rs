//! The lists of templates, cases, engines, fronts, contracts and divergences.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use minijinja::{Value, context};
use rolecall_core::{Case, Dialect, Template, TemplatePart};
use serde::Serialize;

use crate::report::format::Format;
use crate::report::json;
use crate::report::json::{VERSION, document};
use crate::report::text::text;
use rolecall_check::contract::{self, Contract, Severity};
use rolecall_core::invocation;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_io::template_file::place;
use rolecall_suite::divergence::Divergences;
use rolecall_suite::exception::Exception;
use rolecall_suite::reference::Reference;
use rolecall_suite::suite::Suite;

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

impl ListDocument {
    fn new(entries: Entries) -> ListDocument {
        ListDocument {
            rolecall: VERSION,
            entries,
        }
    }

    pub fn templates(suite: &Suite) -> ListDocument {
        let templates = suite.templates.iter().map(TemplateEntry::of);
        ListDocument::new(Entries::Templates(templates.collect()))
    }

    pub fn cases(suite: &Suite) -> ListDocument {
        let cases = suite.written_cases().map(CaseEntry::of);
        ListDocument::new(Entries::Cases(cases.collect()))
    }

    pub fn fronts() -> ListDocument {
        let fronts = Front::ALL.iter().map(|front| {
            let dialects = Dialect::ALL.into_iter();
            let dialects: Vec<_> = dialects.filter(|dialect| front.is_for(*dialect)).collect();
            FrontEntry {
                name: front.name(),
                dialects: names(&dialects),
                about: front.description(),
            }
        });
        ListDocument::new(Entries::Fronts(fronts.collect()))
    }

    /// The contracts of report cards, the worst first, then those of logs.
    pub fn contracts() -> ListDocument {
        let mut contracts = contract::ALL.to_vec();
        contracts.sort_by_key(|contract| contract.severity);
        contracts.extend(contract::LOG_RULES.iter().map(|rule| &rule.contract));
        let contracts = contracts.into_iter().map(ContractEntry::of);
        ListDocument::new(Entries::Contracts(contracts.collect()))
    }

    /// The engines: those in this process, then the references.
    pub fn engines(engines: &Engines) -> ListDocument {
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
        ListDocument::new(Entries::Engines(own.chain(references).collect()))
    }

    /// The listed divergences from the references.
    pub fn divergences(divergences: &Divergences) -> ListDocument {
        let entries = divergences.entries.iter().map(DivergenceEntry::of);
        ListDocument::new(Entries::Divergences(entries.collect()))
    }
}

/// Writes a list. `suite` has what is not in the JSON: where templates are in other files, and what
/// the families of cases are about.
pub fn write(
    out: &mut dyn Write,
    list: &ListDocument,
    format: Format,
    suite: Option<&Suite>,
) -> io::Result<()> {
    if format == Format::Json {
        return json::write(out, list);
    }
    let rows = rows(list, suite);
    let blocks = rows.chunk_by(|(a, _), (b, _)| a == b).map(|block| {
        let heading = block.first().map(|(heading, _)| heading.clone());
        context! { heading, rows => block.iter().map(|(_, cells)| cells.clone()).collect::<Vec<_>>() }
    });
    text!(out, include_str!("report.txt"), { blocks => blocks.collect::<Value>() })
}

/// The entries for people: the heading that each is under, if there is one, and its cells.
fn rows(list: &ListDocument, suite: Option<&Suite>) -> Vec<(String, Vec<String>)> {
    let row = |heading: &str, cells: &[&str]| {
        let cells = cells.iter().map(|cell| (*cell).to_owned());
        (heading.to_owned(), cells.collect())
    };
    match &list.entries {
        Entries::Templates(all) => {
            let templates = suite.iter().flat_map(|suite| &suite.templates);
            let rows = all.iter().zip(templates).map(|(one, template)| {
                let about = one.about.clone().unwrap_or_else(|| match template.part {
                    TemplatePart::Whole => String::new(),
                    _ => place(template, None),
                });
                row("", &[&one.name, one.dialect, &about])
            });
            rows.collect()
        }
        Entries::Cases(all) => {
            let families = suite.iter().flat_map(|suite| &suite.families);
            let families: BTreeMap<_, _> = families
                .map(|(name, about)| (name.as_str(), about))
                .collect();
            let rows = all.iter().map(|one| {
                let (family, name) = one.id.split_once('/').unwrap_or(("", &one.id));
                let about = families
                    .get(family)
                    .map(|about| format!("{family}: {about}"));
                let about = about.unwrap_or_else(|| family.to_owned());
                row(&about, &[name, one.about.as_deref().unwrap_or_default()])
            });
            rows.collect()
        }
        Entries::Engines(all) => {
            let rows = all
                .iter()
                .map(|one| row("", &[&one.name, one.dialect, &one.about]));
            rows.collect()
        }
        Entries::Fronts(all) => all
            .iter()
            .map(|one| row("", &[one.name, one.about]))
            .collect(),
        Entries::Contracts(all) => {
            let rows = all.iter().map(|one| {
                let of_log = contract::log_rule(one.name).map_or("", |_| ", in a log");
                let heading = one.severity.name().to_owned() + of_log;
                row(&heading, &[one.name, one.meaning])
            });
            rows.collect()
        }
        Entries::Divergences(all) => {
            let rows = all.iter().map(|one| {
                let issue = one.issue.as_ref().map(|issue| format!(" ({issue})"));
                let name = format!("{} {}:{}", one.engine, one.template, one.case);
                row(
                    "",
                    &[&name, &(one.reason.clone() + &issue.unwrap_or_default())],
                )
            });
            rows.collect()
        }
    }
}
