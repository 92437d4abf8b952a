//! Where the bytes of a prompt come from.
//!
//! An engine that can tell gives the [`Span`]s of a prompt: each one is a stretch of bytes with one
//! origin. The spans of a prompt are in its order, touch each other, and cover it wholly.

use std::ops::Range;
use std::sync::Arc;

/// A stretch of a prompt with one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where it is in the prompt, in bytes.
    pub prompt: Range<usize>,
    /// Where it comes from.
    pub origin: Origin,
    /// What was done on the way, in order, by the template's own words for it: `trim`, `tojson`,
    /// `replace`. A text that only went through a variable has none.
    pub operations: Arc<[&'static str]>,
}

/// Where a stretch of a prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A text of the template.
    Literal {
        /// Where it is in the template's source, in bytes. This is the whole literal, with its
        /// quotation marks, if the literal contains escapes.
        source: Range<usize>,
    },
    /// A piece of what the template was given.
    Input {
        /// The text that it is a piece of.
        input: Arc<Input>,
        /// The piece, in bytes of that text. An escaped or replaced piece may be longer or shorter
        /// in the prompt.
        bytes: Range<usize>,
    },
    /// A text that an operation made: a number, a length, the punctuation of JSON, a text in
    /// capitals.
    Made {
        /// What it was made from, as far as that is known, each once.
        from: Arc<[Arc<Input>]>,
    },
}

impl Origin {
    /// Whether each byte has a known source: a text of the template, or a piece of an input.
    pub fn is_exact(&self) -> bool {
        !matches!(self, Origin::Made { .. })
    }

    /// The inputs that the bytes come from. None for a text of the template.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let inputs = match self {
            Origin::Literal { .. } => &[][..],
            Origin::Input { input, .. } => std::slice::from_ref(input),
            Origin::Made { from } => from,
        };
        inputs.iter().map(|input| &**input)
    }

    /// The origin of a part of a stretch that is so long.
    fn part(&self, within: Range<usize>, len: usize) -> Origin {
        let part = |whole: &Range<usize>| {
            if whole.len() == len {
                whole.start + within.start..whole.start + within.end
            } else {
                whole.clone()
            }
        };
        match self {
            Origin::Literal { source } => Origin::Literal {
                source: part(source),
            },
            Origin::Input { input, bytes } => Origin::Input {
                input: Arc::clone(input),
                bytes: part(bytes),
            },
            Origin::Made { from } => Origin::Made {
                from: Arc::clone(from),
            },
        }
    }
}

/// Something that a template was given: a text, a number, a list, or a map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input {
    /// The kind of thing that it is a part of.
    pub kind: InputKind,
    /// How it is reached, such as `messages[2].content`, `tools[0].function.name`, `bos_token`, or
    /// `now` for the clock. A key that is no name is written as JSON: `tools[0]["a b"]`.
    pub path: String,
}

impl Input {
    /// The path of an entry of a map: `tools[0].function`. A key that is no name is written as JSON.
    pub fn entry_path(map: &str, key: &str) -> String {
        let mut characters = key.chars();
        let begins = |c: char| c.is_alphabetic() || c == '_';
        let is_name = characters.next().is_some_and(begins)
            && characters.all(|c| c.is_alphanumeric() || c == '_');
        if is_name {
            format!("{map}.{key}")
        } else {
            format!("{map}[{}]", serde_json::Value::from(key))
        }
    }
}

named! {
    /// The kind of an input.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum InputKind {
        /// A field of a message.
        Message = "message",
        /// A field of a tool's definition.
        Tool = "tool",
        /// A field of a document.
        Document = "document",
        /// A variable of the case or of the template.
        Variable = "variable",
        /// A special token of the model, such as `bos_token`.
        Token = "token",
        /// The time of the render, as `strftime_now` writes it.
        Clock = "clock",
    }
}

/// Joins spans: puts them one after the other in a prompt, and merges neighbours that continue each
/// other. Empty stretches are left out.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Spans(Vec<Span>);

