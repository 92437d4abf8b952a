//! Prompts that continue each other: earlier text must not change.

use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::purpose::{INSTRUCTS_LAST, instructs_last};
use super::reasoning::{is_within, mark_at, marks};
use super::tokens::{control_tokens, special_token};
use crate::capability::{Capabilities, GenerationPrompt};
use crate::contract::frame::{Evidence, Severity, Tally, cause};
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_RESULT_CLOSED, CALL_RESULT_USER,
    CALL_RESULT_USER_ASSISTANT, CALL_RESULT_USER_CLOSED, CALL_TURN_USER, CALL_TURN_USER_ASSISTANT,
    CALL_TURN_USER_CLOSED, CALL_WITH_TEXT, CALL_WITH_TEXT_ASSISTANT, CALL_WITH_TEXT_CLOSED,
    SYSTEM_CALL_RESULT, SYSTEM_USER, SYSTEM_USER_ASSISTANT, SYSTEM_USER_CLOSED, TOOLS,
    TOOLS_CLOSED, TOOLS_TURN, TWO_TURNS, USER, USER_ASSISTANT, USER_ASSISTANT_USER,
    USER_ASSISTANT_USER_CLOSED, USER_CLOSED,
};
use crate::probe::{Probe, ProbeOutcome, Prober, common, words};

/// A conversation that asks for an answer, in three states.
pub(in crate::contract) struct Answered {
    pub(in crate::contract) open: Probe,
    /// It ends in the same way, and asks for nothing.
    pub(in crate::contract) closed: Probe,
    pub(in crate::contract) finished: Probe,
    pub(in crate::contract) word: &'static str,
}

pub(in crate::contract) const ANSWERED: [Answered; 8] = [
    Answered {
        open: USER,
        closed: USER_CLOSED,
        finished: USER_ASSISTANT,
        word: words::ASSISTANT,
    },
    Answered {
        open: SYSTEM_USER,
        closed: SYSTEM_USER_CLOSED,
        finished: SYSTEM_USER_ASSISTANT,
        word: words::ASSISTANT,
    },
    Answered {
        open: USER_ASSISTANT_USER,
        closed: USER_ASSISTANT_USER_CLOSED,
        finished: TWO_TURNS,
        word: words::SECOND_ASSISTANT,
    },
    Answered {
        open: TOOLS,
        closed: TOOLS_CLOSED,
        finished: TOOLS_TURN,
        word: words::ASSISTANT,
    },
    Answered {
        open: CALL_RESULT,
        closed: CALL_RESULT_CLOSED,
        finished: CALL_RESULT_ASSISTANT,
        word: words::SECOND_ASSISTANT,
    },
    Answered {
        open: CALL_RESULT_USER,
        closed: CALL_RESULT_USER_CLOSED,
        finished: CALL_RESULT_USER_ASSISTANT,
        word: words::SECOND_ASSISTANT,
    },
    Answered {
        open: CALL_WITH_TEXT,
        closed: CALL_WITH_TEXT_CLOSED,
        finished: CALL_WITH_TEXT_ASSISTANT,
        word: words::SECOND_ASSISTANT,
    },
    Answered {
        open: CALL_TURN_USER,
        closed: CALL_TURN_USER_CLOSED,
        finished: CALL_TURN_USER_ASSISTANT,
        word: words::THIRD_ASSISTANT,
    },
];

/// What the first prompt has and the second has not, in words.
pub(in crate::contract) fn gone(
    first: &ProbeOutcome,
    second: &ProbeOutcome,
) -> Option<&'static str> {
    let named = [
        (words::SYSTEM, "the system message"),
        (words::TOOL_ABOUT, "the list of tools"),
        (words::USER, "the first question"),
        (words::SECOND_USER, "the second question"),
        (words::RESULT, "the result of the call"),
    ];
    let is_gone = |word: &str| first.has(word) && second.text().is_some() && !second.has(word);
    named
        .into_iter()
        .find(|(word, _)| is_gone(word))
        .map(|(_, name)| name)
}

