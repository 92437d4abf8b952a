//! The report cards of a suite, which `run` holds, and `accept` and `review` accept.

use rolecall::card_rule::CardRule;
use rolecall::engines::Engines;
use rolecall::held_card::HeldCard;
use rolecall::layout::Layout;
use rolecall::report::card::plain;
use rolecall::run::Runner;
use rolecall::snapshot::Snapshots;
use rolecall::suite::{Pair, Suite};
use rolecall::template_file::sidecar;
use rolecall_model::{Template, TemplateName};

use crate::failure::Failure;
use crate::setup;

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

/// The cards of the templates of some pairs, beside the accepted ones. A template counts only if
/// all its pairs are there: a part of the suite says nothing about the card. None if the rule
/// demands nothing of cards.
pub(crate) fn held(
    rule: CardRule,
    layout: &Layout,
    suite: &Suite,
    pairs: &[Pair<'_>],
    engines: &Engines,
    jobs: Option<usize>,
) -> Result<Vec<HeldCard>, Failure> {
    if rule == CardRule::Off {
        return Ok(Vec::new());
    }
    let is_whole = |template: &&Template| {
        let asked = pairs
            .iter()
            .filter(|pair| pair.template.name == template.name);
        let all = suite.pairs_among(template, &suite.cases).count();
        all > 0 && asked.count() == all
    };
    let templates: Vec<Template> = suite.templates.iter().filter(is_whole).cloned().collect();
    let (tokenizers, _) = setup::tokenizers(&templates)?;
    let snapshots = Snapshots::of(layout);
    // As `check` makes them: cards are about templates, whichever engine the folder names.
    let runner = Runner::new(engines, &[], jobs)?;
    let cards = runner.examine(&templates, &tokenizers).results;
    let held = cards.iter().map(|card| {
        let text = plain(card)?;
        let mut held = HeldCard::of(rule, &snapshots, card, text);
        let template = suite.template(&TemplateName::new(&card.template));
        if let Some(template) = template.filter(|_| layout.is_checkout()) {
            held.sidecar = Some(sidecar(&template.path));
        }
        Ok(held)
    });
    held.collect()
}
