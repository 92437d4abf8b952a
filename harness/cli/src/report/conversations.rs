//! What is wrong with conversations of a user's own, by cause, with the smallest one of each.

use std::io::{self, Write};

use minijinja::context;

use super::card::style_of;
use super::numbers::{counted, percent, thousands};
use super::text::text;
use rolecall_core::invocation;
use rolecall_suite::own_conversations::{ConversationCause, JudgedConversations};
use rolecall_suite::suite::Suite;

/// A cause in a sentence: in how many conversations, and the smallest one.
pub(crate) fn sentence(cause: &ConversationCause, all: usize) -> String {
    let ConversationCause {
        what,
        count,
        example,
        detail,
        ..
    } = cause;
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

/// Writes what is wrong with conversations and a template, and how to look at the first example.
/// `shown_as` has the words after `rolecall show` that name the template.
pub fn write(
    out: &mut dyn Write,
    judged: &JudgedConversations,
    suite: &Suite,
    shown_as: &str,
) -> io::Result<()> {
    let causes = judged.causes.iter().map(|cause| {
        context! {
            style => style_of(cause.severity),
            severity => cause.severity.name(),
            rule => cause.rule,
            sentence => sentence(cause, judged.conversations),
        }
    });
    let first = judged.causes.first().map(|worst| {
        let place = suite.place_of(&worst.example);
        let place = place.map(|(path, line)| format!("{}:{line}", path.display()));
        let shown = place.unwrap_or_else(|| worst.example.to_string());
        invocation::command(&format!("show {shown_as} {}", invocation::word(&shown)))
    });
    text!(out, include_str!("conversations.txt"), {
        template => &judged.template,
        all => judged.conversations,
        causes => causes.collect::<minijinja::Value>(),
        first,
    })
}
