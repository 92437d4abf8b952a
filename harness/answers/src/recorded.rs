//! Answers with what somebody else recorded of them: parts in their order.
//!
//! A message has one reasoning, one text and its calls. Other parsers report what they find in the
//! order in which it comes, such as a text, a call, and another text. So the events of the parser are
//! compared here, and not its message.

use std::fmt::{self, Write as _};

use rolecall_core::Case;
use rolecall_core::guard::on_large_stack;
use rolecall_response::{Event, Options, ParseError, ResponseTemplate};
use serde_json::{Value, json};

use crate::meaning::{Call, Meaning, is_same};
use crate::reading::MessageReading;

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPart {
    Reasoning(String),
    Text(String),
    Call(Call),
}

/// What the parser takes an answer to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The prompt says nothing about it.
    Open,
    /// The prompt ends inside of the reasoning.
    Reasoning,
    /// The prompt ends where the text for the user begins.
    Text,
}

/// An answer, and what was recorded of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAnswer {
    pub name: String,
    /// What the prompt says.
    pub start: Start,
    /// What the model wrote.
    pub text: String,
    /// The same in the pieces in which it came.
    pub pieces: Vec<String>,
    pub tools: Vec<Value>,
    pub parts: Vec<AnswerPart>,
}

/// How the parts that were read compare with those that were recorded, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordedVerdict {
    AsRecorded,
    /// They are, but for white space in texts.
    ButForWhiteSpace,
    Otherwise,
    /// The parser refuses the answer.
    Refused,
}

impl RecordedVerdict {
    pub const ALL: [RecordedVerdict; 4] = [
        RecordedVerdict::AsRecorded,
        RecordedVerdict::ButForWhiteSpace,
        RecordedVerdict::Otherwise,
        RecordedVerdict::Refused,
    ];

    /// The words for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            RecordedVerdict::AsRecorded => "as recorded",
            RecordedVerdict::ButForWhiteSpace => "as recorded but for white space",
            RecordedVerdict::Otherwise => "read otherwise",
            RecordedVerdict::Refused => "refused",
        }
    }
}

/// What comes of an answer: as a whole, and in its pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReading {
    /// The parts of the whole answer, or why there are none.
    pub whole: Result<Vec<AnswerPart>, String>,
    /// Those of the answer in pieces.
    pub in_pieces: Result<Vec<AnswerPart>, String>,
    /// The worse of both verdicts.
    pub verdict: RecordedVerdict,
}

/// How many characters a piece of a written answer has.
const PIECE: usize = 4;

impl RecordedAnswer {
    /// An answer that a chat template writes, with what was meant as its parts. None if its response
    /// template does not read it so, as a whole and in pieces.
    pub fn of(
        reading: &MessageReading,
        case: &Case,
        template: &ResponseTemplate,
    ) -> Option<RecordedAnswer> {
        let answer = reading.result.as_ref().ok()?;
        let text = &answer.forms.last()?.text;
        let characters: Vec<char> = text.chars().collect();
        let meant = reading.meant.clone();
        let texts = [
            AnswerPart::Reasoning(meant.reasoning),
            AnswerPart::Text(meant.content),
        ];
        let calls = meant.calls.into_iter().map(AnswerPart::Call);
        let recorded = RecordedAnswer {
            name: reading.id.to_string(),
            start: Start::Open,
            text: text.clone(),
            pieces: characters
                .chunks(PIECE)
                .map(|piece| piece.iter().collect())
                .collect(),
            tools: case.tools.clone().unwrap_or_default(),
            parts: merged(texts.into_iter().chain(calls).collect()),
        };
        // The prompt may begin the answer, for example with reasoning.
        let starts = [Start::Open, Start::Reasoning, Start::Text];
        let mut ways = starts
            .map(|start| RecordedAnswer {
                start,
                ..recorded.clone()
            })
            .into_iter();
        ways.find(|way| way.read(template).verdict == RecordedVerdict::AsRecorded)
    }

    /// Reads the answer with a response template.
    pub fn read(&self, template: &ResponseTemplate) -> RecordedReading {
        let prompt = match self.start {
            Start::Open => String::new(),
            Start::Reasoning => opener(template, is_reasoning),
            Start::Text => opener(template, |field| field == "content"),
        };
        let whole = self.parts_of(template, &prompt, std::slice::from_ref(&self.text));
        let in_pieces = self.parts_of(template, &prompt, &self.pieces);
        let verdict = self.judge(&whole).max(self.judge(&in_pieces));
        RecordedReading {
            whole,
            in_pieces,
            verdict,
        }
    }

