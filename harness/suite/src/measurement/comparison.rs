//! The differences between two measurements of an engine.

use std::collections::BTreeMap;

use rolecall_core::{CaseId, OutcomeKind, TemplateName};

use super::results::{DifferenceGroup, DifferingPair, Measurement};

type PairName = (TemplateName, CaseId);

/// The pairs in which two measurements differ.
#[derive(Debug, Default)]
pub struct Changes {
    /// The first agrees with the reference, the second does not.
    pub worse: Vec<PairName>,
    /// The second agrees with the reference, the first does not.
    pub better: Vec<PairName>,
    /// Neither agrees with the reference, and they differ from each other.
    pub otherwise: Vec<PairName>,
    /// Templates that load with the first alone, and with the second alone.
    pub loads: [Vec<TemplateName>; 2],
    /// Constructs that the first alone, and that the second alone does otherwise than the
    /// reference.
    pub constructs: [Vec<String>; 2],
    /// Constructs that both do otherwise than the reference, each in its own way.
    pub constructs_otherwise: Vec<String>,
}

/// Whether two results that differ from the reference are the same. Two failures are, whatever
/// either says.
fn are_same(
    (one, this): (&DifferenceGroup, &DifferingPair),
    (other, that): (&DifferenceGroup, &DifferingPair),
) -> bool {
    this.gave == that.gave && (this.gave.is_some() || one.found == other.found)
}

impl Changes {
    /// Where two measurements part, in the templates that both were asked for.
    pub fn between(first: &Measurement, second: &Measurement) -> Changes {
        let [one, other] = [first, second].map(by_pair);
        let mut changes = Changes::default();
        let is_of_both = |name: &TemplateName, family: &str| {
            let is_in = |one: &Measurement| {
                one.templates.contains_key(name) && one.families.contains_key(family)
            };
            is_in(first) && is_in(second)
        };
        let mut pairs: Vec<&PairName> = one.keys().chain(other.keys()).collect();
        pairs.sort();
        pairs.dedup();
        for pair in pairs {
            if !is_of_both(&pair.0, pair.1.family()) {
                continue;
            }
            // Both lists have the pairs that differ from the reference: what is missing in one agrees
            // there.
            let list = match (one.get(pair), other.get(pair)) {
                (None, _) => &mut changes.worse,
                (_, None) => &mut changes.better,
                (Some(one), Some(other)) if are_same(*one, *other) => continue,
                _ => &mut changes.otherwise,
            };
            list.push(pair.clone());
        }
        for (name, template) in &first.templates {
            let Some(other) = second.templates.get(name) else {
                continue;
            };
            match (&template.refused, &other.refused) {
                (None, Some(_)) => changes.loads[0].push(name.clone()),
                (Some(_), None) => changes.loads[1].push(name.clone()),
                _ => {}
            }
        }
        if let (Some(one), Some(other)) = (&first.constructs, &second.constructs) {
            for (name, found) in &one.differ {
                match other.differ.get(name) {
                    None => changes.constructs[0].push(name.clone()),
                    Some(other) if found.0 == OutcomeKind::Failed && other.0 == found.0 => {}
                    Some(other) if found != other => {
                        changes.constructs_otherwise.push(name.clone());
                    }
                    Some(_) => {}
                }
            }
            let names = other.differ.keys();
            let new = names.filter(|name| !one.differ.contains_key(*name));
            changes.constructs[1].extend(new.cloned());
        }
        changes
    }

    /// Whether they part nowhere.
    pub fn is_none(&self) -> bool {
        self.worse.is_empty()
            && self.better.is_empty()
            && self.otherwise.is_empty()
            && self.loads.iter().all(Vec::is_empty)
            && self.constructs.iter().all(Vec::is_empty)
            && self.constructs_otherwise.is_empty()
    }
}

/// The pairs in which an engine does otherwise than the reference.
fn by_pair(measurement: &Measurement) -> BTreeMap<PairName, (&DifferenceGroup, &DifferingPair)> {
    let pairs = measurement.differing();
    let pairs = pairs.map(|one| ((one.1.template.clone(), one.1.case.clone()), one));
    pairs.collect()
}
