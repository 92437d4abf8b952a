//! Readings as text: what a suite accepts, and what people review.
//!
//! A message that is parsed in all its forms takes one line. For the others the text shows what
//! differs, and the answer that was read. Every value is written as JSON, so each of its characters
//! is visible.

use std::fmt::Write as _;

use rolecall_core::{CaseId, Outcome, ReadOutcome};
use serde_json::Value;

use crate::comparison::{Difference, Verdict};
use crate::reading::{FormReading, MessageReading, ReadAnswer, Unread};
use rolecall_core::problem::shown;

/// How many messages have each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    by_verdict: [usize; Verdict::ALL.len()],
    /// Messages that come out otherwise if they are streamed. They also count by their verdicts.
    pub streamed_otherwise: usize,
}

#[allow(clippy::indexing_slicing)] // There is a count for each verdict.
impl Counts {
    /// The counts of some readings. The verdict on a message is the worst one on its forms.
    pub fn of<'r>(readings: impl IntoIterator<Item = &'r MessageReading>) -> Counts {
        let mut counts = Counts::default();
        for reading in readings {
            counts.streamed_otherwise += usize::from(reading.is_streamed_otherwise());
            counts.by_verdict[reading.verdict() as usize] += 1;
        }
        counts
    }

    /// How many messages have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.by_verdict[verdict as usize]
    }

    /// How many messages the template writes so that they could be parsed.
    pub fn readable(&self) -> usize {
        let readable = Verdict::ALL.into_iter().filter(|one| one.is_readable());
        readable.map(|verdict| self.count(verdict)).sum()
    }

    pub fn add(&mut self, other: &Counts) {
        for (sum, count) in self.by_verdict.iter_mut().zip(other.by_verdict) {
            *sum += count;
        }
        self.streamed_otherwise += other.streamed_otherwise;
    }

    /// The verdicts that there are, with their counts.
    pub fn verdicts(&self) -> impl Iterator<Item = (Verdict, usize)> {
        let all = Verdict::ALL.map(|verdict| (verdict, self.count(verdict)));
        all.into_iter().filter(|(_, count)| *count > 0)
    }

    /// The counts that are not zero, with their words.
    pub fn words(&self) -> Vec<(usize, &'static str)> {
        let verdicts = self
            .verdicts()
            .map(|(verdict, count)| (count, verdict.name()));
        let streamed = "of all read otherwise when they are streamed";
        let streamed = Some((self.streamed_otherwise, streamed)).filter(|(count, _)| *count > 0);
        verdicts.chain(streamed).collect()
    }
}

/// The transcript of one reading: each verdict, and what was read otherwise.
pub fn of_one(reading: &MessageReading) -> String {
    named(&reading.id.to_string(), reading)
}

/// The lines about one reading as they are next to a snapshot: what [`of_one`] says about it, with the
/// index alone for the name of the message.
pub fn lines_of(reading: &MessageReading) -> String {
    named(&format!("#{}", reading.id.index), reading)
}

/// Adds to a transcript what [`lines_of`] says about messages of a case.
pub fn add_named<'l>(text: &mut String, case: &CaseId, lines: impl Iterator<Item = &'l str>) {
    for line in lines {
        if line.starts_with('#') {
            text.push_str(&case.to_string());
        }
        text.extend([line, "\n"]);
    }
}

/// A reading of a message with this name. Writing to a string cannot fail.
fn named(id: &str, reading: &MessageReading) -> String {
    let mut text = String::new();
    match &reading.result {
        Err(Unread::DoesNotContinue) => {
            let _ = writeln!(text, "{id}: its finished turn does not continue the prompt");
        }
        Err(Unread::Refused(outcome)) => {
            let _ = writeln!(text, "{id}: no prompt ({})", refusal(outcome));
        }
        Ok(answer) => {
            for group in groups(answer) {
                write_group(&mut text, id, answer, &group);
            }
        }
    }
    text
}

fn refusal(outcome: &Outcome) -> String {
    // The words of a failure are the engine's own.
    match outcome {
        Outcome::Raised { message } => format!("raised {}", Value::from(message.as_str())),
        other => other.kind().name().to_owned(),
    }
}

/// The forms of an answer from which the same was read, in the order of the forms.
fn groups(answer: &ReadAnswer) -> Vec<Vec<&FormReading>> {
    let mut groups: Vec<Vec<&FormReading>> = Vec::new();
    for form in &answer.forms {
        let is_alike = |group: &&mut Vec<&FormReading>| {
            let first = group.first();
            let streamed = |form: &FormReading| form.streamed.as_ref().map(ReadOutcome::essence);
            first.is_some_and(|first| {
                first.outcome.agrees(&form.outcome) && streamed(first) == streamed(form)
            })
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(form),
            None => groups.push(vec![form]),
        }
    }
    groups
}

