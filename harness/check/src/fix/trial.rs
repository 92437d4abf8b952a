//! Whether a change of a template fixes a contract and breaks no other one.

use std::collections::BTreeMap;

use crate::card::Card;
use crate::contract::{Contract, Render, Severity, is_about_others};
use rolecall_core::{Engine, Outcome, Template};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use super::asked::case_of;

/// A change of a template on its way to a fix.
pub(super) struct Trial<'t> {
    pub(super) old: FrontProgram<'t>,
    card: &'t Card,
    pub(super) contract: &'static Contract,
}

impl<'t> Trial<'t> {
    /// A trial of changes of a template with a card, for a contract.
    pub(super) fn new(
        engine: &'t dyn Engine,
        template: &'t Template,
        card: &'t Card,
        contract: &'static Contract,
    ) -> Trial<'t> {
        Trial {
            old: FrontProgram::load(engine, template),
            card,
            contract,
        }
    }

    /// Whether the template can be read after a change, and some render changes that shows that the
    /// contract is broken. This costs a few renders, and a card costs a hundred.
    pub(super) fn is_touched(&self, changed: &Template) -> bool {
        let new = FrontProgram::load(self.old.engine, changed);
        if new.without_front().refusal().is_some() {
            return false;
        }
        let own = Front::of(self.old.template);
        let rest = self.card.broken().map(|finding| (finding, own));
        let alone = self.card.without_front.iter();
        let all = rest.chain(alone.map(|finding| (finding, Front::Raw)));
        let mut of_contract = all.filter(|(finding, _)| finding.contract == self.contract);
        of_contract.any(|(finding, front)| {
            let mut renders = finding.evidence().iter().map(|one| &one.renders);
            renders.any(|renders| {
                // What is not in the conversation, such as the time, may show it.
                let is_elsewhere =
                    |render: &Render| outcome(&self.old, render, front) != render.outcome;
                renders.is_empty()
                    || renders.iter().any(is_elsewhere)
                    || renders.iter().any(|render| {
                        outcome(&self.old, render, front) != outcome(&new, render, front)
                    })
            })
        })
    }

    /// Whether the contract holds on the card after a change, and no other one is broken or worse
    /// than before.
    pub(super) fn is_fixed(&self, new: &Card) -> bool {
        let (before, after) = (broken(self.card), broken(new));
        if new.syntax_error.is_some() || after.contains_key(self.contract.id) {
            return false;
        }
        after
            .iter()
            .all(|(id, severity)| before.get(id).is_some_and(|known| known <= severity))
    }
}

/// The broken contracts of a card, also those that are broken only without a front, each as bad as
/// its worst finding. Other templates do not count: they may have the defect that is fixed.
fn broken(card: &Card) -> BTreeMap<&'static str, Severity> {
    let mut all = BTreeMap::new();
    let findings = card.broken().chain(&card.without_front);
    for finding in findings.filter(|finding| !is_about_others(finding.contract)) {
        let severity = finding.severity();
        let known = all.entry(finding.contract.id).or_insert(severity);
        *known = severity.min(*known);
    }
    all
}

/// What a template makes of the conversation that a piece of evidence shows.
fn outcome(program: &FrontProgram<'_>, render: &Render, front: Front) -> Outcome {
    program.outcome(&PreparedCase::new(&case_of(render), front, &program.model))
}
