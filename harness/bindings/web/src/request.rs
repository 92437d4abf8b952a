//! What can be asked, and the form of the answers.

use rolecall_core::{Limits, Template};
use rolecall_front::embed;
use serde::{Deserialize, Serialize};

/// A question: its name, and what belongs to it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// The version of the module, and the fronts that it knows.
    About {},
    /// The prompt of a conversation, which is a JSON text as `embed` takes it.
    Render {
        template: TemplateText,
        conversation: String,
        /// What the clock shows, unless the conversation says so itself: `2026-01-02T03:04:05Z`.
        now: String,
        /// What is wanted besides the prompt.
        details: Option<Details>,
    },
    /// What the applications that may stand before a template make of a conversation.
    Served {
        template: TemplateText,
        conversation: String,
        now: String,
    },
    /// The report card of a template.
    Card {
        template: TemplateText,
        /// Whether a page shows it.
        #[serde(default)]
        page: bool,
    },
    /// The report card, and patches that the conversations of the suite prove.
    Fixes { template: TemplateText },
    /// Two templates with the conversations of the suite.
    Diff { a: TemplateText, b: TemplateText },
    /// The difference of two texts, as a patch.
    Patch { a: String, b: String },
    /// The difference of two texts, as pages show it.
    Difference { a: String, b: String },
    /// Takes over the conversations of the suite, from the file that comes with the request.
    Suite {},
    /// Reads conversations from a file: a request of a client, a log, data for training.
    Conversations { name: String },
    /// Reads the templates of a GGUF file, of which the beginning comes with the request.
    Gguf { name: String },
}

/// What a render has besides the prompt: the origin of each byte, what the model writes, and which places of
/// the template were reached. Each takes time.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Details {
    pub(crate) trace: bool,
    pub(crate) mask: bool,
    pub(crate) coverage: bool,
}

/// A template, with its options as `embed` takes them: a JSON text, perhaps an empty one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TemplateText {
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) options: String,
}

impl TemplateText {
    pub(crate) fn read(&self) -> Result<(Template, Limits), String> {
        embed::read_template(&self.source, &self.options)
    }
}

/// An answer as JSON.
pub(crate) fn written(answer: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(answer).map_err(|error| error.to_string())
}
