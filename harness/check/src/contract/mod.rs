//! Contracts: properties that a sound template has. Each is judged over several renders.
//!
//! A contract holds, is broken, or does not apply. It is broken only if renders show that, and
//! these renders are the evidence. If a probe is refused, or the template does not support the
//! subject of the contract, the contract does not apply, and the judgement gives the reason.

mod severity;

mod evidence;

mod judgement;

mod definition;
mod mentions;
mod tally;

mod causes;

mod finding;
mod tokens;

mod reasoning;
mod vocabulary;

mod purpose;

// Contracts by subject. A feature that fails as a whole is reported once, by `working`.
mod working;

mod leaks;

mod read_answer;

mod roundtrip;

mod answers;
mod arguments;
mod calls;
mod content;
mod delimiters;
mod documents;
mod endings;

mod agents;
mod families;
mod mask;
mod media;
mod messages;
mod names;
mod prefix;
mod rendering;
mod rounds;
mod sanitizing;
mod schema;
mod served;
mod streams;
mod switches;
mod system;
mod tags;
mod texts;
mod tools;
mod training;
mod triggers;
mod turns;
mod wording;

// Names of switches are no mistakes.
mod pitfalls;

#[cfg(test)]
mod tests;

use crate::capability::{Capabilities, PrefixCache, Support};
use crate::probe::Prober;
use rolecall_core::problem::with_did_you_mean;

pub use definition::Contract;
pub use evidence::{Evidence, Relation, Render};
pub use finding::{Finding, INTERNAL_ERROR};
pub use judgement::Judgement;
pub(crate) use leaks::{NOTHING, occurrences};
pub use severity::Severity;

/// The contracts, in the order in which reports list them.
pub const ALL: &[&Contract] = &[
    &rendering::RENDERS,
    &working::CAPABILITIES_WORK,
    &names::NAMES_KNOWN,
    &pitfalls::PITFALLS_AVOIDED,
    &rendering::DETERMINISTIC,
    &rendering::DATE_INDEPENDENT,
    &rendering::SOURCE_NEWLINES,
    &rendering::REFUSAL_WORDS,
    &messages::MESSAGES_KEPT,
    &messages::LONG_HISTORY_KEPT,
    &messages::DEVELOPER_KEPT,
    &messages::UNKNOWN_ROLE_KEPT,
    &system::SYSTEM_APART,
    &messages::CONTENT_ONCE,
    &messages::CONTENT_IN_ORDER,
    &messages::REASONING_KEPT,
    &content::EMPTY_CONTENT_ALIKE,
    &content::PLAIN_CONTENT_KEPT,
    &content::TEXT_PART_IS_TEXT,
    &media::IMAGES_KEPT,
    &content::WHITESPACE_VERBATIM,
    &content::TEXT_VERBATIM,
    &content::CRLF_VERBATIM,
    &content::THINK_TAG_VERBATIM,
    &tokens::CONTROL_TOKENS_INERT,
    &sanitizing::SANITISING_HARMLESS,
    &wording::CONTROL_TOKENS_SPELT,
    &wording::PLACEHOLDERS_FILLED,
    &wording::INDENTATION_OUTSIDE,
    &tokens::ONE_BOS,
    &vocabulary::CONTROL_TOKENS_KNOWN,
    &vocabulary::TURN_END_STOPS,
    &vocabulary::ONE_BOS_TOKENISED,
    &vocabulary::BLANKS_KEPT,
    &leaks::NO_NULL_LEAK,
    &leaks::NO_REPR_LEAK,
    &tools::TOOLS_KEPT,
    &tools::TOOLS_ONCE,
    &wording::TEXTS_APART,
    &tools::NO_TOOLS_ALIKE,
    &tools::NO_CALLS_ALIKE,
    &tools::TOOL_CALLS_KEPT,
    &tools::PARALLEL_CALLS_KEPT,
    &rounds::CALLS_IN_ORDER,
    &rounds::CALL_IDS_KEPT,
    &rounds::SECOND_ROUND_ALIKE,
    &tags::TAGS_PAIRED,
    &calls::CALLS_WHOLE,
    &calls::CALLS_AS_SHOWN,
    &answers::CALLS_RECOGNISED,
    &tools::CONTENT_BESIDE_CALLS,
    &tools::TOOL_RESULTS_KEPT,
    &tools::RESULT_VERBATIM,
    &schema::SCHEMA_KEPT,
    &documents::DOCUMENTS_KEPT,
    &arguments::ARGUMENTS_ALIKE,
    &arguments::ARGUMENTS_ENCODED_ONCE,
    &arguments::KEY_ORDER_KEPT,
    &prefix::GENERATION_PROMPT_SUFFIX,
    &prefix::FINISHED_TURN_CONTINUES,
    &prefix::HISTORY_STABLE,
    &prefix::HISTORY_STABLE_TOOLS,
    &prefix::HISTORY_STABLE_REASONING,
    &prefix::OPEN_MODEL_TURN,
    &turns::OPENING_ON_REQUEST,
    &turns::TURNS_CLOSED,
    &families::FAMILY_JOINTS,
    &turns::SAME_QUESTION_TWICE,
    &turns::ROLES_STAND,
    &reasoning::REASONING_ALIKE,
    &reasoning::REASONING_WHOLE,
    &answers::REASONING_RECOGNISED,
    &switches::SWITCHES_WORK,
    &triggers::NO_HIDDEN_TRIGGERS,
    &texts::TEXTS_IN_THE_OPEN,
    &mask::ASSISTANT_MASK,
    &mask::TURN_END_LEARNED,
    &mask::ONLY_ANSWERS_LEARNED,
    &training::TRAINED_AS_ASKED,
    &roundtrip::READS_BACK,
    &roundtrip::READS_BACK_WITHOUT_END_TOKEN,
    &roundtrip::PARALLEL_CALLS_READ_BACK,
    &roundtrip::ARGUMENT_TYPES_KEPT,
    &roundtrip::UNION_TYPES_KEPT,
    &roundtrip::REASONING_READ_BACK,
    &delimiters::DELIMITERS_INERT,
    &streams::STREAMS_ALIKE,
    &streams::STREAMS_EARLY,
    &streams::CUT_SAFE,
    &served::SERVED_FIELDS,
];

