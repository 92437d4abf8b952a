//! What there is: templates, cases, engines, divergences.

use std::io::{self, Write};

use rolecall_model::{Dialect, Part, Template};
use serde_json::json;

use super::columns::{Cell, Columns};
use super::screen;
use super::style::{HEADING, PLAIN, QUIET, Styled};
use super::wrapping::wrapped;
use crate::divergence::Divergences;
use crate::engines::Engines;
use crate::front::Front;
use crate::invocation;
use crate::reference::Reference;
use crate::suite::Suite;
use crate::template_file::place;

/// A listing: rows of a name and what there is to say about it, under headings.
#[derive(Debug)]
pub struct Listing {
    rows: Vec<Row>,
    json: serde_json::Value,
}

#[derive(Debug)]
struct Row {
    heading: Option<String>,
    name: String,
    /// Of templates and engines.
    dialect: Option<Dialect>,
    about: String,
}

/// Where a template was found that is not a file of its own.
fn origin(template: &Template) -> String {
    match template.part {
        Part::Whole => String::new(),
        _ => place(template, None),
    }
}

impl Listing {
    /// The templates of a suite.
    pub fn templates(suite: &Suite) -> Listing {
        let rows = suite.templates.iter().map(|template| Row {
            heading: None,
            name: template.name.to_string(),
            dialect: Some(template.dialect),
            about: template.about.clone().unwrap_or_else(|| origin(template)),
        });
        Listing {
            rows: rows.collect(),
            json: suite
                .templates
                .iter()
                .map(|template| {
                    let named: Vec<_> = template.sources_by_name().map(|(name, _)| name).collect();
                    json!({
                        "name": template.name.as_str(),
                        "dialect": template.dialect.name(),
                        "path": template.path,
                        "key": template.part.key(),
                        "front": Front::of(template).name(),
                        "templates": named,
                        "bytes": template.source.len(),
                        "about": template.about,
                        "origin": template.origin,
                    })
                })
                .collect(),
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
            rows.push(Row {
                heading,
                name: case.id.name().to_owned(),
                dialect: None,
                about: case.about.clone().unwrap_or_default(),
            });
        }
        Listing {
            rows,
            json: suite
                .written_cases()
                .map(|case| {
                    let dialects: Vec<_> =
                        case.dialects.iter().map(|dialect| dialect.name()).collect();
                    json!({
                        "id": case.id.to_string(),
                        "path": case.path,
                        "about": case.about,
                        "dialects": dialects,
                    })
                })
                .collect(),
        }
    }

    /// The fronts.
    pub fn fronts() -> Listing {
        let object = |front: &Front| {
            let dialects: Vec<_> = Dialect::ALL
                .into_iter()
                .filter(|dialect| front.is_for(*dialect))
                .collect();
            json!({"name": front.name(), "dialects": dialects, "about": front.description()})
        };
        Listing {
            rows: Front::ALL
                .iter()
                .map(|front| Row {
                    heading: None,
                    name: front.name().to_owned(),
                    dialect: None,
                    about: front.description().to_owned(),
                })
                .collect(),
            json: Front::ALL.iter().map(object).collect(),
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
                .map(|(name, dialect, about)| Row {
                    heading: None,
                    name: (*name).to_owned(),
                    dialect: Some(*dialect),
                    about: about.clone(),
                })
                .collect(),
            json: known
                .iter()
                .map(|(name, dialect, about)| {
                    json!({"name": name, "dialect": dialect, "about": about})
                })
                .collect(),
        }
    }

    /// The known differences from the references.
    pub fn divergences(divergences: &Divergences) -> Listing {
        Listing {
            rows: divergences
                .entries()
                .iter()
                .map(|entry| Row {
                    heading: None,
                    name: format!("{} {}:{}", entry.engine, entry.template, entry.case),
                    dialect: None,
                    about: match &entry.issue {
                        Some(issue) => format!("{} ({issue})", entry.reason),
                        None => entry.reason.clone(),
                    },
                })
                .collect(),
            json: divergences
                .entries()
                .iter()
                .map(|entry| {
                    let observed: serde_json::Map<_, _> = entry
                        .observed
                        .iter()
                        .map(|(pair, hash)| (pair.clone(), json!(hash)))
                        .collect();
                    json!({
                        "engine": entry.engine,
                        "template": entry.template,
                        "case": entry.case,
                        "reason": entry.reason,
                        "issue": entry.issue,
                        "observed": observed,
                    })
                })
                .collect(),
        }
    }

    fn has_headings(&self) -> bool {
        self.rows.iter().any(|row| row.heading.is_some())
    }

    /// Writes it for a person.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = Columns::default();
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(heading) = &row.heading {
                // Headings run across the columns, so each block stands by itself.
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

    /// Writes it as one JSON array.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &self.json)?;
        writeln!(out)
    }
}
