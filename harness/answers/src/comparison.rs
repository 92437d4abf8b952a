//! The comparison of a message that was parsed with the one that was meant.

use std::fmt::{self, Write as _};

use rolecall_core::named;
use serde_json::Value;

use crate::meaning::{Call, Meaning, is_same};

named! {
    /// What becomes of a message when its answer is read, from best to worst.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Verdict {
        /// The message is as it was meant.
        ReadBack = "read back",
        /// It is, but for white space at the ends of its texts.
        ButForWhiteSpace = "read back but for white space",
        /// What is missing is not in the text: the chat template does not write it.
        NotWritten = "not written by the template",
        /// It is another message.
        Changed = "changed",
        /// The server does not let the model write the text.
        Forbidden = "forbidden by the grammar",
        /// The reader cannot read answers of this template, or of this conversation.
        Refused = "refused",
        /// The reader refuses the answer, or breaks.
        Failed = "failed",
        /// Nobody asked any more.
        NotAsked = "not asked",
        /// It cannot be tested in this way.
        Untested = "cannot be tested",
        /// The finished turn does not continue its prompt, so nobody knows what the model writes.
        DoesNotContinue = "do not continue the prompt",
        /// The chat template gives no prompt.
        WithoutPrompt = "without a prompt",
    }
}

impl Verdict {
    /// Its name in files: lower-case words with dashes.
    pub fn key(self) -> &'static str {
        match self {
            Verdict::ReadBack => "read-back",
            Verdict::ButForWhiteSpace => "white-space",
            Verdict::NotWritten => "not-written",
            Verdict::Changed => "changed",
            Verdict::Forbidden => "forbidden",
            Verdict::Refused => "refused",
            Verdict::Failed => "failed",
            Verdict::NotAsked => "not-asked",
            Verdict::Untested => "untested",
            Verdict::DoesNotContinue => "not-continuing",
            Verdict::WithoutPrompt => "without-prompt",
        }
    }

    /// Whether the reader is to blame.
    pub fn is_fault(self) -> bool {
        (Verdict::Changed..=Verdict::NotAsked).contains(&self)
    }

    /// Whether the template writes the message so that it could be parsed.
    pub fn is_readable(self) -> bool {
        self <= Verdict::NotAsked
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    Reasoning,
    Content,
    Call(usize),
    /// The name of a call's tool.
    Name(usize),
    /// An argument of a call, by its name. Without a name it is all of the arguments.
    Argument(usize, Option<String>),
}

impl Part {
    /// The word for parts of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Part::Reasoning => "reasoning",
            Part::Content => "content",
            Part::Call(_) => "call",
            Part::Name(_) => "name of a call",
            Part::Argument(..) => "argument",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Reasoning => f.write_str("reasoning"),
            Part::Content => f.write_str("content"),
            Part::Call(index) => write!(f, "call {}", index + 1),
            Part::Name(index) => write!(f, "name of call {}", index + 1),
            Part::Argument(index, None) => write!(f, "arguments of call {}", index + 1),
            Part::Argument(index, Some(name)) => {
                write!(f, "argument `{name}` of call {}", index + 1)
            }
        }
    }
}

/// How a part differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// Only white space at its ends differs.
    WhiteSpace,
    /// It did not come back.
    Lost,
    /// It came back, but nobody meant it.
    Invented,
    /// It has another type, such as a text in place of a number.
    Type,
    /// It is another text or value.
    Value,
}

impl Change {
    /// The words for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Change::WhiteSpace => "other white space at its ends",
            Change::Lost => "lost",
            Change::Invented => "invented",
            Change::Type => "another type",
            Change::Value => "changed",
        }
    }
}

/// A part of a message that is not as it was meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub part: Part,
    pub change: Change,
    /// The intended value, if there is one.
    pub meant: Option<Value>,
    /// What came back, if anything did.
    pub read: Option<Value>,
    /// Whether the intended value is not in the text, so that no reader could find it.
    pub is_not_written: bool,
}