/// The contracts about answers that are read with a response template: the last ones of [`ALL`].
pub fn on_read_answers() -> &'static [&'static Contract] {
    let first = ALL.iter().position(|one| **one == roundtrip::READS_BACK);
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
    &messages::MESSAGES_KEPT,
    &messages::CONTENT_ONCE,
    &messages::CONTENT_IN_ORDER,
    &tokens::ONE_BOS,
    &leaks::NO_NULL_LEAK,
    &leaks::NO_REPR_LEAK,
    &tools::TOOLS_KEPT,
    &tools::TOOL_CALLS_KEPT,
    &tools::PARALLEL_CALLS_KEPT,
    &tools::TOOL_RESULTS_KEPT,
    &tools::RESULT_VERBATIM,
    &rounds::SECOND_ROUND_ALIKE,
    &prefix::FINISHED_TURN_CONTINUES,
    &prefix::HISTORY_STABLE,
    &prefix::HISTORY_STABLE_TOOLS,
    &prefix::HISTORY_STABLE_REASONING,
    &prefix::OPEN_MODEL_TURN,
    &turns::TURNS_CLOSED,
    &turns::ROLES_STAND,
];

/// Contracts about what opens the answer that a prompt asks for.
const OF_OPENINGS: [&Contract; 2] = [&prefix::FINISHED_TURN_CONTINUES, &prefix::OPEN_MODEL_TURN];

/// What a prefix cache costs with a template. It is found out only if one of the contracts about that is
/// chosen.
pub(crate) fn prefix_cache(
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    is_chosen: impl Fn(&Contract) -> bool,
) -> PrefixCache {
    let mut about = [
        &prefix::HISTORY_STABLE,
        &prefix::HISTORY_STABLE_TOOLS,
        &prefix::HISTORY_STABLE_REASONING,
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

/// Whether a contract is about what content decides.
pub(crate) fn is_about_deciding(contract: &Contract) -> bool {
    *contract == triggers::NO_HIDDEN_TRIGGERS
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
    if *contract != rendering::RENDERS && !capabilities.question.is_kept() {
        let why = "a single question gives no prompt that holds it";
        return Judgement::DoesNotApply(why.to_owned());
    }
    if purpose::is_on_conversations(contract.id) && purpose::is_for_one_message(prober) {
        let why = "the template is for one message, not for a conversation";
        return Judgement::DoesNotApply(why.to_owned());
    }
    (contract.judge)(prober, capabilities)
}
