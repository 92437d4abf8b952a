//! Contracts: properties that a sound template has. Each is judged over several renders.
//!
//! A contract holds, is broken, or does not apply. It is broken only if renders show that, and
//! these renders are the evidence. If a probe is refused, or the template does not support the
//! subject of the contract, the contract does not apply, and the judgement gives the reason.

mod frame;

mod shared;

// A contract is a file of its own, with its page and its faults beside it.
mod argument_types_kept;
mod arguments_alike;
mod arguments_encoded_once;
mod assistant_mask;
mod blanks_kept;
mod call_ids_kept;
mod calls_as_shown;
mod calls_in_order;
mod calls_recognised;
mod calls_whole;
mod capabilities_work;
mod content_beside_calls;
mod content_in_order;
mod content_once;
mod control_tokens_inert;
mod control_tokens_known;
mod control_tokens_spelt;
mod crlf_verbatim;
mod cut_safe;
mod date_independent;
mod delimiters_inert;
mod deterministic;
mod developer_kept;
mod documents_kept;
mod empty_content_alike;
mod family_alike;
mod family_joints;
mod finished_turn_continues;
mod generation_prompt_suffix;
mod history_stable;
mod history_stable_reasoning;
mod history_stable_tools;
mod images_kept;
mod indentation_outside;
mod key_order_kept;
mod long_history_kept;
mod messages_kept;
mod names_known;
mod no_calls_alike;
mod no_hidden_triggers;
mod no_null_leak;
mod no_repr_leak;
mod no_tools_alike;
mod one_bos;
mod one_bos_tokenised;
mod only_answers_learned;
mod open_model_turn;
mod opening_on_request;
mod parallel_calls_kept;
mod parallel_calls_read_back;
mod pitfalls_avoided;
mod placeholders_filled;
mod plain_content_kept;
mod reads_back;
mod reads_back_without_end_token;
mod reasoning_kept;
mod reasoning_read_back;
mod refusal_words;
mod renders;
mod result_verbatim;
mod roles_stand;
mod same_question;
mod sanitising_harmless;
mod schema_kept;
mod second_round_alike;
mod served_fields;
mod source_newlines;
mod streams_alike;
mod streams_early;
mod switches_work;
mod system_apart;
mod tags_paired;
mod text_part_is_text;
mod text_verbatim;
mod texts_apart;
mod texts_in_the_open;
mod think_tag_verbatim;
mod thoughts_alike;
mod thoughts_recognised;
mod thoughts_whole;
mod tool_calls_kept;
mod tool_results_kept;
mod tools_kept;
mod tools_once;
mod trained_as_asked;
mod turn_end_learned;
mod turn_end_stops;
mod turns_closed;
mod union_types_kept;
mod unknown_role_kept;
mod whitespace_verbatim;

#[cfg(test)]
mod tests;

use crate::capability::{Capabilities, PrefixCache, Support};
use crate::probe::Prober;
use rolecall_core::invocation;
use rolecall_core::problem::with_did_you_mean;
use shared::{prefix, purpose};

pub use frame::{
    Contract, Evidence, Finding, INTERNAL_ERROR, Judgement, LOG_RULES, LogRule, Relation, Render,
    Severity, log_rule,
};
pub(crate) use shared::leaks::{NOTHING, occurrences};

