//! Causes: why answers are not parsed as meant, in words. Messages with the same cause belong
//! together, so a cause does not depend on names, values and places.

use std::collections::BTreeSet;

use rolecall_core::ReadOutcome;

use crate::comparison::{Change, Difference, Verdict};
use crate::reading::{FormReading, MessageReading};

/// The kinds of some differences: how which parts differ. None if there is no difference.
fn kinds<'d>(differences: impl Iterator<Item = &'d Difference>) -> Option<String> {
    let kinds: BTreeSet<(&str, Change)> = differences
        .map(|one| (one.part.kind(), one.change))
        .collect();
    let words = kinds.into_iter();
    let words = words.map(|(part, change)| format!("{part}: {}", change.name()));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The cause of a form of an answer that is another message, or fails. None if it is parsed.
pub fn of_form(read: &FormReading) -> Option<String> {
    match (read.verdict, &read.outcome) {
        (Verdict::Changed, _) => {
            let differing = read.differences.iter();
            let differing = differing.filter(|one| !one.is_not_written);
            let cause = kinds(differing.filter(|one| one.change != Change::WhiteSpace));
            Some(cause.unwrap_or_else(|| "a field has another type".to_owned()))
        }
        (Verdict::Failed, ReadOutcome::Failed { kind, .. }) => Some(format!("refused with {kind}")),
        (Verdict::Failed | Verdict::NotAsked, other) => Some(other.essence()),
        _ if read.streamed.is_some() => {
            Some("another message if it is read character by character".to_owned())
        }
        _ => None,
    }
}

/// The cause of the first form that is not parsed as meant, and this form.
pub fn first_cause(reading: &MessageReading) -> Option<(String, &FormReading)> {
    let mut causes = reading.forms().iter();
    causes.find_map(|read| Some((of_form(read)?, read)))
}

/// The verdict on a message that is read in one form, with how the parts of the message differ or
/// what the reader says.
pub fn with_verdict(reading: &MessageReading) -> String {
    let verdict = reading.verdict();
    let mut words = verdict.name().to_owned();
    let cause = reading.forms().first().and_then(|read| match verdict {
        Verdict::Refused | Verdict::Failed | Verdict::NotAsked => {
            read.words().map(|words| essence(&words).to_owned())
        }
        _ => kinds(read.differences.iter()),
    });
    if let Some(cause) = cause {
        words = format!("{words}: {cause}");
    }
    if reading.is_streamed_otherwise() {
        words.push_str(", and otherwise when streamed");
    }
    words
}

/// The part of an error's words that says what is wrong: what follows the last `error:`, to the end of
/// its line. Other words are their own essence.
pub fn essence(words: &str) -> &str {
    const MARK: &str = "rror: ";
    let ends = words.rmatch_indices(MARK).map(|(at, _)| at + MARK.len());
    let lines = ends.filter_map(|end| words.get(end..)?.lines().next());
    // An exception without words says nothing.
    let mut lines = lines.map(str::trim);
    let found = lines.find(|line| !matches!(*line, "" | "std::exception"));
    found.unwrap_or(words.trim())
}

#[cfg(test)]
mod tests {
    use rolecall_core::Case;
    use serde_json::{Value, json};

    use super::*;
    use crate::ending::Form;
    use crate::meaning::Meaning;
    use crate::reading::{MessageId, ReadAnswer};

    #[test]
    fn the_essence_is_what_is_wrong() {
        for (words, essence_) in [
            ("it is so", "it is so"),
            ("While executing\nError: no `x`\n", "no `x`"),
            (
                "1 E init: error: raw\n2 E init: parsing error: std::exception\nbye",
                "raw",
            ),
            ("error: ", "error:"),
        ] {
            assert_eq!(essence(words), essence_, "{words}");
        }
    }

    #[test]
    fn messages_with_one_cause_have_the_same_words() {
        let returned = |arguments| {
            let message =
                |arguments: Value| json!({"tool_calls": [{"name": "f", "arguments": arguments}]});
            let meant = Meaning::of(&message(json!({"a": "1", "b": "2"}))).unwrap();
            let outcome = ReadOutcome::Read {
                message: message(arguments),
            };
            let form = FormReading::judge(Form::Bare, "f a 1 b 2".to_owned(), outcome, &meant);
            let id = MessageId::of(&Case::from_messages(Vec::new()), 0);
            let result = Ok(ReadAnswer {
                forms: vec![form],
                ..ReadAnswer::default()
            });
            with_verdict(&MessageReading { id, meant, result })
        };
        let one = returned(json!({"a": 1, "b": "2"}));
        assert_eq!(one, "changed: argument: another type");
        assert_eq!(returned(json!({"a": 1, "b": 2})), one);
        assert_eq!(returned(json!({"a": "1", "b": "2"})), "read back");
    }
}
