//! Twins: whether templates that are meant for one model give one prompt.
//!
//! Templates that name the same `family` in their sidecars are *twins*: a Jinja template
//! and its port to Ollama, say. Each twin is compared with the first of its family, case
//! by case. `snapshots/twins.json` lists what a port cannot do, with the reason. An
//! entry that no longer applies fails, just as an unlisted difference does.
//!
//! Go templates are compared without a front: a refusal by the server says nothing about
//! the template.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use rolecall_core::{CaseId, Dialect, Outcome, OutcomeKind, Template, TemplateName};
use serde_json::Value;

use crate::comparison::{Comparison, KeptCase, Pairing, Relation, SideKind};
use crate::exception::{Exception, Exceptions};
use crate::run::Rendered;
use crate::suite::{Pair, Suite};
use rolecall_core::document;
use rolecall_core::json::Node;
use rolecall_core::problem::Problem;
use rolecall_front::front::Front;

/// Templates that are meant to give the same prompts.
#[derive(Debug, Clone)]
pub struct Twins<'s> {
    /// What they have in common.
    pub family: String,
    /// The twin that the others are compared with: a Jinja template, if there is one.
    pub first: &'s Template,
    pub others: Vec<&'s Template>,
}

/// A twin beside the first of its family.
#[derive(Debug)]
pub struct TwinComparison<'s> {
    pub family: String,
    /// The first twin.
    pub first: &'s Template,
    pub other: &'s Template,
    /// The outcomes of both twins for their common cases, in the order of the suite. A is the
    /// first twin.
    pub comparison: Comparison,
}

/// Known, explained differences between twins.
pub type Explanations = Exceptions;

/// Whether twins count as equal in a case: both gave the same prompt, or both refused.
/// Messages may differ, because each template has its own.
pub fn is_same(kept: &KeptCase) -> bool {
    let refused = |side: &Outcome| matches!(side.kind(), OutcomeKind::Raised | OutcomeKind::Failed);
    kept.relation == Relation::SamePrompt || kept.outcomes.iter().all(refused)
}

/// The families of a suite with more than one template. If no two templates share a
/// family, all templates form one, with the family name of one of them, or the first
/// template's name.
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

/// Gives the templates of a suite the fronts with which twins are compared.
pub fn prepare(suite: &mut Suite) {
    for template in &mut suite.templates {
        if template.dialect == Dialect::Go {
            template.front = Some(Front::Raw.name().to_owned());
        }
    }
}

/// The pairs to render for comparing families. The suite has to be [prepared](prepare).
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
) -> Vec<TwinComparison<'s>> {
    let outcomes: HashMap<(&TemplateName, &CaseId), &Outcome> = rendered
        .iter()
        .map(|rendered| {
            let pair = &rendered.pair;
            ((&pair.template.name, &pair.case.id), &rendered.outcome)
        })
        .collect();
    let mut compared = Vec::new();
    for twins in families {
        for other in &twins.others {
            let names = [twins.first, other].map(|twin| twin.name.to_string());
            let mut comparison = Comparison::new(SideKind::Templates, names).keeping(true);
            comparison.pairings.push(Pairing::default());
            for case in suite.written_cases() {
                let outcome = |twin: &Template| outcomes.get(&(&twin.name, &case.id)).copied();
                if let (Some(a), Some(b)) = (outcome(twins.first), outcome(other)) {
                    comparison.add(&case.id.to_string(), Some(case), [a.clone(), b.clone()]);
                }
            }
            compared.push(TwinComparison {
                family: twins.family.clone(),
                first: twins.first,
                other,
                comparison,
            });
        }
    }
    compared
}

impl TwinComparison<'_> {
    /// The cases in which the twins differ.
    pub fn differing(&self) -> impl Iterator<Item = &KeptCase> {
        self.comparison.kept().iter().filter(|kept| !is_same(kept))
    }

    /// Whether no case gives a prompt, so that nothing was compared.
    fn is_without_prompts(&self) -> bool {
        let kept = self.comparison.kept();
        let has_prompt = |kept: &KeptCase| kept.relation == Relation::SamePrompt || !is_same(kept);
        !kept.is_empty() && !kept.iter().any(has_prompt)
    }
}

