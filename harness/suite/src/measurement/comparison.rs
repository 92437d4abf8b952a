//! The differences between two measurements: of two versions, of two engines, or of one engine at
//! two times.

use std::collections::BTreeMap;

use rolecall_core::{CaseId, OutcomeKind, TemplateName};

use super::results::{DifferenceGroup, DifferingPair, Measurement};

/// An engine's result for a pair, as far as its measurement has it. None if it agrees with the
/// reference.
pub type PairResult<'m> = Option<(&'m DifferenceGroup, &'m DifferingPair)>;

type PairName = (TemplateName, CaseId);

/// The pairs in which two measurements differ.
#[derive(Debug)]
pub struct Changes<'m> {
    /// The first agrees with the reference, the second does not.
    pub worse: Vec<(PairName, [PairResult<'m>; 2])>,
    /// The second agrees with the reference, the first does not.
    pub better: Vec<(PairName, [PairResult<'m>; 2])>,
    /// Neither agrees with the reference, and they differ from each other.
    pub otherwise: Vec<(PairName, [PairResult<'m>; 2])>,
    /// Neither agrees with the reference, and both have the same result.
    pub alike: usize,
    /// Pairs that both engines were asked for.
    pub both: usize,
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

impl<'m> Changes<'m> {
    /// Where two measurements part, in the templates that both were asked for.
    pub fn between(first: &'m Measurement, second: &'m Measurement) -> Changes<'m> {
        let [one, other] = [first, second].map(by_pair);
        let mut changes = Changes {
            worse: Vec::new(),
            better: Vec::new(),
            otherwise: Vec::new(),
            alike: 0,
            both: 0,
            loads: [Vec::new(), Vec::new()],
            constructs: [Vec::new(), Vec::new()],
            constructs_otherwise: Vec::new(),
        };
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
            let both = [&one, &other].map(|known| known.get(pair).copied());
            let list = match both {
                [None, _] => &mut changes.worse,
                [_, None] => &mut changes.better,
                [Some(one), Some(other)] if are_same(one, other) => {
                    changes.alike += 1;
                    continue;
                }
                _ => &mut changes.otherwise,
            };
            list.push((pair.clone(), both));
        }
        for (name, template) in &first.templates {
            let Some(other) = second.templates.get(name) else {
                continue;
            };
            changes.both += template.all().min(other.all());
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
