//! The smallest conversation that still serves: that takes a branch, or tells two templates apart.

use rolecall_core::smaller::{nth, smaller};
use rolecall_core::{Case, Moment};
use serde_json::{Value, json};

use super::likelihood::{Rank, is_chat};
use super::parts::{parts, size, with_parts};
use super::search::{Rendered, Subject};

/// The most conversations that are tried.
const MOST_TRIED: usize = 1_500;

/// Texts up to this many characters stay: shorter ones would only be harder to read.
const SHORT: usize = 30;

/// Makes conversations smaller while they serve.
struct Reduction<'r, 's> {
    subject: &'r Subject<'s>,
    serves: &'r dyn Fn(&Rendered) -> bool,
    left: usize,
    rank: Rank,
    best: Rendered,
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
    let mut reduction = Reduction {
        subject,
        serves,
        left: MOST_TRIED,
        rank: Rank::of(&best.case, &best.outcome),
        best,
    };
    reduction.run();
    Some(reduction.best)
}

impl Reduction<'_, '_> {
    fn run(&mut self) {
        self.fix();
        self.options();
        loop {
            let before = (self.rank, size(&self.best.case));
            self.ranges();
            self.plain_texts();
            self.values();
            if (self.rank, size(&self.best.case)) == before || self.left == 0 {
                return;
            }
        }
    }

    /// Tries to make an ordinary chat of an odd one: with a question, and with a text in each message.
    fn fix(&mut self) {
        if matches!(self.rank, Rank::Prompt | Rank::Refusal) {
            return;
        }
        let question = json!({"role": "user", "content": "Hi"});
        let mut alone = self.best.case.clone();
        alone.messages = vec![question.clone()];
        self.try_better(alone);
        let mut asked = self.best.case.clone();
        asked.messages.insert(0, question);
        self.try_better(asked);
        for at in 0..self.best.case.messages.len() {
            let mut case = self.best.case.clone();
            if let Some(Value::Object(message)) = case.messages.get_mut(at) {
                message.insert("content".to_owned(), json!("Hi"));
            }
            self.try_better(case);
        }
    }

    /// Keeps a conversation, however long, if it is a more ordinary chat and serves.
    fn try_better(&mut self, case: Case) -> bool {
        let before = self.rank;
        let kept = self.best.clone();
        let is_kept = self.try_same_size(case) && self.rank < before;
        if !is_kept {
            self.rank = before;
            self.best = kept;
        }
        is_kept
    }

    /// Tries to do without what a case need not have.
    fn options(&mut self) {
        let usual = Case {
            add_generation_prompt: true,
            continue_final_message: None,
            ..self.best.case.clone()
        };
        self.try_case(usual);
        let now = Moment::default();
        if self.best.case.now != now {
            let case = self.best.case.clone();
            self.try_same_size(Case { now, ..case });
        }
        let without: [fn(Case) -> Case; 3] = [
            |case| Case {
                tools: None,
                ..case
            },
            |case| Case {
                documents: None,
                ..case
            },
            |case| Case {
                variables: serde_json::Map::new(),
                ..case
            },
        ];
        for without in without {
            self.try_case(without(self.best.case.clone()));
        }
    }

    /// Tries to leave out ranges of messages, first long ones.
    fn ranges(&mut self) {
        let mut length = self.best.case.messages.len() / 2;
        while length > 0 {
            let mut begin = 0;
            while begin + length <= self.best.case.messages.len() {
                let mut case = self.best.case.clone();
                case.messages.drain(begin..begin + length);
                if !self.try_case(case) {
                    begin += 1;
                }
            }
            length /= 2;
        }
    }

    /// Tries plain words in the place of contents.
    fn plain_texts(&mut self) {
        for at in 0..self.best.case.messages.len() {
            let Some(message) = self.best.case.messages.get(at) else {
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
            let mut case = self.best.case.clone();
            case.messages[at]["content"] = json!(plain);
            self.try_case(case);
        }
    }

    /// Makes single values smaller, from the outside to the inside.
    fn values(&mut self) {
        for number in 0.. {
            let whole = parts(&self.best.case);
            let Some(ways) = smaller(&whole, number) else {
                return;
            };
            if is_short(nth(&whole, number)) {
                continue;
            }
            for way in ways {
                if self.left == 0 {
                    return;
                }
                if self.try_case(with_parts(&self.best.case, way)) {
                    break;
                }
            }
        }
    }

    /// Keeps a conversation if it is smaller and serves.
    fn try_case(&mut self, case: Case) -> bool {
        size(&case) < size(&self.best.case) && self.try_same_size(case)
    }

    fn try_same_size(&mut self, case: Case) -> bool {
        if self.left == 0 || !is_chat(&case) {
            return false;
        }
        self.left -= 1;
        let Some(rendered) = self.subject.render(case) else {
            return false;
        };
        let rank = Rank::of(&rendered.case, &rendered.outcome);
        if rank > self.rank || !(self.serves)(&rendered) {
            return false;
        }
        self.rank = rank;
        self.best = rendered;
        true
    }
}

/// Whether a value is a text that is short enough to read.
fn is_short(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| text.chars().count() <= SHORT)
}
