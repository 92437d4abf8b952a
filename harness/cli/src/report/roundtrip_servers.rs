//! What came back of messages from a recipient of answers: for people, and as JSON Lines.

use std::io::{self, Write};

use anstyle::Style;
use rolecall_answers::comparison::Difference;
use rolecall_answers::recipient::Recipient;
use rolecall_answers::returned::{Kind, KindCounts, Returned, ReturnedMessage, essence};
use serde::Serialize;
use serde_json::Value;

use super::numbers::{counted, thousands};
use super::style::{BAD, GOOD, HEADING, NOTE, QUIET, Styled};

/// How many causes of wrong messages are shown for a template, each with its first message.
const SHOWN: usize = 3;

/// The longest part of a text that is shown.
const LONGEST: usize = 160;

/// Writes the counts of all templates, and their first messages that are lost or changed; with
/// `is_whole` all of these.
pub fn write(
    out: &mut dyn Write,
    recipient: &dyn Recipient,
    origin: &str,
    all: &[(&str, Vec<ReturnedMessage>)],
    is_whole: bool,
) -> io::Result<()> {
    let mut sum = KindCounts::default();
    let mut streamed = 0;
    for (template, messages) in all {
        let counts = KindCounts::of(messages);
        sum.add_all(&counts);
        streamed += messages.iter().filter(|it| it.streamed.is_some()).count();
        write_template(out, template, messages, &counts, is_whole)?;
    }
    let name = format!("{} {}", recipient.name(), recipient.version());
    let words = sum.words();
    let words: Vec<String> = words
        .iter()
        .map(|(kind, count)| format!("{} {}", thousands(*count), kind.name()))
        .collect();
    let otherwise = match streamed {
        0 => String::new(),
        count => format!(
            "; {} otherwise when streamed",
            counted(count, "comes", "come")
        ),
    };
    writeln!(
        out,
        "{}, {origin}: {} of {}: {}{otherwise}",
        name.trim(),
        counted(sum.total(), "message", "messages"),
        counted(all.len(), "template", "templates"),
        words.join(", "),
    )
}

fn write_template(
    out: &mut dyn Write,
    template: &str,
    messages: &[ReturnedMessage],
    counts: &KindCounts,
    is_whole: bool,
) -> io::Result<()> {
    writeln!(out, "{}", Styled(HEADING, template))?;
    for (kind, count) in counts.words() {
        let count = Styled(style(kind), format!("{:>7}", thousands(count)));
        writeln!(out, "{count} {}", kind.name())?;
    }
    let streamed = messages.iter().filter(|it| it.streamed.is_some()).count();
    let prompts = messages
        .iter()
        .filter(|it| it.other_prompt.is_some())
        .count();
    for (count, words) in [
        (streamed, "of all come otherwise when they are streamed"),
        (prompts, "of all have another prompt than the reference's"),
    ] {
        if count > 0 {
            let count = Styled(NOTE, format!("{:>7}", thousands(count)));
            writeln!(out, "{count} {words}")?;
        }
    }
    let mut causes: Vec<(String, Vec<&ReturnedMessage>)> = Vec::new();
    for message in messages.iter().filter(|it| it.is_fault()) {
        let cause = message.cause();
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, messages)) => messages.push(message),
            None => causes.push((cause, vec![message])),
        }
    }
    if !causes.is_empty() {
        writeln!(out)?;
    }
    let shown = if is_whole { usize::MAX } else { SHOWN };
    for (_, messages) in causes.iter().take(shown) {
        let shown = if is_whole { messages.len() } else { 1 };
        for message in messages.iter().take(shown) {
            write_message(out, message)?;
        }
        if messages.len() > shown {
            let others = messages.len() - shown;
            let others = counted(others, "other message", "other messages");
            writeln!(out, "  {}", Styled(QUIET, format!("and {others} likewise")))?;
        }
    }
    let left: usize = causes.iter().skip(shown).map(|(_, it)| it.len()).sum();
    if left > 0 {
        let left = counted(left, "message", "messages");
        writeln!(
            out,
            "{}",
            Styled(QUIET, format!("… and {left}; --all shows all"))
        )?;
    }
    writeln!(out)
}

