//! Contracts about messages: each is there, once, in its place.

use rolecall_core::{Dialect, Outcome};

use super::agents;
use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::purpose::is_for_one_message;
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    ASSISTANT_FIRST, CALL_RESULT, CALL_RESULT_USER, CALL_TURN_USER, DEVELOPER_USER, IMAGE,
    INLINE_REASONING, INLINE_REASONING_USER, LATE_SYSTEM, LONG, LONG_RESULT, LONG_TEXT, MANY_CALLS,
    MANY_ROUNDS, MANY_TOOLS, OTHER_QUESTION, PARALLEL, REASONED, REASONED_CALL, REASONED_LOOP,
    REASONED_TURN_USER, REASONED_USER, SYSTEM_LONG, SYSTEM_ONLY, SYSTEM_TOOLS, SYSTEM_TURNS,
    SYSTEM_USER, SYSTEM_USER_ASSISTANT, TOOLS, TOOLS_TURN_USER_CLOSED, TWO_ASSISTANTS, TWO_SYSTEM,
    TWO_TURNS, TWO_USERS, UNKNOWN_ROLE, USER, USER_ASSISTANT_USER,
};
use crate::probe::input_style::open;
use crate::probe::{Probe, Prober, words};

/// Conversations with the words that they are made of, in order.
const CONVERSATIONS: [(Probe, &[&str]); 12] = [
    (
        USER_ASSISTANT_USER,
        &[words::USER, words::ASSISTANT, words::SECOND_USER],
    ),
    (
        TWO_TURNS,
        &[
            words::USER,
            words::ASSISTANT,
            words::SECOND_USER,
            words::SECOND_ASSISTANT,
        ],
    ),
    (SYSTEM_USER, &[words::SYSTEM, words::USER]),
    (
        SYSTEM_TURNS,
        &[
            words::SYSTEM,
            words::USER,
            words::ASSISTANT,
            words::SECOND_USER,
        ],
    ),
    (
        SYSTEM_USER_ASSISTANT,
        &[words::SYSTEM, words::USER, words::ASSISTANT],
    ),
    (SYSTEM_ONLY, &[words::SYSTEM]),
    (
        TWO_SYSTEM,
        &[words::SYSTEM, words::SECOND_SYSTEM, words::USER],
    ),
    (
        LATE_SYSTEM,
        &[
            words::USER,
            words::ASSISTANT,
            words::SYSTEM,
            words::SECOND_USER,
        ],
    ),
    (TWO_USERS, &[words::USER, words::SECOND_USER]),
    (
        TWO_ASSISTANTS,
        &[
            words::USER,
            words::ASSISTANT,
            words::SECOND_ASSISTANT,
            words::SECOND_USER,
        ],
    ),
    (ASSISTANT_FIRST, &[words::ASSISTANT, words::USER]),
    (DEVELOPER_USER, &[words::DEVELOPER, words::USER]),
];

/// Conversations with tools, in the same way. What is said next to a call and what a tool gave are
/// for the contracts about tools.
const WITH_TOOLS: [(Probe, &[&str]); 7] = [
    (TOOLS, &[words::USER]),
    (CALL_RESULT, &[words::USER]),
    (PARALLEL, &[words::USER]),
    (CALL_RESULT_USER, &[words::USER, words::SECOND_USER]),
    (SYSTEM_TOOLS, &[words::SYSTEM, words::USER]),
    (
        TOOLS_TURN_USER_CLOSED,
        &[words::USER, words::ASSISTANT, words::SECOND_USER],
    ),
    (
        CALL_TURN_USER,
        &[words::USER, words::SECOND_ASSISTANT, words::SECOND_USER],
    ),
];

/// What a word represents in these conversations.
fn name(word: &str) -> &'static str {
    match word {
        words::SYSTEM => "the system message",
        words::SECOND_SYSTEM => "the second system message",
        words::DEVELOPER => "the developer message",
        words::USER => "the first question",
        words::SECOND_USER => "the second question",
        words::ASSISTANT => "the first answer",
        words::FIRST_VALUE => "the first call",
        words::THIRD_VALUE => "the second call",
        words::RESULT => "the first result",
        words::SECOND_RESULT => "the second result",
        _ => "the second answer",
    }
}