/// Reads `snapshots/twins.json`; without the file nothing is explained.
pub fn read(path: &Path) -> Result<Explanations, Vec<Problem>> {
    Exceptions::read(path, &RULES, |document, entry| {
        if let Some(reason) = entry.get("reason") {
            document.check_reason(reason, "`reason`");
        }
        let mut exceptions = Vec::new();
        for place in entry.get("cases").map_or(&[][..], Node::items) {
            let at = place.range.start;
            let reason = entry.text_of("reason").unwrap_or_default();
            let position = document.position(at);
            match Exception::new(place.text().unwrap_or_default(), reason, position) {
                Ok(exception) => exceptions.push(Exception {
                    of: entry.text_of("family").unwrap_or_default(),
                    ..exception
                }),
                Err(error) => document.problem(at, error.to_string(), None),
            }
        }
        exceptions
    })
}

static RULES: LazyLock<Value> =
    LazyLock::new(|| document::schema(include_str!("twins.schema.json")));

impl Exceptions {
    /// Only those about some families.
    #[must_use]
    pub fn of_families(mut self, families: &[Twins<'_>]) -> Explanations {
        self.entries
            .retain(|entry| families.iter().any(|twins| twins.family == entry.of));
        self
    }

    /// Why twins differ in a case, if that is listed.
    pub fn reason(&self, family: &str, case: &str) -> Option<&str> {
        self.find(family, case).map(|entry| entry.reason.as_str())
    }

    /// Listed differences that no longer exist: family, glob and reason.
    pub fn stale(&self, compared: &[TwinComparison<'_>]) -> Vec<String> {
        let differs = |entry: &&Exception| {
            let twins = compared.iter().filter(|twins| twins.family == entry.of);
            let mut differing = twins.flat_map(TwinComparison::differing);
            differing.any(|kept| entry.covers(&kept.member.case))
        };
        let stale = self.entries.iter().filter(|entry| !differs(entry));
        stale
            .map(|entry| format!("{}: `{}` ({})", entry.of, entry.place, entry.reason))
            .collect()
    }

    /// The number of failures: unexplained differences, twins without any prompt, and
    /// explanations that no longer apply.
    pub fn unexplained(&self, compared: &[TwinComparison<'_>]) -> usize {
        let unexplained = compared.iter().map(|twins| {
            let is_unknown = |kept: &&KeptCase| {
                let case = &kept.member.case;
                self.reason(&twins.family, case).is_none()
            };
            let differing = twins.differing().filter(is_unknown);
            differing.count() + usize::from(twins.is_without_prompts())
        });
        unexplained.sum::<usize>() + self.stale(compared).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::run::Runner;
    use rolecall_front::engines::Engines;

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
        let path = folder.path().join("twins.json");
        std::fs::write(&path, list).unwrap();
        let explanations = read(&path).unwrap();
        let families = families(&suite);
        let engines = Engines::default();
        let runner = Runner::new(&engines, &[], Some(1)).unwrap();
        let run = runner.render(&pairs(&suite, &families));
        let compared = compare(&suite, &families, &run);
        assert_eq!(compared.len(), 1);
        assert_eq!(compared[0].comparison.kept().len(), 3);
        let differ: Vec<String> = compared[0]
            .differing()
            .map(|kept| kept.member.case.clone())
            .filter(|case| explanations.reason("f", case).is_none())
            .collect();
        let stale = explanations.stale(&compared);
        let unexplained = explanations.unexplained(&compared);
        assert_eq!(unexplained, differ.len() + stale.len());
        (differ, stale)
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
        let path = folder.path().join("twins.json");
        std::fs::write(&path, "[{\"family\": \"f\", \"case\": []}]").unwrap();
        let problems: Vec<_> = read(&path)
            .unwrap_err()
            .iter()
            .map(|problem| problem.message.clone())
            .collect();
        assert_eq!(
            problems,
            [
                "`[0]` of the list has no `reason`",
                "unknown key `case` in `[0]` of the list",
            ]
        );
    }
}
