//! How two outcomes of one case compare.

use rolecall_core::{Outcome, OutcomeKind};

/// How two outcomes of one case relate to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Both are prompts, with the same bytes.
    SamePrompt,
    /// Both templates refused, with the same words.
    SameRefusal,
    /// Both engines gave up in the same way: both failed, both ran out of a limit, or both
    /// crashed. The words belong to each engine, and say nothing about what works.
    BothFail,
    /// Anything else.
    Differ,
}

impl Relation {
    /// How two outcomes relate to each other.
    pub fn of(a: &Outcome, b: &Outcome) -> Relation {
        match (a, b) {
            (Outcome::Rendered { text: a }, Outcome::Rendered { text: b }) if a == b => {
                Relation::SamePrompt
            }
            (Outcome::Raised { message: a }, Outcome::Raised { message: b }) if a == b => {
                Relation::SameRefusal
            }
            (a, b) if a.kind() == b.kind() && gave_up(a.kind()) => Relation::BothFail,
            _ => Relation::Differ,
        }
    }
}

/// Whether the outcome was not intended by the template. A side that was not asked could have given
/// anything, so it is like no other.
fn gave_up(kind: OutcomeKind) -> bool {
    !matches!(
        kind,
        OutcomeKind::Rendered | OutcomeKind::Raised | OutcomeKind::NotAsked
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rolecall_core::{Limit, Stage};

    #[test]
    fn two_failures_are_never_the_same_prompt() {
        let rendered = |text: &str| Outcome::Rendered { text: text.into() };
        let raised = |text: &str| Outcome::Raised {
            message: text.into(),
        };
        let failed = |text: &str| Outcome::Failed {
            stage: Stage::Render,
            message: text.into(),
            line: None,
        };
        let not_asked = || Outcome::NotAsked {
            message: "gone".into(),
        };
        for (a, b, relation) in [
            (rendered("a"), rendered("a"), Relation::SamePrompt),
            (rendered("a"), rendered("b"), Relation::Differ),
            (rendered("a"), raised("a"), Relation::Differ),
            (raised("a"), raised("a"), Relation::SameRefusal),
            (raised("a"), raised("b"), Relation::Differ),
            (raised("a"), failed("a"), Relation::Differ),
            (failed("a"), failed("b"), Relation::BothFail),
            (not_asked(), not_asked(), Relation::Differ),
            (
                failed("a"),
                Outcome::Exceeded { limit: Limit::Fuel },
                Relation::Differ,
            ),
        ] {
            assert_eq!(Relation::of(&a, &b), relation, "{a:?} {b:?}");
            assert_eq!(Relation::of(&b, &a), relation, "{b:?} {a:?}");
        }
    }
}
