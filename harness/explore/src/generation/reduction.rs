//! The smallest conversation that still serves: that takes a branch, or tells two templates apart.

use std::cell::RefCell;

use rolecall_core::Case;
use rolecall_core::shrinking::Shrinker;
use serde_json::{Value, json};

use super::likelihood::{Rank, is_chat};
use super::search::{Rendered, Subject};

/// The most conversations that are tried.
const MOST_TRIED: usize = 1_500;

/// Texts up to this many characters stay: shorter ones would only be harder to read.
const SHORT: usize = 30;

/// The smallest conversation so far, and what another one has to be like.
struct Kept<'r, 's> {
    subject: &'r Subject<'s>,
    serves: &'r dyn Fn(&Rendered) -> bool,
    rank: Rank,
    best: Rendered,
    /// Whether only a more ordinary chat is kept, and not one that is as ordinary.
    has_to_be_better: bool,
}

/// Makes a conversation smaller while it serves, and is as ordinary a chat.
pub(super) fn reduced(
    subject: &Subject<'_>,
    case: Case,
    serves: &dyn Fn(&Rendered) -> bool,
) -> Option<Rendered> {
    let best = subject.render(case)?;
    if !serves(&best) {
        return None;
    }
    let kept = RefCell::new(Kept {
        subject,
        serves,
        rank: Rank::of(&best.case, &best.outcome),
        best,
        has_to_be_better: true,
    });
    let mut keeps = |case: &Case| kept.borrow_mut().keeps(case);
    let begin = kept.borrow().best.case.clone();
    let mut shrinker = Shrinker::new(begin, MOST_TRIED, &mut keeps);
    if !matches!(kept.borrow().rank, Rank::Prompt | Rank::Refusal) {
        fix(&mut shrinker);
    }
    kept.borrow_mut().has_to_be_better = false;
    shrinker.options();
    let mut before = None;
    while before != Some(kept.borrow().rank) {
        before = Some(kept.borrow().rank);
        shrinker.repeat(|shrinker| {
            shrinker.ranges();
            plain_texts(shrinker);
            shrinker.values(SHORT);
        });
    }
    Some(kept.into_inner().best)
}

impl Kept<'_, '_> {
    fn keeps(&mut self, case: &Case) -> bool {
        if !is_chat(case) {
            return false;
        }
        let Some(rendered) = self.subject.render(case.clone()) else {
            return false;
        };
        let rank = Rank::of(&rendered.case, &rendered.outcome);
        let is_worse = rank > self.rank || self.has_to_be_better && rank == self.rank;
        if is_worse || !(self.serves)(&rendered) {
            return false;
        }
        self.rank = rank;
        self.best = rendered;
        true
    }
}

/// Tries to make an ordinary chat of an odd one: with a question, and with a text in each message.
fn fix(shrinker: &mut Shrinker<'_>) {
    let question = json!({"role": "user", "content": "Hi"});
    let mut alone = shrinker.best.clone();
    alone.messages = vec![question.clone()];
    shrinker.offer(alone);
    let mut asked = shrinker.best.clone();
    asked.messages.insert(0, question);
    shrinker.offer(asked);
    for at in 0..shrinker.best.messages.len() {
        let mut case = shrinker.best.clone();
        if let Some(Value::Object(message)) = case.messages.get_mut(at) {
            message.insert("content".to_owned(), json!("Hi"));
        }
        shrinker.offer(case);
    }
}

/// Tries plain words in the place of contents.
fn plain_texts(shrinker: &mut Shrinker<'_>) {
    for at in 0..shrinker.best.messages.len() {
        let Some(message) = shrinker.best.messages.get(at) else {
            return;
        };
        let plain = match message["role"].as_str() {
            Some("user") => "Hi",
            Some("assistant") => "Hello.",
            Some("tool") => "5",
            _ => "Be kind.",
        };
        if message["content"] == plain || message.get("content").is_none() {
            continue;
        }
        let mut case = shrinker.best.clone();
        if let Some(Value::Object(message)) = case.messages.get_mut(at) {
            message.insert("content".to_owned(), json!(plain));
        }
        shrinker.offer_smaller(case);
    }
}
