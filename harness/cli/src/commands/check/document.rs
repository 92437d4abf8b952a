//! What `check` finds out, as JSON.

use std::io::{self, Write};

use crate::report::comparison::ComparisonDocument;
use crate::report::fixes::{FixDocument, TemplateFixes};
use crate::report::json;
use crate::report::json::{VERSION, document};
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
        /// The findings for which the search for fixes ended early: it takes at most about a second
        /// for a template, counted in work and not in time. `--fix` has no such limit.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        untried: Vec<UntriedDocument<'c>> = fixes.unwrap_or_default().iter()
            .filter(|of| !of.fixes.untried.is_empty()).map(UntriedDocument::of).collect(),
        /// What is wrong with the user's own conversations, for each template.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        conversations: &'c [JudgedConversations] = conversations,
    }

    /// Findings of a template for which the search for fixes ended early.
    #[cfg_attr(feature = "schema", schemars(rename = "Untried"))]
    struct UntriedDocument<'c> from (of: &'c TemplateFixes) {
        /// The template's name, as on its card.
        template: &'c str = &of.template,
        /// The contracts that it breaks.
        contracts: &'c [&'static str] = &of.fixes.untried,
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
