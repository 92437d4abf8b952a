//! What is wrong with conversations of a user's own, by cause, with the smallest one of each.

use std::io::{self, Write};

use minijinja::context;

use super::card::style_of;
use super::numbers::{counted, percent, thousands};
use super::text::text;
use rolecall_core::invocation;
use rolecall_suite::own_conversations::{ConversationCause, JudgedConversations};
use rolecall_suite::suite::Suite;

/// A cause in a sentence: in how many conversations, and the smallest one. What is wrong in a log is
/// named by its line.
pub(crate) fn sentence(cause: &ConversationCause, all: usize, suite: &Suite) -> String {
    let ConversationCause {
        what,
        count,
        example,
        detail,
        ..
    } = cause;
    let line = Some(cause).filter(|cause| cause.is_of_log());
    let line = line.and_then(|cause| place(cause, suite));
    let example = line.unwrap_or_else(|| example.to_string());
    let of = counted(all, "conversation", "conversations");
    let anew = cause.anew.map_or_else(String::new, |(some, all)| {
        format!(
            "; {} of the bytes of earlier prompts are computed anew",
            percent(some, all)
        )
    });
    let detail = match detail.as_str() {
        "" => String::new(),
        detail => format!(" ({detail})"),
    };
    format!(
        "{what}: {} of {of}{anew}; the smallest is {example}{detail}",
        thousands(*count)
    )
}

/// The file and the line of the smallest conversation.
fn place(cause: &ConversationCause, suite: &Suite) -> Option<String> {
    let place = suite.place_of(&cause.example);
    place.map(|(path, line)| format!("{}:{line}", path.display()))
}

/// Writes what a template makes of conversations, if anything is judged by that, then what is wrong with
/// the conversations themselves, and how to look at the first example. `shown_as` has the words after
/// `rolecall show` that name the template. With `is_all`, every place is listed.
pub fn write(
    out: &mut dyn Write,
    judged: &JudgedConversations,
    suite: &Suite,
    shown_as: &str,
    (is_of_template, is_all): (bool, bool),
) -> io::Result<()> {
    let rows = |causes: &[ConversationCause]| {
        let rows = causes.iter().map(|cause| {
            context! {
                style => style_of(cause.severity),
                severity => cause.severity.name(),
                rule => cause.rule,
                sentence => sentence(cause, judged.conversations, suite),
                places => cause.places.iter().filter(|_| is_all).map(ToString::to_string).collect::<Vec<_>>(),
            }
        });
        rows.collect::<minijinja::Value>()
    };
    let first = judged.all().next().map(|worst| {
        let shown = place(worst, suite).unwrap_or_else(|| worst.example.to_string());
        invocation::command(&format!("show {shown_as} {}", invocation::word(&shown)))
    });
    text!(out, include_str!("conversations.txt"), {
        template => is_of_template.then_some(&judged.template),
        all => judged.conversations,
        sound => if suite.has_unread() { "nothing wrong in what can be read" } else { "nothing wrong" },
        causes => rows(&judged.causes),
        log => judged.log.as_ref().map(|log| rows(&log.causes)),
        unjudged => judged.log.as_ref().map(|log| &log.unjudged),
        first,
    })
}
