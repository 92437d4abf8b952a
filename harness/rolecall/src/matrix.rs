//! The matrix: all engines that were measured over a suite, beside each other.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rolecall_model::{CaseId, Dialect, TemplateName};

use crate::construct::Constructs;
use crate::measurement::{Asked, Measurement, Staleness};

/// Measurements, and what engines would be asked now.
#[derive(Debug)]
pub struct Matrix {
    measurements: Vec<Measurement>,
    states: BTreeMap<Dialect, (Asked, Option<Constructs>)>,
}

/// What the engines of a dialect have in common: each in its last version, those that agree
/// with the reference everywhere left out.
#[derive(Debug)]
pub struct Common<'m> {
    /// The engines.
    pub engines: Vec<&'m Measurement>,
    /// The pairs that some engine does otherwise than the reference, with the engines that do,
    /// by their places in the list.
    pub pairs: BTreeMap<(TemplateName, CaseId), Vec<usize>>,
    /// The constructs, likewise. Only engines that were asked for them count.
    pub constructs: BTreeMap<String, Vec<usize>>,
}

impl Matrix {
    /// The matrix of some measurements.
    pub fn new(mut measurements: Vec<Measurement>) -> Matrix {
        measurements.sort_by(|a, b| {
            let engines = a.engine.engine.cmp(&b.engine.engine);
            engines.then_with(|| by_number(&a.engine.version, &b.engine.version))
        });
        Matrix {
            measurements,
            states: BTreeMap::new(),
        }
    }

    /// Says what engines of a dialect would be asked now.
    pub fn set_state(&mut self, dialect: Dialect, asked: Asked, constructs: Option<Constructs>) {
        self.states.insert(dialect, (asked, constructs));
    }

    /// All measurements, by engine, and the versions of each from the first to the last.
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// The dialects of the engines.
    pub fn dialects(&self) -> Vec<Dialect> {
        let is_there = |dialect: &Dialect| self.of_dialect(*dialect).next().is_some();
        Dialect::ALL.into_iter().filter(is_there).collect()
    }

    /// The engines of a dialect.
    pub fn of_dialect(&self, dialect: Dialect) -> impl Iterator<Item = &Measurement> {
        let all = self.measurements.iter();
        all.filter(move |one| one.dialect == dialect)
    }

    /// The versions of an engine.
    pub fn versions(&self, engine: &str) -> Vec<&Measurement> {
        let all = self.measurements.iter();
        all.filter(|one| one.engine.engine == engine).collect()
    }

    /// The table of constructs of a dialect.
    pub fn constructs(&self, dialect: Dialect) -> Option<&Constructs> {
        self.states.get(&dialect)?.1.as_ref()
    }

    /// What has changed since an engine was measured.
    pub fn staleness(&self, measurement: &Measurement) -> Staleness {
        match self.states.get(&measurement.dialect) {
            Some((now, _)) => now.changes_since(&measurement.asked),
            None => Staleness::default(),
        }
    }

    /// What the engines of a dialect get wrong together.
    pub fn common(&self, dialect: Dialect) -> Common<'_> {
        let mut engines: Vec<&Measurement> = Vec::new();
        for one in self.of_dialect(dialect) {
            match engines.last_mut() {
                Some(last) if last.engine.engine == one.engine.engine => *last = one,
                _ => engines.push(one),
            }
        }
        engines.retain(|one| !one.groups.is_empty());
        let mut common = Common {
            engines,
            pairs: BTreeMap::new(),
            constructs: BTreeMap::new(),
        };
        for (at, engine) in common.engines.iter().enumerate() {
            for (_, pair) in engine.differing() {
                let name = (pair.template.clone(), pair.case.clone());
                common.pairs.entry(name).or_default().push(at);
            }
            for name in engine.constructs.iter().flat_map(|all| all.differ.keys()) {
                common.constructs.entry(name.clone()).or_default().push(at);
            }
        }
        common
    }
}

impl Common<'_> {
    /// How many pairs so many of the engines get wrong, from one to all.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.engines.len()];
        for wrong in self.pairs.values() {
            counts[wrong.len() - 1] += 1;
        }
        counts
    }

    /// How many pairs an engine alone gets wrong.
    pub fn only(&self, engine: usize) -> usize {
        let pairs = self.pairs.values();
        pairs.filter(|wrong| wrong.as_slice() == [engine]).count()
    }

    /// The pairs that so many engines get wrong.
    pub fn of(&self, count: usize) -> impl Iterator<Item = &(TemplateName, CaseId)> {
        let pairs = self.pairs.iter();
        pairs
            .filter(move |(_, wrong)| wrong.len() == count)
            .map(|(name, _)| name)
    }
}

/// Compares versions: numbers in them by what they are worth.
fn by_number(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<(u64, String)> {
        let parts = version.split(|c: char| !c.is_ascii_alphanumeric());
        let part = |part: &str| {
            let digits = part.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = part[..part.len() - digits.len()].parse().unwrap_or(0);
            (number, digits.to_owned())
        };
        parts.map(part).collect()
    };
    parts(a).cmp(&parts(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_in_their_order() {
        let mut versions = ["4.57.6", "4.9", "5.0.0rc1", "4.48.3", "0.3.36", "4.9.0"];
        versions.sort_by(|a, b| by_number(a, b));
        assert_eq!(
            versions,
            ["0.3.36", "4.9", "4.9.0", "4.48.3", "4.57.6", "5.0.0rc1"]
        );
    }
}
