//! Capabilities: what a template accepts, and what it does with it.
//!
//! Everything comes from renders: a probe is rendered, and its words are searched for in the
//! prompt. Only the names of variables come from the source.

mod support;

mod generation;
mod prefix_cache;
mod roles;
mod tools;

pub(crate) mod switch;

mod capabilities;

mod ability;

use std::collections::BTreeMap;

use rolecall_core::Dialect;

use crate::probe::catalogue::{DOCUMENT, SYSTEM_USER, TOOLS, USER};
use crate::probe::{Content, Probe, Prober, Requirement, words};

pub use ability::Ability;
pub use capabilities::Capabilities;
pub use generation::{GenerationPrompt, Reasoning};
pub use prefix_cache::{PrefixCache, Recomputed, RecomputedTurn};
pub use roles::{Roles, System};
pub use support::Support;
pub use switch::{Switch, SwitchValue};
pub use tools::{ToolCalls, ToolResults};

/// Finds out what a template can do, besides what its prefix cache costs. If a single question uses up
/// the limits, no other probe is rendered.
pub(crate) fn explore(prober: &Prober<'_>) -> Capabilities {
    let (special_tokens, variables) = variables(prober);
    let question = prober.see(USER);
    if question.is_out_of_limits() {
        return Capabilities {
            special_tokens,
            variables,
            ..unknown(Support::of(&question, &[words::USER]), question.refusal())
        };
    }
    let lost = lost();
    let support = |probe: Probe, words: &[&str]| {
        let support = prober.contained(probe.name, || Support::of(&prober.see(probe), words));
        support.unwrap_or_else(|| lost.question.clone())
    };
    Capabilities {
        switches: prober
            .contained("switches", || switch::find(prober, &variables))
            .unwrap_or_default(),
        question: support(USER, &[words::USER]),
        given: prober.input_style().given,
        content: prober.input_style().content,
        roles: prober
            .contained("roles", || roles::explore(prober))
            .unwrap_or_else(|| lost.roles.clone()),
        typed_content: prober
            .contained("typed content", || roles::typed_content(prober))
            .unwrap_or_default(),
        tools: support(TOOLS, &[words::TOOL, words::SECOND_TOOL]),
        tool_calls: ToolCalls::of(support),
        tool_results: ToolResults::of(support),
        reasoning: prober
            .contained("reasoning", || generation::reasoning(prober))
            .unwrap_or_else(|| lost.reasoning.clone()),
        documents: match prober.dialect() {
            Dialect::Jinja => support(DOCUMENT, &[words::DOCUMENT]),
            Dialect::Go => Support::Unknown {
                why: "Ollama has no documents".to_owned(),
            },
        },
        generation_prompt: prober
            .contained("generation prompt", || generation::prompt(prober))
            .unwrap_or_else(|| lost.generation_prompt.clone()),
        after_result: prober
            .contained("generation prompt", || generation::after_result(prober))
            .flatten(),
        continue_final_message: prober
            .contained("continued answers", || generation::continuation(prober))
            .unwrap_or_else(|| lost.question.clone()),
        prefix_cache: PrefixCache::default(),
        date: [USER, SYSTEM_USER, TOOLS]
            .into_iter()
            .any(|probe| prober.see(probe).outcome != prober.see_later(probe).outcome),
        special_tokens,
        variables,
    }
}

/// What a template can do for a user who sets a variable, as far as contracts under settings ask
/// for it: how answers are opened. What it can do besides is as without the setting.
pub(crate) fn under_setting(prober: &Prober<'_>, usual: &Capabilities) -> Capabilities {
    Capabilities {
        question: Support::of(&prober.see(USER), &[words::USER]),
        generation_prompt: generation::prompt(prober),
        after_result: generation::after_result(prober),
        prefix_cache: PrefixCache::default(),
        ..usual.clone()
    }
}

/// The capabilities of a template whose questions ended in a panic: none is known.
pub(crate) fn lost() -> Capabilities {
    let why = "an internal error happened here".to_owned();
    unknown(Support::Unknown { why: why.clone() }, why)
}

/// The capabilities of a template that was asked one question at most.
fn unknown(question: Support, why: String) -> Capabilities {
    let unknown = Support::Unknown { why: why.clone() };
    let support = |_, _: &[&str]| unknown.clone();
    Capabilities {
        question,
        given: Requirement::Nothing,
        content: Content::String,
        roles: Roles::of(support),
        typed_content: BTreeMap::new(),
        tools: unknown.clone(),
        tool_calls: ToolCalls::of(support),
        tool_results: ToolResults::of(support),
        reasoning: Reasoning {
            fields: Vec::new(),
            in_history: unknown.clone(),
        },
        documents: unknown.clone(),
        generation_prompt: GenerationPrompt::Unknown { why },
        after_result: None,
        continue_final_message: unknown.clone(),
        prefix_cache: PrefixCache::default(),
        date: false,
        switches: Vec::new(),
        special_tokens: Vec::new(),
        variables: Vec::new(),
    }
}

/// The variables that every template may read. They say nothing about this one.
const STANDARD: [&str; 4] = ["messages", "tools", "documents", "add_generation_prompt"];

fn variables(prober: &Prober<'_>) -> (Vec<String>, Vec<String>) {
    prober
        .variables()
        .into_iter()
        .filter(|name| !STANDARD.contains(&name.as_str()))
        .partition(|name| name.ends_with("_token"))
}
