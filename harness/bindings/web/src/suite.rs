//! The conversations of the suite. They come from outside, because only patches and comparisons need them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rolecall_core::{Case, CaseId, Dialect, Moment};
use rolecall_front::embed;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

static CASES: OnceLock<Vec<Case>> = OnceLock::new();

/// The `cases.json` of an export.
#[derive(Deserialize)]
struct SuiteFile<'s> {
    #[serde(borrow)]
    cases: BTreeMap<String, &'s RawValue>,
}

/// What a case says about itself.
#[derive(Deserialize)]
struct AboutCase {
    about: Option<String>,
    dialects: Vec<Dialect>,
}

/// Takes over the conversations, once in the life of an instance.
pub(crate) fn load(file: &[u8]) -> Result<Value, String> {
    let wrong = |error: serde_json::Error| format!("the suite cannot be read: {error}");
    let file: SuiteFile<'_> = serde_json::from_slice(file).map_err(wrong)?;
    let read = |(name, text): (String, &RawValue)| {
        let about: AboutCase = serde_json::from_str(text.get()).map_err(wrong)?;
        // Only the template's dialect decides which fronts a case may name, and these cases name none.
        let (mut case, _) = embed::read_conversation(text.get(), Dialect::Jinja, Moment::default)?;
        case.id = name.parse::<CaseId>().map_err(|error| error.to_string())?;
        (case.about, case.dialects) = (about.about, about.dialects);
        Ok(case)
    };
    let cases: Vec<Case> = file
        .cases
        .into_iter()
        .map(read)
        .collect::<Result<_, String>>()?;
    let count = cases.len();
    // The first suite stays.
    let _ = CASES.set(cases);
    Ok(json!({ "conversations": count }))
}

/// The conversations; an error if nobody has given them.
pub(crate) fn cases() -> Result<&'static [Case], String> {
    let cases = CASES.get().map(Vec::as_slice);
    cases.ok_or_else(|| {
        "the conversations of the suite are missing: ask for `suite` first".to_owned()
    })
}
