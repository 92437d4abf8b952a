//! What a template is for: a chat, or one message alone.

use crate::probe::catalogue::{TWO_TURNS, TWO_USERS, USER, USER_ASSISTANT_USER};
use crate::probe::{Prober, words};

/// How long a template's own words are at least where it is for one message. Guards and judges say
/// at length what is to be decided about the message.
const INSTRUCTIONS: usize = 200;

/// Contracts about what becomes of earlier messages. They say nothing about a template that is for
/// one message.
const ON_CONVERSATIONS: [&str; 24] = [
    "long-history-kept",
    "content-once",
    "content-in-order",
    "reasoning-kept",
    "unknown-role-kept",
    "developer-kept",
    "think-tag-verbatim",
    "tools-kept",
    "tool-calls-kept",
    "tool-results-kept",
    "text-part-is-text",
    "finished-turn-continues",
    "history-stable",
    "history-stable-tools",
    "history-stable-reasoning",
    "opening-on-request",
    "turns-closed",
    "same-question",
    "roles-stand",
    "assistant-mask",
    "turn-end-learned",
    "only-answers-learned",
    "trained-as-asked",
    "generation-prompt-suffix",
];

/// Whether a contract is about conversations of several messages.
pub(in crate::contract) fn is_on_conversations(id: &str) -> bool {
    ON_CONVERSATIONS.contains(&id)
}

/// Whether a template shows the model one message of a conversation, between instructions about it,
/// as the templates of guards, judges and rankers do.
pub(in crate::contract) fn is_for_one_message(prober: &Prober<'_>) -> bool {
    let alone = prober.see(USER);
    let Some(text) = alone.text() else {
        return false;
    };
    if text.len() < INSTRUCTIONS + words::USER.len() {
        return false;
    }
    let said = [
        words::USER,
        words::ASSISTANT,
        words::SECOND_USER,
        words::SECOND_ASSISTANT,
    ];
    // Which of the messages it shows differs: the last one, or the last question.
    [USER_ASSISTANT_USER, TWO_TURNS, TWO_USERS]
        .into_iter()
        .all(|probe| {
            let seen = prober.see(probe);
            seen.text().is_some() && said.iter().filter(|word| seen.has(word)).count() == 1
        })
}

/// Why a contract about finished conversations says nothing about a template with instructions at their
/// end.
pub(in crate::contract) const INSTRUCTS_LAST: &str =
    "instructions follow the last message, whoever wrote it: every prompt is written anew";

/// Whether a template writes instructions after the last message also where that is an answer, and no
/// other one is asked for. Guards and judges do so, and templates that are for prompts alone.
pub(in crate::contract) fn instructs_last(prober: &Prober<'_>) -> bool {
    let seen = prober.see(TWO_TURNS);
    let after = seen.after(words::SECOND_ASSISTANT);
    after.is_some_and(|text| text.len() >= INSTRUCTIONS)
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_front::engines::Engines;

    use super::*;
    use crate::contract::ALL;
    use crate::probe::ProbeInputs;

    fn is_so(source: &str) -> bool {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let template = Template::from_source("t", Dialect::Jinja, source);
        let inputs = ProbeInputs::default();
        is_for_one_message(&Prober::new(engine, &template, &inputs))
    }

    #[test]
    fn guards_are_distinguished_from_chats_that_forget() {
        let about = "Decide whether the message is safe. ".repeat(8);
        assert!(is_so(&format!(
            "{about}{{{{ messages[-1].content }}}}\nYour verdict:"
        )));
        assert!(!is_so("<|user|>{{ messages[-1].content }}<|end|>"));
        assert!(!is_so(&format!(
            "{about}{{% for m in messages %}}{{{{ m.content }}}}{{% endfor %}}"
        )));
    }

    #[test]
    fn guards_instruct_after_the_last_message() {
        let engines = Engines::default();
        let inputs = ProbeInputs::default();
        let is_so = |source: &str| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let prober = Prober::new(engines.for_dialect(Dialect::Jinja), &template, &inputs);
            instructs_last(&prober)
        };
        let messages = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}";
        let about = "Decide whether the last message is safe. ".repeat(8);
        assert!(is_so(&format!("{messages}{about}")));
        assert!(!is_so(&format!("{about}{messages}")));
        assert!(!is_so(&format!(
            "{messages}{{% if add_generation_prompt %}}{about}{{% endif %}}"
        )));
    }

    #[test]
    fn each_of_the_contracts_is_there() {
        for id in ON_CONVERSATIONS {
            assert!(ALL.iter().any(|contract| contract.id == id), "{id}");
        }
    }
}
