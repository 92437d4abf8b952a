//! Marks for templates without them: `{% generation %}` blocks around what the model writes.
//!
//! The outline of the template says where tags may be. A candidate is a pair of such places, and
//! the cases decide about it: every prompt stays as it was, and it marks nothing but what the model
//! writes. Where a branch writes other turns, too, a candidate tells them apart by the role of the
//! message. Then the fewest candidates that mark everything are put into the template together, and
//! all cases are rendered again as a proof.

mod gap;

mod candidate;

mod trial;

mod blame;

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;
use rolecall_core::provenance::Origin;
use rolecall_core::{Cut as _, Dialect, Engine, Outcome, Template};
use rolecall_front::program::FrontProgram;
use rolecall_jinja::{Body, Outline, PieceKind};

use crate::masks::has_marks;
use rolecall_suite::suite::Pair;

use candidate::Candidate;
use gap::{Cut, Edit, Gap, edited, gaps};
use trial::{Judged, Left, Trial, bytes, outside};

pub use blame::{Blame, Obstacle};
pub use candidate::Marked;

/// Why a template gets no marks.
#[derive(Debug, thiserror::Error)]
pub enum Unmarked {
    /// The engine refuses the template.
    #[error("the engine refuses the template: {}", .0.text())]
    Refused(Outcome),
    /// It is no Jinja template.
    #[error("only Jinja templates can have `{{% generation %}}` marks")]
    Dialect,
    #[error("the template has `{{% generation %}}` marks")]
    HasMarks,
    /// No case has an answer that the model writes.
    #[error("in no case does the model write anything")]
    NothingWritten,
    /// No marks are right in every case.
    #[error("no marks are right in every case: {0}")]
    Blocked(Box<Blame>),
}

/// Two gaps of a body between which marks are tried.
struct Tried<'o> {
    body: &'o Body,
    from: Gap,
    to: Gap,
    result: Result<Candidate, Wrong>,
}

/// Why two gaps are no candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// More is marked than the model writes.
    TooMuch,
    OtherPrompt,
}

/// Looks for marks of a template, and proves them with pairs of it.
///
/// # Errors
///
/// There is a reason why the template gets no marks.
pub fn marked<'s>(
    engine: &dyn Engine,
    template: &'s Template,
    pairs: impl IntoIterator<Item = Pair<'s>>,
) -> Result<Marked, Unmarked> {
    if template.dialect != Dialect::Jinja {
        return Err(Unmarked::Dialect);
    }
    if has_marks(template) {
        return Err(Unmarked::HasMarks);
    }
    let program = FrontProgram::load(engine, template);
    if let Some(refusal) = program.without_front().refusal() {
        return Err(Unmarked::Refused(refusal.clone()));
    }
    let Some(outline) = Outline::of(&template.source) else {
        return Err(Unmarked::Dialect);
    };
    let plain = Template {
        source: outline.source.clone(),
        ..template.clone()
    };
    let mut trial = Trial::new(engine, &plain, pairs);
    if trial.targets().all(|target| target.learned.is_empty()) {
        return Err(Unmarked::NothingWritten);
    }
    let wanted = wanted(&outline, &trial);
    let mut tried = tried(&outline, &wanted);
    loop {
        let search = Search {
            outline: &outline,
            trial: &trial,
        };
        let chosen = search.chosen(&mut tried);
        let blocked = || {
            let blame = Blame::find(&outline, &plain, trial.left(&chosen));
            Unmarked::Blocked(Box::new(blame))
        };
        if !trial.left(&chosen).is_empty() {
            return Err(blocked());
        }
        let edits: Vec<Edit> = chosen.iter().flat_map(|one| one.edits.clone()).collect();
        match trial.proven(&edited(&outline.source, &edits), chosen.len()) {
            Ok(mut marked) => {
                // Jinja drops a line break at the end of a source.
                if template.source.ends_with('\n') {
                    marked.source.push('\n');
                }
                return Ok(marked);
            }
            // The marks are wrong in a case that decided about none of them.
            Err(target) => {
                let blocked = blocked();
                if !trial.add(target) {
                    return Err(blocked);
                }
            }
        }
    }
}

