//! Control tokens in what users write, as transformers makes texts of them.
//!
//! Source: transformers 5.24, `apply_chat_template(sanitize_control_tokens=True)`:
//! `mark_control_tokens` and `encode_marked_chat` in `utils/chat_template_utils.py`, and
//! `_get_control_tokens` in `tokenization_utils_base.py`. Before the template sees a conversation,
//! each control token in its texts is put between two private characters. After the template, what
//! is between them is encoded as text. Keys are not marked, and a template that puts a token
//! together from pieces still writes one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rolecall_core::{Case, Cut};
use serde_json::Value;

/// The characters before and after a marked token.
const MARKS: [char; 2] = ['\u{f0000}', '\u{f0001}'];

/// Tokens that texts are searched for, the longest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ControlTokens(Vec<String>);

/// A part of a prompt with marked tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// A text in which control tokens count as such.
    Prompt(&'t str),
    /// A token that a user wrote: it counts as ordinary text.
    Text(&'t str),
}

impl ControlTokens {
    /// These tokens. Empty ones and doubles do not count.
    pub fn new(tokens: impl IntoIterator<Item = String>) -> ControlTokens {
        let mut tokens: Vec<String> = tokens.into_iter().filter(|one| !one.is_empty()).collect();
        // Of two that begin alike, the longer one is meant.
        tokens.sort_by(|a, b| {
            let counts = b.chars().count().cmp(&a.chars().count());
            counts.then_with(|| a.cmp(b))
        });
        tokens.dedup();
        ControlTokens(tokens)
    }

    /// Those among a model's added tokens that a template writes, and those that are special.
    /// `added` has each token with whether it is special, and `texts` are the texts in the
    /// template's source.
    pub fn of_template(
        added: impl IntoIterator<Item = (String, bool)>,
        texts: &BTreeSet<String>,
    ) -> ControlTokens {
        let is_written = |token: &str| texts.iter().any(|text| text.contains(token));
        let is_space = |token: &str| !token.is_empty() && token.chars().all(char::is_whitespace);
        let counts = |(token, is_special): &(String, bool)| {
            *is_special || is_written(token) && !is_space(token)
        };
        ControlTokens::new(added.into_iter().filter(counts).map(|(token, _)| token))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A case whose texts have their control tokens marked: those of its messages, tools and
    /// documents, and of its variables.
    #[must_use]
    pub fn mark(&self, case: &Case) -> Case {
        let mut case = case.clone();
        let lists = [
            Some(&mut case.messages),
            case.tools.as_mut(),
            case.documents.as_mut(),
        ];
        for value in lists.into_iter().flatten().flatten() {
            self.mark_value(value);
        }
        for value in case.variables.values_mut() {
            self.mark_value(value);
        }
        case
    }

    fn mark_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(marked) = self.marked(text) {
                    *text = marked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mark_value(item)),
            Value::Object(entries) => entries
                .values_mut()
                .for_each(|entry| self.mark_value(entry)),
            _ => {}
        }
    }

    /// A text with its tokens marked. Marks that are there before are dropped: nobody can forge one.
    fn marked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(MARKS) && !self.0.iter().any(|token| text.contains(token)) {
            return Cow::Borrowed(text);
        }
        let text = text.replace(MARKS, "");
        let mut marked = String::with_capacity(text.len() + 16);
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let token = self.0.iter().find(|token| rest.starts_with(*token));
            let length = if let Some(token) = token {
                marked.push(MARKS[0]);
                marked.push_str(token);
                marked.push(MARKS[1]);
                token.len()
            } else {
                marked.push(first);
                first.len_utf8()
            };
            rest = rest.cut(length..);
        }
        Cow::Owned(marked)
    }

    /// The parts of a prompt. A mark without its partner belongs to none of them; the texts next to
    /// it stay apart.
    pub fn pieces<'t>(&self, prompt: &'t str) -> Vec<Piece<'t>> {
        let mut pieces = Vec::new();
        let (mut begin, mut at) = (0, 0);
        while let Some(found) = prompt.cut(at..).find(MARKS) {
            let mark = at + found;
            pieces.push(Piece::Prompt(prompt.cut(begin..mark)));
            let after = prompt.cut(mark + MARKS[0].len_utf8()..);
            let token = prompt.cut(mark..).starts_with(MARKS[0]).then(|| {
                let closed = |token: &&String| {
                    after
                        .strip_prefix(token.as_str())
                        .is_some_and(|rest| rest.starts_with(MARKS[1]))
                };
                self.0.iter().find(closed)
            });
            at = mark + MARKS[0].len_utf8();
            if let Some(token) = token.flatten() {
                pieces.push(Piece::Text(after.cut(..token.len())));
                at += token.len() + MARKS[1].len_utf8();
            }
            begin = at;
        }
        pieces.push(Piece::Prompt(prompt.cut(begin..)));
        pieces
    }
}

/// A prompt without the private characters around marked tokens.
pub fn without_marks(prompt: &str) -> String {
    prompt.replace(MARKS, "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens() -> ControlTokens {
        ControlTokens::new(["<a>", "<a>b", "</s>"].map(str::to_owned))
    }

    #[test]
    fn the_longest_token_is_marked_and_keys_are_not() {
        let case = Case::from_messages(vec![
            json!({"<a>": 1, "content": ["x<a>bc", "\u{f0000}</s>"]}),
        ]);
        let marked = tokens().mark(&case);
        let expected = json!({
            "<a>": 1,
            "content": ["x\u{f0000}<a>b\u{f0001}c", "\u{f0000}</s>\u{f0001}"],
        });
        assert_eq!(marked.messages, [expected]);
    }

    #[test]
    fn a_prompt_falls_into_pieces_at_its_marks() {
        let pieces = |prompt: &'static str| tokens().pieces(prompt);
        assert_eq!(
            pieces("<a>x\u{f0000}<a>\u{f0001}y"),
            [
                Piece::Prompt("<a>x"),
                Piece::Text("<a>"),
                Piece::Prompt("y")
            ]
        );
        // A template cut the marks apart.
        assert_eq!(
            pieces("x\u{f0000}<a>y"),
            [Piece::Prompt("x"), Piece::Prompt("<a>y")]
        );
        assert_eq!(without_marks("x\u{f0000}<a>\u{f0001}y"), "x<a>y");
    }

    #[test]
    fn a_template_writes_the_tokens_that_count() {
        let added = [
            ("<|x|>", true),
            ("<tool>", false),
            ("<other>", false),
            ("\n", false),
        ];
        let added = added.map(|(token, is_special)| (token.to_owned(), is_special));
        let found = ControlTokens::of_template(added, &BTreeSet::from(["a\n<tool>".to_owned()]));
        assert_eq!(found.0, ["<tool>", "<|x|>"]);
    }
}