fn write_message(out: &mut dyn Write, message: &ReturnedMessage) -> io::Result<()> {
    let kind = message.returned.kind();
    let line = format!("{}: {}", message.id, kind.name());
    writeln!(out, "{}", Styled(NOTE, line))?;
    let quiet = |out: &mut dyn Write, text: String| writeln!(out, "  {}", Styled(QUIET, text));
    match &message.returned {
        Returned::Message { differences, .. } => {
            for difference in differences {
                let not_written = if difference.is_not_written {
                    ", not written by the template"
                } else {
                    ""
                };
                let change = difference.change.name();
                quiet(out, format!("{}: {change}{not_written}", difference.part))?;
                for (who, value) in [("meant", &difference.meant), ("came", &difference.read)] {
                    if let Some(value) = value {
                        quiet(out, format!("  {who} {}", short(&value.to_string())))?;
                    }
                }
            }
        }
        Returned::Forbidden(written) => {
            quiet(out, format!("came out {}", short(&json(written))))?;
        }
        Returned::Refused(words) | Returned::Failed(words) | Returned::NotAsked(words) => {
            quiet(out, short(essence(words)))?;
        }
        Returned::Untested(_) | Returned::DoesNotContinue | Returned::WithoutPrompt(_) => {}
    }
    if let Some(text) = message.text.as_deref().filter(|_| kind != Kind::Refused) {
        quiet(out, format!("of the text {}", short(&json(text))))?;
    }
    if let Some(streamed) = &message.streamed {
        quiet(out, format!("streamed {}", short(&streamed.to_string())))?;
    }
    if message.other_prompt.is_some() {
        quiet(out, "after another prompt than the reference's".to_owned())?;
    }
    Ok(())
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// The beginning of a long text.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn style(kind: Kind) -> Style {
    match kind {
        Kind::ReadBack => GOOD,
        _ if kind.is_fault() => BAD,
        _ => NOTE,
    }
}

/// One line's object: what came back of a message.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReturnedMessage"))]
pub struct ReturnedLine<'l> {
    template: &'l str,
    case: String,
    /// The index of the message in its case.
    index: usize,
    /// Who read the answer.
    recipient: &'l str,
    /// The recipient's version.
    version: &'l str,
    /// What came back: `read-back`, `white-space`, `not-written`, `changed`, `forbidden`, `refused`,
    /// `failed`, `not-asked`, `untested`, `not-continuing` or `without-prompt`.
    returned: &'static str,
    /// The text that the model had to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'l str>,
    /// The message that came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'l Value>,
    /// The differences from the intended message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    differences: Vec<DifferenceLine<'l>>,
    /// The words of a refusal or a failure, or what the model wrote instead of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'l str>,
    /// The message that comes back if it is streamed, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    streamed: Option<&'l Value>,
    /// The recipient's own prompt, if it is not that of the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'l str>,
}

/// A part of a message that is not as it was meant.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReturnedDifference"))]
struct DifferenceLine<'l> {
    part: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    meant: Option<&'l Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<&'l Value>,
    /// Whether the template does not write what was meant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    not_written: bool,
}

impl<'l> DifferenceLine<'l> {
    fn of(difference: &'l Difference) -> DifferenceLine<'l> {
        DifferenceLine {
            part: difference.part.to_string(),
            change: difference.change.name(),
            meant: difference.meant.as_ref(),
            read: difference.read.as_ref(),
            not_written: difference.is_not_written,
        }
    }
}

/// Writes a line for each message.
pub fn write_lines(
    out: &mut dyn Write,
    recipient: &dyn Recipient,
    all: &[(&str, Vec<ReturnedMessage>)],
) -> io::Result<()> {
    for (template, messages) in all {
        for message in messages {
            let (back, differences, words) = match &message.returned {
                Returned::Message {
                    message,
                    differences,
                    ..
                } => (Some(message), differences.as_slice(), None),
                Returned::Refused(words)
                | Returned::Forbidden(words)
                | Returned::Failed(words)
                | Returned::NotAsked(words)
                | Returned::Untested(words) => (None, &[][..], Some(words.as_str())),
                Returned::DoesNotContinue => (None, &[][..], None),
                Returned::WithoutPrompt(outcome) => (None, &[][..], Some(outcome.text())),
            };
            let line = ReturnedLine {
                template,
                case: message.id.case.to_string(),
                index: message.id.index,
                recipient: recipient.name(),
                version: recipient.version(),
                returned: message.returned.kind().key(),
                text: message.text.as_deref(),
                message: back,
                differences: differences.iter().map(DifferenceLine::of).collect(),
                words,
                streamed: message.streamed.as_ref(),
                prompt: message.other_prompt.as_deref(),
            };
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
