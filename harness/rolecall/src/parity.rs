//! Parity: whether templates that are meant for one model give one prompt.
//!
//! Templates that name the same `family` in their sidecars are *twins*: a Jinja template
//! and its port to Ollama, say. Each twin is compared with the first of its family, case
//! by case. What a port cannot do is listed with its reason in `snapshots/parity.json`;
//! an entry that no longer applies is as wrong as a difference that is not listed.
//!
//! Go templates are compared alone: what a server refuses before it asks them says nothing
//! about them.

use std::collections::HashMap;
use std::path::Path;

use jsonc_parser::ast;
use rolecall_model::{Case, CaseId, Dialect, Outcome, OutcomeKind, Template, TemplateName};

use crate::front::Front;
use crate::json::{self, Document};
use crate::problem::Problem;
use crate::root::text_beside;
use crate::run::Rendered;
use crate::suite::{Pair, Suite};
use crate::wildcard::Wildcard;

/// Templates that are meant to give the same prompts.
#[derive(Debug, Clone)]
pub struct Twins<'s> {
    /// What they have in common.
    pub family: String,
    /// The twin that the others are compared with: a Jinja template, if there is one.
    pub first: &'s Template,
    /// The others.
    pub others: Vec<&'s Template>,
}

/// Two twins with one case.
#[derive(Debug)]
pub struct Comparison<'s> {
    /// The case.
    pub case: &'s Case,
    /// What the first twin gave.
    pub expected: Outcome,
    /// What the other gave.
    pub found: Outcome,
}

/// A twin beside the first of its family.
#[derive(Debug)]
pub struct Parity<'s> {
    /// The family.
    pub family: String,
    /// The first twin.
    pub first: &'s Template,
    /// The other.
    pub other: &'s Template,
    /// Cases that both can have, in the order of the suite.
    pub comparisons: Vec<Comparison<'s>>,
}

/// Known, explained differences between twins.
#[derive(Debug, Default)]
pub struct Explanations {
    entries: Vec<Explanation>,
}

/// One known difference.
#[derive(Debug)]
pub struct Explanation {
    /// The family that it is about.
    pub family: String,
    /// Which cases, as globs over case IDs.
    globs: Vec<(String, Wildcard)>,
    /// Why the twins cannot give the same.
    pub reason: String,
}

impl Comparison<'_> {
    /// Whether both gave a prompt, and the same one.
    pub fn is_same_prompt(&self) -> bool {
        self.expected.kind() == OutcomeKind::Rendered && self.expected == self.found
    }

    /// Whether nothing tells the twins apart: both gave the same prompt, or both none, for
    /// the words of a refusal belong to each template.
    pub fn is_same(&self) -> bool {
        let refused = |kind| matches!(kind, OutcomeKind::Raised | OutcomeKind::Failed);
        match (&self.expected, &self.found) {
            (Outcome::Rendered { text: a }, Outcome::Rendered { text: b }) => a == b,
            (a, b) => refused(a.kind()) && refused(b.kind()),
        }
    }
}

/// The families of a suite that have more than one template. Where no two templates of the
/// given ones share a family, all of them are one, named as one of them says, or after the
/// first.
pub fn families(suite: &Suite) -> Vec<Twins<'_>> {
    let mut families: Vec<(String, Vec<&Template>)> = Vec::new();
    for template in &suite.templates {
        if let Some(family) = &template.family {
            match families.iter_mut().find(|(known, _)| known == family) {
                Some((_, twins)) => twins.push(template),
                None => families.push((family.clone(), vec![template])),
            }
        }
    }
    if families.iter().all(|(_, twins)| twins.len() < 2)
        && let Some(first) = suite.templates.first()
    {
        let said = families.into_iter().next().map(|(family, _)| family);
        let family = said.unwrap_or_else(|| first.name.to_string());
        families = vec![(family, suite.templates.iter().collect())];
    }
    families
        .into_iter()
        .filter_map(|(family, mut twins)| {
            twins.sort_by_key(|template| (template.dialect, template.name.clone()));
            let (first, others) = twins.split_first()?;
            (!others.is_empty()).then(|| Twins {
                family,
                first,
                others: others.to_vec(),
            })
        })
        .collect()
}

