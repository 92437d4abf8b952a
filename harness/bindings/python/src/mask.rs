//! Masks. They come as the command's JSON: the package makes objects of that.

use pyo3::prelude::*;
use rolecall_answers::mask::NoMask;
use rolecall_cli::report::format::Format;
use rolecall_cli::report::mask;
use rolecall_core::guard::on_large_stack;
use rolecall_core::{Case, Dialect, Outcome};
use rolecall_explore::coverage::Unexplored;
use rolecall_explore::masks::TemplateMasks;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_suite::suite::Pair;

use crate::errors::{self, refused};
use crate::trace::with_front;

/// What a mask ends in: its JSON, the outcome of a render without a prompt, or another reason.
enum Masked {
    Json(String),
    Refused(Outcome),
    Unknown(String),
}

/// Finds what the model writes in the prompt of a conversation, and returns the JSON of that.
pub(crate) fn mask(
    py: Python<'_>,
    template: &rolecall_core::Template,
    front: Front,
    case: Case,
) -> PyResult<String> {
    match py.detach(|| on_large_stack(move || masked(template, front, &case))) {
        Masked::Json(json) => Ok(json),
        Masked::Refused(outcome) => errors::prompt(py, outcome, || None),
        Masked::Unknown(why) => Err(refused(py, &why)),
    }
}

fn masked(template: &rolecall_core::Template, front: Front, case: &Case) -> Masked {
    if template.dialect != Dialect::Jinja {
        let why = "models are trained with Jinja templates, and only these have masks";
        return Masked::Unknown(why.to_owned());
    }
    let engines = Engines::default();
    let Some(engine) = engines.for_dialect(template.dialect) else {
        return Masked::Unknown(template.dialect.to_string());
    };
    let template = &with_front(template, front);
    let masks = match TemplateMasks::of(engine, None, template, [Pair { template, case }]) {
        Ok(masks) => masks,
        Err(Unexplored::Refused(refusal)) => return Masked::Refused(refusal),
        Err(why) => return Masked::Unknown(why.to_string()),
    };
    if let Some(Err(why)) = masks.cases.first().map(|case| &case.mask) {
        return match why {
            NoMask::Refused(outcome) => Masked::Refused(outcome.clone()),
            NoMask::Untraced => Masked::Unknown(why.to_string()),
        };
    }
    let mut json = Vec::new();
    // Writing to memory cannot fail, and JSON is UTF-8.
    let _ = mask::write(&mut json, &masks, None, Format::Json, false);
    Masked::Json(String::from_utf8(json).unwrap_or_default())
}