    fn parts_of(
        &self,
        template: &ResponseTemplate,
        prompt: &str,
        pieces: &[String],
    ) -> Result<Vec<AnswerPart>, String> {
        let options = Options {
            prompt: Some(prompt),
            tools: &self.tools,
            ..Options::default()
        };
        let events = on_large_stack(|| {
            let mut stream = template.stream(&options)?;
            let mut events = stream.initial_events().to_vec();
            for piece in pieces {
                events.extend(stream.feed(piece)?);
            }
            events.extend(stream.finish()?.0);
            Ok::<_, ParseError>(events)
        });
        let events = events.map_err(|error| error.to_string())?;
        let mut parts = Vec::new();
        for event in &events {
            if let Event::Close { field, value } = event {
                let found = parts_in(field, &value.to_json());
                parts.extend(found.ok_or_else(|| format!("`{field}` is no part of an answer"))?);
            }
        }
        Ok(merged(parts))
    }

    fn judge(&self, read: &Result<Vec<AnswerPart>, String>) -> RecordedVerdict {
        let Ok(read) = read else {
            return RecordedVerdict::Refused;
        };
        let expected = merged(self.parts.clone());
        if are_same(&expected, read) {
            RecordedVerdict::AsRecorded
        } else if are_same(&without_space(expected), &without_space(read.clone())) {
            RecordedVerdict::ButForWhiteSpace
        } else {
            RecordedVerdict::Otherwise
        }
    }
}

fn is_reasoning(field: &str) -> bool {
    Meaning::of(&json!({field: "x"})).is_some_and(|meaning| !meaning.reasoning.is_empty())
}

/// A text that opens a field. It is empty if the field has no opener, or there is no such field.
fn opener(template: &ResponseTemplate, is_wanted: impl Fn(&str) -> bool) -> String {
    let name = template.field_names().find(|name| is_wanted(name));
    name.and_then(|name| template.text_that_opens(name))
        .unwrap_or_default()
}

/// The parts in the value of a region. None if it is no reasoning, text or call.
fn parts_in(field: &str, value: &Value) -> Option<Vec<AnswerPart>> {
    let value = match value {
        // Each region of a field that repeats is one call.
        Value::Object(_) if field == "tool_calls" => json!([value]),
        other => other.clone(),
    };
    let meaning = Meaning::of(&json!({field: value}))?;
    let texts = [
        AnswerPart::Reasoning(meaning.reasoning),
        AnswerPart::Text(meaning.content),
    ];
    let calls = meaning.calls.into_iter().map(AnswerPart::Call);
    Some(texts.into_iter().chain(calls).collect())
}

/// Parts without empty texts, and with texts of one kind in a row as one.
fn merged(parts: Vec<AnswerPart>) -> Vec<AnswerPart> {
    let mut out: Vec<AnswerPart> = Vec::new();
    for part in parts {
        match (out.last_mut(), part) {
            (_, AnswerPart::Reasoning(text) | AnswerPart::Text(text)) if text.is_empty() => {}
            (Some(AnswerPart::Reasoning(before)), AnswerPart::Reasoning(text))
            | (Some(AnswerPart::Text(before)), AnswerPart::Text(text)) => before.push_str(&text),
            (_, part) => out.push(part),
        }
    }
    out
}

fn without_space(parts: Vec<AnswerPart>) -> Vec<AnswerPart> {
    let bare = |text: String| text.split_whitespace().collect::<String>();
    let parts = parts.into_iter().map(|part| match part {
        AnswerPart::Reasoning(text) => AnswerPart::Reasoning(bare(text)),
        AnswerPart::Text(text) => AnswerPart::Text(bare(text)),
        call @ AnswerPart::Call(_) => call,
    });
    // A text of white space may be between others.
    merged(parts.collect())
}

fn are_same(one: &[AnswerPart], other: &[AnswerPart]) -> bool {
    let is_same_part = |(one, other): (&AnswerPart, &AnswerPart)| match (one, other) {
        (AnswerPart::Call(one), AnswerPart::Call(other)) => {
            one.name == other.name && is_same(&one.arguments, &other.arguments)
        }
        (one, other) => one == other,
    };
    one.len() == other.len() && one.iter().zip(other).all(is_same_part)
}

