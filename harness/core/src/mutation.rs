//! Mutations: small changes of a template that good cases notice.
//!
//! An engine knows the grammar of its templates, so it says what can be changed. A mutation replaces
//! some bytes of the source, and all others stay as they are.

use std::ops::Range;

/// A small change of a template's source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutation {
    /// Where the bytes are that are replaced. It is empty where something is added.
    span: (usize, usize),
    /// What kind of change it is.
    pub kind: MutationKind,
    /// The text that takes its place.
    pub replacement: String,
}

named! {
    /// What a mutation changes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MutationKind {
        /// A condition or an operand of `and` or `or` becomes its contrary.
        Negation = "negation",
        /// `and` becomes `or`, or the other way round.
        Logic = "logic",
        /// A comparison becomes another one, such as `==` and `!=`, `<` and `<=`, `in` and `not in`.
        Comparison = "comparison",
        /// A sign becomes another one, such as `+` and `-`.
        Arithmetic = "arithmetic",
        /// True becomes false, or the other way round.
        Boolean = "boolean",
        /// A number becomes greater by one.
        Number = "number",
        /// A text or a part of it is gone, or a line break is added to it.
        Text = "text",
        /// A tag takes away the white space next to it, or it no longer does.
        WhiteSpace = "white-space",
        /// A filter is removed, and its input takes the place of its result.
        Filter = "filter",
        /// A print writes nothing.
        Print = "print",
        /// A statement is removed, such as an assignment.
        Statement = "statement",
        /// A loop's variable becomes another one, such as `loop.first` and `loop.last`.
        LoopPlace = "loop-place",
    }
}

impl Mutation {
    /// Replaces the bytes of a range.
    pub fn new(span: Range<usize>, kind: MutationKind, replacement: impl Into<String>) -> Mutation {
        Mutation {
            span: (span.start, span.end),
            kind,
            replacement: replacement.into(),
        }
    }

    /// Where the bytes are that are replaced.
    pub fn span(&self) -> Range<usize> {
        self.span.0..self.span.1
    }

    /// The same change for other bytes of the source.
    #[must_use]
    pub fn moved_to(self, span: Range<usize>) -> Mutation {
        Mutation {
            span: (span.start, span.end),
            ..self
        }
    }

    /// The source with this change. None if the source has no such place.
    pub fn applied_to(&self, source: &str) -> Option<String> {
        let before = source.get(..self.span.0)?;
        source.get(self.span())?;
        let after = source.get(self.span.1..)?;
        Some([before, &self.replacement, after].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutation_changes_only_its_bytes() {
        let change = |span| Mutation::new(span, MutationKind::Text, "ü").applied_to("aäb");
        assert_eq!(change(1..3).as_deref(), Some("aüb"));
        assert_eq!(change(4..4).as_deref(), Some("aäbü"));
        // Half of a character, and more than there is.
        assert_eq!(change(1..2), None);
        assert_eq!(change(3..5), None);
    }
}
