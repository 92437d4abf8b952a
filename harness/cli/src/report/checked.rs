//! What `check` finds out, as JSON.

use std::io::{self, Write};

use super::comparison::ComparisonDocument;
use super::fixes::{FixDocument, TemplateFixes};
use super::json::{self, VERSION, document};
use rolecall_check::card::Card;
use rolecall_check::reach::Reach;
use rolecall_suite::comparison::Comparison;
use rolecall_suite::own_conversations::JudgedConversations;

document! {
    /// The report cards of `check --format json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Cards"))]
    pub struct CheckDocument<'c> from (
        cards: &'c [Card], reach: Reach, bases: &[&'c Comparison], fixes: Option<&'c [TemplateFixes]>,
        conversations: &'c [JudgedConversations],
    ) {
        /// The version of this format: 1.
        rolecall: u32 = VERSION,
        /// The cards, in the order of the templates.
        cards: &'c [Card] = cards,
        /// What the cards say together.
        summary: Reach = reach,
        /// The templates compared with their bases, each as `diff --format json` prints it: A is the
        /// base.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        bases: Vec<ComparisonDocument<'c>> =
            bases.iter().map(|base| ComparisonDocument::of(base)).collect(),
        /// The fixes of each template, in the order in which they are applied. They are absent with
        /// `-q`, and without `--fix` also with `--engine`.
        #[cfg_attr(feature = "schema", schemars(default))]
        fixes?: Option<Vec<FixDocument<'c>>> =
            fixes.map(|fixes| fixes.iter().flat_map(TemplateFixes::documents).collect()),
        /// What is wrong with the user's own conversations, for each template.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        conversations: &'c [JudgedConversations] = conversations,
    }
}

/// Writes report cards, their sum, the templates compared with their bases, the fixes if they were
/// looked for, and what is wrong with conversations: `{"rolecall": 1, "cards": […], "summary": {…}}`.
pub fn write(
    out: &mut dyn Write,
    cards: &[Card],
    reach: Reach,
    bases: &[&Comparison],
    fixes: Option<&[TemplateFixes]>,
    conversations: &[JudgedConversations],
) -> io::Result<()> {
    json::write(
        out,
        &CheckDocument::of(cards, reach, bases, fixes, conversations),
    )
}
