//! The report cards of a suite of the user's own, which `run` holds and `accept` accepts.

use rolecall::card_rule::CardRule;
use rolecall::engines::Engines;
use rolecall::held_card::HeldCard;
use rolecall::layout::Layout;
use rolecall::report::card::plain;
use rolecall::run::Runner;
use rolecall::snapshot::Snapshots;
use rolecall::suite::{Pair, Suite};
use rolecall_model::Template;

use crate::failure::Failure;
use crate::setup;

/// The cards of the templates of some pairs, beside the accepted ones. A template counts only if
/// all its pairs are there: a part of the suite says nothing about the card. None for a suite that
/// demands nothing of cards, and for this repository's own, whose cards `cargo test` compares.
pub(crate) fn held(
    layout: &Layout,
    suite: &Suite,
    pairs: &[Pair<'_>],
    engines: &Engines,
    jobs: Option<usize>,
) -> Result<Vec<HeldCard>, Failure> {
    let rule = layout.configuration().map(|own| own.contracts);
    let Some(rule) = rule.filter(|rule| *rule != CardRule::Off) else {
        return Ok(Vec::new());
    };
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
        Ok(HeldCard::of(rule, &snapshots, card, text))
    });
    held.collect()
}