impl Spans {
    /// Appends a stretch of so many bytes.
    pub fn push(&mut self, len: usize, origin: Origin, operations: &Arc<[&'static str]>) {
        if len == 0 {
            return;
        }
        let start = self.end();
        if let Some(last) = self.0.last_mut()
            && last.operations == *operations
            && continues(last, len, &origin)
        {
            last.prompt.end += len;
            match (&mut last.origin, origin) {
                (Origin::Literal { source }, Origin::Literal { source: next }) => {
                    source.end = next.end;
                }
                (Origin::Input { bytes, .. }, Origin::Input { bytes: next, .. }) => {
                    bytes.end = next.end;
                }
                _ => {}
            }
            return;
        }
        self.0.push(Span {
            prompt: start..start + len,
            origin,
            operations: Arc::clone(operations),
        });
    }

    /// Appends the spans of a text that follows this one.
    pub fn extend(&mut self, others: &Spans) {
        for span in &others.0 {
            self.push(span.prompt.len(), span.origin.clone(), &span.operations);
        }
    }

    /// The part of them that lies between two places. A stretch that is cut keeps its whole origin
    /// if its bytes are not one for one in it.
    pub fn cut(&self, part: Range<usize>) -> Spans {
        let mut cut = Spans::default();
        let first = self.0.partition_point(|span| span.prompt.end <= part.start);
        for span in &self.0[first..] {
            let start = span.prompt.start.max(part.start);
            let end = span.prompt.end.min(part.end);
            if start >= end {
                break;
            }
            let within = start - span.prompt.start..end - span.prompt.start;
            let origin = span.origin.part(within, span.prompt.len());
            cut.push(end - start, origin, &span.operations);
        }
        cut
    }

    /// The same spans after an operation.
    pub fn after(&self, operation: &'static str) -> Spans {
        let mut after = Spans::default();
        for span in &self.0 {
            let operations = match span.operations.last() {
                // A loop that applies one filter again and again would otherwise make a list as long as
                // its iterations.
                Some(last) if *last == operation => Arc::clone(&span.operations),
                _ => span.operations.iter().copied().chain([operation]).collect(),
            };
            after.push(span.prompt.len(), span.origin.clone(), &operations);
        }
        after
    }

    /// The inputs that they come from, each once.
    pub fn inputs(&self) -> Vec<Arc<Input>> {
        let mut inputs: Vec<Arc<Input>> = Vec::new();
        for span in &self.0 {
            let of_span = match &span.origin {
                Origin::Literal { .. } => &[][..],
                Origin::Input { input, .. } => std::slice::from_ref(input),
                Origin::Made { from } => from,
            };
            for input in of_span {
                if !inputs.contains(input) {
                    inputs.push(Arc::clone(input));
                }
            }
        }
        inputs
    }

    /// How many spans there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The spans in the order of the text, which they cover without gaps.
    pub fn list(&self) -> &[Span] {
        &self.0
    }

    /// The byte of the text at which the next span begins.
    pub fn end(&self) -> usize {
        self.0.last().map_or(0, |last| last.prompt.end)
    }

    /// The same as [`Spans::list`], without a copy.
    pub fn into_list(self) -> Vec<Span> {
        self.0
    }
}

/// Whether a stretch goes on where the last one ends, in its origin too. Texts whose length in the
/// prompt is another than in their origin stay apart: a place within them would say nothing.
fn continues(last: &Span, len: usize, next: &Origin) -> bool {
    let same = |bytes: &Range<usize>, next: &Range<usize>| {
        bytes.end == next.start && bytes.len() == last.prompt.len() && next.len() == len
    };
    match (&last.origin, next) {
        (Origin::Literal { source }, Origin::Literal { source: next }) => same(source, next),
        (
            Origin::Input { input, bytes },
            Origin::Input {
                input: of,
                bytes: next,
            },
        ) => input == of && same(bytes, next),
        (Origin::Made { from }, Origin::Made { from: next }) => from == next,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(bytes: Range<usize>) -> Origin {
        let input = Input {
            kind: InputKind::Message,
            path: "messages[0].content".to_owned(),
        };
        Origin::Input {
            input: Arc::new(input),
            bytes,
        }
    }

    #[test]
    fn a_key_that_is_no_name_is_json() {
        for (key, path) in [
            ("city", "m.city"),
            ("größe_2", "m.größe_2"),
            ("_", "m._"),
            ("2nd", "m[\"2nd\"]"),
            ("a b", "m[\"a b\"]"),
            ("", "m[\"\"]"),
            ("\"", "m[\"\\\"\"]"),
        ] {
            assert_eq!(Input::entry_path("m", key), path);
        }
    }

    #[test]
    fn neighbours_that_continue_each_other_are_one() {
        let none: Arc<[&'static str]> = Arc::from([]);
        let mut spans = Spans::default();
        spans.push(2, content(0..2), &none);
        spans.push(3, content(2..5), &none);
        spans.push(1, content(7..8), &none);
        spans.push(0, content(8..8), &none);
        spans.push(2, content(8..9), &none);
        let found = spans.into_list();
        let places: Vec<_> = found.iter().map(|span| span.prompt.clone()).collect();
        assert_eq!(places, [0..5, 5..6, 6..8]);
        assert_eq!(found[0].origin, content(0..5));
    }

    #[test]
    fn a_part_of_a_stretch_is_a_part_of_its_origin() {
        let none: Arc<[&'static str]> = Arc::from([]);
        let mut spans = Spans::default();
        spans.push(5, content(10..15), &none);
        // A line break that the prompt has as two characters.
        spans.push(2, content(15..16), &none);
        let cut = spans.cut(3..7).after("trim");
        let found: Vec<_> = cut.list().iter().map(|span| span.origin.clone()).collect();
        assert_eq!(found, [content(13..15), content(15..16)]);
        assert_eq!(cut.end(), 4);
        assert_eq!(*cut.list()[0].operations, ["trim"]);
        assert_eq!(cut.inputs().len(), 1);
    }
}
