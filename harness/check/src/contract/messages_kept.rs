use rolecall_core::{Dialect, Outcome};

use super::frame::{Contract, Evidence, Severity};
use super::shared::messages::{CONVERSATIONS, name};
use super::shared::purpose::is_for_one_message;
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_USER, CALL_TURN_USER, DEVELOPER_USER, IMAGE, LATE_SYSTEM, PARALLEL,
    SYSTEM_CALL_RESULT, SYSTEM_ONLY, SYSTEM_TOOLS, SYSTEM_USER, SYSTEM_USER_ASSISTANT, TOOLS,
    TOOLS_TURN_USER_CLOSED, TWO_SYSTEM, USER, USER_ASSISTANT_USER,
};
use crate::probe::input_style::open;
use crate::probe::{Probe, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "messages-kept",
    meaning: "if a conversation is accepted, each of its messages is in the prompt",
    guards_against: "instructions and turns that vanish without a word",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("messages_kept.md"),
    judge: |tally, prober, _| {
        if is_for_one_message(prober) {
            let what = "the template is for one message: the others are not in the prompt";
            let seen = prober.see(USER_ASSISTANT_USER);
            return tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
        }
        let first_system = prober.see(SYSTEM_USER);
        // A template that knows the role refuses a conversation for its order by mistake.
        let is_mistake = matches!(&*first_system.outcome, Outcome::Raised { message }
            if message.to_lowercase().contains("alternat"))
            && ["'system'", "\"system\""]
                .iter()
                .any(|role| prober.source_without_comments().contains(role))
            && !prober.see(USER).is_refused();
        if is_mistake {
            let what = format!(
                "a system message and a question alternate, and {}",
                first_system.refusal()
            );
            tally.broken(Evidence::one(what, &first_system));
        }
        let has_system = first_system.is_refused() || first_system.has(words::SYSTEM);
        if !has_system {
            // A template that prints such messages elsewhere has forgotten the first one.
            let late = prober.see(LATE_SYSTEM);
            if late.has(words::SYSTEM) {
                let what =
                    "a system message at the beginning is not in the prompt, but a later one is";
                tally.broken(Evidence::one(what, &first_system));
            } else {
                // A template that looks for the role has lost what it found.
                let roles = ["== 'system'", "== \"system\"", "Role \"system\"", ".System"];
                let source = prober.source_without_comments();
                let with_tools = prober.see(SYSTEM_TOOLS).has(words::SYSTEM);
                let is_meant = roles.iter().any(|role| source.contains(role))
                    || prober.see(DEVELOPER_USER).has(words::DEVELOPER);
                let severity = if is_meant {
                    Severity::Error
                } else {
                    Severity::Limitation
                };
                let what = if with_tools {
                    "system messages are not in the prompt, unless there are tools"
                } else {
                    "system messages are not in the prompt"
                };
                tally.broken(Evidence::one(what, &first_system).with(severity));
            }
        }
        if has_system && prober.see(IMAGE).has(words::USER) {
            let asked = &prober.see(IMAGE).asked.messages;
            let messages = [vec![prober.input_style().system()], asked.clone()].concat();
            let seen = prober.ask(
                "system-image",
                "a system message, an image and a question",
                open(messages),
            );
            if seen.text().is_some() {
                tally.demand(seen.has(words::SYSTEM), || {
                    Evidence::one("the system message is not in the prompt: a system message, an image and a question", &seen)
                });
            }
        }
        let is_system = |word: &str| [words::SYSTEM, words::SECOND_SYSTEM].contains(&word);
        for (probe, words) in CONVERSATIONS.into_iter().chain(WITH_TOOLS) {
            let seen = prober.see(probe);
            // Nobody asks a model something by a system message alone, and Ollama renders no finished
            // conversation but to continue its answer.
            let is_unusual = probe == SYSTEM_ONLY
                || probe == SYSTEM_USER_ASSISTANT && prober.dialect() == Dialect::Go;
            let is_refused = matches!(*seen.outcome, Outcome::Raised { .. });
            if probe == CALL_RESULT_USER && is_refused && prober.see(CALL_RESULT).text().is_some() {
                let what = format!("a question after a tool's result: {}", seen.refusal());
                tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
            }
            if is_unusual || tally.text(&seen).is_none() {
                continue;
            }
            let expected = words.iter().filter(|word| **word != words::DEVELOPER);
            for word in expected.filter(|word| has_system || !is_system(word)) {
                tally.demand(seen.has(word), || {
                    let which = match *word {
                        words::SYSTEM if probe == TWO_SYSTEM => "the first system message",
                        words::SECOND_SYSTEM => "a later system message",
                        words::SYSTEM if probe == LATE_SYSTEM => "a later system message",
                        word => name(word),
                    };
                    let what = format!("{which} is not in the prompt: {}", probe.about);
                    Evidence::one(what, &seen)
                });
            }
        }
    },
};

/// Conversations with tools, in the same way. What is said next to a call and what a tool gave are
/// for the contracts about tools.
const WITH_TOOLS: [(Probe, &[&str]); 8] = [
    (TOOLS, &[words::USER]),
    (CALL_RESULT, &[words::USER]),
    (PARALLEL, &[words::USER]),
    (CALL_RESULT_USER, &[words::USER, words::SECOND_USER]),
    (SYSTEM_TOOLS, &[words::SYSTEM, words::USER]),
    (SYSTEM_CALL_RESULT, &[words::SYSTEM, words::USER]),
    (
        TOOLS_TURN_USER_CLOSED,
        &[words::USER, words::ASSISTANT, words::SECOND_USER],
    ),
    (
        CALL_TURN_USER,
        &[words::USER, words::SECOND_ASSISTANT, words::SECOND_USER],
    ),
];
