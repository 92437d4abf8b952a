//! Marks of pairs: which template and which case an outcome is of. A saved run has one for each
//! outcome, so that nobody takes it for a run of today's files.

use std::collections::{HashMap, HashSet};

use rolecall_core::{Case, CaseId, TemplateName};
use serde::{Deserialize, Serialize};

use crate::suite::{Pair, Suite};
use rolecall_core::fingerprint::Fingerprint;

/// The mark of a pair: everything that goes into a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Mark"))]
pub struct PairMark {
    /// The SHA-256 of the template's source.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub template: Fingerprint,
    /// The SHA-256 of the template's special tokens and variables.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub settings: Fingerprint,
    /// The SHA-256 of the case.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub case: Fingerprint,
}

/// Makes marks, each part once.
#[derive(Debug, Default)]
pub struct PairMarks {
    templates: HashMap<usize, [Fingerprint; 2]>,
    cases: HashMap<usize, Fingerprint>,
}

impl PairMarks {
    /// The mark of a pair. If the front chooses another template of the model, it is that one's.
    pub fn of(&mut self, pair: &Pair<'_>) -> PairMark {
        let template = pair.chosen().unwrap_or(pair.template);
        let [source, settings] = *self
            .templates
            .entry(std::ptr::from_ref(template).addr())
            .or_insert_with(|| {
                [
                    Fingerprint::of_source(template),
                    Fingerprint::of_settings(template),
                ]
            });
        let case = self.cases.entry(std::ptr::from_ref(pair.case).addr());
        PairMark {
            template: source,
            settings,
            case: *case.or_insert_with(|| Fingerprint::of_case(pair.case)),
        }
    }
}

pub type PairNames<'s> = HashSet<(&'s TemplateName, &'s CaseId)>;

/// The names of those pairs that a suite has, too: the same template with the same case with the
/// same front, wherever their files are. Its snapshots and records hold for them.
pub fn shared<'s>(pairs: &[Pair<'s>], suite: &Suite) -> PairNames<'s> {
    let cases: HashMap<&CaseId, &Case> = suite.cases.iter().map(|case| (&case.id, case)).collect();
    let mut marks = PairMarks::default();
    let mut shared = PairNames::default();
    for of_template in pairs.chunk_by(|a, b| std::ptr::eq(a.template, b.template)) {
        let name = of_template.first().map(|first| &first.template.name);
        let Some(template) = name.and_then(|name| suite.template(name)) else {
            continue;
        };
        for pair in of_template {
            let Some(case) = cases.get(&pair.case.id) else {
                continue;
            };
            let own = Pair { template, case };
            if suite.has_pair(template, case)
                && own.front() == pair.front()
                && marks.of(&own) == marks.of(pair)
            {
                shared.insert((&pair.template.name, &pair.case.id));
            }
        }
    }
    shared
}
