//! The tokens that end the assistant's turns of a template.

use std::ops::Range;

use rolecall_model::Template;
use serde_json::{Value, json};

use crate::control_tokens::{control_token_places, control_tokens_in};

/// The special tokens that end texts or turns, by their names.
const NAMES: [&str; 3] = ["eos_token", "eot_token", "eom_token"];

/// The texts that end an assistant's turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnEnds {
    /// What ends the last turn of a conversation, if that is known.
    last: Option<String>,
    /// All of them.
    all: Vec<String>,
}

impl TurnEnds {
    /// The ends of a template's turns: its special tokens that end something, and what it writes
    /// after plain answers at the end of a conversation and within one. `render` gives the prompt of
    /// some messages without an opening.
    pub(crate) fn of(template: &Template, render: impl Fn(Value) -> Option<String>) -> TurnEnds {
        let special = NAMES.iter().filter_map(|name| {
            let token = template.special_tokens.get(*name)?;
            token.as_str().or_else(|| token.get("content")?.as_str())
        });
        let mut ends: Vec<String> = special.map(str::to_owned).collect();
        let conversation = |answer: &str| {
            json!([
                {"role": "user", "content": "How many?"},
                {"role": "assistant", "content": answer},
            ])
        };
        let tail = |prompt: &str, word: &str| prompt.rsplit_once(word).map(|(_, it)| it.to_owned());
        // The two answers end differently, so the rest that they share is the template's.
        let one = render(conversation("Seven")).and_then(|it| tail(&it, "Seven"));
        let other = render(conversation("12"));
        let behind = one.filter(|end| {
            let other = other.as_ref();
            other.is_some_and(|other| other.ends_with(end.as_str()))
        });
        let longer = json!([
            {"role": "user", "content": "How many?"},
            {"role": "assistant", "content": "Seven"},
            {"role": "user", "content": "Really?"},
            {"role": "assistant", "content": "Indeed"},
        ]);
        let between = render(longer).and_then(|prompt| {
            let (before, _) = prompt.rsplit_once("Really?")?;
            tail(before, "Seven")
        });
        let between = between.unwrap_or_default();
        let mut last = None;
        if let Some(behind) = behind.filter(|behind| !behind.trim().is_empty()) {
            // Some templates end only the whole text with a further token.
            let same = behind.chars().zip(between.chars());
            let same = same.take_while(|(one, other)| one == other);
            let same: String = same.map(|(c, _)| c).collect();
            let shared = control_tokens_in(&same).next_back();
            let token = shared.or_else(|| control_tokens_in(&behind).next());
            let token = token.unwrap_or(behind.trim()).to_owned();
            if shared.is_none() {
                ends.extend(control_tokens_in(&between).next().map(str::to_owned));
            }
            ends.push(token.clone());
            last = Some(token);
        } else if let Some((opening, _)) =
            other.as_deref().and_then(|it| it.split_once("How many?"))
        {
            // Some templates end no last turn. Then the end stands before the next question's opening.
            let opening = opening.chars().rev().zip(between.chars().rev());
            let opening = opening.take_while(|(one, other)| one == other);
            let opening: usize = opening.map(|(c, _)| c.len_utf8()).sum();
            let ended = control_token_places(&between).next();
            let ended = ended.filter(|token| token.start < between.len() - opening);
            ends.extend(ended.map(|token| between[token].to_owned()));
        }
        ends.retain(|end| !end.is_empty());
        ends.sort();
        ends.dedup();
        TurnEnds { last, all: ends }
    }

    /// Where a text ends that stands behind the last message of a conversation. What ends the last
    /// turn comes first: other tokens may end a part of it.
    pub fn last_in(&self, text: &str) -> Option<Range<usize>> {
        let last = self.last.as_ref();
        let last = last.and_then(|end| Some((text.find(end.as_str())?, end.len())));
        let last = last.map(|(at, length)| at..at + length);
        last.or_else(|| self.first_in(text))
    }

    /// The longest of them that a text begins with.
    pub fn at_start_of(&self, text: &str) -> Option<usize> {
        let found = self.all.iter().filter(|end| text.starts_with(end.as_str()));
        found.map(String::len).max()
    }

    /// Where the first of them stands in a text.
    pub fn first_in(&self, text: &str) -> Option<Range<usize>> {
        let found = self.all.iter().filter_map(|end| {
            let at = text.find(end.as_str())?;
            Some(at..at + end.len())
        });
        found.min_by_key(|place| (place.start, std::cmp::Reverse(place.end)))
    }
}
