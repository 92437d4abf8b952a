//! The contract about delimiters inside of texts.

use rolecall_model::Dialect;
use rolecall_readback::comparison::Verdict;
use rolecall_readback::meaning::Meaning;
use serde_json::{Value, json};

use super::definition::Contract;
use super::evidence::Evidence;
use super::read_answer::{evidence, response_template};
use super::readings::{WITH_END, writes_calls};
use super::severity::Severity;
use super::tally::Tally;
use crate::probe::answers::{calls, says, thinks};
use crate::probe::{AnswerProber, AnswerReading, words};

pub(super) static DELIMITERS_INERT: Contract = Contract {
    id: "delimiters-inert",
    meaning: "a delimiter inside of a text, a thought or an argument is only text",
    guards_against: "an answer about a tag that is taken for the tag",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/delimiters-inert.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let Some((_, json)) = response_template(prober, &mut tally) else {
            return tally.judgement();
        };
        let Ok(answers) = prober.answers() else {
            return tally.judgement();
        };
        let manner = prober.manner();
        let readings = prober.readings();
        let ends_turns = |text: &str| ends_turns(&answers, readings.iter().flatten(), text);
        let delimiters = delimiters(&json, ends_turns);
        for delimiter in delimiters.iter().take(MOST_DELIMITERS) {
            let text = format!("{} {delimiter} {}", words::BEFORE, words::BEHIND);
            let case = says(manner, &text);
            // Where a delimiter opens a region, no reader can know that it is meant as text.
            let reading = answers.ask("answer-delimiter-in-text", "a delimiter in a text", case);
            demand_inert(&mut tally, reading, delimiter, Severity::Note);
            if writes_calls(capabilities) {
                let argument = json!({words::FIRST_KEY: text});
                let case = calls(manner, "", &[argument]);
                let about = "a delimiter in an argument";
                let reading = answers.ask("answer-delimiter-in-argument", about, case);
                demand_inert(&mut tally, reading, delimiter, Severity::Warning);
            }
            if !capabilities.reasoning.fields.is_empty() {
                let case = thinks(says(manner, words::ASSISTANT), &text);
                let about = "a delimiter in thoughts";
                let reading = answers.ask("answer-delimiter-in-thoughts", about, case);
                demand_inert(&mut tally, reading, delimiter, Severity::Note);
            }
        }
        if delimiters.is_empty() {
            tally.skip("the response template has no delimiters but end tokens");
        }
        tally.judgement()
    },
};

/// Whether a text ends turns: it holds an end token, or stands behind plain answers.
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
        let behind = whole.and_then(|read| read.text.split_once(meant.content.as_str()));
        meant.calls.is_empty()
            && behind.is_some_and(|(_, behind)| behind.trim_start().starts_with(text))
    };
    answers.has_end_token(text) || readings.any(is_last)
}

/// How many delimiters are tried.
const MOST_DELIMITERS: usize = 12;

/// Demands that an answer with a delimiter in a text is read back.
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
    // A template may take such a text apart itself, for example into thoughts and text.
    if !is_written(
        &reading.reading.meant,
        answer.forms.first().map(|read| &*read.text),
    ) {
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
fn is_written(meant: &Meaning, text: Option<&str>) -> bool {
    let Some(text) = text else {
        return false;
    };
    let is_there = |words: &str| {
        let json = Value::from(words).to_string();
        text.contains(words) || text.contains(json.trim_matches('"'))
    };
    let arguments = meant
        .calls
        .iter()
        .filter_map(|call| call.arguments.as_object());
    let values = arguments.flat_map(|arguments| arguments.values());
    is_there(&meant.content)
        && is_there(&meant.reasoning)
        && values.filter_map(Value::as_str).all(is_there)
}

/// The delimiters of a response template, as far as they are literal, without those that end turns:
/// a model cannot write these into a text.
fn delimiters(response_template: &Value, ends_turns: impl Fn(&str) -> bool) -> Vec<String> {
    let fields = response_template["fields"].as_object();
    let fields = fields.into_iter().flat_map(|fields| fields.values());
    let mut found: Vec<String> = Vec::new();
    for field in fields {
        for key in ["open", "close"] {
            match &field[key] {
                Value::String(one) => found.push(one.clone()),
                Value::Array(all) => {
                    found.extend(all.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                _ => {}
            }
            if let Some(pattern) = field[format!("{key}_pattern")].as_str() {
                found.extend(longest_literal(pattern));
            }
        }
    }
    let mut delimiters: Vec<String> = Vec::new();
    for delimiter in found {
        let text = delimiter.trim();
        // Braces alone stand in many texts, and each program has them.
        let is_tag = text.chars().count() > 2 && !text.chars().all(char::is_alphanumeric);
        if is_tag && !ends_turns(text) && !delimiters.iter().any(|known| known == text) {
            delimiters.push(text.to_owned());
        }
    }
    delimiters
}

/// The longest text that stands as it is in a pattern.
fn longest_literal(pattern: &str) -> Option<String> {
    let mut runs = vec![String::new()];
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let literal = match character {
            '\\' => match characters.next() {
                Some(escaped) if !escaped.is_alphanumeric() => Some(escaped),
                _ => None,
            },
            '[' => {
                // A set of characters.
                let mut is_escaped = false;
                for inside in characters.by_ref() {
                    if inside == ']' && !is_escaped {
                        break;
                    }
                    is_escaped = inside == '\\' && !is_escaped;
                }
                None
            }
            '(' => {
                // The beginning of a group: `(?:`, `(?=`, `(?<=`, `(?P<name>`.
                if characters.next_if_eq(&'?').is_some() {
                    for inside in characters.by_ref() {
                        if matches!(inside, ':' | '=' | '!' | '>') {
                            break;
                        }
                    }
                }
                None
            }
            '*' | '?' | '{' => {
                // What stands before may be missing.
                if let Some(run) = runs.last_mut() {
                    run.pop();
                }
                None
            }
            ')' | '|' | '.' | '+' | '^' | '$' | '}' => None,
            other => Some(other),
        };
        match (literal, runs.last_mut()) {
            (Some(literal), Some(run)) => run.push(literal),
            _ => runs.push(String::new()),
        }
    }
    // The first of the longest: an opener's tag stands before what it captures.
    let longest = runs
        .into_iter()
        .rev()
        .max_by_key(|run| run.trim().chars().count());
    longest.filter(|run| !run.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_part_of_a_pattern_is_found() {
        for (pattern, literal) in [
            (r"</tool_call>\s*", "</tool_call>"),
            (r"\n?<tool_call>\s*\{", "<tool_call>"),
            (r"<\|im_end\|>.*", "<|im_end|>"),
            (r"(?:\n</think>|</think>\n)\n*", "</think>"),
            (r"<function=(?P<name>[^\n\]>]*)>(?=\n)", "<function="),
            (r"(?<=\}\])</s>?", "}]</s"),
        ] {
            let found = longest_literal(pattern);
            let found = found.as_deref().map(str::trim);
            // A lookbehind is no part of the text that it is read with, but of the one before.
            let expected = literal.trim_start_matches("}]");
            assert_eq!(found, Some(expected), "{pattern}");
        }
        assert_eq!(longest_literal(r"\s*"), None);
    }
}
