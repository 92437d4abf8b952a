//! Everything that `cargo test` and `rolecall run` and `lint` ask of a suite.

use std::cell::RefCell;
use std::collections::HashMap;

use rolecall::baseline::Baseline;
use rolecall::card;
use rolecall::engines::Engines;
use rolecall::layout::Layout;
use rolecall::lint::lint;
use rolecall::parity::{self, Explanations};
use rolecall::report;
use rolecall::report::difference::Groups;
use rolecall::run::{Acceptance, Expected, Runner, agrees_again};
use rolecall::snapshot::Snapshots;
use rolecall::suite::{Pair, Suite};

/// A check, and so who notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    /// The files can be read: every command.
    Files,
    /// The pairs are as accepted, as the reference has it and as the divergences say:
    /// `cargo test`, `rolecall run`.
    Pairs,
    /// The suite is whole: `cargo test`, `rolecall lint`.
    Lint,
    /// The report cards are as accepted, and explained: `cargo test`.
    Cards,
    /// The twins agree, or it is explained why not: `cargo test`, `rolecall parity`.
    Parity,
}

impl Check {
    pub(crate) const ALL: [Check; 5] = [
        Check::Files,
        Check::Pairs,
        Check::Lint,
        Check::Cards,
        Check::Parity,
    ];
}

/// The checks, with what they need.
pub(crate) struct Checks<'e> {
    engines: &'e Engines,
    runner: Runner<'e>,
    /// What is wrong with a template's card, and the card. It hangs on the template alone,
    /// and takes a hundred renders: what was examined is not examined again.
    cards: RefCell<HashMap<String, (Vec<String>, String)>>,
}

impl<'e> Checks<'e> {
    pub(crate) fn new(engines: &'e Engines) -> Checks<'e> {
        Checks {
            engines,
            runner: Runner::new(engines, &[], Some(1)).unwrap(),
            cards: RefCell::default(),
        }
    }

    /// The first check that finds something wrong with a suite of which only the inputs
    /// were read; nothing hangs on the order but time. What a change is about is looked
    /// at first: some pairs, or the cards.
    pub(crate) fn noticed(
        &self,
        layout: &Layout,
        suite: &Suite,
        first: impl Fn(&Pair<'_>) -> bool,
        are_cards_first: bool,
    ) -> Option<Check> {
        if !suite.problems.is_empty() {
            return Some(Check::Files);
        }
        if are_cards_first && self.has_other_cards(layout, suite) {
            return Some(Check::Cards);
        }
        let (first, others): (Vec<_>, Vec<_>) = suite.pairs().partition(first);
        if self.has_other_pairs(layout, suite, &first) {
            return Some(Check::Pairs);
        }
        if !lint(layout, suite).is_empty() {
            return Some(Check::Lint);
        }
        if self.has_other_cards(layout, suite) {
            return Some(Check::Cards);
        }
        if self.has_other_pairs(layout, suite, &others) {
            return Some(Check::Pairs);
        }
        self.has_other_twins(layout).then_some(Check::Parity)
    }

    /// What the tests of families and `rolecall run` ask.
    fn has_other_pairs(&self, layout: &Layout, suite: &Suite, pairs: &[Pair<'_>]) -> bool {
        let Ok(baseline) = Baseline::read(layout, &suite.templates) else {
            return true;
        };
        let expected = Expected {
            accepted: Some(Acceptance {
                suite,
                snapshots: &baseline.snapshots,
            }),
            truth: baseline.truth(),
            needs_differences_only: true,
        };
        let mut groups = Groups::default();
        let mut is_gone = false;
        let ran = self.runner.compare_each(pairs, &expected, |compared| {
            groups.add(&compared);
            is_gone |= agrees_again(&baseline.divergences, &compared).is_some();
        });
        is_gone || !groups.sorted().is_empty() || !ran.problems.is_empty()
    }

    /// What the test `cards` asks.
    fn has_other_cards(&self, layout: &Layout, suite: &Suite) -> bool {
        let snapshots = Snapshots::of(layout);
        let mut cards = self.cards.borrow_mut();
        suite.templates.iter().any(|template| {
            let (complaints, text) = cards.entry(format!("{template:?}")).or_insert_with(|| {
                let engine = self.engines.for_dialect(template.dialect).unwrap();
                let card = card::examine(engine, template);
                (
                    card.complaints(template),
                    report::card::plain(&card).unwrap(),
                )
            });
            !complaints.is_empty() || !snapshots.has_card(&template.name, text)
        })
    }

    /// What the test `parity` asks.
    fn has_other_twins(&self, layout: &Layout) -> bool {
        let Ok(explanations) = Explanations::read(&layout.parity()) else {
            return true;
        };
        let mut suite = Suite::load_layout(layout);
        parity::prepare(&mut suite);
        let families = parity::families(&suite);
        let run = self.runner.render(&parity::pairs(&suite, &families));
        let parities = parity::compare(&suite, &families, &run.results);
        let out = &mut std::io::sink();
        report::parity::write(out, &parities, &explanations, false).unwrap() > 0
    }
}
