//! Compares rendered templates, and saved runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rolecall_check::card::with_assumed_tokens;
use rolecall_check::side_by_side::ComparedProbe;
use rolecall_core::{Case, CaseId, Outcome, Template};

use super::gathered::{Comparison, Pairing, SideKind};
use super::matched::MatchedTemplates;
use super::relation::Relation;
use super::source_edit::{Blame, SourceEdits};
use crate::run::{MOST_OF_DIFFERENCE, Runner};
use crate::saved_run::SavedRun;
use crate::suite::Pair;
use rolecall_io::settings::unset_tokens;

/// The cases of a template of A and of a template of B, to compare.
pub type Sides<'s> = [Vec<Pair<'s>>; 2];

/// A case in which two sides have outcomes.
struct ComparedCase<'s> {
    name: String,
    case: &'s Case,
    is_probe: bool,
    /// The outcomes of A and B, the latter with the tokens of A.
    outcomes: [Outcome; 2],
}

impl Comparison {
    /// Renders the common cases of a template of A and one of B, each side with its runner,
    /// and adds the outcomes, and those of probes. Where two templates differ, it finds out which
    /// edit of the template makes the difference.
    pub fn render<'s, 'r: 's>(
        &mut self,
        runners: [&Runner<'r>; 2],
        sides: Sides<'s>,
        probes: &'s [ComparedProbe],
    ) {
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
        let templates = [&a, &b].map(|pairs| pairs.first().map(|pair| pair.template));
        let mut unset = Vec::new();
        for template in templates.into_iter().flatten() {
            unset.extend(unset_tokens(template));
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
        let compared = self.compared(runners, [&a, &b], probes);
        let blames = match templates {
            [Some(a), Some(b)] if self.subject == SideKind::Templates => {
                self.blames(runners[1], [a, b], &compared)
            }
            _ => HashMap::new(),
        };
        for (index, one) in compared.iter().enumerate() {
            let blame = blames.get(&index);
            self.add_blamed(&one.name, Some(one.case), &one.outcomes, blame);
        }
    }

    /// The outcomes of both sides.
    fn compared<'s, 'r: 's>(
        &self,
        runners: [&Runner<'r>; 2],
        [a, b]: [&[Pair<'s>]; 2],
        probes: &'s [ComparedProbe],
    ) -> Vec<ComparedCase<'s>> {
        let mut outcomes: HashMap<&CaseId, Outcome> = HashMap::new();
        runners[0].render_each(a, |mut rendered| {
            // All outcomes of A wait for those of B, and an engine may give 16 MiB for each case.
            rendered.shorten(MOST_OF_DIFFERENCE);
            outcomes.insert(&rendered.pair.case.id, rendered.outcome);
        });
        let mut compared = Vec::new();
        runners[1].render_each(b, |mut rendered| {
            rendered.shorten(MOST_OF_DIFFERENCE);
            let case = rendered.pair.case;
            if let Some(outcome) = outcomes.remove(&case.id) {
                compared.push(ComparedCase {
                    name: case.id.to_string(),
                    case,
                    is_probe: false,
                    outcomes: [outcome, self.in_tokens_of_a(rendered.outcome)],
                });
            }
        });
        let probes = probes.iter().map(|probe| {
            let [a, b] = probe.outcomes.clone();
            ComparedCase {
                name: probe.name.clone(),
                case: &probe.asked,
                is_probe: true,
                outcomes: [a, self.in_tokens_of_a(b)],
            }
        });
        compared.extend(probes);
        compared
    }

    /// The edits of the template that make the differences, by the places of the cases.
    fn blames(
        &self,
        runner: &Runner<'_>,
        templates: [&Template; 2],
        compared: &[ComparedCase<'_>],
    ) -> HashMap<usize, Blame> {
        let places = compared.iter().enumerate().filter(|(_, one)| {
            let [a, b] = &one.outcomes;
            Relation::of(a, b) == Relation::Differ
        });
        let (places, differing): (Vec<usize>, Vec<&ComparedCase<'_>>) = places.unzip();
        let engine = runner.own_engine(templates[1].dialect);
        let edits = engine.filter(|_| !differing.is_empty());
        let Some(edits) = edits.and_then(|engine| SourceEdits::between(engine, templates)) else {
            return HashMap::new();
        };
        #[allow(clippy::indexing_slicing)] // `blame` gives places of `outcomes`.
        let render = |template: &Template, cases: &[usize]| {
            let with_tokens = with_assumed_tokens(template);
            let pairs = cases.iter().map(|at| Pair {
                // The outcomes of probes come from a template with the usual tokens in the place of
                // those that nothing sets.
                template: if differing[*at].is_probe {
                    &with_tokens
                } else {
                    template
                },
                case: differing[*at].case,
            });
            let mut outcomes = Vec::with_capacity(cases.len());
            runner.render_each(&pairs.collect::<Vec<_>>(), |mut rendered| {
                rendered.shorten(MOST_OF_DIFFERENCE);
                outcomes.push(self.in_tokens_of_a(rendered.outcome));
            });
            outcomes
        };
        let outcomes: Vec<_> = differing.iter().map(|one| &one.outcomes).collect();
        let blames = edits.blame(&outcomes, render);
        let blames = places.into_iter().zip(blames);
        blames
            .filter_map(|(at, blame)| Some((at, blame?)))
            .collect()
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
                    Some(other) => self.add(&case, None, [outcome, other]),
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
