//! The search for conversations that tell a template and its mutants apart.

use rolecall_core::chance::Chance;
use rolecall_core::{Case, Hits, Site};
use rolecall_front::program::FrontProgram;

use super::edits::Editor;
use super::likelihood::Rank;
use super::reduction::reduced;
use super::search::{Effort, Rendered, Search, Subject};
use super::vocabulary::Vocabulary;
use crate::effect::Effect;

/// Searches for conversations that tell mutants apart from a template.
pub(crate) struct Distinguisher<'s> {
    subject: Subject<'s>,
    sites: &'s [Site],
    vocabulary: Vocabulary,
    effort: Effort,
    /// Whether the template marks the model's own text.
    has_marks: bool,
    /// Conversations to change: each takes another path through the template.
    kept: Vec<(Case, Hits)>,
}

/// Where mutants differ from the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    /// The innermost place around it.
    pub(crate) around: Option<usize>,
    /// The last place that begins before it.
    pub(crate) before: Option<usize>,
    /// The first place after it.
    pub(crate) after: Option<usize>,
}

/// A conversation that tells a mutant apart, and how well it serves.
struct Best {
    rank: Rank,
    case: Case,
}

impl<'s> Distinguisher<'s> {
    /// Begins with cases, each with its hits. The search first looks for more paths through the
    /// template.
    pub(crate) fn new(
        program: &'s FrontProgram<'s>,
        sites: &'s [Site],
        cases: Vec<(Case, Hits)>,
        effort: Effort,
        has_marks: bool,
    ) -> Distinguisher<'s> {
        let subject = Subject::new(program);
        let kept = Search::new(&subject, sites, cases, [], effort).explored();
        Distinguisher {
            vocabulary: Vocabulary::of(program.template, program.without_front().variables()),
            subject,
            sites,
            effort,
            has_marks,
            kept,
        }
    }

    /// Searches for a conversation for each of some mutants that differ from the template at the
    /// same place. None for a mutant that no conversation tells apart.
    pub(crate) fn found(&self, spot: Spot, mutants: &[FrontProgram<'_>]) -> Vec<Option<Case>> {
        let mut places: Vec<usize> = spot.around.into_iter().collect();
        if places.is_empty() {
            places.extend([spot.before, spot.after].into_iter().flatten());
        }
        let reaches =
            |hits: &Hits| places.is_empty() || places.iter().any(|place| hits.has_any(*place));
        let mut parents: Vec<&Case> = Vec::new();
        parents.extend(
            self.kept
                .iter()
                .filter(|(_, hits)| reaches(hits))
                .map(|(case, _)| case),
        );
        if parents.is_empty() {
            parents.extend(self.kept.iter().map(|(case, _)| case));
        }
        let mut best: Vec<Option<Best>> = mutants.iter().map(|_| None).collect();
        // What is already known to take another path may already tell them apart.
        for parent in parents.iter().take(self.effort.tries) {
            self.attempt((*parent).clone(), &reaches, mutants, &mut best);
        }
        let site = spot
            .around
            .or(spot.before)
            .and_then(|site| self.sites.get(site));
        let source = &self.subject.program.template.source;
        let text = site.and_then(|site| source.get(site.span.clone()));
        let focus = self.vocabulary.focus(text.unwrap_or_default());
        let editor = Editor {
            vocabulary: &self.vocabulary,
            focus: &focus,
        };
        let number = spot.around.or(spot.before).unwrap_or_default() as u64;
        // The search for paths has the number 0. So a place gets the same choices whatever is tried at
        // others.
        let mut chance = Chance::of(self.effort.seed, 1 + number);
        for _ in 0..self.effort.tries {
            if best
                .iter()
                .all(|best| matches!(best, Some(best) if best.rank == Rank::Prompt))
            {
                break;
            }
            let (Some(parent), Some((other, _))) = (chance.any(&parents), chance.any(&self.kept))
            else {
                break;
            };
            if let Some(case) = editor.edited(parent, other, &mut chance) {
                self.attempt(case, &reaches, mutants, &mut best);
            }
        }
        let found = best.into_iter().zip(mutants);
        let found = found.map(|(best, mutant)| Some(self.smallest(best?.case, mutant)));
        found.collect()
    }

    /// Renders a conversation with the template, and with each mutant for which it would serve
    /// better than the one known.
    fn attempt(
        &self,
        case: Case,
        reaches: &dyn Fn(&Hits) -> bool,
        mutants: &[FrontProgram<'_>],
        best: &mut [Option<Best>],
    ) {
        let Some(rendered) = self.subject.render(case) else {
            return;
        };
        if !reaches(&rendered.hits) {
            return;
        }
        let rank = Rank::of(&rendered.case, &rendered.outcome);
        for (mutant, best) in mutants.iter().zip(best) {
            let is_better = best.as_ref().is_none_or(|best| rank < best.rank);
            if is_better && self.tells_apart(&rendered, mutant) {
                *best = Some(Best {
                    rank,
                    case: rendered.case.clone(),
                });
            }
        }
    }

    /// Whether a conversation has another effect with a mutant.
    fn tells_apart(&self, rendered: &Rendered, mutant: &FrontProgram<'_>) -> bool {
        let program = self.subject.program;
        let input = self.subject.prepared(&rendered.case);
        let effect = Effect::of(program, &input, rendered.outcome.clone(), self.has_marks);
        !effect.has_same_outcome(mutant, program, &input, &rendered.case)
            || !effect.has_same_marks(mutant, &input)
    }

    fn smallest(&self, case: Case, mutant: &FrontProgram<'_>) -> Case {
        let serves = |rendered: &Rendered| self.tells_apart(rendered, mutant);
        let smallest = reduced(&self.subject, case.clone(), &serves);
        Case {
            // It says what the case is for that this one was made from.
            about: None,
            ..smallest.map_or(case, |smallest| smallest.case)
        }
    }

    /// Whether a conversation tells a mutant apart.
    pub(crate) fn is_distinguished_by(&self, case: &Case, mutant: &FrontProgram<'_>) -> bool {
        let rendered = self.subject.render(case.clone());
        rendered.is_some_and(|rendered| self.tells_apart(&rendered, mutant))
    }
}
