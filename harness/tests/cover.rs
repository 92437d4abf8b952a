//! The command `cover`, and what the engines record for it.

use rayon::prelude::*;
use rolecall::coverage::TemplateCoverage;
use rolecall::engines::Engines;
use rolecall::run::Runner;
use rolecall::suite::Pair;

use crate::project::SUITE;

#[test]
fn a_covered_render_has_the_outcome_of_a_plain_one() {
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], None).unwrap();
    let compared: usize = SUITE
        .templates
        .par_iter()
        .map(|template| {
            let engine = engines.for_dialect(template.dialect).unwrap();
            let pairs: Vec<Pair<'_>> = SUITE.pairs_among(template, &SUITE.cases).collect();
            let plain = runner.render(&pairs).results;
            let mut plain = plain.iter();
            let coverage = TemplateCoverage::of(engine, template, pairs, |pair, covered| {
                let expected = &plain.next().unwrap().outcome;
                assert_eq!(covered, expected, "{}:{}", template.name, pair.case.id);
            });
            let coverage = coverage.unwrap();
            assert!(coverage.whole().reached > 0, "{}", template.name);
            assert!(coverage.idle < coverage.cases, "{}", template.name);
            coverage.cases
        })
        .sum();
    assert_eq!(compared, SUITE.pairs().count());
}
