//! Patches for templates: changes of the source that fix a broken contract, each with its proof.
//!
//! A recipe proposes changes by the look of the source, and knows nothing about the template. The
//! proof decides: the contract holds afterwards, no other contract breaks, and every conversation
//! that did not show the defect keeps its prompt, byte for byte, under every switch. A conversation
//! that showed it failed before, or had lost a text, or has the prompt that the template already gave
//! for the same conversation without the defect. A change of other prompts is not safe: if a prompt
//! held everything, a model may have been trained with it.

mod tag;

mod recipe;

mod wording;

mod meaning;

mod asked;

mod proof;

mod trial;

use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::card::{Card, Examiner};
use crate::choice::ContractChoice;
use crate::contract::{self, Contract};
use crate::probe::input_style::open;
use crate::tokenizer::Tokenizer;
use rolecall_core::diff::Diff;
use rolecall_core::{Case, Dialect, Engine, Limits, Outcome, Template};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::json;

use asked::{Conversations, conversations};
use proof::Outcomes;
use recipe::{Candidate, Source, candidates};
use trial::Trial;
use wording::Writer;

pub use proof::Proof;
pub use wording::Wording;

/// A change of a template that fixes a contract.
#[derive(Debug, Clone)]
pub struct Fix {
    /// The contract that holds afterwards.
    pub contract: &'static Contract,
    pub before: String,
    pub after: String,
    /// Which prompts stay, and which change.
    pub proof: Proof,
    /// Whether the fixes after it start from the source after it.
    pub is_applied: bool,
}

impl Fix {
    /// The change as a difference of the source.
    pub fn diff(&self) -> Diff {
        Diff::of_sides(&self.before, &self.after)
    }

    /// Whether nothing changes that a model was trained with.
    pub fn is_safe(&self) -> bool {
        self.proof.is_safe()
    }
}

/// What fixes are looked for with.
pub struct Fixer<'f> {
    pub engine: &'f dyn Engine,
    /// Loads the conversations whose prompts have to stay. Only a change that cures a finding needs
    /// them.
    pub cases: &'f (dyn Fn() -> &'f [Case] + Sync),
    /// The model's tokenizer, if it is known.
    pub tokenizer: Option<&'f Tokenizer>,
    /// Whether the fixes that are not safe are applied, too.
    pub unsafe_too: bool,
    /// The most work that the search for the fixes of one template may take. Without it, the search
    /// takes as much as it needs.
    pub most_work: Option<Work>,
    /// Called after each finding that a fix was looked for.
    pub step: &'f (dyn Fn() + Sync),
}

/// The work of a search for fixes, in bytes of templates that are compiled and rendered. It is counted
/// and not measured, so that the result is the same on every machine. How long it takes follows from
/// the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work(u64);

impl Work {
    /// So much only finds out which contracts a recipe could mend.
    pub const NONE: Work = Work(0);

    /// So much takes about a second of a processor of 2024 at most, in an optimised build.
    pub const SECOND: Work = Work(160 << 20);
}

/// What a render costs besides the bytes of its template, in such bytes.
const RENDER: usize = 4 << 10;

/// A card takes as long as so many renders of a conversation of the suite.
const CARD: usize = 1_500;

/// The judgement by one contract takes as long as so many.
const CONTRACT: usize = 350;

/// A first look at a change takes as long as so many.
const LOOK: usize = 25;

/// The fixes of a template, in the order in which they are applied, and the template with all that
/// were applied.
#[derive(Debug, Default)]
pub struct Fixes {
    /// The fixes that are applied, then those that are not. Each starts from the source that the
    /// applied ones before it leave.
    pub found: Vec<Fix>,
    /// The source after all that are applied.
    pub source: String,
    /// The contracts that the search was not done with when its work was used up.
    pub untried: Vec<&'static str>,
}

/// The most fixes of a template that are applied one after the other.
const MOST_APPLIED: usize = 32;

/// The most changes of a candidate that are tried one by one.
const MOST_TRIED: usize = 12;

/// A template on its way through the fixes.
struct Patient<'p> {
    template: Template,
    card: Card,
    /// The conversations, loaded for the first change that cures a finding.
    conversations: OnceCell<Conversations>,
    /// The template before all fixes, with its card: what the conversations are for.
    first: (&'p Template, &'p Card),
    /// What the template makes of the usual conversations, and of the others, found out on first use.
    outcomes: [OnceCell<Outcomes>; 2],
    examiner: Examiner,
    writer: Writer,
    left: Cell<Work>,
}

