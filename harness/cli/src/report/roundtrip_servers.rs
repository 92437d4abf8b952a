//! What came back of messages from a recipient of answers: for people, and as JSON Lines.

use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_answers::comparison::Difference;
use rolecall_answers::recipient::Recipient;
use rolecall_answers::returned::{Kind, KindCounts, Returned, ReturnedMessage, essence};
use serde_json::Value as Json;

use super::json::document;
use super::numbers::thousands;
use super::text::text;

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
    for (_, messages) in all {
        sum.add_all(&KindCounts::of(messages));
    }
    let words = sum.words().into_iter();
    let words = words.map(|(kind, count)| format!("{} {}", thousands(count), kind.name()));
    let messages = all.iter().flat_map(|(_, messages)| messages);
    text!(out, include_str!("roundtrip_servers.txt"), {
        templates => all.iter().map(|(name, of)| template(name, of, is_whole)).collect::<Value>(),
        name => format!("{} {}", recipient.name(), recipient.version()).trim(),
        origin,
        total => sum.total(),
        words => words.collect::<Vec<_>>(),
        streamed => messages.filter(|it| it.streamed.is_some()).count(),
    })
}

fn template(name: &str, messages: &[ReturnedMessage], is_whole: bool) -> Value {
    let counts = KindCounts::of(messages).words().into_iter();
    let counts = counts.map(|(kind, count)| (count, kind.name(), style(kind)));
    let count = |is: fn(&&ReturnedMessage) -> bool| messages.iter().filter(is).count();
    let (streamed, prompts) = (
        count(|it| it.streamed.is_some()),
        count(|it| it.other_prompt.is_some()),
    );
    let others = [
        (
            streamed,
            "of all come otherwise when they are streamed",
            "note",
        ),
        (
            prompts,
            "of all have another prompt than the reference's",
            "note",
        ),
    ];
    let counts = counts.chain(others.into_iter().filter(|(count, ..)| *count > 0));
    let counts = counts.map(|(count, words, style)| context! { count, words, style });
    let mut causes: Vec<(String, Vec<&ReturnedMessage>)> = Vec::new();
    for message in messages.iter().filter(|it| it.is_fault()) {
        let cause = message.cause();
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, messages)) => messages.push(message),
            None => causes.push((cause, vec![message])),
        }
    }
    let most = if is_whole { usize::MAX } else { SHOWN };
    let shown = causes.iter().take(most).map(|(_, messages)| {
        let most = if is_whole { messages.len() } else { 1 };
        let shown = messages.iter().take(most).map(|message| {
            let head = format!("{}: {}", message.id, message.returned.kind().name());
            context! { head, lines => lines(message) }
        });
        context! { messages => shown.collect::<Value>(), more => messages.len() - most }
    });
    context! {
        name,
        counts => counts.collect::<Value>(),
        causes => shown.collect::<Value>(),
        left => causes.iter().skip(most).map(|(_, it)| it.len()).sum::<usize>(),
    }
}

/// What came back of a message.
fn lines(message: &ReturnedMessage) -> Vec<String> {
    let mut lines = Vec::new();
    match &message.returned {
        Returned::Message { differences, .. } => {
            for difference in differences {
                let not_written = if difference.is_not_written {
                    ", not written by the template"
                } else {
                    ""
                };
                let change = difference.change.name();
                lines.push(format!("{}: {change}{not_written}", difference.part));
                let sides = [("meant", &difference.meant), ("came", &difference.read)];
                let sides = sides
                    .into_iter()
                    .filter_map(|(who, side)| Some((who, side.as_ref()?)));
                lines.extend(
                    sides.map(|(who, side)| format!("  {who} {}", short(&side.to_string()))),
                );
            }
        }
        Returned::Forbidden(written) => {
            lines.push(format!("came out {}", short(&json(written))));
        }
        Returned::Refused(words) | Returned::Failed(words) | Returned::NotAsked(words) => {
            lines.push(short(essence(words)));
        }
        Returned::Untested(_) | Returned::DoesNotContinue | Returned::WithoutPrompt(_) => {}
    }
    let is_refused = message.returned.kind() == Kind::Refused;
    let text = message.text.as_deref().filter(|_| !is_refused);
    lines.extend(text.map(|text| format!("of the text {}", short(&json(text)))));
    let streamed = message.streamed.as_ref();
    lines.extend(streamed.map(|streamed| format!("streamed {}", short(&streamed.to_string()))));
    if message.other_prompt.is_some() {
        lines.push("after another prompt than the reference's".to_owned());
    }
    lines
}

fn json(text: &str) -> String {
    Json::from(text).to_string()
}

/// The beginning of a long text.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn style(kind: Kind) -> &'static str {
    match kind {
        Kind::ReadBack => "good",
        _ if kind.is_fault() => "bad",
        _ => "note",
    }
}

document! {
    /// One line's object: what came back of a message.
    #[cfg_attr(feature = "schema", schemars(rename = "ReturnedMessage"))]
    pub struct ReturnedLine<'l> from (
        template: &'l str, message: &'l ReturnedMessage, recipient: &'l dyn Recipient,
    ) with {
        let (back, differences, words) = match &message.returned {
            Returned::Message { message, differences, .. } => {
                (Some(message), differences.as_slice(), None)
            }
            Returned::Refused(words)
            | Returned::Forbidden(words)
            | Returned::Failed(words)
            | Returned::NotAsked(words)
            | Returned::Untested(words) => (None, &[][..], Some(words.as_str())),
            Returned::DoesNotContinue => (None, &[][..], None),
            Returned::WithoutPrompt(outcome) => (None, &[][..], Some(outcome.text())),
        };
    } {
        template: &'l str = template,
        case: String = message.id.case.to_string(),
        /// The index of the message in its case.
        index: usize = message.id.index,
        /// Who read the answer.
        recipient: &'l str = recipient.name(),
        /// The recipient's version.
        version: &'l str = recipient.version(),
        /// What came back: `read-back`, `white-space`, `not-written`, `changed`, `forbidden`, `refused`,
        /// `failed`, `not-asked`, `untested`, `not-continuing` or `without-prompt`.
        returned: &'static str = message.returned.kind().key(),
        /// The text that the model had to write.
        text?: Option<&'l str> = message.text.as_deref(),
        /// The message that came back.
        message?: Option<&'l Json> = back,
        /// The differences from the intended message.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        differences: Vec<DifferenceLine<'l>> = differences.iter().map(DifferenceLine::of).collect(),
        /// The words of a refusal or a failure, or what the model wrote instead of the text.
        words?: Option<&'l str> = words,
        /// The message that comes back if it is streamed, if that is another one.
        streamed?: Option<&'l Json> = message.streamed.as_ref(),
        /// The recipient's own prompt, if it is not that of the reference.
        prompt?: Option<&'l str> = message.other_prompt.as_deref(),
    }

    /// A part of a message that is not as it was meant.
    #[cfg_attr(feature = "schema", schemars(rename = "ReturnedDifference"))]
    struct DifferenceLine<'l> from (difference: &'l Difference) {
        part: String = difference.part.to_string(),
        change: &'static str = difference.change.name(),
        meant?: Option<&'l Json> = difference.meant.as_ref(),
        read?: Option<&'l Json> = difference.read.as_ref(),
        /// Whether the template does not write what was meant.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "schema", schemars(default))]
        not_written: bool = difference.is_not_written,
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
            let line = ReturnedLine::of(template, message, recipient);
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