impl fmt::Display for AnswerPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerPart::Reasoning(text) => write!(f, "reasoning {}", json!(text)),
            AnswerPart::Text(text) => write!(f, "text {}", json!(text)),
            AnswerPart::Call(call) => write!(f, "call {}{}", call.name, call.arguments),
        }
    }
}

pub fn line_of(parts: &Result<Vec<AnswerPart>, String>) -> String {
    match parts {
        Ok(parts) if parts.is_empty() => "nothing".to_owned(),
        Ok(parts) => parts.iter().fold(String::new(), |mut line, part| {
            let separator = if line.is_empty() { "" } else { ", " };
            // A text takes everything.
            let _ = write!(line, "{separator}{part}");
            line
        }),
        Err(why) => format!("refused: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> ResponseTemplate {
        ResponseTemplate::from_json(&json!({
            "start_anchor": "<a>",
            "fields": {
                "thinking": {"open": "<t>", "close": "</t>"},
                "tool_calls": {"open_pattern": r"<c>(?P<name>\w+)", "close": "</c>", "content": "json",
                    "repeats": true, "transform": {"name": "{name}", "arguments": "{content}"}},
                "content": {"close_pattern": r"<e>\s*|$"},
            },
        }))
        .unwrap()
    }

    fn call(arguments: Value) -> AnswerPart {
        AnswerPart::Call(Call {
            name: "f".to_owned(),
            arguments,
        })
    }

    fn text(text: &str) -> AnswerPart {
        AnswerPart::Text(text.to_owned())
    }

    fn reasoning(text: &str) -> AnswerPart {
        AnswerPart::Reasoning(text.to_owned())
    }

    fn verdict(start: Start, pieces: &[&str], parts: &[AnswerPart]) -> RecordedVerdict {
        let answer = RecordedAnswer {
            name: "a".to_owned(),
            start,
            text: pieces.concat(),
            pieces: pieces.iter().map(|&piece| piece.to_owned()).collect(),
            tools: vec![
                json!({"name": "f", "parameters": {"properties": {"x": {"type": "string"}}}}),
            ],
            parts: parts.to_vec(),
        };
        answer.read(&template()).verdict
    }

    #[test]
    fn parts_are_compared_in_their_order() {
        use RecordedVerdict::{AsRecorded, ButForWhiteSpace, Otherwise, Refused};
        let one = || call(json!({"x": "1"}));
        let mixed = ["a<t>b</t>", "<c>f{\"x\": \"1\"}</c>", "c"];
        for (start, pieces, parts, expected) in [
            (
                Start::Open,
                &mixed[..],
                vec![text("a"), reasoning("b"), one(), text("c")],
                AsRecorded,
            ),
            (
                Start::Open,
                &mixed,
                vec![reasoning("b"), text("a"), one(), text("c")],
                Otherwise,
            ),
            (
                Start::Open,
                &mixed,
                vec![text("a"), reasoning("b"), call(json!({"x": 1})), text("c")],
                Otherwise,
            ),
            (
                Start::Open,
                &["a <t>b</t> c"],
                vec![text("a "), reasoning("b"), text(" c")],
                ButForWhiteSpace,
            ),
            (
                Start::Open,
                &["<t>a</t><t>b</t>"],
                vec![reasoning("a\nb")],
                ButForWhiteSpace,
            ),
            (
                Start::Reasoning,
                &["a</t>b"],
                vec![reasoning("a"), text("b")],
                AsRecorded,
            ),
            (Start::Text, &["a</t>b"], vec![text("a</t>b")], AsRecorded),
            (Start::Open, &["<c>f{\"x\"</c>"], vec![one()], Refused),
            (Start::Open, &[""], vec![], AsRecorded),
            // As a whole it ends with `<e>`; in pieces that comes too late.
            (Start::Open, &["a<e>"], vec![text("a")], AsRecorded),
            (Start::Open, &["a<e", ">"], vec![text("a")], Otherwise),
        ] {
            assert_eq!(
                verdict(start, pieces, &parts),
                expected,
                "{pieces:?} {parts:?}"
            );
        }
    }
}
