//! The matrix: all measurements of engines over a suite, side by side.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rolecall_core::{Cut, Dialect};

use super::results::Measurement;
use super::suite_version::SuiteVersion;
use crate::construct::ConstructTable;

/// The measurements, and the suite's present version.
#[derive(Debug)]
pub struct Matrix {
    measurements: Vec<Measurement>,
    states: BTreeMap<Dialect, (SuiteVersion, Option<ConstructTable>)>,
}

impl Matrix {
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

    /// Sets the suite's present version for the engines of a dialect.
    pub fn set_state(
        &mut self,
        dialect: Dialect,
        suite: SuiteVersion,
        constructs: Option<ConstructTable>,
    ) {
        self.states.insert(dialect, (suite, constructs));
    }

    /// All measurements, by engine, each engine's versions from the first to the last.
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    pub fn dialects(&self) -> Vec<Dialect> {
        let is_there = |dialect: &Dialect| self.of_dialect(*dialect).next().is_some();
        Dialect::ALL.into_iter().filter(is_there).collect()
    }

    pub fn of_dialect(&self, dialect: Dialect) -> impl Iterator<Item = &Measurement> {
        let all = self.measurements.iter();
        all.filter(move |one| one.dialect == dialect)
    }

    /// The engines of a dialect, the best first.
    pub fn ranked(&self, dialect: Dialect) -> Vec<&Measurement> {
        let mut engines: Vec<&Measurement> = self.of_dialect(dialect).collect();
        engines.sort_by(|a, b| b.prompts().compared(a.prompts()));
        engines
    }

    pub fn versions(&self, engine: &str) -> Vec<&Measurement> {
        let all = self.measurements.iter();
        all.filter(|one| one.engine.engine == engine).collect()
    }

    pub fn constructs(&self, dialect: Dialect) -> Option<&ConstructTable> {
        self.states.get(&dialect)?.1.as_ref()
    }

    /// What has changed since an engine was measured, in words.
    pub fn staleness(&self, measurement: &Measurement) -> Vec<String> {
        let now = self.states.get(&measurement.dialect);
        now.map_or_else(Vec::new, |(now, _)| now.changes_since(&measurement.suite()))
    }
}

/// Compares versions, with the numbers in them by value.
fn by_number(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<(u64, String)> {
        let parts = version.split(|c: char| !c.is_ascii_alphanumeric());
        let part = |part: &str| {
            let digits = part.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = part.cut(..part.len() - digits.len()).parse().unwrap_or(0);
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
