//! Whether a template means to support tools.

use super::mentions::{speaks_of_tools, turns_tools_off};
use crate::capability::Capabilities;
use crate::probe::catalogue::{CALL_RESULT, TOOLS};
use crate::probe::{InputStyle, Prober, Requirement, words};

/// Why a contract about tools says nothing about a template.
pub(in crate::contract) const NO_TOOLS_HERE: &str = "the template does nothing about tools";

/// Whether a template means to support tools: it reads them, or tools or calls are in the prompt.
/// One that shows nothing of them except with documents, or that sets its tools to nothing, does
/// not.
pub(in crate::contract) fn supports_tools(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
) -> bool {
    let is_kept = capabilities.tools.is_kept() || capabilities.tool_calls.single.is_kept();
    let shows_result = prober.see(CALL_RESULT).has(words::RESULT);
    let with_documents = InputStyle {
        given: Requirement::Documents,
        ..prober.input_style()
    };
    let is_elsewhere =
        || turns_tools_off(prober) || prober.see_in(TOOLS, with_documents).has(words::TOOL);
    is_kept || speaks_of_tools(prober) && (shows_result || !is_elsewhere())
}
