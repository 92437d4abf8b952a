//! Everything that is known of what a template can do.

use std::collections::BTreeMap;

use serde::Serialize;

use super::generation::{GenerationPrompt, Reasoning};
use super::prefix_cache::PrefixCache;
use super::roles::Roles;
use super::support::Support;
use super::switch::Switch;
use super::tools::{ToolCalls, ToolResults};
use crate::probe::{Content, Requirement};

/// What a template can do.
///
/// In JSON each [`Support`] is an object whose `is` is `kept`, `merged`, `partial`,
/// `dropped`, `refused`, `failed` or `unknown`; the last three say why in `message` or
/// `why`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capabilities {
    /// Whether a single question gives a prompt that holds it. If not, nothing else can
    /// be known.
    pub question: Support,
    /// What it has to be given with every conversation: `nothing`, `tools` or
    /// `documents`. The rest was found out with that.
    pub given: Requirement,
    /// How content has to be written: `string` unless the template wants `parts`.
    pub content: Content,
    /// The roles it knows, and their order.
    pub roles: Roles,
    /// Content as a list of text parts, by role.
    pub typed_content: BTreeMap<&'static str, Support>,
    /// Definitions of tools.
    pub tools: Support,
    /// Tool calls in the history.
    pub tool_calls: ToolCalls,
    /// Results of tools.
    pub tool_results: ToolResults,
    /// The reasoning of earlier answers.
    pub reasoning: Reasoning,
    /// Documents.
    pub documents: Support,
    /// What `add_generation_prompt` adds.
    pub generation_prompt: GenerationPrompt,
    /// What it adds after a tool's result, if that is something else than after a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_result: Option<String>,
    /// Whether an answer that was begun can be continued, as transformers'
    /// `continue_final_message` does it, or as Ollama does.
    pub continue_final_message: Support,
    /// How much a server with a prefix cache computes again when a conversation goes on.
    #[serde(skip_serializing_if = "PrefixCache::is_unknown")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub prefix_cache: PrefixCache,
    /// Whether the prompt changes with the date.
    pub date: bool,
    /// The variables that users may set, and what each does to the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub switches: Vec<Switch>,
    /// The special tokens that the template reads: `bos_token` and its kin.
    pub special_tokens: Vec<String>,
    /// The other variables that the template reads, besides `messages`, `tools`,
    /// `documents` and `add_generation_prompt`. Of a Go template, the fields of its root.
    pub variables: Vec<String>,
}
