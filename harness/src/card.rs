//! The report card of a template: what it can do, and how it stands to the contracts.

use serde::Serialize;

use crate::capability::{self, Capabilities};
use crate::contract::{self, Finding, Severity};
use crate::engine::Engine;
use crate::probe::Prober;
use crate::template::{Dialect, Template};

/// What there is to know about a template.
///
/// As JSON: `{"template", "dialect", "engine", "capabilities": {…}, "findings": […]}`,
/// with the fields of [`Capabilities`] and of [`Finding`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Card {
    /// The template's name.
    pub template: String,
    /// Its dialect.
    pub dialect: Dialect,
    /// The engine that rendered it.
    pub engine: String,
    /// What it can do.
    pub capabilities: Capabilities,
    /// How it stands to every contract.
    pub findings: Vec<Finding>,
}

/// Examines a template. It is compiled a handful of times, and rendered about a hundred
/// times.
///
/// A template may recurse as deeply as its engine lets it: call this on a thread with a
/// large stack, as [`crate::run::Runner`]'s are.
pub fn examine(engine: &dyn Engine, template: &Template) -> Card {
    let prober = Prober::new(engine, template);
    let capabilities = capability::explore(&prober);
    let findings = contract::judge(&prober, &capabilities);
    Card {
        template: template.name.to_string(),
        dialect: template.dialect,
        engine: engine.name().to_owned(),
        capabilities,
        findings,
    }
}

impl Card {
    /// The contracts that are broken.
    pub fn broken(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_broken())
    }

    /// Broken contracts that the template's sidecar does not explain. Notes need no
    /// explanation.
    pub fn unexplained(&self) -> impl Iterator<Item = &Finding> {
        self.broken().filter(|finding| {
            finding.deliberate.is_none() && finding.contract.severity != Severity::Note
        })
    }

    /// Contracts that the template's sidecar explains, and that are not broken.
    pub fn overexplained(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.deliberate.is_some() && !finding.is_broken())
    }

    /// How many broken contracts there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.broken()
            .filter(|finding| finding.contract.severity == severity)
            .count()
    }
}
