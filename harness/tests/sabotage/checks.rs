//! All checks that `cargo test`, `rolecall run` and `rolecall lint` make on a suite.

use std::cell::RefCell;
use std::collections::HashMap;

use rolecall_answers::reader::OwnReader;
use rolecall_check::card;
use rolecall_cli::report;
use rolecall_core::Template;
use rolecall_explore::coverage::TemplateCoverage;
use rolecall_front::engines::Engines;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::conclusion::Conclusion;
use rolecall_suite::expectations::Expectations;
use rolecall_suite::layout::Layout;
use rolecall_suite::lint::lint;
use rolecall_suite::roundtrip::{self, read_each};
use rolecall_suite::run::{Acceptance, Expected, Runner};
use rolecall_suite::snapshot::{Snapshots, contents};
use rolecall_suite::suite::{Pair, Suite};

/// A check, which may notice a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    /// The files can be read: every command.
    Files,
    /// The pairs agree with the snapshots, the records and the divergences: `cargo test`,
    /// `rolecall run`.
    Pairs,
    /// The suite is whole: `cargo test`, `rolecall lint`.
    Lint,
    /// The report cards equal the accepted ones, and sidecars explain their errors: `cargo test`.
    Cards,
    /// The parsed answers are as accepted, and as the reference reads it: `cargo test`, `rolecall
    /// run`.
    Readings,
}

impl Check {
    pub(crate) const ALL: [Check; 5] = [
        Check::Files,
        Check::Pairs,
        Check::Lint,
        Check::Cards,
        Check::Readings,
    ];
}

/// The checks, with the data that they need.
pub(crate) struct Checks<'e> {
    engines: &'e Engines,
    runner: Runner<'e>,
    /// A template's card and its problems. They depend only on the template and cost a hundred
    /// renders, so each template is examined once.
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

    /// The first check that finds a problem in a suite whose inputs alone were read. The order only
    /// saves time: the part that the change affects comes first, either some pairs, or the check that
    /// reads the file.
    pub(crate) fn noticed(
        &self,
        layout: &Layout,
        suite: &Suite,
        first: impl Fn(&Pair<'_>) -> bool,
        reader: Option<Check>,
    ) -> Option<Check> {
        if !suite.problems.is_empty() {
            return Some(Check::Files);
        }
        let is_noticed = match reader {
            Some(Check::Cards) => self.has_other_cards(layout, suite),
            Some(Check::Readings) => self.has_other_readings(layout, suite),
            _ => false,
        };
        if is_noticed {
            return reader;
        }
        let (first, others): (Vec<_>, Vec<_>) = suite.pairs().partition(first);
        if self.has_other_pairs(layout, suite, &first) {
            return Some(Check::Pairs);
        }
        if !lint(layout, suite).is_empty() || self.has_unused_explanations(suite) {
            return Some(Check::Lint);
        }
        if self.has_other_cards(layout, suite) {
            return Some(Check::Cards);
        }
        if self.has_other_pairs(layout, suite, &others) {
            return Some(Check::Pairs);
        }
        self.has_other_readings(layout, suite)
            .then_some(Check::Readings)
    }

    /// Whether a sidecar explains why no case reaches a place, and there is no such place, or a case
    /// reaches it. The command `lint` looks at this.
    fn has_unused_explanations(&self, suite: &Suite) -> bool {
        let explaining = suite.templates.iter();
        let mut explaining = explaining.filter(|template| !template.unreached.is_empty());
        explaining.any(|template| {
            let engine = self.engines.for_dialect(template.dialect);
            let pairs = suite.pairs_among(template, &suite.cases);
            let coverage = TemplateCoverage::measure(engine, template, pairs, |_, _| {});
            coverage.map_or(true, |coverage| !coverage.unused_explanations().is_empty())
        })
    }

    /// The checks of the families' tests and of `rolecall run`.
    fn has_other_pairs(&self, layout: &Layout, suite: &Suite, pairs: &[Pair<'_>]) -> bool {
        let Ok(expectations) = Expectations::read(layout, &suite.templates) else {
            return true;
        };
        let expected = Expected {
            accepted: Some(Acceptance {
                suite,
                snapshots: &expectations.snapshots,
            }),
            truth: expectations.truth(),
            belonging: None,
            needs_differences_only: true,
        };
        let mut conclusion = Conclusion::default();
        let ran = self.runner.compare_each(pairs, &expected, |compared| {
            conclusion.add(&compared, &expectations.divergences);
        });
        conclusion.finish(ran);
        !conclusion.passes()
    }

    /// The checks of the test `cards`.
    fn has_other_cards(&self, layout: &Layout, suite: &Suite) -> bool {
        let snapshots = Snapshots::of(layout);
        let mut cards = self.cards.borrow_mut();
        suite.templates.iter().any(|template| {
            let (complaints, text) = cards.entry(format!("{template:?}")).or_insert_with(|| {
                let engine = self.engines.for_dialect(template.dialect);
                let card = card::examine(engine, template);
                (
                    card.complaints(template),
                    report::card::plain(&card).unwrap(),
                )
            });
            let accepted = std::fs::read_to_string(snapshots.card(&template.name));
            let is_accepted = accepted.is_ok_and(|file| contents(&file) == Some(&**text));
            !complaints.is_empty() || !is_accepted
        })
    }

    /// The checks of the test `readings`.
    fn has_other_readings(&self, layout: &Layout, suite: &Suite) -> bool {
        let templates: Vec<_> = suite.templates.iter().collect();
        let engine = |template: &Template| self.engines.for_dialect(template.dialect);
        let readings = read_each(suite, &templates, &engine, &OwnReader::default());
        let Ok(expectations) = Expectations::read(layout, &suite.templates) else {
            return true;
        };
        let all = roundtrip::hold(suite, &expectations, &readings);
        let are_held = all.checked.iter().all(CheckedText::is_as_expected);
        !are_held || !all.tally.passes() || !all.problems.is_empty()
    }
}
