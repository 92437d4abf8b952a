use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::tokens::special_token;
use crate::probe::catalogue::{
    CALL_RESULT, CALL_TURN_USER, DOCUMENT, OTHER_QUESTION, PARALLEL_TURN, REASONED_LOOP,
    REASONED_TURN_USER, REASONED_USER, SYSTEM_CALL_RESULT, SYSTEM_CALL_TURN, SYSTEM_DOCUMENT,
    SYSTEM_OTHER_QUESTION, SYSTEM_PARALLEL_TURN, SYSTEM_REASONED_LOOP, SYSTEM_REASONED_TURN_USER,
    SYSTEM_REASONED_USER, SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_TWO_ROUNDS_TURN, SYSTEM_USER,
    SYSTEM_USER_ASSISTANT, TOOLS, TWO_ROUNDS_TURN, TWO_TURNS, USER, USER_ASSISTANT,
    USER_ASSISTANT_USER,
};
use crate::probe::{Probe, ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "system-apart",
    meaning: "after the first question, a prompt is the same with and without a system message",
    guards_against: "calls, results or reasoning that are written differently, because a message \
                     was counted",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("system_apart.md"),
    judge: |tally, prober, _| {
        for (without, with) in PAIRS {
            let (without, with) = (prober.see(without), prober.see(with));
            let after = |seen: &ProbeOutcome| {
                let question = seen.find(words::USER)?;
                Some(seen.text()?.cut(question.start..).to_owned())
            };
            let (Some(one), Some(other)) = (after(&without), after(&with)) else {
                continue;
            };
            // Some models have the system text at the last question.
            if !with.has(words::SYSTEM) || other.to_lowercase().contains(words::SYSTEM) {
                tally.skip("the system message does not come before the first question");
                continue;
            }
            // The simplest pair of conversations says it best.
            let is_same = one == other;
            tally.demand(is_same, || {
                let what = format!(
                    "after the question the prompt is another one than without the system \
                     message: {}",
                    with.about
                );
                Evidence::differ(what, &without, &with)
            });
            if !is_same {
                break;
            }
        }
        is_no_question(tally, prober);
        default_is_alike(tally, prober);
    },
};

/// Conversations without a system message, and with one.
const PAIRS: [(Probe, Probe); 13] = [
    (USER, SYSTEM_USER),
    (USER_ASSISTANT, SYSTEM_USER_ASSISTANT),
    (USER_ASSISTANT_USER, SYSTEM_TURNS),
    (TOOLS, SYSTEM_TOOLS),
    (OTHER_QUESTION, SYSTEM_OTHER_QUESTION),
    (CALL_RESULT, SYSTEM_CALL_RESULT),
    (CALL_TURN_USER, SYSTEM_CALL_TURN),
    (PARALLEL_TURN, SYSTEM_PARALLEL_TURN),
    (TWO_ROUNDS_TURN, SYSTEM_TWO_ROUNDS_TURN),
    (REASONED_USER, SYSTEM_REASONED_USER),
    (REASONED_LOOP, SYSTEM_REASONED_LOOP),
    (REASONED_TURN_USER, SYSTEM_REASONED_TURN_USER),
    (DOCUMENT, SYSTEM_DOCUMENT),
];

/// Demands that the turn of a system message does not open as a question does.
fn is_no_question(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(SYSTEM_USER);
    let (Some(head), Some(before), Some(between)) = (
        seen.before(words::SYSTEM),
        seen.before(words::USER),
        seen.between(words::SYSTEM, words::USER),
    ) else {
        return;
    };
    let bos = special_token(prober.template(), "bos_token").unwrap_or_default();
    let head = head.strip_prefix(bos).unwrap_or(head);
    let has_role = head.to_lowercase().contains("user");
    // Some models have no system messages, and their templates write an answer of the model after it.
    let turns = prober.see(TWO_TURNS);
    let opens_answer = turns
        .between(words::USER, words::ASSISTANT)
        .unwrap_or_default();
    let is_answered = between.contains(opens_answer);
    if has_role && !is_answered && control_tokens_in(between).next().is_some() {
        tally.demand_with(Severity::Warning, !before.ends_with(head), || {
            let what = "a system message opens as a question does";
            Evidence::one(what, &seen).at(seen.find(words::SYSTEM))
        });
    }
}

/// Demands that the template's own system message begins with tools as it does without, unless it speaks of
/// them.
fn default_is_alike(tally: &mut Tally, prober: &Prober<'_>) {
    /// A shorter line names a role.
    const SHORTEST: usize = 15;
    let (own, plain, tools) = (prober.see(SYSTEM_USER), prober.see(USER), prober.see(TOOLS));
    let Some(heading) = own.before(words::SYSTEM) else {
        return;
    };
    let first_line = |seen: &ProbeOutcome| {
        let text = seen.before(words::USER)?.strip_prefix(heading)?;
        let end = control_tokens_in(text)
            .next()
            .and_then(|token| text.find(token));
        let line = text
            .cut(..end.unwrap_or(text.len()))
            .trim_start()
            .lines()
            .next()?;
        let is_text = line.len() >= SHORTEST && line.starts_with(char::is_alphabetic);
        is_text.then(|| line.to_owned())
    };
    if let (Some(one), Some(other)) = (first_line(&plain), first_line(&tools)) {
        let lower = other.to_lowercase();
        let is_alike = one.starts_with(&other) || other.starts_with(&one);
        let is_alike = is_alike || ["tool", "function"].iter().any(|word| lower.contains(word));
        tally.demand_with(Severity::Warning, is_alike, || {
            let what = "with tools, the template's own system message is another one than without";
            Evidence::differ(what, &plain, &tools)
        });
    }
}
