//! The masks of a template's prompts: what the model writes in each case, compared with what the
//! template marks, and with what a trainer learns.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use rolecall_answers::mask::{Mask, NoMask, joined};
use rolecall_answers::masker::Masker;
use rolecall_core::guard;
use rolecall_core::hunk::changed_words;
use rolecall_core::{Case, Cut, Engine, Outcome, OutcomeKind, Template};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;

use crate::coverage::Unexplored;
use rolecall_suite::suite::Pair;

/// The masks of a template's prompts.
#[derive(Debug)]
pub struct TemplateMasks<'s> {
    pub template: &'s Template,
    /// The special tokens that are not set, each with the text that Rolecall used for it.
    pub assumed: BTreeMap<&'static str, &'static str>,
    pub cases: Vec<CaseMask<'s>>,
    /// The trainer's name and version, if the masks are compared with one.
    pub trainer: Option<String>,
}

/// The mask of a case's prompt.
#[derive(Debug)]
pub struct CaseMask<'s> {
    pub case: &'s Case,
    /// What the model writes, or why there is no mask.
    pub mask: Result<Mask, NoMask>,
    /// What the template's own `{% generation %}` blocks mark. None if it has none, or if the marks
    /// cannot be read.
    pub marked: Option<Vec<Range<usize>>>,
    /// What the trainer makes of the case. None without a trainer.
    pub trained: Option<Trained>,
}

/// What a trainer makes of a case.
#[derive(Debug)]
pub struct Trained {
    /// The text on which it trains, or why it has none.
    pub outcome: Outcome,
    /// What is learned of the text, as ranges of bytes in their order.
    pub learned: Vec<Range<usize>>,
}

impl<'s> TemplateMasks<'s> {
    /// Finds the masks of pairs of a template, and asks a trainer for its own. Trainers get whole
    /// conversations: with one, no case asks for an answer or lets the model continue one.
    ///
    /// # Errors
    ///
    /// The engine refuses the template.
    pub fn find(
        engine: &dyn Engine,
        trainer: Option<&dyn Engine>,
        template: &'s Template,
        pairs: impl IntoIterator<Item = Pair<'s>>,
    ) -> Result<TemplateMasks<'s>, Unexplored> {
        let program = FrontProgram::load(engine, template);
        if let Some(refusal) = program.without_front().refusal() {
            return Err(Unexplored::Refused(refusal.clone()));
        }
        let masker = Masker::new(&program);
        let trainer_program = trainer.map(|trainer| FrontProgram::load(trainer, template));
        let pairs: Vec<Pair<'s>> = pairs.into_iter().collect();
        let mask = |pair: Pair<'s>| {
            let whole = trainer.is_some().then(|| Case {
                add_generation_prompt: false,
                continue_final_message: None,
                ..pair.case.clone()
            });
            let asked = Pair {
                case: whole.as_ref().unwrap_or(pair.case),
                ..pair
            };
            CaseMask {
                case: pair.case,
                mask: masker.mask(asked.case, asked.front()),
                marked: marked(&program, &asked),
                trained: trainer_program.as_ref().map(|it| trained(it, &asked)),
            }
        };
        let lost = |case| CaseMask {
            case,
            mask: Err(NoMask::Refused(Outcome::Crashed {
                message: "an internal error happened here".to_owned(),
            })),
            marked: None,
            trained: None,
        };
        let cases = pairs.into_par_iter().map(|pair| {
            let part = format!("the mask of {}", pair.case.id);
            guard::contained(&part, || mask(pair)).unwrap_or_else(|| lost(pair.case))
        });
        Ok(TemplateMasks {
            template,
            assumed: BTreeMap::new(),
            trainer: trainer.map(Engine::description),
            cases: cases.collect(),
        })
    }

    /// Whether the template marks what the model writes.
    pub fn has_marks(&self) -> bool {
        has_marks(self.template)
    }
}

