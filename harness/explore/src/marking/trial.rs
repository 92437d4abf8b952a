//! Trials of marks: what a changed template makes of the cases.

use std::ops::Range;

use rolecall_answers::mask::{Mask, joined};
use rolecall_answers::masker::Masker;
use rolecall_core::provenance::{Origin, Span};
use rolecall_core::{Engine, Hits, Outcome, Template};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use super::candidate::{Candidate, Marked};
use rolecall_suite::suite::Pair;

/// The cases with which marks are tried.
pub(super) struct Trial<'t, 's> {
    engine: &'t dyn Engine,
    template: &'t Template,
    targets: Vec<Target<'s>>,
    /// The targets that decide about candidates: those that together reach all that any of them
    /// reaches, and those in which marks were wrong all the same.
    sample: Vec<usize>,
}

/// A case with what the template makes of it.
pub(super) struct Target<'s> {
    pub(super) pair: Pair<'s>,
    outcome: Outcome,
    /// The template's prompt before a front cuts it.
    whole: Option<String>,
    /// What the model writes of the prompt.
    pub(super) learned: Vec<Range<usize>>,
    /// Where the bytes of the prompt come from, if the model writes some of it.
    pub(super) spans: Vec<Span>,
}

/// What marks do in the cases.
pub(super) enum Judged {
    /// They change no prompt, and mark nothing but what the model writes: for each case, what that
    /// is.
    Right(Vec<Vec<Range<usize>>>),
    /// They mark more than the model writes.
    TooMuch,
    /// They change a prompt, or the template cannot be loaded.
    OtherPrompt,
}

/// What is not marked of a prompt.
pub(super) struct Left<'l, 's> {
    pub(super) target: &'l Target<'s>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Left<'_, '_> {
    /// The places of the texts of the template among what is not marked.
    pub(super) fn literals(&self) -> Vec<usize> {
        let spans = self.target.spans.iter().filter(|span| {
            let mut ranges = self.ranges.iter();
            ranges.any(|it| span.prompt.start < it.end && it.start < span.prompt.end)
        });
        let literals = spans.filter_map(|span| match &span.origin {
            Origin::Literal { source } => Some(source.start),
            _ => None,
        });
        literals.collect()
    }
}

impl<'t, 's> Trial<'t, 's> {
    /// Renders all pairs with the template as it is.
    pub(super) fn new(
        engine: &'t dyn Engine,
        template: &'t Template,
        pairs: impl IntoIterator<Item = Pair<'s>>,
    ) -> Trial<'t, 's> {
        let program = FrontProgram::load(engine, template);
        let masker = Masker::new(&program);
        let mut targets = Vec::new();
        let mut sample = Vec::new();
        let mut reached: Option<Hits> = None;
        for pair in pairs {
            let input = prepared(&program, &pair);
            let (outcome, hits) = program.covered(&input);
            let mask = masker.mask(pair.case, pair.front()).ok();
            if let Some(hits) = hits {
                let mut more = reached.clone().unwrap_or_default();
                more.merge(&hits);
                if reached.as_ref() != Some(&more) {
                    reached = Some(more);
                    sample.push(targets.len());
                }
            }
            targets.push(Target {
                whole: whole(&program, &input, &outcome),
                pair,
                outcome,
                learned: mask.as_ref().map(Mask::ranges).unwrap_or_default(),
                spans: mask.map(|mask| mask.spans).unwrap_or_default(),
            });
        }
        // Prompts with answers come first: they decide most.
        sample.sort_by_key(|index| targets.get(*index).is_none_or(|it| it.learned.is_empty()));
        Trial {
            engine,
            template,
            targets,
            sample,
        }
    }

    pub(super) fn targets(&self) -> impl Iterator<Item = &Target<'s>> {
        self.targets.iter()
    }

    fn changed(&self, source: &str) -> Template {
        Template {
            source: source.to_owned(),
            ..self.template.clone()
        }
    }

    /// What the marks of a source do in the sample, from a place of it on.
    pub(super) fn judged(&self, source: &str, from: usize) -> Judged {
        let template = self.changed(source);
        let program = FrontProgram::load(self.engine, &template);
        if program.without_front().refusal().is_some() {
            return Judged::OtherPrompt;
        }
        let mut all = Vec::new();
        for target in self.sample().skip(from) {
            let Some(marks) = target.marks(&program) else {
                return Judged::OtherPrompt;
            };
            if !outside(&marks, &target.learned).is_empty() {
                return Judged::TooMuch;
            }
            all.push(marks);
        }
        Judged::Right(all)
    }

