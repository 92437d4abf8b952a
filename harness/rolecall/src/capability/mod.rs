//! Capabilities: what a template accepts, and what becomes of it.
//!
//! Everything is found out by asking: a probe is rendered, and its words are looked for
//! in the prompt. Nothing is read out of the source but the names of variables.

mod support;

mod generation;
mod roles;
mod tools;

use std::collections::BTreeMap;

use rolecall_model::Dialect;
use schemars::JsonSchema;
use serde::Serialize;

use crate::probe::catalogue::{DOCUMENT, SYSTEM_USER, TOOLS, USER};
use crate::probe::{Content, Prober, Requirement, Seen, words};

pub use generation::{GenerationPrompt, Reasoning};
pub use roles::{Roles, System};
pub use support::Support;
pub use tools::{Calls, Results};

/// What a template can do.
///
/// In JSON each [`Support`] is an object whose `is` is `kept`, `merged`, `partial`,
/// `dropped`, `refused`, `failed` or `unknown`; the last three say why in `message` or
/// `why`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
    pub tool_calls: Calls,
    /// Results of tools.
    pub tool_results: Results,
    /// The reasoning of earlier answers.
    pub reasoning: Reasoning,
    /// Documents.
    pub documents: Support,
    /// What `add_generation_prompt` adds.
    pub generation_prompt: GenerationPrompt,
    /// Whether an answer that was begun can be continued, as transformers'
    /// `continue_final_message` does it, or as Ollama does.
    pub continue_final_message: Support,
    /// Whether the prompt changes with the date.
    pub date: bool,
    /// The special tokens that the template reads: `bos_token` and its kin.
    pub special_tokens: Vec<String>,
    /// The other variables that the template reads, besides `messages`, `tools`,
    /// `documents` and `add_generation_prompt`. Of a Go template, the fields of its root.
    pub variables: Vec<String>,
}

impl Capabilities {
    /// What became of everything that was tried, with a name for each.
    pub fn supports(&self) -> Vec<(String, &Support)> {
        let Roles {
            system,
            developer,
            unknown,
            consecutive_users,
            consecutive_assistants,
            assistant_first,
        } = &self.roles;
        let named = [
            ("a question", &self.question),
            ("system", &system.leading),
            ("system alone", &system.alone),
            ("two systems", &system.two),
            ("system later on", &system.late),
            ("developer", developer),
            ("unknown role", unknown),
            ("users in a row", consecutive_users),
            ("answers in a row", consecutive_assistants),
            ("answer first", assistant_first),
            ("tools", &self.tools),
            ("tool call", &self.tool_calls.single),
            ("object arguments", &self.tool_calls.object_arguments),
            ("JSON text arguments", &self.tool_calls.string_arguments),
            ("parallel calls", &self.tool_calls.parallel),
            ("tool result", &self.tool_results.single),
            ("result without ID", &self.tool_results.without_id),
            ("result without name", &self.tool_results.without_name),
            ("result with a long ID", &self.tool_results.long_id),
            ("reasoning in history", &self.reasoning.in_history),
            ("documents", &self.documents),
            ("continued answer", &self.continue_final_message),
        ];
        let parts = self
            .typed_content
            .iter()
            .map(|(role, support)| (format!("parts of {role}"), support));
        named
            .into_iter()
            .map(|(name, support)| (name.to_owned(), support))
            .chain(parts)
            .collect()
    }
}

/// Finds out what a template can do. Of one that uses up its limits on a single question
/// nothing more is asked.
pub fn explore(prober: &Prober<'_>) -> Capabilities {
    let (special_tokens, variables) = variables(prober);
    let question = prober.see(USER);
    if question.is_out_of_limits() {
        return Capabilities {
            special_tokens,
            variables,
            ..unknown(&question)
        };
    }
    Capabilities {
        question: Support::of(&prober.see(USER), &[words::USER]),
        given: prober.manner().given,
        content: prober.manner().content,
        roles: roles::explore(prober),
        typed_content: roles::typed_content(prober),
        tools: Support::of(&prober.see(TOOLS), &[words::TOOL, words::SECOND_TOOL]),
        tool_calls: tools::calls(prober),
        tool_results: tools::results(prober),
        reasoning: generation::reasoning(prober),
        documents: match prober.dialect() {
            Dialect::Jinja => Support::of(&prober.see(DOCUMENT), &[words::DOCUMENT]),
            Dialect::Go => Support::Unknown {
                why: "Ollama has no documents".to_owned(),
            },
        },
        generation_prompt: generation::prompt(prober),
        continue_final_message: generation::continuation(prober),
        date: [USER, SYSTEM_USER, TOOLS]
            .into_iter()
            .any(|probe| prober.see(probe).outcome != prober.see_later(probe).outcome),
        special_tokens,
        variables,
    }
}

/// Nothing is known but how a single question ended.
fn unknown(question: &Seen) -> Capabilities {
    let support = || Support::Unknown {
        why: question.refusal(),
    };
    Capabilities {
        question: Support::of(question, &[words::USER]),
        given: Requirement::Nothing,
        content: Content::String,
        roles: Roles {
            system: System {
                leading: support(),
                alone: support(),
                two: support(),
                late: support(),
            },
            developer: support(),
            unknown: support(),
            consecutive_users: support(),
            consecutive_assistants: support(),
            assistant_first: support(),
        },
        typed_content: BTreeMap::new(),
        tools: support(),
        tool_calls: Calls {
            single: support(),
            object_arguments: support(),
            string_arguments: support(),
            parallel: support(),
        },
        tool_results: Results {
            single: support(),
            without_id: support(),
            without_name: support(),
            long_id: support(),
        },
        reasoning: Reasoning {
            fields: Vec::new(),
            in_history: support(),
        },
        documents: support(),
        generation_prompt: GenerationPrompt::Unknown {
            why: question.refusal(),
        },
        continue_final_message: support(),
        date: false,
        special_tokens: Vec::new(),
        variables: Vec::new(),
    }
}

/// What every template may read: it says nothing about this one.
const STANDARD: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

fn variables(prober: &Prober<'_>) -> (Vec<String>, Vec<String>) {
    prober
        .variables()
        .into_iter()
        .filter(|name| !STANDARD.contains(&name.as_str()))
        .partition(|name| name.ends_with("_token"))
}
