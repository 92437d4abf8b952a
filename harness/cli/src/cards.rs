//! The report cards of a suite, which `run` holds, and `accept` and `review` accept.

use crate::report::card::plain;
use rolecall_check::card::Card;
use rolecall_check::known_defects::unused_reasons;
use rolecall_core::problem::Problem;
use rolecall_core::{Template, TemplateName};
use rolecall_io::template_file::sidecar;
use rolecall_suite::card_rule::CardRule;
use rolecall_suite::checked_text::CheckedText;
use rolecall_suite::configuration::Configuration;
use rolecall_suite::layout::Layout;
use rolecall_suite::snapshot::Snapshots;
use rolecall_suite::suite::{Pair, Suite};
use rolecall_suite::workspace::known::KnownSuite;

use crate::failure::Failure;
use crate::session::{self, Session};

/// What `run` demands of the cards of a suite. In this repository nothing: `cargo test` compares
/// them.
pub(crate) fn rule_of_run(layout: &Layout) -> CardRule {
    let own = layout.configuration();
    own.map_or(CardRule::Off, |own| own.contracts)
}

/// What `accept` and `review` demand of the cards of a suite. In this repository the same as
/// `cargo test`.
pub(crate) fn rule_of_accepting(layout: &Layout) -> CardRule {
    let own = layout.configuration();
    own.map_or(CardRule::Warnings, |own| own.contracts)
}

/// The report cards of templates, and what is wrong with files about them.
#[derive(Default)]
pub(crate) struct SuiteCards {
    /// The cards, compared with the accepted ones.
    pub(crate) checked: Vec<CheckedText>,
    /// Files of models that cannot be read. The cards say less than they should.
    pub(crate) problems: Vec<Problem>,
    /// Reasons for broken contracts that are not broken.
    pub(crate) unused: Vec<Problem>,
}

impl SuiteCards {
    /// The cards, if they say all that they should. Others are not to be accepted.
    pub(crate) fn sound(self) -> Result<Vec<CheckedText>, Failure> {
        if self.problems.is_empty() {
            Ok(self.checked)
        } else {
            Err(Failure::Problems(self.problems))
        }
    }
}

/// The cards of the templates of some pairs, compared with the accepted ones. A template counts
/// only if all its pairs are there: a part of the suite says nothing about the card. None if the
/// rule demands nothing of cards.
pub(crate) fn checked(
    rule: CardRule,
    KnownSuite { layout, suite, .. }: &KnownSuite<'_>,
    pairs: &[Pair<'_>],
    session: &Session,
) -> Result<SuiteCards, Failure> {
    if rule == CardRule::Off {
        return Ok(SuiteCards::default());
    }
    let templates: Vec<Template> = whole(suite, pairs).cloned().collect();
    let (cards, problems) = session::examine(&session.own_runner()?, &templates);
    let snapshots = Snapshots::of(layout);
    let checked = cards.iter().map(|card| {
        let text = plain(card)?;
        let mut checked = CheckedText::of(rule, &snapshots, card, text);
        let template = suite.template(&TemplateName::new(&card.template));
        if let Some(template) = template.filter(|_| layout.is_checkout()) {
            checked.sidecar = Some(sidecar(&template.path));
        }
        Ok(checked)
    });
    let configuration = layout.configuration();
    Ok(SuiteCards {
        checked: checked.collect::<Result<_, Failure>>()?,
        problems,
        unused: configuration.map_or_else(Vec::new, |own| unused(own, suite, &cards)),
    })
}

/// What is wrong with files about the cards of a suite of the user's own: files of models that
/// cannot be read, and reasons for contracts that are not broken.
pub(crate) fn wrong(
    layout: &Layout,
    suite: &Suite,
    session: &Session,
) -> Result<SuiteCards, Failure> {
    let Some(configuration) = layout.configuration() else {
        return Ok(SuiteCards::default());
    };
    // As `check` makes them: they are about templates, whichever engine the folder names.
    let runner = session.own_runner()?;
    let (cards, problems) = session::examine(&runner, &suite.templates);
    Ok(SuiteCards {
        checked: Vec::new(),
        problems,
        unused: unused(configuration, suite, &cards),
    })
}

/// The templates with all of their pairs among these. If a filter has left cases unread, there is no such
/// template.
pub(crate) fn whole<'s>(
    suite: &'s Suite,
    pairs: &[Pair<'_>],
) -> impl Iterator<Item = &'s Template> {
    suite.templates.iter().filter(|template| {
        let asked = pairs
            .iter()
            .filter(|pair| pair.template.name == template.name);
        let all = suite.pairs_among(template, &suite.cases).count();
        all > 0 && asked.count() == all && !suite.lacks_cases
    })
}

/// The reasons in the suite's file for contracts that its templates keep. A source with
/// several templates has one table, whose reasons hold for all of them.
pub(crate) fn unused(configuration: &Configuration, suite: &Suite, cards: &[Card]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for configured in &configuration.templates {
        let names = suite.templates.iter().map(|template| &template.name);
        let names: Vec<&str> = names
            .filter(|name| configured.is_of(name))
            .map(TemplateName::as_str)
            .collect();
        let of_table = cards
            .iter()
            .filter(|card| names.contains(&card.template.as_str()));
        let of_table: Vec<Vec<&str>> = of_table.map(unused_reasons).collect();
        // A template without a card may be the one that breaks the contract.
        if names.is_empty() || of_table.len() < names.len() {
            continue;
        }
        for (contract, position) in configured.reasons() {
            if of_table.iter().all(|idle| idle.contains(&contract)) {
                let name = &configured.name;
                let message =
                    format!("`broken` gives a reason for `{contract}`, which `{name}` keeps");
                let problem = Problem::new(&configuration.path, message).at(position);
                problems.push(problem.help("delete this reason"));
            }
        }
    }
    problems
}