/// The verdict on a message that was read from a text, and what differs.
pub fn compare(meant: &Meaning, read: &Meaning, text: &str) -> (Verdict, Vec<Difference>) {
    let mut comparison = Comparison {
        text,
        differences: Vec::new(),
    };
    comparison.texts(Part::Reasoning, &meant.reasoning, &read.reasoning);
    comparison.texts(Part::Content, &meant.content, &read.content);
    for index in 0..meant.calls.len().max(read.calls.len()) {
        comparison.calls(index, meant.calls.get(index), read.calls.get(index));
    }
    let differences = comparison.differences;
    let worst = differences.iter().map(Difference::verdict).max();
    (worst.unwrap_or(Verdict::ReadBack), differences)
}

struct Comparison<'t> {
    text: &'t str,
    differences: Vec<Difference>,
}

impl Comparison<'_> {
    fn texts(&mut self, part: Part, meant: &str, read: &str) {
        if meant == read {
            return;
        }
        let change = if meant.trim() == read.trim() {
            Change::WhiteSpace
        } else if read.trim().is_empty() {
            Change::Lost
        } else if meant.trim().is_empty() {
            Change::Invented
        } else {
            Change::Value
        };
        let there = |text: &str| (!text.is_empty()).then(|| Value::from(text));
        self.add(part, change, there(meant), there(read));
    }

    fn calls(&mut self, index: usize, meant: Option<&Call>, read: Option<&Call>) {
        let name = |call: &Call| Value::from(call.name.as_str());
        match (meant, read) {
            (Some(meant), Some(read)) => {
                if meant.name != read.name {
                    let (meant, read) = (Some(name(meant)), Some(name(read)));
                    self.add(Part::Name(index), Change::Value, meant, read);
                }
                self.arguments(index, &meant.arguments, &read.arguments);
            }
            (Some(meant), None) => {
                self.add(Part::Call(index), Change::Lost, Some(name(meant)), None);
            }
            (None, Some(read)) => {
                self.add(Part::Call(index), Change::Invented, None, Some(name(read)));
            }
            (None, None) => {}
        }
    }

    fn arguments(&mut self, index: usize, meant: &Value, read: &Value) {
        let (Value::Object(meant), Value::Object(read)) = (meant, read) else {
            if !is_same(meant, read) {
                let change = change_of(meant, read);
                let part = Part::Argument(index, None);
                self.add(part, change, Some(meant.clone()), Some(read.clone()));
            }
            return;
        };
        let part = |name: &str| Part::Argument(index, Some(name.to_owned()));
        for (name, meant) in meant {
            match read.get(name) {
                Some(read) if is_same(meant, read) => {}
                Some(read) => {
                    let change = change_of(meant, read);
                    self.add(part(name), change, Some(meant.clone()), Some(read.clone()));
                }
                None => self.add(part(name), Change::Lost, Some(meant.clone()), None),
            }
        }
        for (name, read) in read.iter().filter(|(name, _)| !meant.contains_key(*name)) {
            self.add(part(name), Change::Invented, None, Some(read.clone()));
        }
    }

    fn add(&mut self, part: Part, change: Change, meant: Option<Value>, read: Option<Value>) {
        let is_in_text = match &meant {
            Some(meant) => is_written(meant, self.text),
            // The reader made it up.
            None => true,
        };
        self.differences.push(Difference {
            part,
            change,
            meant,
            read,
            is_not_written: !is_in_text,
        });
    }
}

impl Difference {
    fn verdict(&self) -> Verdict {
        match self.change {
            Change::WhiteSpace => Verdict::ButForWhiteSpace,
            _ if self.is_not_written => Verdict::NotWritten,
            _ => Verdict::Changed,
        }
    }
}

