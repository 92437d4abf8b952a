//! The differences between two measurements: of two versions, of two engines, or of one engine at
//! two times.

use std::collections::BTreeMap;

use rolecall_core::{CaseId, OutcomeKind, TemplateName};

use super::results::{DifferenceGroup, Measurement};

/// An engine's result for a pair, as far as its measurement has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairResult<'m> {
    /// The engine agrees with the reference.
    Agrees,
    /// The engine differs from the reference.
    Differs {
        group: &'m DifferenceGroup,
        /// The first digits of the fingerprint of the prompt, or of a refusal's message.
        gave: Option<&'m str>,
    },
}

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

impl PairResult<'_> {
    fn is_same(&self, other: &PairResult<'_>) -> bool {
        match (self, other) {
            (PairResult::Agrees, PairResult::Agrees) => true,
            (
                PairResult::Differs { group: one, gave },
                PairResult::Differs {
                    group: other,
                    gave: gave_other,
                },
            ) => match (gave, gave_other) {
                (Some(gave), Some(other)) => gave == other,
                // Two failures are alike, whatever either says.
                (None, None) => one.found == other.found,
                _ => false,
            },
            _ => false,
        }
    }
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
            let standing = |known: &BTreeMap<PairName, PairResult<'m>>| {
                known.get(pair).cloned().unwrap_or(PairResult::Agrees)
            };
            let both = [standing(&one), standing(&other)];
            let list = match &both {
                [PairResult::Agrees, _] => &mut changes.worse,
                [_, PairResult::Agrees] => &mut changes.better,
                [one, other] if one.is_same(other) => {
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
            changes.both += template.totals.all().min(other.totals.all());
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
                    Some(other)
                        if found.outcome == OutcomeKind::Failed
                            && other.outcome == found.outcome => {}
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
fn by_pair(measurement: &Measurement) -> BTreeMap<PairName, PairResult<'_>> {
    let pairs = measurement.differing();
    let pairs = pairs.map(|(group, pair)| {
        let name = (pair.template.clone(), pair.case.clone());
        let gave = pair.gave.as_deref();
        (name, PairResult::Differs { group, gave })
    });
    pairs.collect()
}