fn write_group(text: &mut String, id: &str, answer: &ReadAnswer, group: &[&FormReading]) {
    let Some(first) = group.first() else {
        return;
    };
    // Forms from which the same message was read may differ in what is written in them.
    let worst = group.iter().rev().max_by_key(|form| form.verdict);
    let shown = worst.unwrap_or(first);
    let mut notes = Vec::new();
    if group.len() < answer.forms.len() {
        let names: Vec<&str> = group.iter().map(|form| form.form.name()).collect();
        notes.push(names.join(", "));
    }
    if let Some(setting) = &answer.setting {
        notes.push(format!("with {setting}"));
    }
    let notes = match notes.as_slice() {
        [] => String::new(),
        notes => format!(" ({})", notes.join("; ")),
    };
    let _ = writeln!(text, "{id}: {}{notes}", shown.verdict.name());
    for difference in &shown.differences {
        write_difference(text, difference);
    }
    match &shown.outcome {
        ReadOutcome::Read { message } if shown.differences.is_empty() => {
            if shown.verdict == Verdict::Changed {
                let _ = writeln!(text, "  read {message}");
            }
        }
        ReadOutcome::Read { .. } => {}
        ReadOutcome::Failed { kind, .. } => {
            let _ = writeln!(text, "  {kind}");
        }
        other => {
            let _ = writeln!(text, "  {}", other.essence());
        }
    }
    if let Some(streamed) = &shown.streamed {
        let _ = writeln!(text, "  character by character: {}", streamed.essence());
    }
    if shown.verdict != Verdict::ReadBack || shown.streamed.is_some() {
        let _ = writeln!(text, "  text {}", Value::from(shown.text.as_str()));
    }
}

fn write_difference(text: &mut String, difference: &Difference) {
    let written = if difference.is_not_written {
        ", not in the text"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "  {}: {}{written}",
        // The name of an argument may hold a line break.
        shown(&difference.part.to_string()),
        difference.change.name()
    );
    for (word, value) in [("meant", &difference.meant), ("read", &difference.read)] {
        if let Some(value) = value {
            let _ = writeln!(text, "    {word} {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Answer, AnswerReader, Case, Dialect, Template};
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use super::*;
    use crate::reading::read_all;

    /// Reads the text before the first `<`, in capital letters if it says so. It fails without an
    /// end token. A stream loses the word `slow`.
    struct Small;

    impl AnswerReader for Small {
        fn read(&self, _: &Value, answer: &Answer<'_>) -> ReadOutcome {
            match answer.text.split_once('<') {
                Some((content, _)) => ReadOutcome::Read {
                    message: json!({"content": content.replace("loud", "LOUD")}),
                },
                None => ReadOutcome::Failed {
                    kind: "ValueError".into(),
                    message: "no end".into(),
                },
            }
        }

        fn read_streamed(&self, template: &Value, answer: &Answer<'_>) -> Option<ReadOutcome> {
            let text = answer.text.replace("slow", "");
            let answer = Answer {
                text: &text,
                ..*answer
            };
            Some(self.read(template, &answer))
        }
    }

    #[test]
    fn what_is_read_back_takes_a_line_and_the_rest_is_shown() {
        let source = "{% for m in messages %}{{ raise_exception('no') if m.content == 'never' }}\
            {{ m.content }}</s>\n{% endfor %}";
        let mut template = Template::from_source("t", Dialect::Jinja, source)
            .with_special_token("eos_token", "</s>");
        template.response_template = Some(json!({}));
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let case = Case::from_messages(vec![
            json!({"role": "user", "content": "q"}),
            json!({"role": "assistant", "content": "so loud"}),
            json!({"role": "assistant", "content": "never"}),
        ]);
        let slow = Case::from_messages(vec![
            json!({"role": "user", "content": "q"}),
            json!({"role": "assistant", "content": "slow"}),
        ]);
        let readings = read_all(engine, &template, &Small, [&case, &slow]).unwrap();
        assert_eq!(
            readings.iter().map(of_one).collect::<String>().trim_end(),
            r#"anonymous/case#1: changed (whole, up to the end token)
  content: changed
    meant "so loud"
    read "so LOUD"
  text "so loud</s>\n"
anonymous/case#1: failed (without the end token)
  ValueError
  text "so loud"
anonymous/case#2: no prompt (raised "no")
anonymous/case#1: read back (whole, up to the end token)
  character by character: read {"content":""}
  text "slow</s>\n"
anonymous/case#1: failed (without the end token)
  ValueError
  text "slow""#
        );
    }
}
