use rolecall_answers::comparison::{Verdict, is_written};
use rolecall_answers::meaning::Meaning;
use rolecall_core::Dialect;
use rolecall_response::ResponseTemplate;
use serde_json::{Value, json};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::read_answer::{WITH_END, evidence, response_template, writes_calls};
use crate::probe::answers::{calls, says, thinks};
use crate::probe::{AnswerProber, AnswerReading, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "delimiters-inert",
    meaning: "a delimiter inside of a text, of reasoning or of an argument is only text",
    guards_against: "an answer about a tag that is taken for the tag",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("delimiters_inert.md"),
    judge: |tally, prober, capabilities| {
        let Some(template) = response_template(prober, tally) else {
            return;
        };
        let Ok(answers) = prober.answers() else {
            return;
        };
        let input_style = prober.input_style();
        let readings = prober.readings();
        let ends_turns = |text: &str| ends_turns(&answers, readings.iter().flatten(), text);
        let delimiters = delimiters(&template, ends_turns);
        for delimiter in delimiters.iter().take(MOST_DELIMITERS) {
            let text = format!("{} {delimiter} {}", words::BEFORE, words::AFTER);
            let case = says(input_style, &text);
            // Where a delimiter opens a region, no reader can know that it is meant as text.
            let reading = answers.ask("answer-delimiter-in-text", "a delimiter in a text", case);
            demand_inert(tally, reading, delimiter, Severity::Note);
            if writes_calls(capabilities) {
                let argument = json!({words::FIRST_KEY: text});
                let case = calls(input_style, "", &[argument]);
                let about = "a delimiter in an argument";
                let reading = answers.ask("answer-delimiter-in-argument", about, case);
                demand_inert(tally, reading, delimiter, Severity::Warning);
            }
            if !capabilities.reasoning.fields.is_empty() {
                let case = thinks(says(input_style, words::ASSISTANT), &text);
                let about = "a delimiter in reasoning";
                let reading = answers.ask("answer-delimiter-in-thoughts", about, case);
                demand_inert(tally, reading, delimiter, Severity::Note);
            }
        }
        if delimiters.is_empty() {
            tally.skip("the response template has no delimiters but end tokens");
        }
    },
};

/// Whether a text ends turns: it holds an end token, or comes after plain answers.
fn ends_turns<'r>(
    answers: &AnswerProber<'_, '_>,
    mut readings: impl Iterator<Item = &'r AnswerReading>,
    text: &str,
) -> bool {
    let is_last = |reading: &AnswerReading| {
        let whole = reading
            .answer()
            .ok()
            .and_then(|answer| answer.forms.first());
        let meant = &reading.reading.meant;
        let after = whole.and_then(|read| read.text.split_once(meant.content.as_str()));
        meant.calls.is_empty()
            && after.is_some_and(|(_, after)| after.trim_start().starts_with(text))
    };
    answers.has_end_token(text) || readings.any(is_last)
}

const MOST_DELIMITERS: usize = 12;

/// Demands that an answer with a delimiter in a text is parsed.
fn demand_inert(
    tally: &mut Tally,
    reading: Option<AnswerReading>,
    delimiter: &str,
    severity: Severity,
) {
    let Some(reading) = reading else {
        return;
    };
    let answer = match reading.answer() {
        Ok(answer) => answer,
        Err(why) => return tally.skip(why),
    };
    // A template may take such a text apart itself, for example into reasoning and text.
    let whole = answer.forms.first().map_or("", |read| &read.text);
    if !is_whole(&reading.reading.meant, whole) {
        return tally.skip("the template does not write such a text as it is");
    }
    let mut forms = answer
        .forms
        .iter()
        .filter(|read| WITH_END.contains(&read.form));
    let fails = |verdict| matches!(verdict, Verdict::Changed | Verdict::Failed);
    match forms.find(|read| fails(read.verdict)) {
        None => tally.holds(),
        Some(read) => {
            let evidence = evidence(&reading, answer, read);
            let what = evidence.what.replacen(
                "a delimiter",
                &format!("`{}`", delimiter.replace('\n', "␊")),
                1,
            );
            tally.broken(Evidence { what, ..evidence }.with(severity));
        }
    }
}

/// Whether all texts of a message are in what the template writes.
fn is_whole(meant: &Meaning, text: &str) -> bool {
    let texts = [&meant.content, &meant.reasoning].map(|text| Value::from(text.as_str()));
    let arguments = meant.calls.iter().map(|call| &call.arguments);
    texts
        .iter()
        .chain(arguments)
        .all(|value| is_written(value, text))
}

/// The delimiters of a response template, as far as they are literal, without those that end turns:
/// a model cannot write these into a text.
fn delimiters(template: &ResponseTemplate, ends_turns: impl Fn(&str) -> bool) -> Vec<String> {
    let mut delimiters: Vec<String> = Vec::new();
    for delimiter in template.delimiter_literals() {
        let text = delimiter.trim();
        // Braces alone are in many texts, and each program has them.
        let is_tag = text.chars().count() > 2 && !text.chars().all(char::is_alphanumeric);
        if is_tag && !ends_turns(text) && !delimiters.iter().any(|known| known == text) {
            delimiters.push(text.to_owned());
        }
    }
    delimiters
}