/// The pairs of gaps between which something is written, without a trial.
fn tried<'o>(outline: &'o Outline, wanted: &[usize]) -> Vec<Tried<'o>> {
    let mut tried = Vec::new();
    for body in outline.bodies.iter().filter(|body| !body.is_captured) {
        let gaps = gaps(outline, body, wanted);
        for (index, from) in gaps.iter().enumerate() {
            let after = gaps.iter().skip(index + 1);
            let after = after.filter(|to| writes(outline, body, from, to));
            tried.extend(after.map(|to| {
                let [edits, guarded] = edits_of(outline, body, from, to);
                Tried {
                    body,
                    from: from.clone(),
                    to: to.clone(),
                    result: Ok(Candidate {
                        guarded: (guarded != edits).then_some(guarded),
                        edits,
                        span: from.place(body)..to.place(body),
                        marks: Vec::new(),
                    }),
                }
            }));
        }
    }
    tried
}

/// The changes that put the two tags of marks into gaps: plainly, and with sums that stay sums.
fn edits_of(outline: &Outline, body: &Body, from: &Gap, to: &Gap) -> [Vec<Edit>; 2] {
    let tags = [("generation", from), ("endgeneration", to)];
    let plain = tags.map(|(words, gap)| gap.edit(outline, body, words));
    let guarded = tags.map(|(words, gap)| {
        let guarded = gap.guarded_edit(outline, body, words);
        guarded.unwrap_or_else(|| gap.edit(outline, body, words))
    });
    [plain.to_vec(), guarded.to_vec()]
}

/// Whether something between two gaps of a body may be written.
fn writes(outline: &Outline, body: &Body, from: &Gap, to: &Gap) -> bool {
    let last = to.piece + usize::from(to.cut != Cut::Before);
    let mut between = body.pieces.iter().take(last).skip(from.piece);
    between.any(|piece| match &piece.kind {
        PieceKind::Text => !outline.source.cut(piece.span.clone()).trim().is_empty(),
        PieceKind::Print(_) | PieceKind::Block => true,
        PieceKind::Tag => false,
    })
}

