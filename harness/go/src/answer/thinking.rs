//! Reasoning in the text of an answer: thinking/parser.go.

use super::thinking_tags::ThinkingTags;
use crate::error::Error;
use crate::meter::Meter;

/// Where in the answer the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Only blanks came so far.
    BeforeOpening,
    /// The opening tag came, and then only blanks, which it swallows.
    Opened,
    Thinking,
    /// The closing tag came, and then only blanks, which it swallows.
    Closed,
    Done,
}

/// Separates reasoning from the text after it.
#[derive(Debug)]
pub(super) struct ThinkingReader {
    tags: ThinkingTags,
    state: State,
    /// Text that waits for more.
    waiting: String,
}

impl ThinkingReader {
    /// A reader at the beginning of an answer. The tags must not be empty.
    pub(super) fn new(tags: ThinkingTags) -> ThinkingReader {
        ThinkingReader {
            tags,
            state: State::BeforeOpening,
            waiting: String::new(),
        }
    }

    /// Reads that the prompt has opened the reasoning.
    pub(super) fn open(&mut self, meter: &mut Meter) -> Result<(), Error> {
        let opening = self.tags.opening.clone();
        self.add(&opening, meter).map(drop)
    }

    /// Reads a piece, and returns the reasoning and the other text that are certain now.
    pub(super) fn add(
        &mut self,
        piece: &str,
        meter: &mut Meter,
    ) -> Result<(String, String), Error> {
        self.waiting.push_str(piece);
        meter.work(self.waiting.len().saturating_mul(4).saturating_add(100))?;
        loop {
            let text = std::mem::take(&mut self.waiting);
            let trimmed = text.trim_start();
            match self.state {
                State::BeforeOpening => {
                    if let Some(after) = trimmed.strip_prefix(&*self.tags.opening) {
                        after.trim_start().clone_into(&mut self.waiting);
                        self.state = if self.waiting.is_empty() {
                            State::Opened
                        } else {
                            State::Thinking
                        };
                    } else if self.tags.opening.starts_with(trimmed) {
                        self.waiting = text;
                        return Ok((String::new(), String::new()));
                    } else {
                        // Without reasoning the blanks before the content are content.
                        self.state = State::Done;
                        return Ok((String::new(), text));
                    }
                }
                State::Opened => {
                    if trimmed.is_empty() {
                        return Ok((String::new(), String::new()));
                    }
                    self.state = State::Thinking;
                    trimmed.clone_into(&mut self.waiting);
                }
                State::Thinking => return Ok(self.reasoning(&text)),
                State::Closed => {
                    if !trimmed.is_empty() {
                        self.state = State::Done;
                    }
                    return Ok((String::new(), trimmed.to_owned()));
                }
                State::Done => return Ok((String::new(), text)),
            }
        }
    }

    fn reasoning(&mut self, text: &str) -> (String, String) {
        if let Some((reasoning, rest)) = text.split_once(&*self.tags.closing) {
            let rest = rest.trim_start();
            self.state = if rest.is_empty() {
                State::Closed
            } else {
                State::Done
            };
            return (reasoning.to_owned(), rest.to_owned());
        }
        let (reasoning, begun) = text.split_at(text.len() - overlap(text, &self.tags.closing));
        begun.clone_into(&mut self.waiting);
        (reasoning.to_owned(), String::new())
    }
}

/// How many bytes at the end of a text may be the beginning of a tag.
pub(super) fn overlap(text: &str, tag: &str) -> usize {
    let most = text.len().min(tag.len());
    let begins = |length: &usize| text.as_bytes().ends_with(&tag.as_bytes()[..*length]);
    (1..=most).rev().find(begins).unwrap_or(0)
}
