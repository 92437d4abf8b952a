//! The tokens that end the assistant's turns of a template.

use std::ops::Range;

use rolecall_core::{Cut, Template};
use serde_json::{Value, json};

use crate::control_tokens::{beginnings, control_token_places, control_tokens_in};

/// The special tokens that end texts or turns, by their names.
const NAMES: [&str; 3] = ["eos_token", "eot_token", "eom_token"];

/// The question of the conversations that are tried.
const QUESTION: &str = "How many?";

/// The length in bytes of what two texts begin with alike.
fn same(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    let same = one.zip(other).take_while(|(one, other)| one == other);
    same.map(|(c, _)| c.len_utf8()).sum()
}

/// The token that ends a turn, in a text that comes before the next turn and at the end of a
/// conversation. It opens no turn, as the tokens at the beginning of a prompt do. `special` are the
/// special tokens that end something: they open nothing.
fn end_token(shared: &str, prompt: &str, special: &[String]) -> Option<Range<usize>> {
    let mut openers: Vec<&str> = Vec::new();
    let mut last = "";
    let mut at = 0;
    for token in control_token_places(prompt) {
        if prompt.cut(at..token.start).trim().is_empty() {
            at = token.end;
            let token = prompt.cut(token);
            // A prompt may begin with an empty turn, and the next one opens alike. The token before
            // that has ended the empty one.
            if openers.contains(&token) && token != last {
                openers.retain(|opener| *opener != last);
            }
            openers.push(token);
            last = token;
        }
    }
    openers.retain(|opener| !special.iter().any(|end| end == opener));
    let mut tokens = control_token_places(shared);
    let last = tokens.rfind(|token| !openers.contains(&shared.cut(token.clone())));
    last.or_else(|| control_token_places(shared).next())
}

/// The length of the opening at the end of what a template writes after an answer, if it opens the
/// next turn unasked. `ended` is the token that ends the turn. `unasked` is the prompt of a
/// question: it ends with the opening, too.
fn always_opened(
    after: &str,
    unasked: &str,
    ended: Option<Range<usize>>,
    ends: &[String],
) -> usize {
    let (_, after_question) = unasked.rsplit_once(QUESTION).unwrap_or_default();
    let most = same(after.chars().rev(), after_question.chars().rev());
    let known = ends
        .iter()
        .filter_map(|end| Some(after.find(end.as_str())? + end.len()));
    let ended = ended.map(|token| token.end).or_else(|| known.min());
    let opening = after.cut(ended.unwrap_or(0)..).trim_start();
    if opening.len() <= most {
        opening.len()
    } else {
        0
    }
}

/// The texts that end an assistant's turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnEnds {
    /// What ends the last turn of a conversation, if that is known.
    last: Option<String>,
    all: Vec<String>,
    /// What the template writes after a plain answer at the end of a conversation, without the
    /// opening of the next turn.
    after_answers: String,
    /// The opening of the next turn, if the template writes it at the end of every conversation,
    /// whether it is asked to or not.
    opening: String,
}

impl TurnEnds {
    /// The ends of a template's turns: its special tokens that end something, and what it writes
    /// after plain answers at the end of a conversation and within one. `render` gives the prompt of
    /// some messages, with an opening if that is asked for.
    pub(crate) fn find(
        template: &Template,
        render: impl Fn(Value, bool) -> Option<String>,
    ) -> TurnEnds {
        let special = NAMES.iter().filter_map(|name| {
            let token = template.special_tokens.get(*name)?;
            token.as_str().or_else(|| token.get("content")?.as_str())
        });
        let mut ends: Vec<String> = special.map(str::to_owned).collect();
        ends.retain(|end| !end.is_empty());
        let conversation = |answer: &str| {
            json!([
                {"role": "user", "content": QUESTION},
                {"role": "assistant", "content": answer},
            ])
        };
        let tail = |prompt: &str, word: &str| prompt.rsplit_once(word).map(|(_, it)| it.to_owned());
        // The two answers end differently, so the rest that they share is the template's.
        let one = render(conversation("Seven"), false).and_then(|it| tail(&it, "Seven"));
        let other = render(conversation("12"), false);
        let after = one.filter(|end| {
            let other = other.as_ref();
            other.is_some_and(|other| other.ends_with(end.as_str()))
        });
        let longer = json!([
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "Seven"},
            {"role": "user", "content": "Really?"},
            {"role": "assistant", "content": "Indeed"},
        ]);
        let between = render(longer, false).and_then(|prompt| {
            let (before, _) = prompt.rsplit_once("Really?")?;
            tail(before, "Seven")
        });
        let between = between.unwrap_or_default();
        let question = json!([{"role": "user", "content": QUESTION}]);
        let [unasked, asked] = [false, true].map(|opens| render(question.clone(), opens));
        let mut after_answers = after.unwrap_or_default();
        // Some templates end only the whole text with a further token.
        let shared = after_answers.cut(..same(after_answers.chars(), between.chars()));
        let shared = end_token(shared, unasked.as_deref().unwrap_or_default(), &ends);
        let mut opening = String::new();
        if let Some(unasked) = unasked.filter(|unasked| asked.as_ref() == Some(unasked)) {
            let length = always_opened(&after_answers, &unasked, shared.clone(), &ends);
            opening = after_answers.split_off(after_answers.len() - length);
        }
        let shared = shared.map(|token| after_answers.cut(token));
        let mut last = None;
        if !after_answers.trim().is_empty() {
            let token = shared.or_else(|| control_tokens_in(&after_answers).next());
            let token = token.unwrap_or(after_answers.trim()).to_owned();
            if shared.is_none() {
                ends.extend(control_tokens_in(&between).next().map(str::to_owned));
            }
            ends.push(token.clone());
            last = Some(token);
        } else if let Some((opening, _)) = other.as_deref().and_then(|it| it.split_once(QUESTION)) {
            // Some templates end no last turn. Then the end comes before the next question's
            // opening.
            let opening = same(opening.chars().rev(), between.chars().rev());
            let ended = control_token_places(&between).next();
            let ended = ended.filter(|token| token.start < between.len() - opening);
            ends.extend(ended.map(|token| between.cut(token).to_owned()));
        }
        ends.retain(|end| !end.is_empty());
        ends.sort();
        ends.dedup();
        TurnEnds {
            last,
            all: ends,
            after_answers,
            opening,
        }
    }

    /// What the template writes after a plain answer at the end of a conversation.
    pub(crate) fn after_answers(&self) -> &str {
        &self.after_answers
    }

    /// The opening that ends every conversation, or nothing if the template can leave it out.
    pub(crate) fn opening(&self) -> &str {
        &self.opening
    }

    /// A conversation, or its end, without the opening that ends every conversation. Under another
    /// setting of thinking it may be shorter.
    pub(crate) fn without_opening<'t>(&self, text: &'t str) -> &'t str {
        let opening = self.opening.as_str();
        let mut openings = std::iter::once(opening).chain(beginnings(opening));
        let without = openings.find_map(|opening| text.strip_suffix(opening));
        without.unwrap_or(text)
    }

    /// Where a text ends that comes after the last message of a conversation. What ends the last
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

    /// Where the first of them is in a text.
    pub fn first_in(&self, text: &str) -> Option<Range<usize>> {
        let found = self.all.iter().filter_map(|end| {
            let at = text.find(end.as_str())?;
            Some(at..at + end.len())
        });
        found.min_by_key(|place| (place.start, std::cmp::Reverse(place.end)))
    }
}
