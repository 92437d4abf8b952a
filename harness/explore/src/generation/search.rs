//! The search for conversations that take branches which no case takes.

use std::collections::{BTreeMap, HashSet};

use rolecall_core::chance::Chance;
use rolecall_core::{Branch, Case, Hits, Outcome, Site, Words};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use super::edits::Editor;
use super::likelihood::Rank;
use super::vocabulary::Vocabulary;
use rolecall_core::shrinking::size;

/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The seed: the same one gives the same conversations.
    pub seed: u64,
    /// The most conversations that the search renders with a template.
    pub tries: usize,
}

impl Effort {
    /// The seed, unless the user names one.
    pub const SEED: u64 = 1;
    /// The most conversations, unless the user names a number.
    pub const TRIES: usize = 30_000;
    /// The most conversations for each place with mutants that no case notices.
    pub const TRIES_FOR_MUTANTS: usize = 1_000;
}

/// A branch of a place: the place by its index.
pub(super) type Target = (usize, Branch);

/// The most conversations that the search keeps to change them.
const MOST_KEPT: usize = 6_000;

/// How many tries a place gets before the next one has its turn.
const TRIES_IN_A_ROW: usize = 24;

/// The part of all tries that may go into better conversations for branches that are already found.
const FOR_BETTER_ONES: usize = 4;

/// Renders conversations with a template.
pub(super) struct Subject<'s> {
    pub(super) program: &'s FrontProgram<'s>,
    front: Front,
}

#[derive(Clone)]
pub(super) struct Rendered {
    pub(super) case: Case,
    pub(super) outcome: Outcome,
    pub(super) hits: Hits,
}

impl<'s> Subject<'s> {
    pub(super) fn new(program: &'s FrontProgram<'s>) -> Subject<'s> {
        Subject {
            front: Front::of(program.template),
            program,
        }
    }

    /// A conversation as the template's front prepares it.
    pub(super) fn prepared<'c>(&self, case: &'c Case) -> PreparedCase<'c> {
        let model = self.program.model.with(case, self.front);
        PreparedCase::new(case, self.front, &model)
    }

    /// Renders a conversation. None if no template runs.
    pub(super) fn render(&self, case: Case) -> Option<Rendered> {
        let input = self.prepared(&case);
        let (outcome, hits) = self.program.covered(&input);
        let hits = hits?;
        drop(input);
        Some(Rendered {
            case,
            outcome,
            hits,
        })
    }
}

/// A conversation that takes a branch, and how well it serves.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) rank: Rank,
    size: usize,
    pub(super) case: Case,
}

pub(super) struct Search<'s> {
    subject: &'s Subject<'s>,
    sites: &'s [Site],
    vocabulary: Vocabulary,
    chance: Chance,
    /// What can be changed: the cases, and every conversation that took a new path.
    kept: Vec<(Case, Hits)>,
    /// For each place, the kept conversations that reach it.
    reaching: Vec<Vec<usize>>,
    paths: HashSet<Hits>,
    /// The branches that no case takes, and the best conversation for each.
    found: BTreeMap<Target, Option<Found>>,
    left: usize,
}