impl CaseMask<'_> {
    /// Whether the template marks what the model writes, and nothing else. None if there is nothing
    /// to compare.
    pub fn agrees(&self) -> Option<bool> {
        let mask = self.mask.as_ref().ok()?;
        Some(mask.ranges() == *self.marked.as_ref()?)
    }

    /// Whether the trainer trains on the template's own prompt, and lets the model learn what it writes,
    /// or refuses what the template refuses. True without a trainer.
    pub fn is_trained(&self) -> bool {
        let is_same = |mask: &Mask, trained: &Trained| {
            mask.prompt == trained.outcome.text() && mask.ranges() == trained.learned
        };
        match (&self.mask, &self.trained) {
            (Ok(mask), Some(trained)) if is_text(&trained.outcome) => is_same(mask, trained),
            (mask, Some(trained)) => mask.is_err() && !is_text(&trained.outcome),
            (_, None) => true,
        }
    }

    /// What only the model writes, or only the trainer lets it learn: see [`differences`]. None unless
    /// both have a text.
    pub fn untrained(&self) -> Option<Vec<(bool, String)>> {
        let (mask, trained) = (self.mask.as_ref().ok()?, self.trained.as_ref()?);
        let Outcome::Rendered { text } = &trained.outcome else {
            return None;
        };
        let masks = [&mask.ranges()[..], &trained.learned];
        Some(differences([&mask.prompt, text], masks))
    }
}

/// The stretches that only one of two masks has, in the order of their texts: whether the second one has
/// it, and its text. The texts may differ, too: then the masks are compared where they are alike.
pub fn differences(
    [old, new]: [&str; 2],
    [old_mask, new_mask]: [&[Range<usize>]; 2],
) -> Vec<(bool, String)> {
    let has = |mask: &[Range<usize>], at: usize| mask.iter().any(|range| range.contains(&at));
    let mut found: Vec<(Option<bool>, String)> = Vec::new();
    let mut add = |is_in_old: bool, is_in_new: bool, letter: char| {
        let kind = (is_in_old != is_in_new).then_some(is_in_new);
        match found.last_mut() {
            Some((last, text)) if *last == kind => text.push(letter),
            _ => found.push((kind, letter.to_string())),
        }
    };
    let (mut old_at, mut new_at) = (0, 0);
    let ends = std::iter::once((old.len()..old.len(), new.len()..new.len()));
    let changed = changed_words(old, new).into_iter();
    for (gone, came) in changed.map(|hunk| (hunk.old, hunk.new)).chain(ends) {
        for (at, letter) in old.cut(old_at..gone.start).char_indices() {
            add(
                has(old_mask, old_at + at),
                has(new_mask, new_at + at),
                letter,
            );
        }
        for (at, letter) in old.cut(gone.clone()).char_indices() {
            add(has(old_mask, gone.start + at), false, letter);
        }
        for (at, letter) in new.cut(came.clone()).char_indices() {
            add(false, has(new_mask, came.start + at), letter);
        }
        (old_at, new_at) = (gone.end, came.end);
    }
    let found = found.into_iter();
    found
        .filter_map(|(kind, text)| Some((kind?, text)))
        .collect()
}

/// What a trainer makes of a pair.
fn trained(program: &FrontProgram<'_>, pair: &Pair<'_>) -> Trained {
    let model = program.model.with(pair.case, pair.front());
    let input = PreparedCase::new(pair.case, pair.front(), &model);
    let (outcome, learned) = program.learned(&input);
    let is_silent = is_text(&outcome) && learned.is_none();
    let silent = || Outcome::Crashed {
        message: "it does not say what is learned: its answer has no `learned`".to_owned(),
    };
    Trained {
        outcome: if is_silent { silent() } else { outcome },
        learned: joined(learned.unwrap_or_default()),
    }
}

fn is_text(outcome: &Outcome) -> bool {
    outcome.kind() == OutcomeKind::Rendered
}

/// Whether a template has `{% generation %}` blocks.
pub fn has_marks(template: &Template) -> bool {
    template.source.contains("endgeneration")
}

/// Whether a case has an assistant's message.
pub fn has_answer(case: &Case) -> bool {
    let mut messages = case.messages.iter();
    messages.any(|message| message.get("role").is_some_and(|role| role == "assistant"))
}

/// What a template marks in the prompt of a pair, joined.
pub(crate) fn marked(program: &FrontProgram<'_>, pair: &Pair<'_>) -> Option<Vec<Range<usize>>> {
    if !has_marks(pair.chosen()?) {
        return None;
    }
    let model = program.model.with(pair.case, pair.front());
    let input = PreparedCase::new(pair.case, pair.front(), &model);
    let prompt = program.outcome(&input).into_prompt().ok()?;
    let (text, spans) = program.own_text(&input)?;
    // A front may cut the template's prompt.
    let end = prompt.len();
    text.starts_with(&prompt).then(|| {
        let cut = spans.into_iter();
        joined(cut.map(|span| span.start.min(end)..span.end.min(end)))
    })
}
