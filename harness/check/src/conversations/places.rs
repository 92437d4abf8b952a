//! Where the texts of a conversation are in its prompt.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;
use rolecall_core::Cut;
use serde_json::Value;

use super::message::texts_of;

/// A byte that no text has.
const TAKEN: u8 = 0xff;

/// The most bytes that another text may have between two words, besides those of the text.
const MOST_BETWEEN: usize = 64;

/// A prompt and the places of its texts. Two texts share no place: a short text that stands only inside of a
/// longer one is lost.
pub(super) struct Places<'p> {
    prompt: &'p str,
    /// The prompt, with [`TAKEN`] wherever a text has its place.
    free: Vec<u8>,
}

impl<'p> Places<'p> {
    pub(super) fn new(prompt: &'p str) -> Places<'p> {
        let free = prompt.as_bytes().to_vec();
        Places { prompt, free }
    }

    /// Gives the texts of messages their places, and returns the first text of each that has none. The
    /// long ones come first, because they may say the short ones. Each is looked for between the texts of
    /// the messages before and after it, and then everywhere: templates move messages.
    pub(super) fn lost<'m>(&mut self, messages: &'m [Value]) -> Vec<Option<&'m str>> {
        let texts = messages.iter().enumerate().flat_map(|(at, message)| {
            let texts = texts_of(message).into_iter();
            texts.map(move |text| (at, message, after_thoughts(message, text).trim()))
        });
        let texts = texts.filter(|(.., text)| !text.is_empty());
        let mut texts: Vec<_> = (0..).zip(texts).collect();
        texts.sort_by_key(|(_, (.., text))| Reverse(text.len()));
        let mut known: BTreeMap<usize, Range<usize>> = BTreeMap::new();
        texts.retain(|(number, (_, message, text))| {
            let before = known.range(..number).next_back();
            let after = known.range(number..).next();
            let from = before.map_or(0, |(_, place)| place.end);
            let until = after.map_or(self.free.len(), |(_, place)| place.start);
            let place = self.find(text, from..until);
            // A system message may be anywhere.
            let near = place.clone().filter(|_| message["role"] != "system");
            known.extend(near.map(|place| (*number, place)));
            let place = place.or_else(|| self.find(text, 0..self.free.len()));
            place.map(|place| self.take(place)).is_none()
        });
        // Where nothing is between texts, one has a place as soon as the one beside it has.
        let mut count = texts.len() + 1;
        while texts.len() < count {
            count = texts.len();
            texts.retain(|(_, (.., text))| !self.takes(text));
        }
        texts.sort_by_key(|(number, _)| Reverse(*number));
        let mut lost = vec![None; messages.len()];
        for (_, (at, _, text)) in texts {
            if let Some(lost) = lost.get_mut(at) {
                *lost = Some(text);
            }
        }
        lost
    }

    /// Whether a name has a place that no text has.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name, 0..self.free.len()).is_some()
    }

    /// Gives a text a place where all its words are in their order, as in JSON or with other white space.
    /// A text of signs has to be there as it is.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        let text = text.trim();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let mut words = words.filter(|word| !word.is_empty());
        let first = words.next().unwrap_or(text);
        let mut from = 0;
        while let Some(start) = self.find(first, from..self.free.len()) {
            let end = words.clone().try_fold(start.end, |end, word| {
                let until = end + MOST_BETWEEN + text.len();
                Some(self.find(word, end..until.min(self.free.len()))?.end)
            });
            if let Some(end) = end {
                self.take(start.start..end);
                return true;
            }
            from = start.end;
        }
        false
    }

    fn take(&mut self, place: Range<usize>) {
        if let Some(taken) = self.free.get_mut(place) {
            taken.fill(TAKEN);
        }
    }

    /// The first free place of a text in a part of the prompt where it is no part of a longer word: what
    /// ends where another text begins, or the other way round, is none.
    fn find(&self, text: &str, part: Range<usize>) -> Option<Range<usize>> {
        let found = memmem::find_iter(self.free.get(part.clone())?, text);
        let mut found = found.map(|at| part.start + at..part.start + at + text.len());
        found.find(|place| {
            let is_within = [place.start, place.end].map(|at| self.is_within_word(at));
            let is_beside =
                self.is_taken(place.start.checked_sub(1)) || self.is_taken(Some(place.end));
            is_within == [false; 2] || is_within != [true; 2] && is_beside
        })
    }

    /// Whether a byte belongs to a text that was found, or is outside of the prompt.
    fn is_taken(&self, at: Option<usize>) -> bool {
        let byte = at.and_then(|at| self.free.get(at));
        byte.is_none_or(|byte| *byte == TAKEN)
    }

    /// Whether letters stand before and after a place. One of an escape such as `\n` is none.
    fn is_within_word(&self, at: usize) -> bool {
        let (before, after) = (self.prompt.cut(..at), self.prompt.cut(at..));
        let is_escape = || self.prompt.cut(at.saturating_sub(6)..at).contains('\\');
        before.ends_with(char::is_alphanumeric)
            && after.starts_with(char::is_alphanumeric)
            && !self.is_taken(at.checked_sub(1))
            && !self.is_taken(Some(at))
            && !is_escape()
    }
}

/// What an answer says after its reasoning, which templates take out of earlier answers.
fn after_thoughts<'t>(message: &Value, text: &'t str) -> &'t str {
    let is_answer = message["role"] == "assistant";
    let rest = text.rsplit_once("</think>").filter(|_| is_answer);
    rest.map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lost(prompt: &str, texts: &[&'static str]) -> Vec<String> {
        let messages = texts
            .iter()
            .map(|text| json!({"role": "user", "content": text}));
        let messages: Vec<Value> = messages.collect();
        let lost = Places::new(prompt).lost(&messages);
        lost.into_iter().flatten().map(str::to_owned).collect()
    }

    #[test]
    fn each_text_has_a_place_of_its_own() {
        for (prompt, texts, expected) in [
            (
                "<a>one</a><b>two</b><a>three</a>",
                vec!["two", "three", "one", "", " "],
                vec![],
            ),
            // Only another text, or a part of a word, says it.
            (
                "<a>What is 1+1?</a><a>And 2+2?</a>",
                vec!["What is 1+1?", "2", "And 2+2?"],
                vec!["2"],
            ),
            (
                "<a>yes</a><a>yes</a>",
                vec!["yes", "yes", "yes"],
                vec!["yes"],
            ),
            (
                "<a>Is the notary open?</a>",
                vec!["Is the notary open?", "no"],
                vec!["no"],
            ),
            (
                "<a>你好吗</a><b>🦀🦀</b>",
                vec!["你好吗", "你好", "🦀"],
                vec!["你好"],
            ),
            ("<a>🦀🦀</a>", vec!["🦀🦀", "🦀"], vec!["🦀"]),
            // As in JSON, with other white space, and with nothing in between.
            (
                r#"{"a": "say \"é\"\nnow", "b": "x\u003cy"}"#,
                vec!["say \"é\"\nnow", "x<y"],
                vec![],
            ),
            ("two  words", vec!["two\nwords"], vec![]),
            (
                "How are you?FineAnd you?",
                vec!["How are you?", "Fine", "And you?"],
                vec![],
            ),
        ] {
            assert_eq!(lost(prompt, &texts), expected, "{prompt}");
        }
        let many = vec!["so it is"; 1000];
        assert_eq!(lost(&"<a>so it is</a>".repeat(999), &many).len(), 1);
    }
}