    fn sample(&self) -> impl Iterator<Item = &Target<'s>> {
        self.sample
            .iter()
            .filter_map(|index| self.targets.get(*index))
    }

    /// How many cases the sample has.
    pub(super) fn sampled(&self) -> usize {
        self.sample.len()
    }

    /// Adds a case to the sample. False if it is there.
    pub(super) fn add(&mut self, target: usize) -> bool {
        let is_new = !self.sample.contains(&target);
        if is_new {
            self.sample.push(target);
        }
        is_new
    }

    /// The proof that a source has the same outcomes as the template, and marks what the model
    /// writes.
    ///
    /// # Errors
    ///
    /// It does not in a case: the index of that case.
    pub(super) fn proven(&self, source: &str, blocks: usize) -> Result<Marked, usize> {
        let template = self.changed(source);
        let program = FrontProgram::load(self.engine, &template);
        let mut marked = Marked {
            source: source.to_owned(),
            blocks,
            prompts: 0,
            refusals: 0,
            answers: 0,
        };
        for (index, target) in self.targets.iter().enumerate() {
            let outcome = program.outcome(&prepared(&program, &target.pair));
            if !is_same(&outcome, &target.outcome) {
                return Err(index);
            }
            if !matches!(outcome, Outcome::Rendered { .. }) {
                marked.refusals += 1;
                continue;
            }
            if target.marks(&program).as_ref() != Some(&target.learned) {
                return Err(index);
            }
            marked.prompts += 1;
            marked.answers += usize::from(!target.learned.is_empty());
        }
        Ok(marked)
    }

    /// What some candidates together leave unmarked of what the model writes, for each case of the
    /// sample.
    pub(super) fn unmarked(&self, candidates: &[Candidate]) -> Vec<Vec<Range<usize>>> {
        let mut left: Vec<_> = self.sample().map(|it| it.learned.clone()).collect();
        for candidate in candidates {
            for (left, marks) in left.iter_mut().zip(&candidate.marks) {
                *left = outside(left, marks);
            }
        }
        left
    }

    /// The prompts of the sample in which they leave something unmarked.
    pub(super) fn left(&self, candidates: &[Candidate]) -> Vec<Left<'_, 's>> {
        let left = self.sample().zip(self.unmarked(candidates));
        let left = left.filter(|(_, ranges)| !ranges.is_empty());
        left.map(|(target, ranges)| Left { target, ranges })
            .collect()
    }
}

/// Whether two outcomes are the same for a user. The line of an error may move.
fn is_same(one: &Outcome, other: &Outcome) -> bool {
    match (one, other) {
        (Outcome::Failed { stage, .. }, Outcome::Failed { stage: other, .. }) => stage == other,
        _ => one == other,
    }
}

impl Target<'_> {
    /// The prompt; empty if there is none.
    pub(super) fn prompt(&self) -> &str {
        match &self.outcome {
            Outcome::Rendered { text } => text,
            _ => "",
        }
    }

    /// What a changed template marks of the prompt. None if the prompt is another one.
    fn marks(&self, program: &FrontProgram<'_>) -> Option<Vec<Range<usize>>> {
        let input = prepared(program, &self.pair);
        let Some(whole) = &self.whole else {
            // Cut operands may give a prompt where there was a refusal.
            return is_same(&program.outcome(&input), &self.outcome).then(Vec::new);
        };
        let found = program.own_text(&input);
        let (text, marks) = found.as_ref()?;
        if text != whole {
            return None;
        }
        let end = self.prompt().len();
        let marks = marks
            .iter()
            .map(|mark| mark.start.min(end)..mark.end.min(end));
        Some(joined(marks))
    }
}

/// The prompt of a case before a front cuts it. None if there is no prompt.
fn whole(
    program: &FrontProgram<'_>,
    input: &PreparedCase<'_>,
    outcome: &Outcome,
) -> Option<String> {
    if !matches!(outcome, Outcome::Rendered { .. }) {
        return None;
    }
    let seen = PreparedCase::new(input.seen(), Front::Raw, &program.model);
    program.outcome(&seen).into_prompt().ok()
}

fn prepared<'c>(program: &FrontProgram<'_>, pair: &Pair<'c>) -> PreparedCase<'c> {
    PreparedCase::new(
        pair.case,
        pair.front(),
        &program.model.with(pair.case, pair.front()),
    )
}

/// The parts of some ranges that are outside of others. Both are joined and in order.
pub(super) fn outside(ranges: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut at = range.start;
        let within = others.iter();
        for other in within.filter(|it| it.start < range.end && it.end > range.start) {
            left.push(at..other.start.max(at));
            at = at.max(other.end);
        }
        left.push(at..range.end.max(at));
    }
    left.retain(|range| !range.is_empty());
    left
}

pub(super) fn bytes(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(ExactSizeIterator::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_of_other_ranges_is_left() {
        let ranges = [2..8, 10..12];
        assert_eq!(
            outside(&ranges, &[0..3, 5..6, 11..20]),
            [3..5, 6..8, 10..11]
        );
        assert_eq!(outside(&ranges, &[]), ranges);
        assert!(outside(&ranges, &[0..9, 9..20]).is_empty());
        assert_eq!(bytes(&ranges), 8);
    }
}
