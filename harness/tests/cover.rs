//! What the engines record for the command `cover`.

use rayon::prelude::*;
use rolecall_explore::coverage::{Excuse, TemplateCoverage};
use rolecall_front::engines::Engines;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Pair;

use crate::extent::{is_everything, sample};

use crate::project::SUITE;

/// A covered render has the outcome of a plain one. What the templates themselves show to be
/// impossible never happens, and the cases take every branch that nobody has explained. Every
/// fourth template is tried, or all if the tests try everything.
#[test]
fn covered_renders_have_the_outcomes_of_plain_ones_and_reach_every_place() {
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], None).unwrap();
    let unreachable: usize = sample(SUITE.templates.iter().collect(), 4)
        .into_par_iter()
        .map(|template| {
            let name = &template.name;
            let engine = engines.for_dialect(template.dialect);
            let pairs: Vec<Pair<'_>> = SUITE.pairs_among(template, &SUITE.cases).collect();
            let plain = runner.render(&pairs);
            let mut plain = plain.iter();
            let coverage = TemplateCoverage::measure(engine, template, pairs, |pair, covered| {
                let expected = &plain.next().unwrap().outcome;
                assert_eq!(covered, expected, "{name}:{}", pair.case.id);
            });
            let coverage = coverage.unwrap();
            assert_eq!(plain.next().map(|one| &one.pair.case.id), None, "{name}");
            let whole = coverage.whole();
            assert!(whole.reached > 0, "{name}");
            assert_eq!(whole.reached, whole.all, "{name}");
            assert!(coverage.not_run < coverage.cases, "{name}");
            assert_eq!(coverage.unused_explanations(), [], "{name}");
            let branches = coverage.sites.iter().flat_map(|covered| &covered.branches);
            for branch in branches.filter(|branch| branch.excuse == Some(Excuse::Unreachable)) {
                assert_eq!(branch.cases, 0, "{name}: {branch:?}");
            }
            coverage.excused().0
        })
        .sum();
    let least = if is_everything() { 20 } else { 0 };
    assert!(unreachable > least, "{unreachable}");
}
