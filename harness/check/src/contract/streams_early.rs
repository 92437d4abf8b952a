use rolecall_answers::comparison::Verdict;
use rolecall_answers::reading::ReadAnswer;
use rolecall_core::{Answer, Cut, Dialect};
use rolecall_response::{Event, ResponseTemplate};

use super::frame::{Contract, Severity, Tally};
use super::shared::read_answer::{in_answer, look, response_template};
use crate::probe::AnswerReading;
use crate::probe::answers::{LONG_REASONING, PARAGRAPHS};

pub(super) static CONTRACT: Contract = Contract {
    id: "streams-early",
    meaning: "reasoning and texts are reported while they arrive",
    guards_against: "users who wait for the whole answer before they see its first word",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("streams_early.md"),
    judge: |tally, prober, capabilities| {
        let Some(template) = response_template(prober, tally) else {
            return;
        };
        let mut probes = vec![PARAGRAPHS];
        if !capabilities.reasoning.fields.is_empty() {
            probes.push(LONG_REASONING);
        }
        look(tally, prober, Some(&probes), |tally, reading, answer| {
            demand_early(tally, &template, reading, answer);
        });
    },
};

/// The longest text that a reader may hold back, in characters. Some wait for a whole tag.
const MOST_HELD_BACK: usize = 24;

/// Demands that a text is reported before it has ended.
fn demand_early(
    tally: &mut Tally,
    template: &ResponseTemplate,
    reading: &AnswerReading,
    answer: &ReadAnswer,
) {
    let Some(read) = answer.forms.last() else {
        return;
    };
    if matches!(read.verdict, Verdict::Changed | Verdict::Failed) {
        return tally.skip("the answer is not parsed as it was meant");
    }
    let meant = &reading.reading.meant;
    let (name, text) = if meant.reasoning.is_empty() {
        ("text", &meant.content)
    } else {
        ("reasoning", &meant.reasoning)
    };
    // The place at which the text has arrived, but for what a reader may hold back.
    let Some(begin) = read.text.find(text.as_str()) else {
        return tally.skip("the template does not write it");
    };
    let before = read.text.cut(..begin).chars().count();
    let due = before + text.chars().count().saturating_sub(1).min(MOST_HELD_BACK);
    let whole = Answer {
        prompt: &answer.prompt,
        text: &read.text,
        tools: Some(reading.tools()),
    };
    let Some(events) = reading.events(template, &whole) else {
        return tally.skip("the answer is not read");
    };
    let is_text =
        |event: &Event| matches!(event, Event::Chunk { text, .. } if !text.trim().is_empty());
    let first = events.iter().find(|(_, event)| is_text(event));
    let first = first.map(|(at, _)| *at);
    tally.demand(first.is_some_and(|first| first <= due), || {
        let what = match first {
            None => format!(
                "{}: nothing is reported before the answer ends",
                reading.about
            ),
            Some(first) => format!(
                "{}: nothing is reported before {} characters of the {name} have arrived",
                reading.about,
                first.saturating_sub(before)
            ),
        };
        in_answer(what, reading, answer, &read.text)
    });
}
