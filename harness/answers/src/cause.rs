//! Causes: why answers are not parsed as meant. Messages with the same cause belong together.

use std::collections::BTreeSet;
use std::fmt;

use rolecall_core::ReadOutcome;

use crate::comparison::{Change, Difference, Verdict};
use crate::reading::{FormReading, MessageReading};

/// Why an answer is not parsed as meant: the kinds of its differences, or the error. It does not
/// depend on names, values and places.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadingCause(String);

/// The kinds of some differences: how which parts differ. None if there is no difference.
pub(crate) fn kinds<'d>(differences: impl Iterator<Item = &'d Difference>) -> Option<String> {
    let kinds: BTreeSet<(&str, Change)> = differences
        .map(|one| (one.part.kind(), one.change))
        .collect();
    let words = kinds.into_iter();
    let words = words.map(|(part, change)| format!("{part}: {}", change.name()));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

impl ReadingCause {
    /// The cause of a form of an answer that is another message, or fails. None if it is parsed.
    pub fn of_form(read: &FormReading) -> Option<ReadingCause> {
        match (read.verdict, &read.outcome) {
            (Verdict::Changed, _) => {
                let differing = read.differences.iter();
                let differing = differing.filter(|one| !one.is_not_written);
                let cause = kinds(differing.filter(|one| one.change != Change::WhiteSpace));
                let cause = cause.unwrap_or_else(|| "a field has another type".to_owned());
                Some(ReadingCause(cause))
            }
            (Verdict::Failed, ReadOutcome::Failed { kind, .. }) => {
                Some(ReadingCause(format!("refused with {kind}")))
            }
            (Verdict::Failed, other) => Some(ReadingCause(other.essence())),
            _ if read.streamed.is_some() => Some(ReadingCause(
                "another message if it is read character by character".to_owned(),
            )),
            _ => None,
        }
    }

    /// The cause of the first form that is not parsed as meant, and this form.
    pub fn of(reading: &MessageReading) -> Option<(ReadingCause, &FormReading)> {
        let answer = reading.result.as_ref().ok()?;
        let causes = answer.forms.iter();
        let mut causes = causes.filter_map(|read| Some((ReadingCause::of_form(read)?, read)));
        causes.next()
    }
}

impl fmt::Display for ReadingCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
