//! What becomes of tool calls and their results.

use serde::Serialize;

use super::support::Support;
use crate::probe::catalogue::{
    CALL_RESULT, COMPACT_ARGUMENTS, LONG_IDS, NO_IDS, NO_NAME, OBJECT_ARGUMENTS, PARALLEL,
};
use crate::probe::{Probe, words};

/// Tool calls in the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Calls"))]
pub struct ToolCalls {
    /// One call, in the form that the template takes.
    pub single: Support,
    /// Arguments as an object.
    pub object_arguments: Support,
    /// Arguments as a JSON text, as OpenAI's interface has them.
    pub string_arguments: Support,
    /// Two calls at once.
    pub parallel: Support,
}

/// Results of tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Results"))]
pub struct ToolResults {
    /// The result of one call.
    pub single: Support,
    /// Without an ID at the call and at the result.
    pub without_id: Support,
    /// Without the tool's name at the result.
    pub without_name: Support,
    /// With an ID as OpenAI makes them, which is longer than nine characters.
    pub long_id: Support,
}

impl ToolCalls {
    /// Calls, by what becomes of the words of a probe.
    pub(super) fn of(support: impl Fn(Probe, &[&str]) -> Support) -> ToolCalls {
        let one = [words::FIRST_VALUE, words::SECOND_VALUE];
        let two = [one, [words::THIRD_VALUE, words::FOURTH_VALUE]].concat();
        ToolCalls {
            single: support(CALL_RESULT, &one),
            object_arguments: support(OBJECT_ARGUMENTS, &one),
            string_arguments: support(COMPACT_ARGUMENTS, &one),
            parallel: support(PARALLEL, &two),
        }
    }
}

impl ToolResults {
    /// Results, by what becomes of the words of a probe.
    pub(super) fn of(support: impl Fn(Probe, &[&str]) -> Support) -> ToolResults {
        let of = |probe| support(probe, &[words::RESULT]);
        ToolResults {
            single: of(CALL_RESULT),
            without_id: of(NO_IDS),
            without_name: of(NO_NAME),
            long_id: of(LONG_IDS),
        }
    }
}