/// The contracts, in the order in which reports list them.
pub const ALL: &[&Contract] = &[
    &renders::CONTRACT,
    &capabilities_work::CONTRACT,
    &names_known::CONTRACT,
    &pitfalls_avoided::CONTRACT,
    &deterministic::CONTRACT,
    &date_independent::CONTRACT,
    &source_newlines::CONTRACT,
    &refusal_words::CONTRACT,
    &messages_kept::CONTRACT,
    &long_history_kept::CONTRACT,
    &developer_kept::CONTRACT,
    &unknown_role_kept::CONTRACT,
    &system_apart::CONTRACT,
    &content_once::CONTRACT,
    &content_in_order::CONTRACT,
    &reasoning_kept::CONTRACT,
    &empty_content_alike::CONTRACT,
    &plain_content_kept::CONTRACT,
    &text_part_is_text::CONTRACT,
    &images_kept::CONTRACT,
    &whitespace_verbatim::CONTRACT,
    &text_verbatim::CONTRACT,
    &crlf_verbatim::CONTRACT,
    &think_tag_verbatim::CONTRACT,
    &control_tokens_inert::CONTRACT,
    &sanitising_harmless::CONTRACT,
    &control_tokens_spelt::CONTRACT,
    &placeholders_filled::CONTRACT,
    &indentation_outside::CONTRACT,
    &one_bos::CONTRACT,
    &control_tokens_known::CONTRACT,
    &turn_end_stops::CONTRACT,
    &one_bos_tokenised::CONTRACT,
    &blanks_kept::CONTRACT,
    &no_null_leak::CONTRACT,
    &no_repr_leak::CONTRACT,
    &tools_kept::CONTRACT,
    &tools_once::CONTRACT,
    &texts_apart::CONTRACT,
    &no_tools_alike::CONTRACT,
    &no_calls_alike::CONTRACT,
    &tool_calls_kept::CONTRACT,
    &parallel_calls_kept::CONTRACT,
    &calls_in_order::CONTRACT,
    &call_ids_kept::CONTRACT,
    &second_round_alike::CONTRACT,
    &tags_paired::CONTRACT,
    &calls_whole::CONTRACT,
    &calls_as_shown::CONTRACT,
    &calls_recognised::CONTRACT,
    &content_beside_calls::CONTRACT,
    &tool_results_kept::CONTRACT,
    &result_verbatim::CONTRACT,
    &schema_kept::CONTRACT,
    &documents_kept::CONTRACT,
    &arguments_alike::CONTRACT,
    &arguments_encoded_once::CONTRACT,
    &key_order_kept::CONTRACT,
    &generation_prompt_suffix::CONTRACT,
    &finished_turn_continues::CONTRACT,
    &history_stable::CONTRACT,
    &history_stable_tools::CONTRACT,
    &history_stable_reasoning::CONTRACT,
    &open_model_turn::CONTRACT,
    &opening_on_request::CONTRACT,
    &turns_closed::CONTRACT,
    &family_joints::CONTRACT,
    &family_alike::CONTRACT,
    &same_question::CONTRACT,
    &roles_stand::CONTRACT,
    &thoughts_alike::CONTRACT,
    &thoughts_whole::CONTRACT,
    &thoughts_recognised::CONTRACT,
    &switches_work::CONTRACT,
    &no_hidden_triggers::CONTRACT,
    &texts_in_the_open::CONTRACT,
    &assistant_mask::CONTRACT,
    &turn_end_learned::CONTRACT,
    &only_answers_learned::CONTRACT,
    &trained_as_asked::CONTRACT,
    &reads_back::CONTRACT,
    &reads_back_without_end_token::CONTRACT,
    &parallel_calls_read_back::CONTRACT,
    &argument_types_kept::CONTRACT,
    &union_types_kept::CONTRACT,
    &reasoning_read_back::CONTRACT,
    &delimiters_inert::CONTRACT,
    &streams_alike::CONTRACT,
    &streams_early::CONTRACT,
    &cut_safe::CONTRACT,
    &served_fields::CONTRACT,
];

/// The contracts about answers that are read with a response template: the last ones of [`ALL`].
pub fn on_read_answers() -> &'static [&'static Contract] {
    let first = ALL.iter().position(|one| **one == reads_back::CONTRACT);
    first.and_then(|first| ALL.get(first..)).unwrap_or_default()
}

pub fn by_id(id: &str) -> Option<&'static Contract> {
    ALL.iter().copied().find(|contract| contract.id == id)
}

/// A contract by its name.
///
/// # Errors
///
/// No contract has this name. The sentence suggests the one that was probably meant.
pub fn find(id: &str) -> Result<&'static Contract, String> {
    by_id(id).ok_or_else(|| {
        let names = ALL.iter().map(|contract| contract.id);
        with_did_you_mean(format!("there is no contract `{id}`"), id, names)
    })
}

/// The same, or a rule for logs: both can be chosen.
pub fn find_chosen(id: &str) -> Result<&'static Contract, String> {
    let of_logs = LOG_RULES.iter().map(|rule| &rule.contract);
    let mut all = ALL.iter().copied().chain(of_logs);
    let names: Vec<&str> = all.clone().map(|one| one.id).collect();
    all.find(|one| one.id == id).ok_or_else(|| {
        let wrong = with_did_you_mean(format!("there is no contract `{id}`"), id, names);
        let list = invocation::command("list contracts");
        format!("{wrong}\n  `{list}` names them all")
    })
}

/// Judges a template by every contract.
pub fn judge(prober: &Prober<'_>, capabilities: &Capabilities) -> Vec<Finding> {
    judge_by_some(prober, capabilities, |_| true)
}

/// Judges a template by the chosen contracts.
pub(crate) fn judge_by_some(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    is_chosen: impl Fn(&Contract) -> bool,
) -> Vec<Finding> {
    let chosen = ALL.iter().filter(|contract| is_chosen(contract));
    chosen
        .map(|contract| finding(contract, prober, capabilities))
        .collect()
}

/// Judges a template by the chosen contracts. With each finding comes whether it may be another one if
/// no front prepares the conversations.
pub(crate) fn judge_for_fronts(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    is_chosen: impl Fn(&Contract) -> bool,
) -> Vec<(Finding, bool)> {
    prober.looked_at_prepared();
    let chosen = ALL.iter().filter(|contract| is_chosen(contract));
    let all = chosen.map(|contract| {
        let finding = finding(contract, prober, capabilities);
        (finding, prober.looked_at_prepared())
    });
    all.collect()
}

