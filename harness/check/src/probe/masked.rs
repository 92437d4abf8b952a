//! What a model learns of probes: the masks of their prompts.

use std::ops::Range;
use std::rc::Rc;

use rolecall_answers::mask::Mask;

use super::outcome::ProbeOutcome;

/// A probe with what a model learns of its prompt.
#[derive(Debug, Clone)]
pub(crate) struct MaskedProbe {
    pub(crate) seen: Rc<ProbeOutcome>,
    /// What the model writes.
    pub(crate) mask: Mask,
    /// What `{% generation %}` marks. None if the template has no such blocks, or changes their
    /// text.
    pub(crate) marked: Option<Vec<Range<usize>>>,
}

/// Probes with their masks, or why there are none.
pub(crate) type MaskedProbes = Result<Vec<MaskedProbe>, &'static str>;
