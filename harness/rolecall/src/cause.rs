//! What pairs have in common that differ from what is expected for one reason.

use std::fmt::Write as _;

use rolecall_model::{Case, Outcome};

use crate::diff::{Diff, Side};
use crate::record::Answer;
use crate::verdict::Difference;
use crate::wording;

/// What pairs have in common in which the engine failed or crashed and the reference did
/// something else, whatever that was: how the engine says it.
pub(crate) fn own_error(difference: &Difference, found: &Outcome) -> Option<String> {
    let (Outcome::Failed { message, .. } | Outcome::Crashed { message }) = found else {
        return None;
    };
    let is_of_another_kind = difference.expected.kind() != found.kind();
    is_of_another_kind.then(|| format!("{} {}", found.kind(), wording::common(message)))
}

/// The bytes of a conversation, tools and documents included.
pub(crate) fn size(case: &Case) -> usize {
    let written = serde_json::to_vec(&(&case.messages, &case.tools, &case.documents));
    written.map_or(usize::MAX, |text| text.len())
}

/// What differences from the reference with one cause have in common: the lines that
/// differ, or the words of the reference where that alone failed.
pub(crate) fn of(difference: &Difference, found: &Outcome, diff: Option<&Diff>) -> String {
    let kinds = (difference.expected.kind(), found.kind());
    let words = match &difference.expected {
        Answer::Failed { message, .. } => Some(wording::common(message)),
        _ => None,
    };
    match (words, diff) {
        (Some(words), _) if kinds.0 != kinds.1 => format!("{kinds:?} {words}"),
        (_, Some(diff)) => signature(diff),
        (_, None) => format!("{kinds:?}"),
    }
}

/// The changed lines of a diff: what two diffs with one cause have in common.
pub(crate) fn signature(diff: &Diff) -> String {
    let mut signature = String::new();
    for line in diff.hunks.iter().flatten() {
        if line.side != Side::Both {
            let text: String = line
                .pieces
                .iter()
                .map(|piece| piece.text.as_str())
                .collect();
            let _ = writeln!(signature, "{:?} {text}", line.side);
        }
    }
    signature
}