pub(super) static MESSAGES_KEPT: Contract = Contract {
    id: "messages-kept",
    meaning: "if a conversation is accepted, each of its messages is in the prompt",
    guards_against: "instructions and turns that vanish without a word",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/messages-kept.md"),
    judge: messages_kept,
};

fn messages_kept(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    if is_for_one_message(prober) {
        let what = "the template is for one message: the others are not in the prompt";
        let seen = prober.see(USER_ASSISTANT_USER);
        tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
        return tally.judgement();
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
            let what = "a system message at the beginning is not in the prompt, but a later one is";
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
        if is_unusual || tally.text(&seen).is_none() {
            continue;
        }
        let expected = words.iter().filter(|word| **word != words::DEVELOPER);
        for word in expected.filter(|word| has_system || !is_system(word)) {
            tally.demand(seen.has(word), || {
                let what = format!("{} is not in the prompt: {}", name(word), probe.about);
                Evidence::one(what, &seen)
            });
        }
    }
    tally.judgement()
}

pub(super) static LONG_HISTORY_KEPT: Contract = Contract {
    id: "long-history-kept",
    meaning: "however long a conversation is, its texts, tools, calls and results are in the prompt",
    guards_against: "a model that forgets how the conversation began, without any error",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/long-history-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let short = prober.see(TWO_TURNS);
        let mut said = [
            words::USER,
            words::ASSISTANT,
            words::SECOND_USER,
            words::SECOND_ASSISTANT,
        ]
        .iter();
        if tally.text(&short).is_none() {
            return tally.judgement();
        }
        if !said.all(|word| short.has(word)) {
            tally.skip("a short conversation is not as a whole in the prompt either");
            return tally.judgement();
        }
        for (probe, before) in [(LONG, None), (SYSTEM_LONG, Some(SYSTEM_USER))] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            let turns = words::TURNS.iter();
            let all: Vec<&str> = turns.flat_map(|(asked, said)| [*asked, *said]).collect();
            let lost = all.iter().filter(|word| !seen.has(word)).count();
            tally.demand(lost == 0, || {
                let what = format!(
                    "of the {} messages of a conversation, {lost} are not in the prompt",
                    seen.asked.messages.len()
                );
                Evidence::one(what, &seen)
            });
            if before.is_some_and(|probe| prober.see(probe).has(words::SYSTEM)) {
                tally.demand(seen.has(words::SYSTEM), || {
                    let what = "the system message before a long conversation is not in the prompt";
                    Evidence::one(what, &seen)
                });
            }
        }
        long_texts_kept(&mut tally, prober);
        many_kept(&mut tally, prober);
        agents::are_kept(&mut tally, prober);
        tally.judgement()
    },
};

/// Demands that a long text is in the prompt up to its end.
fn long_texts_kept(tally: &mut Tally, prober: &Prober<'_>) {
    for (probe, who) in [
        (LONG_TEXT, "a long question"),
        (LONG_RESULT, "a long result"),
    ] {
        let seen = prober.see(probe);
        if seen.text().is_some() && seen.has(words::BEFORE) {
            tally.demand(seen.has(words::AFTER), || {
                Evidence::one(format!("the end of {who} is not in the prompt"), &seen)
            });
        }
    }
}

/// Demands that of many tools, calls and results all are in the prompt, if the first two are.
fn many_kept(tally: &mut Tally, prober: &Prober<'_>) {
    let names = words::TURNS.map(|(asked, _)| asked);
    let results = words::TURNS.map(|(_, said)| said);
    for (probe, all, what) in [
        (MANY_TOOLS, &names[..6], "tools"),
        (MANY_CALLS, &names[..4], "calls at once"),
        (MANY_CALLS, &results[..4], "results of calls at once"),
        (MANY_ROUNDS, &names[..4], "calls in a row"),
        (MANY_ROUNDS, &results[..4], "results of calls in a row"),
    ] {
        let seen = prober.see(probe);
        let found = all.iter().filter(|word| seen.has(word)).count();
        // What a template never shows is reported by other contracts.
        if seen.text().is_some() && found > 1 {
            tally.demand(found == all.len(), || {
                let what = format!("of {} {what} only {found} are in the prompt", all.len());
                Evidence::one(what, &seen)
            });
        }
    }
}