fn finding(
    contract: &'static Contract,
    prober: &Prober<'_>,
    capabilities: &Capabilities,
) -> Finding {
    let mut explained = prober.template().broken.iter();
    let judged = prober.contained(contract.id, || judge_by(contract, prober, capabilities));
    let unknown = || Judgement::DoesNotApply("an internal error happened here".to_owned());
    Finding {
        contract,
        judgement: worst_first(contract, judged.unwrap_or_else(unknown)),
        deliberate: explained
            .find(|(id, _)| id == contract.id)
            .map(|(_, why)| why.clone()),
    }
}

/// Sorts the evidence of a judgement, the worst first, and of what is as bad what is usual.
fn worst_first(contract: &Contract, mut judgement: Judgement) -> Judgement {
    if let Judgement::Broken(evidence) = &mut judgement {
        evidence.sort_by_key(|one| (one.severity.unwrap_or(contract.severity), one.is_unusual()));
    }
    judgement
}

/// Contracts about what users may change by setting a variable: what becomes of the messages, and
/// whether prompts continue each other.
const UNDER_SETTINGS: [&Contract; 19] = [
    &messages_kept::CONTRACT,
    &content_once::CONTRACT,
    &content_in_order::CONTRACT,
    &one_bos::CONTRACT,
    &no_null_leak::CONTRACT,
    &no_repr_leak::CONTRACT,
    &tools_kept::CONTRACT,
    &tool_calls_kept::CONTRACT,
    &parallel_calls_kept::CONTRACT,
    &tool_results_kept::CONTRACT,
    &result_verbatim::CONTRACT,
    &second_round_alike::CONTRACT,
    &finished_turn_continues::CONTRACT,
    &history_stable::CONTRACT,
    &history_stable_tools::CONTRACT,
    &history_stable_reasoning::CONTRACT,
    &open_model_turn::CONTRACT,
    &turns_closed::CONTRACT,
    &roles_stand::CONTRACT,
];

/// Contracts that the source alone shows to be broken, whatever the template refuses.
const OF_SOURCE: [&Contract; 3] = [
    &names_known::CONTRACT,
    &pitfalls_avoided::CONTRACT,
    &texts_in_the_open::CONTRACT,
];

/// Contracts about what opens the answer that a prompt asks for.
const OF_OPENINGS: [&Contract; 2] = [
    &finished_turn_continues::CONTRACT,
    &open_model_turn::CONTRACT,
];

/// What a prefix cache costs with a template. It is found out only if one of the contracts about that is
/// chosen.
pub(crate) fn prefix_cache(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    is_chosen: impl Fn(&Contract) -> bool,
) -> PrefixCache {
    let mut about = [
        &history_stable::CONTRACT,
        &history_stable_tools::CONTRACT,
        &history_stable_reasoning::CONTRACT,
    ]
    .into_iter();
    let takes_conversations =
        capabilities.question.is_kept() && !purpose::is_for_one_message(prober);
    if !takes_conversations || !about.any(is_chosen) {
        return PrefixCache::default();
    }
    let mut tools = [
        &capabilities.tools,
        &capabilities.tool_calls.single,
        &capabilities.tool_results.single,
    ]
    .into_iter();
    let opens_always = prefix::opens_always(prober, capabilities);
    PrefixCache::of(prober, tools.all(Support::is_kept), opens_always)
}

/// Whether a contract compares with other templates. A template that is fixed differs from them on purpose.
pub(crate) fn is_about_others(contract: &Contract) -> bool {
    *contract == family_alike::CONTRACT
}

/// Whether a contract is about what content decides.
pub(crate) fn is_about_deciding(contract: &Contract) -> bool {
    *contract == no_hidden_triggers::CONTRACT
}

/// Whether some contract is judged for each setting of a template's switches too.
pub(crate) fn has_settings(contract: &Contract) -> bool {
    UNDER_SETTINGS.contains(&contract)
}

/// Whether a contract is judged for each setting of a template's switches too. A setting that
/// changes nothing but the opening of answers can break only what is said about openings.
pub(crate) fn is_under_settings(contract: &Contract, is_of_opening: bool) -> bool {
    if is_of_opening {
        OF_OPENINGS.contains(&contract)
    } else {
        UNDER_SETTINGS.contains(&contract)
    }
}

/// Judges a template by one contract.
fn judge_by(contract: &Contract, prober: &Prober<'_>, capabilities: &Capabilities) -> Judgement {
    if !contract.dialects.contains(&prober.dialect()) {
        let why = format!("it is not about templates for {}", prober.dialect());
        return Judgement::DoesNotApply(why);
    }
    let is_of_source = OF_SOURCE.contains(&contract) && prober.reading().is_some();
    let needs_prompts = *contract != renders::CONTRACT && !is_of_source;
    if needs_prompts && !capabilities.question.is_kept() {
        let why = "a single question gives no prompt that holds it";
        return Judgement::DoesNotApply(why.to_owned());
    }
    if purpose::is_on_conversations(contract.id) && purpose::is_for_one_message(prober) {
        let why = "the template is for one message, not for a conversation";
        return Judgement::DoesNotApply(why.to_owned());
    }
    contract.judgement(prober, capabilities)
}
