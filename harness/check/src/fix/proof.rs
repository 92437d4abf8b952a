//! The proof of a fix: which prompts stay as they are, and which change.

use std::collections::HashSet;

use rayon::prelude::*;
use rolecall_core::{Engine, Outcome, Template};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use super::asked::Asked;
use super::meaning::meant;
use super::wording::{Writer, is_reworded};

/// Which prompts a fix changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many prompts stay byte for byte.
    pub same: usize,
    /// How many refusals in the template's own words stay byte for byte.
    pub refused: usize,
    /// How many conversations end without a prompt or a refusal, before and after: the engine fails.
    pub failing: usize,
    /// The conversations that showed the defect, and now have the prompt that the template already
    /// gave for the same conversation without the defect. Each with its switches.
    pub shown: Vec<String>,
    /// Other conversations that have another prompt now.
    pub others: Vec<String>,
}

/// What a template makes of conversations, in their order.
#[derive(Debug, Clone)]
pub(super) struct Outcomes(Vec<Outcome>);

impl Proof {
    /// Whether some conversation that showed the defect has another prompt now, and no other one
    /// has.
    pub fn is_safe(&self) -> bool {
        self.others.is_empty() && !self.shown.is_empty()
    }

    /// Compares what a template makes of conversations before and after a fix.
    pub(super) fn of(
        before: &FrontProgram<'_>,
        asked: &[Asked],
        [old, new]: [&Outcomes; 2],
        (contract, writer): (&str, &Writer),
    ) -> Proof {
        let pairs = asked.par_iter().zip(old.0.par_iter().zip(&new.0));
        let compared: Vec<Change> = pairs
            .map(|(asked, (old, new))| Change::of(before, asked, [old, new], (contract, writer)))
            .collect();
        let mut proof = Proof::default();
        for (asked, change) in asked.iter().zip(compared) {
            match change {
                Change::Same => proof.same += 1,
                Change::Refused => proof.refused += 1,
                Change::Failing => proof.failing += 1,
                Change::Shown => proof.shown.push(asked.name.clone()),
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
        self.others.extend(other.others);
        self
    }
}

impl Outcomes {
    /// Renders conversations.
    pub(super) fn of(engine: &dyn Engine, template: &Template, asked: &[Asked]) -> Outcomes {
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
    Other,
}

impl Change {
    /// Compares the outcomes of a conversation. `before` is the template before the fix.
    fn of(
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
            _ if is_meant(before, asked, [old, new], defect) => Change::Shown,
            _ => Change::Other,
        }
    }
}

/// Whether a conversation showed the defect, and its new prompt is the one that was meant: what the
/// template gave before for the same conversation without the defect.
fn is_meant(
    before: &FrontProgram<'_>,
    asked: &Asked,
    [old, new]: [&Outcome; 2],
    (contract, writer): (&str, &Writer),
) -> bool {
    // A prompt is not fixed by a refusal, and nothing is fixed by a failure.
    let is_no_worse = match (old, new) {
        (_, Outcome::Rendered { .. }) => true,
        (old, Outcome::Raised { .. }) => !matches!(old, Outcome::Rendered { .. }),
        _ => false,
    };
    if !is_no_worse {
        return false;
    }
    let wordings = writer.wordings(contract, &asked.case);
    let is_right = |old: &Outcome| match (old, new) {
        (Outcome::Rendered { text: old }, Outcome::Rendered { text: new }) => {
            is_reworded(old, new, &wordings)
        }
        _ => false,
    };
    let mut others = meant(contract, &asked.case, writer)
        .into_iter()
        .map(|case| {
            let input = PreparedCase::new(&case, asked.input.front, &before.model);
            before.outcome(&input)
        });
    is_right(old) || others.any(|old| old == *new || is_right(&old))
}
