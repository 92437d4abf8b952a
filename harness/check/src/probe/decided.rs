//! What content decides in a template.

use std::rc::Rc;

use rolecall_core::named;
use serde::Serialize;

use super::outcome::ProbeOutcome;

named! {
    /// The kind of a literal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum LiteralKind {
        /// Nothing: the comparison asks whether there is a text.
        Empty = "nothing",
        /// White space.
        Space = "white space",
        /// Signs without a letter or a digit.
        Sign = "a sign",
        /// A tag of the format, such as `</think>`, `[INST]` or `{"name"`.
        Tag = "a tag",
        /// A switch that users write into a question, such as `/no_think`.
        Switch = "a switch",
        /// A word, or anything else that people write.
        Word = "a word",
        /// Words that the template writes itself, such as `thinking on`: it looks whether they are there
        /// already.
        Own = "its own words",
        /// A literal with which a name is compared.
        Name = "a name",
        /// A number: of characters, of words, or one that is in the text.
        Number = "a number",
    }
}

/// A comparison of content with a literal, as report cards list it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContentComparison {
    /// The line of the literal or of the condition in the template, from 1.
    pub line: usize,
    /// The operation, by the template's own word for it.
    pub operation: String,
    /// The literal. Empty if the template asks whether there is a text.
    pub literal: String,
    /// The kind of the literal.
    pub kind: LiteralKind,
    /// Whose texts were compared with it: roles, `tools` or `documents`, in the order in which they
    /// were seen.
    pub of: Vec<String>,
    /// Whether the prompt changes outside of the text if the comparison holds.
    pub changes_prompt: bool,
}

/// What content decides in a template.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    /// The comparisons, in the order of the source.
    pub(crate) comparisons: Vec<ContentComparison>,
    /// What should not decide anything, and does.
    pub(crate) triggers: Vec<Trigger>,
    /// Whether the engine can tell what the template looks at.
    pub(crate) is_known: bool,
    /// Why something was not tried, if so.
    pub(crate) untried: Option<String>,
}

/// Something in a conversation that changes the prompt, although nothing should depend on it.
#[derive(Debug)]
pub(crate) struct Trigger {
    pub(crate) what: String,
    /// The line of the template where it is decided, from 1, if that is known.
    pub(crate) line: Option<usize>,
    /// A conversation without it. What its render looked at is not kept: that is as much as the template
    /// has conditions, for each of them.
    pub(crate) usual: Rc<ProbeOutcome>,
    pub(crate) seen: Rc<ProbeOutcome>,
}
