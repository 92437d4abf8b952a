//! What becomes of tool calls and their results.

use schemars::JsonSchema;
use serde::Serialize;

use super::support::Support;
use crate::probe::catalogue::{
    CALL_RESULT, COMPACT_ARGUMENTS, LONG_IDS, NO_IDS, NO_NAME, OBJECT_ARGUMENTS, PARALLEL,
};
use crate::probe::{Prober, words};

/// Tool calls in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Calls {
    /// One call, in the form that the template takes.
    pub single: Support,
    /// Arguments as an object.
    pub object_arguments: Support,
    /// Arguments as a JSON text, as `OpenAI`'s interface has them.
    pub string_arguments: Support,
    /// Two calls at once.
    pub parallel: Support,
}

/// Results of tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Results {
    /// The result of one call.
    pub single: Support,
    /// Without an ID at the call and at the result.
    pub without_id: Support,
    /// Without the tool's name at the result.
    pub without_name: Support,
    /// With an ID as `OpenAI` makes them, which is longer than nine characters.
    pub long_id: Support,
}

pub(super) fn calls(prober: &Prober<'_>) -> Calls {
    let values = [words::FIRST_VALUE, words::SECOND_VALUE];
    let of = |probe, words: &[&str]| Support::of(&prober.see(probe), words);
    Calls {
        single: of(CALL_RESULT, &values),
        object_arguments: of(OBJECT_ARGUMENTS, &values),
        string_arguments: of(COMPACT_ARGUMENTS, &values),
        parallel: of(
            PARALLEL,
            &[
                words::FIRST_VALUE,
                words::SECOND_VALUE,
                words::THIRD_VALUE,
                words::FOURTH_VALUE,
            ],
        ),
    }
}

pub(super) fn results(prober: &Prober<'_>) -> Results {
    let of = |probe| Support::of(&prober.see(probe), &[words::RESULT]);
    Results {
        single: of(CALL_RESULT),
        without_id: of(NO_IDS),
        without_name: of(NO_NAME),
        long_id: of(LONG_IDS),
    }
}