/// Whether `messages-kept` or `tools-kept` reports that a text is lost as soon as a tool was called.
pub(in crate::contract) fn is_lost_with_calls(prober: &Prober<'_>, name: &str) -> bool {
    let (probe, word) = match name {
        "the system message" => (SYSTEM_CALL_RESULT, words::SYSTEM),
        "the list of tools" => (CALL_RESULT, words::TOOL_ABOUT),
        _ => return false,
    };
    let seen = prober.see(probe);
    seen.has(words::FIRST_VALUE) && !seen.has(word)
}

pub(in crate::contract) const REWRITTEN: &str =
    "what was written before changes when the conversation goes on";

/// Whether a template opens the model's turn also after an answer.
pub(in crate::contract) fn opens_always(prober: &Prober<'_>, capabilities: &Capabilities) -> bool {
    prober.dialect() == Dialect::Go || capabilities.generation_prompt == GenerationPrompt::Ignored
}

/// Demands that a conversation that goes on begins with the prompt as it was.
///
/// Most of Ollama's templates always open the model's turn, also after the last message. From there
/// on the prompts may differ. What it costs is said of a chat, or of an agent's conversation.
pub(in crate::contract) fn goes_on(
    tally: &mut Tally,
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    (before, after): (Probe, Probe),
    last: &str,
    what: &str,
) {
    if instructs_last(prober) {
        return tally.skip(INSTRUCTS_LAST);
    }
    let (before, after) = (prober.see(before), prober.see(after));
    let all = before.text().map_or(0, str::len);
    let until = match before.after(last) {
        Some(following) if opens_always(prober, capabilities) => all - following.len(),
        _ => all,
    };
    let what = match gone(&before, &after) {
        Some(name) if is_lost_with_calls(prober, name) => {
            return tally.skip(format!("another contract reports that {name} is lost"));
        }
        Some(name) => {
            format!("{name} is not in the prompt any more when the conversation goes on")
        }
        None => what.to_owned(),
    };
    let cache = &capabilities.prefix_cache;
    let cost = match (&before.asked.tools, &cache.agent, &cache.chat) {
        (Some(_), Some(agent), _) => agent.in_words("an agent's"),
        (None, _, Some(chat)) => chat.in_words("a chat's"),
        _ => None,
    };
    let pair = [&*before, &*after];
    continues(tally, prober, pair, until, &what, str::trim, cost);
}

/// Demands that the second prompt begins with so many bytes of the first. Two differences are
/// allowed: reasoning may go when a conversation goes on, because models are trained this way, and an
/// end-of-text token at the very end may go. From the point where the prompts differ, `strip` removes
/// from the first one what else does not matter.
pub(in crate::contract) fn continues(
    tally: &mut Tally,
    prober: &Prober<'_>,
    [first, second]: [&ProbeOutcome; 2],
    until: usize,
    what: &str,
    strip: fn(&str) -> &str,
    cost: Option<String>,
) {
    let (Some(one), Some(other)) = (tally.text(first), tally.text(second)) else {
        return;
    };
    let one = one.cut(..until);
    let at = common(one, other);
    let rest = strip(one.cut(at..));
    let eos = special_token(prober.template(), "eos_token");
    let is_end = eos.is_some_and(|eos| rest.trim() == eos) || is_end_of_text(one, other, at);
    if rest.is_empty() || is_end || is_in_reasoning(one, other, at) {
        tally.holds();
    } else if moves_along(one, other, at) {
        tally.broken(
            Evidence::no_prefix(
                "what the template writes at the last question moves on to the next one: models are \
                 trained this way, and a prompt cache is valid only up to there",
                first,
                second,
            )
            .until(until)
            .because(cause(prober, [first, second], cost))
            .with(Severity::Note),
        );
    } else {
        let because = cause(prober, [first, second], cost);
        let evidence = Evidence::no_prefix(what, first, second).until(until);
        tally.broken(evidence.because(because));
    }
}