/// The places within texts and strings of the template where what a model writes begins or ends.
fn wanted(outline: &Outline, trial: &Trial<'_, '_>) -> Vec<usize> {
    let mut wanted = Vec::new();
    for target in trial.targets() {
        let places = target
            .learned
            .iter()
            .flat_map(|range| [range.start, range.end]);
        for at in places {
            let mut spans = target.spans.iter();
            let within = spans.find(|span| span.prompt.start < at && at < span.prompt.end);
            let Some(span) = within else { continue };
            let Origin::Literal { source } = &span.origin else {
                continue;
            };
            let bytes = at - span.prompt.start;
            if source.len() == span.prompt.len() {
                wanted.push(source.start + bytes);
            } else {
                wanted.extend(outline.place_in_string(source, bytes));
            }
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

struct Search<'t, 's> {
    outline: &'t Outline,
    trial: &'t Trial<'t, 's>,
}

impl Search<'_, '_> {
    /// The candidates that mark the most together. Those that copy a part of the template come last,
    /// where the others leave something.
    fn chosen(&self, tried: &mut [Tried<'_>]) -> Vec<Candidate> {
        tried.par_iter_mut().for_each(|tried| {
            if let Ok(candidate) = &mut tried.result
                && let Err(wrong) = self.judge(candidate)
            {
                tried.result = Err(wrong);
            }
        });
        let right = tried.iter().filter_map(|tried| tried.result.as_ref().ok());
        let mut chosen = Vec::new();
        add_best(self.trial, right.cloned().collect(), &mut chosen);
        let left = self.trial.left(&chosen);
        if left.is_empty() {
            return chosen;
        }
        let places: Vec<usize> = left.iter().flat_map(Left::literals).collect();
        let by_role = tried.par_iter().filter_map(|tried| {
            let place = tried.from.place(tried.body)..tried.to.place(tried.body);
            let is_free = chosen.iter().all(|one| !overlap(&one.span, &place));
            let is_too_much = matches!(tried.result, Err(Wrong::TooMuch));
            let is_of_use = places.is_empty() || places.iter().any(|at| place.contains(at));
            (is_free && is_too_much && is_of_use)
                .then(|| self.by_role(tried.body, &tried.from, &tried.to))
                .flatten()
        });
        let by_role: Vec<_> = by_role.collect();
        add_best(self.trial, by_role, &mut chosen);
        let left = self.trial.left(&chosen);
        let places: Vec<usize> = left.iter().flat_map(Left::literals).collect();
        self.with_both_ways(tried, &places, chosen)
    }

    /// The same candidates, or others that mark more: they have the pieces twice whose beginning
    /// the model writes in one place, and not in the other. The line break before a call, for
    /// example, opens the turn if the call comes first, and the prompt has reasoning that is empty.
    fn with_both_ways(
        &self,
        tried: &[Tried<'_>],
        places: &[usize],
        chosen: Vec<Candidate>,
    ) -> Vec<Candidate> {
        let is_cut = |tried: &&Tried<'_>| {
            let piece = tried.body.pieces.get(tried.from.piece);
            piece.is_some_and(|piece| {
                tried.from.cut != Cut::Before
                    && tried.to.cut == Cut::Before
                    && tried.to.piece == tried.from.piece + 1
                    && places.iter().any(|at| piece.span.contains(at))
            })
        };
        let both: Vec<Candidate> = tried
            .par_iter()
            .filter(is_cut)
            .flat_map_iter(|one| {
                let later = tried.iter().filter(|it| {
                    it.to == one.to
                        && it.from.piece == one.from.piece
                        && it.from.place(it.body) > one.from.place(one.body)
                        && std::ptr::eq(it.body, one.body)
                });
                let later = later.map(|it| &it.from);
                self.both_ways(one.body, &one.from, later)
            })
            .collect();
        if both.is_empty() {
            return chosen;
        }
        let mut others = Vec::new();
        add_best(self.trial, both, &mut others);
        let right = tried.iter().filter_map(|tried| tried.result.as_ref().ok());
        add_best(self.trial, right.cloned().collect(), &mut others);
        add_best(self.trial, chosen.clone(), &mut others);
        let unmarked = |candidates: &[Candidate]| -> usize {
            let left = self.trial.unmarked(candidates);
            left.iter().map(|ranges| bytes(ranges)).sum()
        };
        if unmarked(&others) < unmarked(&chosen) {
            others
        } else {
            chosen
        }
    }

    /// A piece that is marked from a cut on, and in other conversations from its beginning or from
    /// a later cut on: as nothing of the message comes before it, or as the operands between the
    /// cuts are empty.
    fn both_ways<'g>(
        &self,
        body: &Body,
        from: &'g Gap,
        later: impl Iterator<Item = &'g Gap>,
    ) -> Vec<Candidate> {
        let [first, after] = [from.piece, from.piece + 1].map(|piece| Gap {
            piece,
            cut: Cut::Before,
        });
        let span = first.place(body)..after.place(body);
        let original = self.outline.source.cut(span.clone());
        let copy = |start: &Gap| {
            let [mut edits, _] = edits_of(self.outline, body, start, &after);
            for edit in &mut edits {
                edit.span = edit.span.start - span.start..edit.span.end - span.start;
            }
            edited(original, &edits)
        };
        let by_item = body.items.iter().map(|item| {
            let condition = format!("loop.first and not {item}['content']");
            (condition, [copy(from), copy(&first)])
        });
        let by_operand = later.filter_map(|later| {
            let between = from.place(body)..later.place(body);
            let PieceKind::Print(operands) = &body.pieces.get(from.piece)?.kind else {
                return None;
            };
            let names = operands.iter().filter_map(|operand| {
                let is_between = between.start <= operand.start && operand.end <= between.end;
                let text = self.outline.source.cut(operand.clone());
                (is_between && !text.starts_with(['\'', '"'])).then(|| format!("not ({text})"))
            });
            let condition = names.collect::<Vec<_>>().join(" and ");
            (!condition.is_empty()).then(|| (condition, [copy(later), copy(from)]))
        });
        let found = by_item
            .chain(by_operand)
            .filter_map(|(condition, [one, other])| {
                let text = self.twice(body, [&first, &after], &condition, [&one, &other]);
                let mut candidate = Candidate {
                    guarded: None,
                    edits: vec![Edit {
                        span: span.clone(),
                        text,
                    }],
                    span: span.clone(),
                    marks: Vec::new(),
                };
                self.judge(&mut candidate).ok().map(|()| candidate)
            });
        found.collect()
    }

    /// Two versions of the pieces between two gaps: the one where a condition holds, and the other.
    /// Between them each tag has the signs that its place has in the original.
    fn twice(
        &self,
        body: &Body,
        [first, after]: [&Gap; 2],
        condition: &str,
        [one, other]: [&str; 2],
    ) -> String {
        let (start, end) = (
            first.signs(self.outline, body),
            after.signs(self.outline, body),
        );
        format!(
            "{{%{} if {condition} {}%}}{one}{{%{} else {}%}}{other}{{%{} endif {}%}}",
            start.0, start.1, end.0, start.1, end.0, end.1
        )
    }

    /// Tries a candidate in the cases of the sample that it does not know.
    fn judge(&self, candidate: &mut Candidate) -> Result<(), Wrong> {
        let known = candidate.marks.len();
        if known == self.trial.sampled() {
            return Ok(());
        }
        let source = edited(&self.outline.source, &candidate.edits);
        match self.trial.judged(&source, known) {
            Judged::Right(marks) => {
                candidate.marks.extend(marks);
                Ok(())
            }
            Judged::TooMuch => Err(Wrong::TooMuch),
            Judged::OtherPrompt => match candidate.guarded.take() {
                Some(guarded) => {
                    candidate.edits = guarded;
                    candidate.marks.clear();
                    self.judge(candidate)
                }
                None => Err(Wrong::OtherPrompt),
            },
        }
    }

    /// The same marks, but only for the assistant's messages: the pieces are there twice.
    fn by_role(&self, body: &Body, from: &Gap, to: &Gap) -> Option<Candidate> {
        let first = Gap {
            piece: from.piece,
            cut: Cut::Before,
        };
        let after = Gap {
            piece: to.piece + usize::from(to.cut != Cut::Before),
            cut: Cut::Before,
        };
        let span = first.place(body)..after.place(body);
        let original = self.outline.source.get(span.clone())?;
        let marks = edits_of(self.outline, body, from, to).map(|mut edits| {
            for edit in &mut edits {
                edit.span = edit.span.start - span.start..edit.span.end - span.start;
            }
            edits
        });
        body.items.iter().find_map(|item| {
            let condition = format!("{item}['role'] == 'assistant'");
            let [edits, guarded] = marks.each_ref().map(|marks| {
                let marked = edited(original, marks);
                let text = self.twice(body, [&first, &after], &condition, [&marked, original]);
                vec![Edit {
                    span: span.clone(),
                    text,
                }]
            });
            let mut candidate = Candidate {
                guarded: (guarded != edits).then_some(guarded),
                edits,
                span: span.clone(),
                marks: Vec::new(),
            };
            self.judge(&mut candidate).ok().map(|()| candidate)
        })
    }
}

/// Adds candidates until nothing is added: always the one that adds the most bytes, and of those the
/// one that changes the least.
fn add_best(trial: &Trial<'_, '_>, mut candidates: Vec<Candidate>, chosen: &mut Vec<Candidate>) {
    let mut left = trial.unmarked(chosen);
    loop {
        candidates.retain(|one| !chosen.iter().any(|other| overlap(&one.span, &other.span)));
        let added = candidates.iter().enumerate().map(|(index, candidate)| {
            let pairs = left.iter().zip(&candidate.marks);
            let added: usize = pairs
                .map(|(left, marks)| bytes(left) - bytes(&outside(left, marks)))
                .sum();
            let text: usize = candidate.edits.iter().map(|edit| edit.text.len()).sum();
            (added, Reverse((text, candidate.span.len(), index)))
        });
        let Some((_, Reverse((_, _, index)))) = added.filter(|(added, _)| *added > 0).max() else {
            return;
        };
        let candidate = candidates.swap_remove(index);
        for (left, marks) in left.iter_mut().zip(&candidate.marks) {
            *left = outside(left, marks);
        }
        chosen.push(candidate);
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests;
