//! Compares rendered templates, and saved runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rolecall_core::{CaseId, Outcome};

use super::gathered::{Comparison, Pairing};
use super::matched::MatchedTemplates;
use crate::run::{MOST_OF_DIFFERENCE, Runner};
use crate::saved_run::SavedRun;
use crate::suite::Pair;
use rolecall_io::source::unset_tokens;

/// The cases of a template of A and of a template of B, to compare.
pub type Sides<'s> = [Vec<Pair<'s>>; 2];

impl Comparison {
    /// Renders the common cases of a template of A and one of B, each side with its runner,
    /// and adds the outcomes.
    pub fn render<'s, 'r: 's>(&mut self, runners: [&Runner<'r>; 2], sides: Sides<'s>) {
        let [mut a, mut b] = sides;
        let name = |pairs: &[Pair<'_>]| {
            let first = pairs.first();
            first.map_or_else(String::new, |pair| pair.template.name.to_string())
        };
        let ids = |pairs: &[Pair<'s>]| -> HashSet<&'s CaseId> {
            pairs.iter().map(|pair| &pair.case.id).collect()
        };
        let (of_a, of_b) = (ids(&a), ids(&b));
        // Copies for other fronts exist only if a front changes the case, so they do not
        // count.
        let without = |pairs: &[Pair<'_>], other: &HashSet<&CaseId>| -> Vec<String> {
            let alone = pairs.iter().filter(|pair| pair.case.front.is_none());
            let alone = alone.filter(|pair| !other.contains(&pair.case.id));
            alone.map(|pair| pair.case.id.to_string()).collect()
        };
        let mut unset = Vec::new();
        for template in [&a, &b].into_iter().filter_map(|pairs| pairs.first()) {
            unset.extend(unset_tokens(template.template));
        }
        unset.sort_unstable();
        unset.dedup();
        self.pairings.push(Pairing {
            names: [name(&a), name(&b)],
            unset,
            only: [without(&a, &of_b), without(&b, &of_a)],
            ..Pairing::default()
        });
        a.retain(|pair| of_b.contains(&pair.case.id));
        b.retain(|pair| of_a.contains(&pair.case.id));
        let mut outcomes: HashMap<&CaseId, Outcome> = HashMap::new();
        runners[0].render_each(&a, |mut rendered| {
            rendered.shorten(MOST_OF_DIFFERENCE);
            outcomes.insert(&rendered.pair.case.id, rendered.outcome);
        });
        runners[1].render_each(&b, |mut rendered| {
            rendered.shorten(MOST_OF_DIFFERENCE);
            let case = rendered.pair.case;
            if let Some(outcome) = outcomes.remove(&case.id) {
                self.add(
                    &case.id.to_string(),
                    Some(case),
                    &[outcome, rendered.outcome],
                );
            }
        });
    }

    /// Adds the outcomes of two saved runs.
    pub fn read(&mut self, runs: [SavedRun; 2]) {
        let names = |run: &SavedRun| -> Vec<String> {
            run.templates().into_iter().map(str::to_owned).collect()
        };
        let twins = MatchedTemplates::of(&names(&runs[0]), &names(&runs[1]));
        let [mut a, mut b] = runs.map(by_template);
        for [one, other] in twins.pairs {
            let first = a.remove(&one).unwrap_or_default();
            let second = b.remove(&other).unwrap_or_default();
            let known: HashSet<&String> = first.iter().map(|(case, _)| case).collect();
            let new = second.iter().map(|(case, _)| case);
            let new: Vec<String> = new.filter(|case| !known.contains(case)).cloned().collect();
            self.pairings.push(Pairing {
                names: [one, other],
                ..Pairing::default()
            });
            let mut outcomes: HashMap<String, Outcome> = second.into_iter().collect();
            let mut gone = Vec::new();
            for (case, outcome) in first {
                match outcomes.remove(&case) {
                    Some(other) => self.add(&case, None, &[outcome, other]),
                    None => gone.push(case),
                }
            }
            if let Some(pairing) = self.pairings.last_mut() {
                pairing.only = [gone, new];
            }
        }
        self.only = twins.only;
    }
}

/// The outcomes of each template by case, in the order of the file.
fn by_template(run: SavedRun) -> HashMap<String, Vec<(String, Outcome)>> {
    let mut cases: HashMap<Arc<str>, Vec<(String, Outcome)>> = HashMap::new();
    for line in run.lines {
        let cases = cases.entry(line.template).or_default();
        cases.push((line.case, line.outcome));
    }
    let cases = cases.into_iter();
    cases
        .map(|(name, cases)| (name.to_string(), cases))
        .collect()
}
