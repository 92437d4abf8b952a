//! The proof of a fix: which prompts stay as they are, and which change.

use std::collections::HashSet;

use rayon::prelude::*;
use rolecall_core::{Case, Cut, Engine, Outcome, Template};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use super::asked::Asked;
use super::meaning::{is_better, meant};
use super::wording::{Wording, Writer, are_given, is_reworded};

/// Which prompts a fix changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many prompts stay byte for byte.
    pub same: usize,
    /// How many refusals in the template's own words stay byte for byte.
    pub refused: usize,
    /// How many conversations end without a prompt or a refusal, before and after: the engine fails.
    pub failing: usize,
    /// The conversations that showed the defect. Each has the prompt now that the template already
    /// gave for the same conversation without the defect, or it failed, or it had lost a text.
    pub shown: Vec<String>,
    /// The conversations that showed the defect, whose prompt held everything and words it in another
    /// way now. A model that was trained with the template has learnt the old wording.
    pub reworded: Vec<String>,
    /// One of the old wordings, and the new one.
    pub wording: Option<Wording>,
    /// Other conversations that have another prompt now.
    pub others: Vec<String>,
}

/// The beginning of a wording, with marks for line breaks.
fn shown(wording: &str) -> String {
    const LONGEST: usize = 48;
    let line = wording.replace('\n', "␊").replace('\t', "␉");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.cut(..end)),
        None => line,
    }
}

/// What a template makes of conversations, in their order.
#[derive(Debug, Clone)]
pub(super) struct Outcomes(Vec<Outcome>);

impl Proof {
    /// Whether some conversation that showed the defect has another prompt now, and no other one
    /// has.
    pub fn is_clean(&self) -> bool {
        self.others.is_empty() && !(self.shown.is_empty() && self.reworded.is_empty())
    }

    /// Whether nothing changes that a model was trained with: the fix is clean, and no prompt changes
    /// that held everything before, unless the template gave the new one, too.
    pub fn is_safe(&self) -> bool {
        self.is_clean() && self.reworded.is_empty()
    }

    /// Why a fix is safe, or why it is not.
    pub fn reason(&self) -> String {
        let wording = self.wording.as_ref();
        match wording.filter(|_| self.others.is_empty()) {
            Some(Wording { wrong, right }) => format!(
                "the prompts held everything before: a model that was trained with this template \
                 has learnt `{}`, and would read `{}`",
                shown(wrong),
                shown(right)
            ),
            None if self.is_safe() => "only prompts change that failed, that had lost a text, or \
                                       that the template gives in another way for the same \
                                       conversation"
                .to_owned(),
            None if self.others.is_empty() => {
                "no conversation shows the defect, so nothing proves the fix".to_owned()
            }
            None => "prompts change that do not show the defect".to_owned(),
        }
    }

    /// Compares what a template makes of conversations before and after a fix.
    pub(super) fn compare(
        before: &FrontProgram<'_>,
        asked: &[Asked],
        [old, new]: [&Outcomes; 2],
        (contract, writer): (&str, &Writer),
    ) -> Proof {
        let pairs = asked.par_iter().zip(old.0.par_iter().zip(&new.0));
        let compared: Vec<Change> = pairs
            .map(|(asked, (old, new))| {
                Change::between(before, asked, [old, new], (contract, writer))
            })
            .collect();
        let mut proof = Proof::default();
        for (asked, change) in asked.iter().zip(compared) {
            match change {
                Change::Same => proof.same += 1,
                Change::Refused => proof.refused += 1,
                Change::Failing => proof.failing += 1,
                Change::Shown => proof.shown.push(asked.name.clone()),
                Change::Reworded(wording) => {
                    proof.reworded.push(asked.name.clone());
                    proof.wording = proof.wording.or(wording);
                }
                Change::Other => proof.others.push(asked.name.clone()),
            }
        }
        proof
    }