#[allow(clippy::indexing_slicing)] // Goals are numbers of `sites` and of `reaching`, which has numbers of `kept`.
impl<'s> Search<'s> {
    /// Begins with cases and their hits. The targets are the branches to take.
    pub(super) fn new(
        subject: &'s Subject<'s>,
        sites: &'s [Site],
        cases: Vec<(Case, Hits)>,
        targets: impl IntoIterator<Item = Target>,
        effort: Effort,
    ) -> Search<'s> {
        let program = subject.program;
        let variables = program.without_front().variables();
        let mut search = Search {
            subject,
            sites,
            vocabulary: Vocabulary::of(program.template, variables),
            chance: Chance::of(effort.seed, 0),
            kept: Vec::new(),
            reaching: vec![Vec::new(); sites.len()],
            paths: HashSet::new(),
            found: targets.into_iter().map(|target| (target, None)).collect(),
            left: effort.tries,
        };
        for (case, hits) in cases {
            search.keep(case, hits);
        }
        search
    }

    /// Searches until every branch has a good conversation, or all tries are used up. Returns the
    /// best conversations and how many were tried.
    pub(super) fn run(mut self) -> (BTreeMap<Target, Option<Found>>, usize) {
        let tries = self.left;
        let for_better = tries / FOR_BETTER_ONES;
        while self.left > for_better && !self.kept.is_empty() {
            let goals = self.open_goals();
            if goals.is_empty() {
                break;
            }
            self.round(&goals);
        }
        // A search that has found all branches early also ends early.
        self.left = self.left.min(for_better);
        while self.left > 0 && !self.kept.is_empty() {
            let goals = self.poor_goals();
            if goals.is_empty() {
                break;
            }
            self.round(&goals);
        }
        let unused = self.left;
        (self.found, tries - unused.min(tries))
    }

    /// Looks for more paths through the template, wherever they lead. Returns conversations that each
    /// take another path, the cases among them.
    pub(super) fn explored(mut self) -> Vec<(Case, Hits)> {
        while self.left > 0 {
            let is_reached = |site: &usize| !self.reaching[*site].is_empty();
            let goals: Vec<usize> = (0..self.sites.len()).filter(is_reached).collect();
            if goals.is_empty() {
                break;
            }
            self.round(&goals);
        }
        self.kept
    }

    /// Tries some conversations for each goal.
    fn round(&mut self, goals: &[usize]) {
        for goal in goals {
            let site = &self.sites[*goal];
            let source = &self.subject.program.template.source;
            let text = source.get(site.span.clone()).unwrap_or_default();
            let focus = self.vocabulary.focus(text);
            for _ in 0..TRIES_IN_A_ROW {
                if self.left == 0 {
                    return;
                }
                self.left -= 1;
                if self.attempt(*goal, &focus) {
                    break;
                }
            }
        }
    }

    /// Changes a conversation that reaches a place. Returns whether a branch is taken for the first
    /// time.
    fn attempt(&mut self, goal: usize, focus: &Words) -> bool {
        let reaching = &self.reaching[goal];
        // What was found last is often one step before the goal.
        let recent = reaching.len().saturating_sub(16);
        let among = if self.chance.one_in(3) {
            &reaching[recent..]
        } else {
            &reaching[..]
        };
        let Some(parent) = self.chance.any(among) else {
            return false;
        };
        let other = self.chance.below(self.kept.len());
        let editor = Editor {
            vocabulary: &self.vocabulary,
            focus,
        };
        let (parent, other) = (&self.kept[*parent].0, &self.kept[other].0);
        let Some(case) = editor.edited(parent, other, &mut self.chance) else {
            return false;
        };
        let Some(rendered) = self.subject.render(case) else {
            return false;
        };
        let is_new = self.note(&rendered);
        self.keep(rendered.case, rendered.hits);
        is_new
    }

    /// Notes the branches that a conversation takes, where it serves better than the one known.
    fn note(&mut self, rendered: &Rendered) -> bool {
        let mut is_new = false;
        let mut judged = None;
        for ((site, branch), best) in &mut self.found {
            if !rendered.hits.has(*site, *branch) {
                continue;
            }
            let (rank, size) = *judged.get_or_insert_with(|| {
                (
                    Rank::of(&rendered.case, &rendered.outcome),
                    size(&rendered.case),
                )
            });
            let is_better = best
                .as_ref()
                .is_none_or(|best| (rank, size) < (best.rank, best.size));
            if is_better {
                is_new |= best.is_none();
                *best = Some(Found {
                    rank,
                    size,
                    case: rendered.case.clone(),
                });
            }
        }
        is_new
    }

    /// Keeps a conversation if no other one took the same path.
    fn keep(&mut self, case: Case, hits: Hits) {
        if self.kept.len() >= MOST_KEPT || !self.paths.insert(hits.clone()) {
            return;
        }
        for (site, reaching) in self.reaching.iter_mut().enumerate() {
            if hits.has_any(site) {
                reaching.push(self.kept.len());
            }
        }
        self.kept.push((case, hits));
    }

    /// The places from which the search goes on: those that are reached but lack a branch, and in
    /// front of a place that is not reached, the nearest one that is and lacks a branch.
    fn open_goals(&self) -> Vec<usize> {
        let open = self.found.iter().filter(|(_, found)| found.is_none());
        let mut goals = Vec::new();
        let lacks = |site: usize| self.found.keys().any(|(other, _)| *other == site);
        for ((site, _), _) in open {
            let is_reached = |site: &usize| !self.reaching[*site].is_empty();
            let before = || (0..*site).rev().filter(is_reached);
            let goal = if is_reached(site) {
                Some(*site)
            } else {
                before()
                    .find(|site| lacks(*site))
                    .or_else(|| before().next())
            };
            let goal = goal.unwrap_or_default();
            if is_reached(&goal) && !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        goals
    }

    /// The places with a branch for which only an odd conversation is known, or one that is
    /// refused.
    fn poor_goals(&self) -> Vec<usize> {
        let is_poor = |found: &Found| found.rank != Rank::Prompt;
        let poor = self.found.iter();
        let poor = poor.filter(|(_, found)| found.as_ref().is_some_and(is_poor));
        let mut goals: Vec<usize> = poor.map(|((site, _), _)| *site).collect();
        goals.dedup();
        goals
    }
}