/// Puts the templates of a suite behind the fronts that twins are compared behind.
pub fn prepare(suite: &mut Suite) {
    for template in &mut suite.templates {
        if template.dialect == Dialect::Go {
            template.front = Some(Front::Raw.name().to_owned());
        }
    }
}

/// The pairs that have to be rendered to compare families of a suite that was
/// [prepared](prepare).
pub fn pairs<'s>(suite: &'s Suite, families: &[Twins<'s>]) -> Vec<Pair<'s>> {
    let is_twin = |name: &TemplateName| {
        families.iter().any(|twins| {
            twins.first.name == *name || twins.others.iter().any(|other| other.name == *name)
        })
    };
    suite
        .pairs()
        .filter(|pair| is_twin(&pair.template.name) && pair.case.front.is_none())
        .collect()
}

/// Compares twins whose pairs were rendered.
pub fn compare<'s>(
    suite: &'s Suite,
    families: &[Twins<'s>],
    rendered: &[Rendered<'s>],
) -> Vec<Parity<'s>> {
    let outcomes: HashMap<(&TemplateName, &CaseId), &Outcome> = rendered
        .iter()
        .map(|rendered| {
            let pair = &rendered.pair;
            ((&pair.template.name, &pair.case.id), &rendered.outcome)
        })
        .collect();
    let mut parities = Vec::new();
    for twins in families {
        for other in &twins.others {
            let comparisons = suite
                .written_cases()
                .filter_map(|case| {
                    Some(Comparison {
                        case,
                        expected: (*outcomes.get(&(&twins.first.name, &case.id))?).clone(),
                        found: (*outcomes.get(&(&other.name, &case.id))?).clone(),
                    })
                })
                .collect();
            parities.push(Parity {
                family: twins.family.clone(),
                first: twins.first,
                other,
                comparisons,
            });
        }
    }
    parities
}

impl Explanations {
    /// Reads `snapshots/parity.json`; without the file nothing is explained.
    pub fn read(path: &Path) -> Result<Explanations, Vec<Problem>> {
        let Some(text) = text_beside(path).map_err(|problem| vec![problem])? else {
            return Ok(Explanations::default());
        };
        let examined = json::examine(path, &text, |document, root| {
            let entries = document.array(root, "the list of differences")?;
            let entries: Vec<_> = entries.iter().map(|entry| read(document, entry)).collect();
            entries.into_iter().collect::<Option<Vec<_>>>()
        });
        match examined.value {
            Some(entries) if examined.problems.is_empty() => Ok(Explanations { entries }),
            _ => Err(examined.problems),
        }
    }

    /// Only those about some families.
    #[must_use]
    pub fn about(mut self, families: &[Twins<'_>]) -> Explanations {
        self.entries
            .retain(|entry| families.iter().any(|twins| twins.family == entry.family));
        self
    }

    /// Why twins differ in a case, where that is known.
    pub fn reason(&self, family: &str, case: &CaseId) -> Option<&str> {
        self.entries
            .iter()
            .find(|entry| {
                let id = case.to_string();
                entry.family == family && entry.globs.iter().any(|(_, glob)| glob.is_match(&id))
            })
            .map(|entry| entry.reason.as_str())
    }

    /// What is listed and does not differ any more: family, glob and reason.
    pub fn stale(&self, parities: &[Parity<'_>]) -> Vec<String> {
        let mut stale = Vec::new();
        for entry in &self.entries {
            for (text, glob) in &entry.globs {
                let differs = parities
                    .iter()
                    .filter(|parity| parity.family == entry.family)
                    .flat_map(|parity| &parity.comparisons)
                    .any(|comparison| {
                        !comparison.is_same() && glob.is_match(&comparison.case.id.to_string())
                    });
                if !differs {
                    stale.push(format!("{}: `{text}` ({})", entry.family, entry.reason));
                }
            }
        }
        stale
    }
}

fn read(document: &mut Document<'_>, entry: &ast::Value<'_>) -> Option<Explanation> {
    let known = ["family", "cases", "reason"].map(str::to_owned);
    let fields = document.fields(entry, "a difference", &known)?;
    let mut required = |name: &str| {
        let value = fields.get(name);
        if value.is_none() {
            document.problem(entry, format!("the difference has no `{name}`"));
        }
        value
    };
    let (family, cases, reason) = (required("family"), required("cases"), required("reason"));
    let family = document.string(family?, "`family`")?;
    let reason = document.string(reason?, "`reason`")?;
    let mut globs = Vec::new();
    for value in document.array(cases?, "`cases`")? {
        let text = document.string(value, "a glob")?;
        match Wildcard::new(&text) {
            Ok(wildcard) => globs.push((text, wildcard)),
            Err(error) => document.problem(value, error.to_string()),
        }
    }
    Some(Explanation {
        family,
        globs,
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Engines;
    use crate::layout::Layout;
    use crate::run::Runner;

    /// A suite of twins that agree on one case and differ on two.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.conversations()).unwrap();
        std::fs::create_dir_all(layout.templates()).unwrap();
        for (name, source) in [
            ("a", "{{ messages[0].content }}"),
            ("b", "{{ messages[0].content | trim }}"),
        ] {
            let path = layout.templates().join(format!("{name}.jinja"));
            std::fs::write(&path, source).unwrap();
            std::fs::write(path.with_extension("json"), r#"{"family": "f"}"#).unwrap();
        }
        std::fs::write(layout.templates().join("alone.jinja"), "x").unwrap();
        let cases = r#"{"about": "x", "cases": {
            "same": {"messages": [{"content": "a"}]},
            "before": {"messages": [{"content": " a"}]},
            "behind": {"messages": [{"content": "a "}]}}}"#;
        std::fs::write(layout.conversations().join("space.json"), cases).unwrap();
        folder
    }

    fn unexplained(list: &str) -> (Vec<String>, Vec<String>) {
        let folder = folder();
        let suite = Suite::load_layout(&Layout::new(folder.path()));
        let path = folder.path().join("parity.json");
        std::fs::write(&path, list).unwrap();
        let explanations = Explanations::read(&path).unwrap();
        let families = families(&suite);
        let engines = Engines::default();
        let runner = Runner::new(&engines, &[], Some(1)).unwrap();
        let run = runner.render(&pairs(&suite, &families));
        let parities = compare(&suite, &families, &run.results);
        assert_eq!(parities.len(), 1);
        assert_eq!(parities[0].comparisons.len(), 3);
        let differ = parities[0]
            .comparisons
            .iter()
            .filter(|comparison| !comparison.is_same())
            .filter(|comparison| explanations.reason("f", &comparison.case.id).is_none())
            .map(|comparison| comparison.case.id.to_string())
            .collect();
        (differ, explanations.stale(&parities))
    }

    #[test]
    fn differences_have_to_be_explained_and_explanations_have_to_apply() {
        let (differ, stale) = unexplained("[]");
        assert_eq!(differ, ["space/before", "space/behind"]);
        assert!(stale.is_empty());

        let one = r#"[{"family": "f", "cases": ["space/before"], "reason": "It trims."}]"#;
        assert_eq!(unexplained(one), (vec!["space/behind".into()], vec![]));

        let stale =
            r#"[{"family": "f", "cases": ["space/be*", "space/same"], "reason": "It trims."}]"#;
        assert_eq!(
            unexplained(stale),
            (vec![], vec!["f: `space/same` (It trims.)".into()])
        );
    }

    #[test]
    fn a_broken_list_is_reported_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parity.json");
        std::fs::write(&path, "[{\"family\": \"f\", \"case\": []}]").unwrap();
        let problems: Vec<_> = Explanations::read(&path)
            .unwrap_err()
            .iter()
            .map(|problem| problem.message.clone())
            .collect();
        assert_eq!(
            problems,
            [
                "unknown key `case` in a difference",
                "the difference has no `cases`",
                "the difference has no `reason`"
            ]
        );
    }
}
