//! Masks. They come as the command's JSON: the package makes objects of that.

use pyo3::prelude::*;
use rolecall_answers::mask::NoMask;
use rolecall_cli::commands::mask::report as mask;
use rolecall_cli::report::format::Format;
use rolecall_core::{Case, Dialect, Limits, Outcome};
use rolecall_explore::coverage::Unexplored;
use rolecall_explore::masks::TemplateMasks;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_suite::suite::Pair;

use crate::errors::{self, refused};
use crate::threads::interruptible;
use crate::trace::with_front;

/// Why there are no masks.
enum NoMasks {
    /// The conversation with this index has no prompt, or the template cannot be read at all.
    Refused(Option<usize>, Outcome),
    Unknown(String),
}

/// Finds what the model writes in the prompts of some conversations, and returns the JSON of that.
/// The first one that has no prompt is named by its number, counted from `first`, if there is one.
pub(crate) fn masks(
    py: Python<'_>,
    template: &rolecall_core::Template,
    limits: &Limits,
    front: Front,
    cases: Vec<Case>,
    first: Option<usize>,
) -> PyResult<String> {
    let (template, limits) = (with_front(template, front), limits.clone());
    match interruptible(py, move || masked(&template, &limits, &cases))? {
        Ok(json) => Ok(json),
        Err(NoMasks::Unknown(why)) => Err(refused(py, &why)),
        Err(NoMasks::Refused(index, outcome)) => {
            errors::prompt(py, outcome, || None).map_err(|error| match (first, index) {
                (Some(first), Some(index)) => errors::of_conversation(py, error, first + index),
                _ => error,
            })
        }
    }
}

fn masked(
    template: &rolecall_core::Template,
    limits: &Limits,
    cases: &[Case],
) -> Result<String, NoMasks> {
    if template.dialect != Dialect::Jinja {
        let why = "models are trained with Jinja templates, and only these have masks";
        return Err(NoMasks::Unknown(why.to_owned()));
    }
    let engines = Engines::with_limits(limits);
    let engine = engines.for_dialect(template.dialect);
    let pairs = cases.iter().map(|case| Pair { template, case });
    let masks = TemplateMasks::find(engine, None, template, pairs).map_err(|why| match why {
        Unexplored::Refused(refusal) => NoMasks::Refused(None, refusal),
        why @ Unexplored::Unknown(..) => NoMasks::Unknown(why.to_string()),
    })?;
    for (index, case) in masks.cases.iter().enumerate() {
        match &case.mask {
            Ok(_) => {}
            Err(NoMask::Refused(outcome)) => {
                return Err(NoMasks::Refused(Some(index), outcome.clone()));
            }
            Err(why @ NoMask::Untraced) => return Err(NoMasks::Unknown(why.to_string())),
        }
    }
    let mut json = Vec::new();
    // Writing to memory cannot fail, and JSON is UTF-8.
    let _ = mask::write(&mut json, &masks, None, Format::Json, false);
    Ok(String::from_utf8(json).unwrap_or_default())
}
