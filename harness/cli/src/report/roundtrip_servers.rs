//! Prints which messages a server gave back as they were sent, for people and as JSON Lines.

use std::borrow::Cow;
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_answers::cause::{self, essence};
use rolecall_answers::comparison::{Difference, Verdict};
use rolecall_answers::reading::{FormReading, MessageReading, Unread};
use rolecall_answers::transcript::Counts;
use rolecall_core::{Cut, Template};
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
    (server, version): (&str, &str),
    origin: &str,
    all: &[(&Template, Vec<MessageReading>)],
    is_whole: bool,
) -> io::Result<()> {
    let sum = Counts::of(all.iter().flat_map(|(_, messages)| messages));
    let words = sum.verdicts();
    let words = words.map(|(verdict, count)| format!("{} {verdict}", thousands(count)));
    text!(out, include_str!("roundtrip_servers.txt"), {
        templates => all.iter().map(|(one, of)| template(one.name.as_str(), of, is_whole)).collect::<Value>(),
        name => format!("{server} {version}").trim(),
        origin,
        total => all.iter().map(|(_, messages)| messages.len()).sum::<usize>(),
        words => words.collect::<Vec<_>>(),
        streamed => sum.streamed_otherwise,
    })
}

fn template(name: &str, messages: &[MessageReading], is_whole: bool) -> Value {
    let sum = Counts::of(messages);
    let counts = sum.verdicts();
    let counts = counts.map(|(verdict, count)| (count, verdict.name(), style(verdict)));
    let prompts = messages
        .iter()
        .filter(|it| other_prompt(it).is_some())
        .count();
    let others = [
        (
            sum.streamed_otherwise,
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
    let mut causes: Vec<(String, Vec<&MessageReading>)> = Vec::new();
    for message in messages.iter().filter(|it| it.is_fault()) {
        let cause = cause::with_verdict(message);
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, messages)) => messages.push(message),
            None => causes.push((cause, vec![message])),
        }
    }
    let most = if is_whole { usize::MAX } else { SHOWN };
    let shown = causes.iter().take(most).map(|(_, messages)| {
        let most = if is_whole { messages.len() } else { 1 };
        let shown = messages.iter().take(most).map(|message| {
            let head = format!("{}: {}", message.id, message.verdict());
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
fn lines(message: &MessageReading) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(form) = message.forms().first() else {
        return lines;
    };
    for difference in &form.differences {
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
        lines.extend(sides.map(|(who, side)| format!("  {who} {}", short(&side.to_string()))));
    }
    let words = form.words().unwrap_or_default();
    match form.verdict {
        Verdict::Forbidden => lines.push(format!("came out {}", short(&json(&words)))),
        Verdict::Refused | Verdict::Failed | Verdict::NotAsked => {
            lines.push(short(essence(&words)));
        }
        _ => {}
    }
    if form.verdict != Verdict::Refused {
        lines.push(format!("of the text {}", short(&json(&form.text))));
    }
    let streamed = streamed(message);
    lines.extend(streamed.map(|streamed| format!("streamed {}", short(&streamed.to_string()))));
    if other_prompt(message).is_some() {
        lines.push("after another prompt than the reference's".to_owned());
    }
    lines
}

/// The message that comes back if it is streamed, if that is another one.
fn streamed(message: &MessageReading) -> Option<&Json> {
    message.forms().first()?.streamed.as_ref()?.message()
}

fn other_prompt(message: &MessageReading) -> Option<&str> {
    message.result.as_ref().ok()?.other_prompt.as_deref()
}

fn json(text: &str) -> String {
    Json::from(text).to_string()
}

/// The beginning of a long text.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.cut(..at)),
        None => text.to_owned(),
    }
}

fn style(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::ReadBack => "good",
        _ if verdict.is_fault() => "bad",
        _ => "note",
    }
}

document! {
    /// One line's object: what came back of a message.
    #[cfg_attr(feature = "schema", schemars(rename = "ReturnedMessage"))]
    pub struct ReturnedLine<'l> from (
        template: &'l str, message: &'l MessageReading, server: (&'l str, &'l str),
    ) with {
        let form = message.forms().first();
        let differences = form.map_or(&[][..], |form| &form.differences);
        let words = match &message.result {
            Ok(_) => form.and_then(FormReading::words),
            Err(Unread::DoesNotContinue) => None,
            Err(Unread::Refused(outcome)) => Some(outcome.text().into()),
        };
    } {
        template: &'l str = template,
        case: String = message.id.case.to_string(),
        /// The index of the message in its case.
        index: usize = message.id.index,
        /// Who read the answer.
        recipient: &'l str = server.0,
        /// The recipient's version.
        version: &'l str = server.1,
        /// What came back: `read-back`, `white-space`, `not-written`, `changed`, `forbidden`, `refused`,
        /// `failed`, `not-asked`, `untested`, `not-continuing` or `without-prompt`.
        returned: &'static str = message.verdict().key(),
        /// The text that the model had to write.
        text?: Option<&'l str> = form.map(|form| &*form.text),
        /// The message that came back.
        message?: Option<&'l Json> = form.and_then(|form| form.outcome.message()),
        /// The differences from the intended message.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        differences: Vec<DifferenceLine<'l>> = differences.iter().map(DifferenceLine::of).collect(),
        /// The words of a refusal or a failure, or what the model wrote instead of the text.
        words?: Option<Cow<'l, str>> = words,
        /// The message that comes back if it is streamed, if that is another one.
        streamed?: Option<&'l Json> = streamed(message),
        /// The recipient's own prompt, if it is not that of the reference.
        prompt?: Option<&'l str> = other_prompt(message),
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
    server: (&str, &str),
    all: &[(&Template, Vec<MessageReading>)],
) -> io::Result<()> {
    for (template, messages) in all {
        for message in messages {
            let line = ReturnedLine::of(template.name.as_str(), message, server);
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