pub(super) static DEVELOPER_KEPT: Contract = Contract {
    id: "developer-kept",
    meaning: "a developer message is in the prompt, or refused",
    guards_against: "instructions of newer clients that vanish without a word",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/developer-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let seen = prober.see(DEVELOPER_USER);
        if tally.text(&seen).is_none() {
            return tally.judgement();
        }
        // Words about developers in a prompt are no role.
        let source = prober.source_without_comments();
        let is_known = ["'developer'", "\"developer\"", "`developer`", ">developer<"]
            .iter()
            .any(|role| source.contains(role));
        let unknown = prober.see(UNKNOWN_ROLE);
        if !is_known && unknown.text().is_some() && !unknown.has(words::NARRATOR) {
            tally.skip("the template drops every role that it does not know");
            return tally.judgement();
        }
        // A role that the template does not name is one that it does not have.
        let severity = if is_known {
            Severity::Error
        } else {
            Severity::Limitation
        };
        tally.demand_with(severity, seen.has(words::DEVELOPER), || {
            Evidence::one("the developer message is not in the prompt", &seen)
        });
        if seen.has(words::DEVELOPER) {
            let m = prober.input_style();
            let said = vec![m.message("assistant", words::DEVELOPER), m.user()];
            let about = "the words of a developer message as an answer";
            let answer = prober.ask("developer-as-answer", about, open(said));
            tally.demand_with(severity, seen.text() != answer.text(), || {
                let what = "the developer message reads exactly as an answer of the model";
                Evidence::one(what, &seen).at(seen.find(words::DEVELOPER))
            });
        }
        tally.judgement()
    },
};

pub(super) static UNKNOWN_ROLE_KEPT: Contract = Contract {
    id: "unknown-role-kept",
    meaning: "a message with an unknown role is in the prompt, or refused",
    guards_against: "a message that vanishes because its role is misspelt or new, such as `developer`",
    severity: Severity::Limitation,
    dialects: &Dialect::ALL,
    page: include_str!("pages/unknown-role-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let seen = prober.see(UNKNOWN_ROLE);
        if tally.text(&seen).is_some() {
            tally.demand(seen.has(words::NARRATOR), || {
                Evidence::one(
                    "messages in roles that the template does not know are not in the prompt",
                    &seen,
                )
            });
        }
        tally.judgement()
    },
};

pub(super) static CONTENT_ONCE: Contract = Contract {
    id: "content-once",
    meaning: "no content is in the prompt more than once",
    guards_against: "a system message that is written both at the top and in its turn",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/content-once.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (probe, words) in CONVERSATIONS {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            for word in words {
                let count = seen.count(word);
                tally.demand(count <= 1, || {
                    let what = format!("{} is in the prompt {count} times", name(word));
                    Evidence::one(what, &seen).at(seen.find_again(word))
                });
            }
        }
        for (probe, words) in ONCE_WITH_TOOLS {
            let seen = prober.see(probe);
            for word in words.iter().filter(|word| seen.count(word) > 1) {
                let count = seen.count(word);
                let what = format!(
                    "{} is in the prompt {count} times: {}",
                    name(word),
                    probe.about
                );
                tally.broken(Evidence::one(what, &seen).at(seen.find_again(word)));
            }
        }
        for probe in [
            REASONED,
            REASONED_USER,
            REASONED_CALL,
            INLINE_REASONING,
            INLINE_REASONING_USER,
        ] {
            let seen = prober.see(probe);
            tally.demand(seen.count(words::REASONING) <= 1, || {
                let what = format!(
                    "the reasoning of an answer is in the prompt twice: {}",
                    probe.about
                );
                Evidence::one(what, &seen).at(seen.find_again(words::REASONING))
            });
            tally.demand(seen.count(words::ASSISTANT) <= 1, || {
                let what = format!("the answer is in the prompt twice: {}", probe.about);
                Evidence::one(what, &seen).at(seen.find_again(words::ASSISTANT))
            });
        }
        agents::are_once(&mut tally, prober);
        tally.judgement()
    },
};

