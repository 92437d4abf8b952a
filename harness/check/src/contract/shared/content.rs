//! What becomes of the parts of a content.

use crate::probe::ProbeOutcome;

/// How a template handles content as a text part, compared with the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::contract) enum PartHandling {
    /// The same prompt.
    AsText,
    /// The same but for white space.
    OtherSpace,
    AsList,
    /// The text is not in the prompt.
    Lost,
    /// Another prompt.
    Otherwise,
}

/// How a template handles content as a text part. None if there is no prompt to compare, or if the
/// text itself is lost.
pub(in crate::contract) fn part_handling(
    text: &ProbeOutcome,
    parts: &ProbeOutcome,
    word: &str,
) -> Option<PartHandling> {
    let (one, other) = (text.text()?, parts.text()?);
    let without_space =
        |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    // A list of tools may hold the same marks: only what the part adds counts.
    let marks = ["'type': 'text'", "\"type\": \"text\"", "\"type\":\"text\""];
    let is_list = || {
        let mut marks = marks.iter();
        marks.any(|mark| parts.count(mark) > text.count(mark))
    };
    Some(if !text.has(word) {
        return None;
    } else if one == other {
        PartHandling::AsText
    } else if is_list() {
        PartHandling::AsList
    } else if !parts.has(word) {
        PartHandling::Lost
    } else if without_space(one) == without_space(other) {
        PartHandling::OtherSpace
    } else {
        PartHandling::Otherwise
    })
}