fn change_of(meant: &Value, read: &Value) -> Change {
    let is_integer = |value: &Value| !value.to_string().contains(['.', 'e', 'E']);
    match (meant, read) {
        (Value::String(meant), Value::String(read)) if meant.trim() == read.trim() => {
            Change::WhiteSpace
        }
        (Value::Number(_), Value::Number(_)) if is_integer(meant) != is_integer(read) => {
            Change::Type
        }
        _ if std::mem::discriminant(meant) != std::mem::discriminant(read) => Change::Type,
        _ => Change::Value,
    }
}

/// Whether a value is written in a text: a text as it is or as JSON, another value by its parts.
pub fn is_written(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => {
            let string = string.trim();
            let json = Value::from(string).to_string();
            let json = json.trim_matches('"');
            text.contains(string) || text.contains(json) || text.contains(&ascii(json))
        }
        Value::Array(items) => items.iter().all(|item| is_written(item, text)),
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            is_written(&Value::from(name.as_str()), text) && is_written(value, text)
        }),
        // Python writes some of these in other words.
        Value::Null => text.contains("null") || text.contains("None"),
        Value::Bool(is) => text.to_lowercase().contains(&is.to_string()),
        Value::Number(number) => text.contains(&number.to_string()),
    }
}

/// A text of JSON with escapes for all that is not ASCII, as Python writes it by default.
fn ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(meant: Value, read: Value, text: &str) -> (Verdict, Vec<String>) {
        let meaning = |message| Meaning::of(&message).unwrap();
        let (verdict, differences) = compare(&meaning(meant), &meaning(read), text);
        let words = differences.iter().map(|it| {
            let written = if it.is_not_written {
                ", not written"
            } else {
                ""
            };
            format!("{}: {}{written}", it.part, it.change.name())
        });
        (verdict, words.collect())
    }

    #[test]
    fn a_message_is_as_meant_or_its_parts_are_named() {
        let call =
            |arguments: Value| json!({"tool_calls": [{"name": "f", "arguments": arguments}]});
        for (meant, read, text, verdict, words) in [
            (
                json!({"content": "a"}),
                json!({"content": "a", "role": "assistant"}),
                "a",
                Verdict::ReadBack,
                &[][..],
            ),
            (
                json!({"content": "a\n", "thinking": "t"}),
                json!({"content": "a", "reasoning_content": "t"}),
                "t a\n",
                Verdict::ButForWhiteSpace,
                &["content: other white space at its ends"],
            ),
            (
                json!({"content": "a", "thinking": "deep"}),
                json!({"content": "a"}),
                "a",
                Verdict::NotWritten,
                &["reasoning: lost, not written"],
            ),
            (
                json!({"content": "a <t>x</t>"}),
                json!({"content": "a", "thinking": "x"}),
                "a <t>x</t>",
                Verdict::Changed,
                &["reasoning: invented", "content: changed"],
            ),
            (
                call(json!({"x": 1, "y": "é", "z": 2.0, "w": null})),
                call(json!({"x": "1", "y": "e", "z": 2, "v": 1})),
                r"f x 1 y \u00e9 z 2.0 w None",
                Verdict::Changed,
                &[
                    "argument `x` of call 1: another type",
                    "argument `y` of call 1: changed",
                    "argument `z` of call 1: another type",
                    "argument `w` of call 1: lost",
                    "argument `v` of call 1: invented",
                ],
            ),
            (
                call(json!({})),
                json!({"tool_calls": [{"name": "g", "arguments": "?"}, {"name": "f", "arguments": {}}]}),
                "f",
                Verdict::Changed,
                &[
                    "name of call 1: changed",
                    "arguments of call 1: another type",
                    "call 2: invented",
                ],
            ),
            (
                call(json!({})),
                json!({}),
                "",
                Verdict::NotWritten,
                &["call 1: lost, not written"],
            ),
        ] {
            let found = compared(meant.clone(), read, text);
            let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(found, (verdict, words), "{meant}");
        }
    }
}
