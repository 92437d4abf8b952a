//! The masks of a template's prompts: what the model writes in each case, compared with what the
//! template marks.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use rolecall_answers::mask::{Mask, Masker, NoMask, joined};
use rolecall_core::{Case, Engine, Template};
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
}

impl<'s> TemplateMasks<'s> {
    /// Finds the masks of pairs of a template.
    ///
    /// # Errors
    ///
    /// The engine refuses the template.
    pub fn of(
        engine: &dyn Engine,
        template: &'s Template,
        pairs: impl IntoIterator<Item = Pair<'s>>,
    ) -> Result<TemplateMasks<'s>, Unexplored> {
        let program = FrontProgram::load(engine, template);
        if let Some(refusal) = program.without_front().refusal() {
            return Err(Unexplored::Refused(refusal.clone()));
        }
        let masker = Masker::new(&program);
        let pairs: Vec<Pair<'s>> = pairs.into_iter().collect();
        let cases = pairs.into_par_iter().map(|pair| CaseMask {
            case: pair.case,
            mask: masker.mask(pair.case, pair.front()),
            marked: marked(&program, &pair),
        });
        Ok(TemplateMasks {
            template,
            assumed: BTreeMap::new(),
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