/// Conversations with tools, with what they have once.
const ONCE_WITH_TOOLS: [(Probe, &[&str]); 5] = [
    (TOOLS, &[words::USER]),
    (SYSTEM_TOOLS, &[words::SYSTEM, words::USER]),
    (
        OTHER_QUESTION,
        &[words::USER, words::ASSISTANT, words::SECOND_USER],
    ),
    (
        CALL_TURN_USER,
        &[
            words::USER,
            words::FIRST_VALUE,
            words::RESULT,
            words::SECOND_ASSISTANT,
            words::SECOND_USER,
        ],
    ),
    (
        PARALLEL,
        &[
            words::FIRST_VALUE,
            words::THIRD_VALUE,
            words::RESULT,
            words::SECOND_RESULT,
        ],
    ),
];

pub(super) static CONTENT_IN_ORDER: Contract = Contract {
    id: "content-in-order",
    meaning: "the prompt has the messages in the order of the conversation",
    guards_against: "answers before their questions, instructions that move when the conversation goes on",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/content-in-order.md"),
    judge: content_in_order,
};

fn content_in_order(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    for (probe, words) in CONVERSATIONS {
        let seen = prober.see(probe);
        if tally.text(&seen).is_none() {
            continue;
        }
        let places: Vec<_> = words
            .iter()
            .filter_map(|word| Some((*word, seen.find(word)?.start)))
            .collect();
        let next = places.iter().skip(1);
        for (&(first, before), &(second, after)) in places.iter().zip(next) {
            // Many models have one place for instructions.
            let is_turn =
                |word| ![words::SYSTEM, words::SECOND_SYSTEM, words::DEVELOPER].contains(&word);
            let severity = if is_turn(first) && is_turn(second) {
                Severity::Warning
            } else {
                Severity::Limitation
            };
            tally.demand_with(severity, before < after, || {
                let what = format!("{} comes after {}", name(first), name(second));
                Evidence::one(what, &seen).at(seen.find(first))
            });
        }
    }
    agents::are_in_order(&mut tally, prober);
    tally.judgement()
}

pub(super) static REASONING_KEPT: Contract = Contract {
    id: "reasoning-kept",
    meaning: "the reasoning of the last answer is in the prompt",
    guards_against: "training data and tool loops without the reasoning that belongs to them",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("pages/reasoning-kept.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let seen = prober.see(REASONED);
        if tally.text(&seen).is_some() {
            tally.demand(seen.has(words::REASONING), || {
                Evidence::one("the reasoning of the answer is not in the prompt", &seen)
            });
        }
        let seen = prober.see(REASONED_CALL);
        if capabilities.tool_calls.single.is_kept() && tally.text(&seen).is_some() {
            // An agent needs this reasoning for its next step, more than the reasoning of a last answer.
            let severity = if prober.see(REASONED).has(words::REASONING) {
                Severity::Warning
            } else {
                Severity::Note
            };
            tally.demand_with(severity, seen.has(words::REASONING), || {
                let what = "the reasoning before a tool call is not in the prompt";
                Evidence::one(what, &seen)
            });
        }
        // No model was trained with the reasoning of old turns and without that of its own turn.
        let calls = capabilities.tool_calls.single.is_kept();
        for (old, new) in [
            (REASONED_USER, REASONED_CALL),
            (REASONED_USER, REASONED),
            (REASONED_TURN_USER, REASONED_LOOP),
        ] {
            let (old, new) = (prober.see(old), prober.see(new));
            let is_lost =
                old.has(words::REASONING) && new.text().is_some() && !new.has(words::REASONING);
            if is_lost && (calls || new.probe == REASONED.name) {
                let what = "the reasoning of earlier answers is in the prompt, and that of the \
                            last answer or the running turn is not";
                tally.broken(Evidence::differ(what, &old, &new).with(Severity::Error));
            }
        }
        let running = prober.see(REASONED_LOOP);
        let [first, second] =
            [words::REASONING, words::SECOND_REASONING].map(|word| running.has(word));
        if calls && first != second {
            let what = "only some of the reasoning in a running turn is in the prompt";
            tally.broken(Evidence::one(what, &running).with(Severity::Warning));
        }
        tally.judgement()
    },
};