    /// Both proofs as one: this one is about the usual conversations, the other one about those with
    /// a switch. A conversation that shows the defect without a switch also shows it with a value
    /// of the switch that is only guessed.
    pub(super) fn and(mut self, mut other: Proof, asked: &[Asked]) -> Proof {
        let shown: HashSet<&str> = self.shown.iter().map(String::as_str).collect();
        let guessed: HashSet<&str> = asked
            .iter()
            .filter(|asked| {
                let base = asked.guessed_from.as_deref();
                base.is_some_and(|base| shown.contains(base))
            })
            .map(|asked| asked.name.as_str())
            .collect();
        let (meant, others) =
            (other.others.into_iter()).partition(|name| guessed.contains(name.as_str()));
        other.others = others;
        other.shown.extend::<Vec<String>>(meant);
        self.same += other.same;
        self.refused += other.refused;
        self.failing += other.failing;
        self.shown.extend(other.shown);
        self.reworded.extend(other.reworded);
        self.wording = self.wording.or(other.wording);
        self.others.extend(other.others);
        self
    }
}

impl Outcomes {
    pub(super) fn render(engine: &dyn Engine, template: &Template, asked: &[Asked]) -> Outcomes {
        let program = FrontProgram::load(engine, template);
        let outcomes = asked.par_iter().map(|one| program.outcome(&one.input));
        Outcomes(outcomes.collect())
    }

    /// Whether a template makes the same of the conversations whose outcomes differ here.
    pub(super) fn is_kept_by(
        &self,
        engine: &dyn Engine,
        template: &Template,
        asked: &[Asked],
        old: &Outcomes,
    ) -> bool {
        let program = FrontProgram::load(engine, template);
        let all = asked.par_iter().zip(self.0.par_iter().zip(&old.0));
        all.filter(|(_, (new, old))| new != old)
            .all(|(asked, (new, _))| program.outcome(&asked.input) == *new)
    }
}

/// What becomes of a conversation.
enum Change {
    Same,
    Refused,
    Failing,
    Shown,
    Reworded(Option<Wording>),
    Other,
}

impl Change {
    /// Compares the outcomes of a conversation. `before` is the template before the fix.
    fn between(
        before: &FrontProgram<'_>,
        asked: &Asked,
        [old, new]: [&Outcome; 2],
        defect: (&str, &Writer),
    ) -> Change {
        match (old, new) {
            (Outcome::Rendered { .. }, new) if old == new => Change::Same,
            (Outcome::Raised { .. }, new) if old == new => Change::Refused,
            // The words of a failure belong to the engine.
            (
                Outcome::Failed { .. } | Outcome::Exceeded { .. },
                Outcome::Failed { .. } | Outcome::Exceeded { .. },
            ) => Change::Failing,
            _ if old == new => Change::Failing,
            _ => of_defect(before, asked, [old, new], defect).unwrap_or(Change::Other),
        }
    }
}

/// What becomes of a conversation that showed the defect: its new prompt is the one that was meant.
/// None if it is another one.
fn of_defect(
    before: &FrontProgram<'_>,
    asked: &Asked,
    [old, new]: [&Outcome; 2],
    (contract, writer): (&str, &Writer),
) -> Option<Change> {
    // A prompt is not fixed by a refusal, and nothing is fixed by a failure.
    let is_no_worse = match (old, new) {
        (_, Outcome::Rendered { .. }) => true,
        (old, Outcome::Raised { .. }) => !matches!(old, Outcome::Rendered { .. }),
        _ => false,
    };
    if !is_no_worse {
        return None;
    }
    let wordings = writer.wordings(contract, &asked.case);
    let is_right = |old: &Outcome| match (old, new) {
        (Outcome::Rendered { text: old }, Outcome::Rendered { text: new }) => {
            is_reworded(old, new, &wordings)
        }
        _ => false,
    };
    let given = |case: &Case| {
        let input = PreparedCase::new(case, asked.input.front, &before.model);
        before.outcome(&input)
    };
    let mut others = meant(contract, &asked.case, writer).into_iter();
    if others.any(|case| {
        let old = given(&case);
        old == *new || are_given(contract) && is_right(&old)
    }) {
        return Some(Change::Shown);
    }
    if is_right(old) {
        let wordings = wordings.iter().filter(|one| is_here(one, old, new));
        return Some(if are_given(contract) {
            Change::Shown
        } else {
            Change::Reworded(wordings.min_by_key(|one| one.wrong.len()).cloned())
        });
    }
    is_better(contract, &asked.case, [old, new], &given).then_some(Change::Shown)
}

/// Whether a wording is one of those that differ between two prompts.
fn is_here(Wording { wrong, right }: &Wording, old: &Outcome, new: &Outcome) -> bool {
    let gone = |word: &str| old.text().matches(word).count() > new.text().matches(word).count();
    gone(wrong) && new.text().contains(right.as_str())
}