/// A change that was tried: it fixes the contract and breaks no other one.
struct Tried {
    candidate: Candidate,
    source: String,
    card: Card,
    /// What the template makes of the usual conversations after it, and what that proves.
    outcomes: Outcomes,
    proof: Proof,
}

impl Fixer<'_> {
    /// Looks for fixes of a template's broken contracts, of those that `is_chosen` picks. The safe
    /// ones are applied one after the other, until nothing more is found.
    ///
    /// The card has to be the template's whole one.
    pub fn fixes(
        &self,
        template: &Template,
        card: &Card,
        is_chosen: impl Fn(&Contract) -> bool,
    ) -> Fixes {
        let mut fixes = Fixes {
            source: template.source.clone(),
            ..Fixes::default()
        };
        // Go templates have no recipes.
        if template.dialect != Dialect::Jinja || card.syntax_error.is_some() {
            return fixes;
        }
        let mut template = template.clone();
        let has_recipe = |contract: &Contract, template: &Template| {
            let source = Source::new(&template.source);
            is_chosen(contract) && !candidates(contract.id, &source).is_empty()
        };
        if !ids(card).any(|contract| has_recipe(contract, &template)) {
            return fixes;
        }
        // The card was made with these tokens, and its prompts are compared with those after a fix.
        for (name, token) in &card.assumed {
            template = template.with_special_token(name, token);
        }
        let first = template.clone();
        let mut patient = Patient {
            outcomes: [OnceCell::new(), OnceCell::new()],
            template,
            card: card.clone(),
            conversations: OnceCell::new(),
            first: (&first, card),
            examiner: Examiner::default(),
            writer: Writer::new(self.engine),
            left: Cell::new(self.most_work.unwrap_or(Work(u64::MAX))),
        };
        if self.most_work.is_some() && self.is_slow(&first) {
            patient.left.set(Work::NONE);
        }
        // The findings by state: how many fixes were applied before.
        let mut left: BTreeMap<&'static str, (usize, Option<Fix>)> = BTreeMap::new();
        loop {
            let before = fixes.found.len();
            let broken: Vec<&'static Contract> = ids(&patient.card).collect();
            for contract in broken {
                let state = fixes.found.len();
                let is_tried = left
                    .get(contract.id)
                    .is_some_and(|(tried, _)| *tried == state);
                // An earlier fix may have fixed this one, too.
                let is_broken = ids(&patient.card).any(|broken| broken == contract);
                if is_tried || !is_broken || !is_chosen(contract) || state == MOST_APPLIED {
                    continue;
                }
                let found = self.fix(&patient, contract);
                if !left.contains_key(contract.id) {
                    (self.step)();
                }
                let Some((mut fix, card, outcomes)) = found else {
                    // Without work left, nobody knows whether there is a fix: the contract is named
                    // among the untried ones then.
                    if !patient.is_spent() {
                        left.insert(contract.id, (state, None));
                    }
                    continue;
                };
                if !fix.is_safe() && !self.unsafe_too {
                    left.insert(contract.id, (state, Some(fix)));
                    continue;
                }
                left.remove(contract.id);
                fix.is_applied = true;
                fixes.source.clone_from(&fix.after);
                patient.template.source.clone_from(&fix.after);
                patient.card = card;
                patient.outcomes = outcomes.map(OnceCell::from);
                fixes.found.push(fix);
            }
            if fixes.found.len() == before {
                break;
            }
        }
        let state = fixes.found.len();
        for contract in ids(&patient.card) {
            match left.remove(contract.id) {
                Some((tried, fix)) if tried == state => fixes.found.extend(fix),
                _ if patient.is_spent() && has_recipe(contract, &patient.template) => {
                    fixes.untried.push(contract.id);
                }
                _ => {}
            }
        }
        fixes
    }

    /// The safe change that fixes a contract in the most conversations, or the first change that
    /// fixes it at all, with the card and the outcomes after it.
    fn fix(
        &self,
        patient: &Patient<'_>,
        contract: &'static Contract,
    ) -> Option<(Fix, Card, [Outcomes; 2])> {
        let text = patient.template.source.clone();
        let source = Source::new(&text);
        let trial = &Trial::new(self.engine, &patient.template, &patient.card, contract);
        let (mut safe, mut other) = (Vec::new(), None);
        for candidate in candidates(contract.id, &source) {
            let is_needless = candidate.is_one_of_many && !safe.is_empty();
            if is_needless {
                break;
            }
            let Some(tried) = self.tried(patient, trial, candidate, &source) else {
                continue;
            };
            if tried.proof.is_clean() {
                safe.push(tried);
                continue;
            }
            // One of many ways that changes other prompts is the wrong one.
            if !tried.candidate.is_one_of_many {
                safe.extend(self.safe_part(patient, trial, &tried.candidate, &source));
                other = other.or(Some(tried));
            }
        }
        // Of two that fix as much, the first one changes less.
        safe.sort_by_key(|tried: &Tried| {
            Reverse(tried.proof.shown.len() + tried.proof.reworded.len())
        });
        let mut unsafe_one = None;
        for tried in safe {
            let tried = self.smallest(patient, trial, &source, tried);
            let proven = self.proven(patient, trial, tried)?;
            if proven.0.proof.is_clean() {
                return Some(proven);
            }
            unsafe_one = unsafe_one.or(Some(proven));
        }
        unsafe_one.or_else(|| {
            let other = self.smallest(patient, trial, &source, other?);
            self.proven(patient, trial, other)
        })
    }

    /// The first part of a candidate that is safe: all changes but one, or one alone.
    fn safe_part(
        &self,
        patient: &Patient<'_>,
        trial: &Trial<'_>,
        candidate: &Candidate,
        source: &Source<'_>,
    ) -> Option<Tried> {
        let count = candidate.len();
        if !(2..=MOST_TRIED).contains(&count) {
            return None;
        }
        let without = (0..count).filter(|_| count > 2);
        let without = without.map(|one| candidate.with(|at| at != one));
        let alone = (0..count).map(|one| candidate.with(|at| at == one));
        // The larger parts come first, since the first clean one is taken.
        let mut parts = without.chain(alone);
        parts.find_map(|part| {
            let tried = self.tried(patient, trial, part, source);
            tried.filter(|tried| tried.proof.is_clean())
        })
    }

    /// Tries a candidate in the usual conversations. None if it does not fix the contract, or
    /// breaks another one, or if there is not enough work left to tell.
    fn tried(
        &self,
        patient: &Patient<'_>,
        trial: &Trial<'_>,
        candidate: Candidate,
        source: &Source<'_>,
    ) -> Option<Tried> {
        let changed = patient.changed(candidate.source(source));
        if !patient.can_render(LOOK) || !trial.is_touched(&changed) {
            return None;
        }
        let examine = |choice: &ContractChoice| {
            let examiner = &patient.examiner;
            examiner.examine_by(self.engine, &changed, self.tokenizer, choice)
        };
        // Most changes fix nothing, and one contract takes a small part of a card's time.
        let only = ContractChoice {
            select: vec![trial.contract],
            ..ContractChoice::default()
        };
        if !patient.can_render(CONTRACT) || !trial.is_fixed(&examine(&only)) {
            return None;
        }
        if !patient.can_render(CARD) {
            return None;
        }
        let card = examine(&ContractChoice::default());
        if !trial.is_fixed(&card) {
            return None;
        }
        let (outcomes, proof) = self.compared(patient, trial, &changed, 0)?;
        Some(Tried {
            candidate,
            source: changed.source,
            card,
            outcomes,
            proof,
        })
    }

    /// A change without the parts that change no prompt: nothing proves those.
    #[allow(clippy::indexing_slicing)] // `kept` has one for each part of the candidate.
    fn smallest(
        &self,
        patient: &Patient<'_>,
        trial: &Trial<'_>,
        source: &Source<'_>,
        tried: Tried,
    ) -> Tried {
        let candidate = &tried.candidate;
        let [usual, _] = self.conversations(patient).parts();
        let mut kept: Vec<bool> = vec![true; candidate.len()];
        for one in (0..kept.len()).rev() {
            let Some(old) = patient.outcomes[0]
                .get()
                .filter(|_| patient.can_render(LOOK))
            else {
                return tried;
            };
            kept[one] = false;
            let changed = patient.changed(candidate.with(|at| kept[at]).source(source));
            kept[one] = !tried.outcomes.is_kept_by(self.engine, &changed, usual, old);
        }
        if kept.iter().all(|is_kept| *is_kept) {
            return tried;
        }
        let smaller = candidate.with(|at| kept[at]);
        let smaller = self.tried(patient, trial, smaller, source);
        smaller
            .filter(|smaller| smaller.proof == tried.proof)
            .unwrap_or(tried)
    }

    /// Proves a change in all conversations. None if there is not enough work left.
    fn proven(
        &self,
        patient: &Patient<'_>,
        trial: &Trial<'_>,
        tried: Tried,
    ) -> Option<(Fix, Card, [Outcomes; 2])> {
        let changed = patient.changed(tried.source);
        let (outcomes, proof) = self.compared(patient, trial, &changed, 1)?;
        let [_, others] = self.conversations(patient).parts();
        let fix = Fix {
            contract: trial.contract,
            before: patient.template.source.clone(),
            after: changed.source,
            proof: tried.proof.and(proof, others),
            is_applied: false,
        };
        Some((fix, tried.card, [tried.outcomes, outcomes]))
    }

    /// What a changed template makes of a part of the conversations, and what that proves. None if
    /// there is not enough work left.
    #[allow(clippy::indexing_slicing)] // There are two parts of the conversations.
    fn compared(
        &self,
        patient: &Patient<'_>,
        trial: &Trial<'_>,
        changed: &Template,
        part: usize,
    ) -> Option<(Outcomes, Proof)> {
        let asked = self.conversations(patient).parts()[part];
        let (cell, template) = (&patient.outcomes[part], &patient.template);
        // The template before the change is rendered once, for the first change that comes so far.
        let times = 1 + usize::from(cell.get().is_none());
        if !patient.can_render(times * asked.len()) {
            return None;
        }
        let old = cell.get_or_init(|| Outcomes::render(self.engine, template, asked));
        let new = Outcomes::render(self.engine, changed, asked);
        let defect = (trial.contract.id, &patient.writer);
        let proof = Proof::compare(&trial.old, asked, [old, &new], defect);
        Some((new, proof))
    }

    /// Whether a plain conversation takes more than a hundredth of the limits. No published template takes as
    /// long, and [`Work`] counts renders as if none did: thousands of these would take minutes.
    fn is_slow(&self, template: &Template) -> bool {
        let roles = ["user", "assistant"].into_iter().cycle().take(9);
        let turns = roles.map(|role| json!({"role": role, "content": "Yes"}));
        let case = open(turns.collect());
        let program = FrontProgram::load(self.engine, template).within(&Limits::shared_by(100));
        program.is_some_and(|program| {
            let input = PreparedCase::new(&case, Front::of(template), &program.model);
            matches!(program.outcome(&input), Outcome::Exceeded { .. })
        })
    }

    fn conversations<'p>(&self, patient: &'p Patient<'_>) -> &'p Conversations {
        let (template, card) = patient.first;
        let load = || conversations((self.cases)(), template, card);
        patient.conversations.get_or_init(load)
    }
}

impl Patient<'_> {
    fn changed(&self, source: String) -> Template {
        Template {
            source,
            ..self.template.clone()
        }
    }

    /// Whether enough work is left for so many renders, which are counted then. After the first refusal
    /// nothing is left.
    fn can_render(&self, renders: usize) -> bool {
        let cost = renders * (RENDER + self.template.source.len());
        let left = self.left.get().0.checked_sub(cost as u64);
        self.left.set(Work(left.unwrap_or_default()));
        left.is_some()
    }

    fn is_spent(&self) -> bool {
        self.left.get() == Work(0)
    }
}

/// The contracts that a card says are broken without a reason, also those that are broken only
/// where no application comes before the template.
fn ids(card: &Card) -> impl Iterator<Item = &'static Contract> {
    let alone = card.without_front.iter();
    let alone = alone.filter(|one| one.deliberate.is_none() && one.severity().is_defect());
    let ids = card
        .unexplained()
        .chain(alone)
        .map(|finding| finding.contract.id);
    let mut ids: Vec<&'static str> = ids.collect();
    ids.dedup();
    ids.into_iter().filter_map(contract::by_id)
}

#[cfg(test)]
mod tests;