/// The start of the mark in which two prompts begin to differ, or the place where they do.
fn start_of_mark(one: &str, at: usize) -> usize {
    let before = one.cut(..at);
    let start = before.rfind(['<', '[']).filter(|start| at - start < 24);
    let start = start.filter(|start| !before.cut(*start..).contains(['>', ']']));
    start.unwrap_or(at)
}

/// Whether the rest of the first prompt is one token that also ends the second prompt, and occurs
/// nowhere else. Such a token ends the text, whatever its name.
fn is_end_of_text(one: &str, other: &str, at: usize) -> bool {
    let rest = one.cut(start_of_mark(one, at)..).trim();
    let is_token = control_tokens(rest)
        .first()
        .is_some_and(|token| token == rest);
    is_token
        && one.matches(rest).count() == 1
        && other.matches(rest).count() == 1
        && other.trim_end().ends_with(rest)
}

/// The words of messages; those of tools and documents are next to them.
const SPOKEN: [&str; 8] = [
    words::SYSTEM,
    words::USER,
    words::SECOND_USER,
    words::THIRD_USER,
    words::ASSISTANT,
    words::SECOND_ASSISTANT,
    words::THIRD_ASSISTANT,
    words::RESULT,
];

/// Whether the text of the first prompt up to the next message appears later in the second. Some
/// models have tools or instructions at the last question.
fn moves_along(one: &str, other: &str, at: usize) -> bool {
    /// A shorter text could be there by chance.
    const SHORTEST: usize = 20;
    let start = start_of_mark(one, at);
    let (lower, rest) = (one.to_ascii_lowercase(), one.cut(start..));
    let next = SPOKEN
        .iter()
        .filter_map(|word| lower.cut(start..).find(word));
    let mut block = rest.cut(..next.min().unwrap_or(rest.len()));
    // The opening of the model's turn, or of the next question, need not follow there.
    if let Some((at, _)) = block
        .match_indices(['<', '['])
        .next_back()
        .filter(|(at, _)| *at > 0)
    {
        block = block.cut(..at);
    }
    // Tokens alone say nothing: every turn has them.
    let tokens: usize = control_tokens_in(block).map(str::len).sum();
    if block.len() - tokens >= SHORTEST && other.cut(start..).contains(block.trim_end()) {
        return true;
    }
    // Between the texts that move, tokens may change.
    let mut texts = vec![block];
    for token in control_tokens_in(block) {
        let pieces = texts.into_iter().flat_map(|text| text.split(token));
        texts = pieces.collect();
    }
    let first = texts.first().map(|text| text.trim());
    let texts = texts.into_iter().map(str::trim);
    let long: Vec<&str> = texts.filter(|text| text.len() >= SHORTEST).collect();
    let moves = |text: &&str| other.cut(start..).contains(*text);
    !long.is_empty()
        && (long.iter().all(moves)
            || first.is_some_and(|first| long.first() == Some(&first) && moves(&first)))
}

/// Whether two prompts begin to differ within reasoning, or where one of them has some.
pub(in crate::contract) fn is_in_reasoning(one: &str, other: &str, at: usize) -> bool {
    // They may part in the middle of a mark.
    let start = start_of_mark(one, at);
    let has_mark = |text: &str| {
        let rest = text.cut(start..).trim_start();
        // It also ends the reasoning of gpt-oss.
        mark_at(rest).is_some() || rest.starts_with("<|end|>") && text.contains("<|channel|>")
    };
    // A mark that is closed nowhere is none around reasoning.
    let is_closed = |text: &str| marks(text).any(|(_, mark)| !mark.opens);
    has_mark(one)
        || has_mark(other)
        || (is_within(one.cut(..at)) && [one, other].into_iter().any(is_closed))
}
