//! Contracts about prompts that continue each other: earlier text must not change.

use rolecall_core::{Cut, Dialect};

use super::causes::cause;
use super::definition::Contract;
use super::endings::{shown, spelt};
use super::evidence::{Evidence, common};
use super::judgement::Judgement;
use super::reasoning::{is_for_glm, is_within, mark_at, marks};
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::{control_tokens, control_tokens_in, special_token};
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_RESULT_CLOSED, CALL_RESULT_USER,
    CALL_RESULT_USER_ASSISTANT, CALL_RESULT_USER_CLOSED, CALL_TURN_USER, CALL_TURN_USER_ASSISTANT,
    CALL_TURN_USER_CLOSED, CALL_WITH_TEXT, CALL_WITH_TEXT_ASSISTANT, CALL_WITH_TEXT_CLOSED,
    REASONED, REASONED_USER_CLOSED, SYSTEM_USER, SYSTEM_USER_ASSISTANT, SYSTEM_USER_CLOSED, TOOLS,
    TOOLS_CLOSED, TOOLS_TURN, TOOLS_TURN_USER_CLOSED, TWO_TURNS, TWO_TURNS_USER_CLOSED, USER,
    USER_ASSISTANT, USER_ASSISTANT_USER, USER_ASSISTANT_USER_CLOSED, USER_CLOSED,
};
use crate::probe::{Probe, ProbeOutcome, Prober, words};

pub(super) static GENERATION_PROMPT_SUFFIX: Contract = Contract {
    id: "generation-prompt-suffix",
    meaning: "`add_generation_prompt` adds something at the end and changes nothing else",
    guards_against: "an extra end of text, or a changed history, wherever no answer is asked for",
    severity: Severity::Warning,
    dialects: &[Dialect::Jinja],
    page: include_str!("pages/generation-prompt-suffix.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (closed, open) in [
            (USER_CLOSED, USER),
            (SYSTEM_USER_CLOSED, SYSTEM_USER),
            (USER_ASSISTANT_USER_CLOSED, USER_ASSISTANT_USER),
            (CALL_RESULT_CLOSED, CALL_RESULT),
        ] {
            let (closed, open) = (prober.see(closed), prober.see(open));
            if closed.outcome == open.outcome && !open.is_refused() {
                tally.skip("`add_generation_prompt` changes nothing");
            } else {
                let what = "the prompt without the opening of an answer ends differently";
                let keeps = |text: &str| words::ALL.map(|word| text.contains(word));
                let (Some(one), Some(other)) = (tally.text(&closed), tally.text(&open)) else {
                    continue;
                };
                // A change of the messages is worse than a change around it.
                let severity = if keeps(one) == keeps(other) {
                    Severity::Note
                } else {
                    Severity::Warning
                };
                tally.demand_with(severity, other.starts_with(one), || {
                    Evidence::no_prefix(what, &closed, &open)
                });
            }
        }
        tally.judgement()
    },
};

/// A conversation that asks for an answer, in three states.
struct Answered {
    open: Probe,
    /// It ends in the same way, and asks for nothing.
    closed: Probe,
    finished: Probe,
    word: &'static str,
}

const ANSWERED: [Answered; 8] = [
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

pub(super) static FINISHED_TURN_CONTINUES: Contract = Contract {
    id: "finished-turn-continues",
    meaning: "a conversation with its answer begins with the prompt that asked for the answer",
    guards_against: "a lost prompt cache, and training on prompts that the model never sees at \
                     inference time",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/finished-turn-continues.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for answered in ANSWERED {
            let (open, finished) = (prober.see(answered.open), prober.see(answered.finished));
            let is_lost = open.has(words::SYSTEM) && !finished.has(words::SYSTEM);
            if prober.dialect() == Dialect::Jinja && is_lost && finished.text().is_some() {
                tally.skip("messages-kept reports that the system message is lost");
                continue;
            }
            let what = match gone(&open, &finished) {
                Some(name) => {
                    format!("{name} is not in the prompt any more when the answer is there")
                }
                None => match other_break(&open, &finished) {
                    Some((prompt, answer)) => format!(
                        "the prompt ends with {}, and answers follow {}: {}",
                        shown(prompt),
                        spelt(answer),
                        open.about
                    ),
                    None => format!("the answer does not continue the prompt: {}", open.about),
                },
            };
            let until = open.text().map_or(0, str::len);
            continues(
                &mut tally,
                prober,
                [&open, &finished],
                until,
                &what,
                |rest| rest,
                None,
            );
            lacks_no_line_break(&mut tally, &open, &finished, answered.word);
        }
        tally.judgement()
    },
};

/// The white space at the end of a prompt, and the white space there before the answer, if they
/// differ and nothing before them does.
fn other_break<'o>(
    open: &'o ProbeOutcome,
    finished: &'o ProbeOutcome,
) -> Option<(&'o str, &'o str)> {
    let text = open.text()?;
    let stem = text.trim_end();
    let following = finished.text()?.strip_prefix(stem)?;
    let gap = following.cut(..following.len() - following.trim_start().len());
    let end = text.cut(stem.len()..);
    (!end.is_empty() && !following.starts_with(end)).then_some((end, gap))
}

/// What the first prompt has and the second has not, in words.
fn gone(first: &ProbeOutcome, second: &ProbeOutcome) -> Option<&'static str> {
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

/// Demands that a prompt that asks for an answer ends with the line break that comes before
/// answers. Many templates leave a blank to the model, because it is a part of the first token.
fn lacks_no_line_break(
    tally: &mut Tally,
    open: &ProbeOutcome,
    finished: &ProbeOutcome,
    word: &str,
) {
    let (Some(one), Some(before)) = (open.text(), finished.before(word)) else {
        return;
    };
    if let Some(gap) = before.strip_prefix(one) {
        let is_break = gap.contains('\n') && gap.trim().is_empty();
        // After a mark of reasoning, the model writes the line break itself.
        let last_mark = marks(one).next_back();
        let ends_with_mark = last_mark.is_some_and(|(at, mark)| at + mark.len == one.len());
        let severity = if is_for_glm(one) || ends_with_mark {
            Severity::Note
        } else {
            Severity::Warning
        };
        tally.demand_with(severity, !is_break, || {
            let what = "the prompt ends without the line break that comes before answers";
            Evidence::differ(what, open, finished)
        });
    }
}

const REWRITTEN: &str = "what was written before changes when the conversation goes on";

/// Whether a template opens the model's turn also after an answer.
pub(super) fn opens_always(prober: &Prober<'_>, capabilities: &Capabilities) -> bool {
    prober.dialect() == Dialect::Go || capabilities.generation_prompt == GenerationPrompt::Ignored
}

/// Demands that a conversation that goes on begins with the prompt as it was.
///
/// Most of Ollama's templates always open the model's turn, also after the last message. From there
/// on the prompts may differ. What it costs is said of a chat, or of an agent's conversation.
fn goes_on(
    tally: &mut Tally,
    prober: &Prober<'_>,
    capabilities: &Capabilities,
    (before, after): (Probe, Probe),
    last: &str,
    what: &str,
) {
    let (before, after) = (prober.see(before), prober.see(after));
    let all = before.text().map_or(0, str::len);
    let until = match before.after(last) {
        Some(following) if opens_always(prober, capabilities) => all - following.len(),
        _ => all,
    };
    let what = match gone(&before, &after) {
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
fn continues(
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
                "the text at the last question moves on with it: models are trained this way, and a \
                 prompt cache is valid only up to there",
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
pub(super) fn is_in_reasoning(one: &str, other: &str, at: usize) -> bool {
    // They may part in the middle of a mark.
    let start = start_of_mark(one, at);
    let has_mark = |text: &str| {
        let rest = text.cut(start..).trim_start();
        // It also ends the reasoning of gpt-oss.
        mark_at(rest).is_some() || rest.starts_with("<|end|>")
    };
    // A mark that is closed nowhere is none around reasoning.
    let is_closed = |text: &str| marks(text).any(|(_, mark)| !mark.opens);
    has_mark(one)
        || has_mark(other)
        || (is_within(one.cut(..at)) && [one, other].into_iter().any(is_closed))
}

pub(super) static HISTORY_STABLE: Contract = Contract {
    id: "history-stable",
    meaning: "a conversation that goes on begins with the prompt as it was",
    guards_against: "a cache that is lost at every turn",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/history-stable.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        for (pair, last) in [
            (
                (USER_ASSISTANT, USER_ASSISTANT_USER_CLOSED),
                words::ASSISTANT,
            ),
            ((TWO_TURNS, TWO_TURNS_USER_CLOSED), words::SECOND_ASSISTANT),
        ] {
            goes_on(&mut tally, prober, capabilities, pair, last, REWRITTEN);
        }
        tally.judgement()
    },
};

pub(super) static HISTORY_STABLE_TOOLS: Contract = Contract {
    id: "history-stable-tools",
    meaning: "a conversation with tools that goes on begins with the prompt as it was",
    guards_against: "tools that move with the last question, calls that are written anew",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/history-stable-tools.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if capabilities.tools.is_kept() {
            let pair = (TOOLS_TURN, TOOLS_TURN_USER_CLOSED);
            goes_on(
                &mut tally,
                prober,
                capabilities,
                pair,
                words::ASSISTANT,
                REWRITTEN,
            );
        } else {
            tally.skip("tools are not in the prompt");
        }
        if capabilities.tool_calls.single.is_kept() {
            for (pair, last, what) in [
                (
                    (CALL, CALL_RESULT_CLOSED),
                    words::SECOND_VALUE,
                    "the call changes when its result comes",
                ),
                (
                    (CALL_RESULT_CLOSED, CALL_RESULT_ASSISTANT),
                    words::RESULT,
                    "the result changes when the answer comes",
                ),
                (
                    (CALL_RESULT_ASSISTANT, CALL_TURN_USER_CLOSED),
                    words::SECOND_ASSISTANT,
                    "a turn with a call changes when the conversation goes on",
                ),
            ] {
                goes_on(&mut tally, prober, capabilities, pair, last, what);
            }
        } else {
            tally.skip("tool calls are not in the prompt");
        }
        tally.judgement()
    },
};

pub(super) static HISTORY_STABLE_REASONING: Contract = Contract {
    id: "history-stable-reasoning",
    meaning: "a conversation with reasoning that goes on begins with the prompt as it was",
    guards_against: "a prompt cache lost because reasoning has unusual tags, or the text around it changes",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("pages/history-stable-reasoning.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
        } else {
            let pair = (REASONED, REASONED_USER_CLOSED);
            goes_on(
                &mut tally,
                prober,
                capabilities,
                pair,
                words::ASSISTANT,
                REWRITTEN,
            );
        }
        tally.judgement()
    },
};

pub(super) static OPEN_MODEL_TURN: Contract = Contract {
    id: "open-model-turn",
    meaning: "however a conversation ends, its prompt ends where the model continues",
    guards_against: "a model that writes outside any turn, for example after a tool's result",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/open-model-turn.md"),
    judge: open_model_turn,
};

/// A prompt ends in an open turn if it ends like the prompt of a single question, if the finished
/// conversation continues it directly with the answer, or if what it adds to the same conversation
/// begins as the opening of a model's turn does: reasoning after that may differ. A result may
/// belong to the model's own turn. Then there is no opening, and nothing that closes a turn either.
fn open_model_turn(prober: &Prober<'_>, capabilities: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let of_go = opening_in_go(prober);
    let opening = match &capabilities.generation_prompt {
        GenerationPrompt::Suffix { text } if !text.trim().is_empty() => Some(text.as_str()),
        _ => of_go.as_deref(),
    };
    let closing = end_of_answers(prober);
    let eos = special_token(prober.template(), "eos_token").map(str::to_owned);
    let asked = prober.see(USER);
    let end = asked.text().unwrap_or_default().trim_end();
    let known = [
        "</s>",
        "<|endoftext|>",
        "<eos>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<|im_end|>",
    ];
    let ends = eos
        .into_iter()
        .chain(known.map(str::to_owned))
        .find(|eos| end.ends_with(eos.as_str()));
    if let Some(ends) = ends {
        let what =
            format!("the prompt that asks for an answer ends with `{ends}`, which ends a text");
        tally.broken(Evidence::one(what, &asked));
    }
    for answered in ANSWERED {
        let Answered {
            open,
            closed,
            finished,
            word,
        } = answered;
        let is_of_tools = [CALL_RESULT, CALL_WITH_TEXT].contains(&open);
        let takes_tools =
            capabilities.tool_results.single.is_kept() && capabilities.tool_calls.single.is_kept();
        if is_of_tools && !takes_tools {
            continue;
        }
        let (seen, finished) = (prober.see(open), prober.see(finished));
        let Some(text) = tally.text(&seen) else {
            continue;
        };
        let goes_on = finished
            .text()
            .and_then(|finished| finished.strip_prefix(text))
            .is_some_and(|rest| rest.trim_start().to_ascii_lowercase().starts_with(word));
        let Some(opening) = opening.filter(|_| !goes_on) else {
            if goes_on {
                tally.holds();
            } else {
                tally.skip("the prompts do not show how a model's turn opens");
            }
            continue;
        };
        if text.ends_with(opening) || opens_as(text, prober.see(closed).text(), opening) {
            tally.holds();
            continue;
        }
        let ends_turn = closing
            .as_deref()
            .filter(|closing| text.trim_end().ends_with(*closing));
        let opens = finished.after(words::RESULT).is_none_or(|following| {
            let until = following
                .to_ascii_lowercase()
                .find(word)
                .unwrap_or_default();
            let mark = control_tokens(opening).into_iter().next();
            following
                .cut(..until)
                .contains(mark.as_deref().unwrap_or(opening.trim()))
        });
        if let Some(closing) = ends_turn {
            let what = format!(
                "the prompt ends with `{closing}`, which closes a turn, and opens none: {}",
                open.about
            );
            tally.broken(Evidence::one(what, &seen));
        } else if is_of_tools && !opens {
            tally.skip("a result belongs to the model's own turn");
        } else {
            let what = format!("the prompt does not open the model's turn: {}", open.about);
            tally.broken(Evidence::one(what, &seen));
        }
    }
    tally.judgement()
}

/// What opens an answer in a template for Ollama: the end that prompts of plain conversations share, from
/// its last token on. None if that token closes the question.
fn opening_in_go(prober: &Prober<'_>) -> Option<String> {
    if prober.dialect() != Dialect::Go {
        return None;
    }
    let ends = [
        (USER, words::USER),
        (SYSTEM_USER, words::USER),
        (USER_ASSISTANT_USER, words::SECOND_USER),
    ];
    let [one, other, third] =
        ends.map(|(probe, word)| prober.see(probe).after(word).map(str::to_owned));
    let after = one.filter(|one| Some(one) == other.as_ref() && Some(one) == third.as_ref())?;
    let tokens: Vec<&str> = control_tokens_in(&after).collect();
    let opening = after.cut(after.rfind(tokens.last()?)?..);
    let has_role = opening
        .cut(tokens.last()?.len()..)
        .contains(char::is_alphanumeric);
    (tokens.len() > 1 || has_role).then(|| opening.to_owned())
}

/// The token that closes an answer, where another turn follows.
fn end_of_answers(prober: &Prober<'_>) -> Option<String> {
    let turns = prober.see(TWO_TURNS);
    let following = turns.after(words::ASSISTANT)?.trim_start();
    let token = control_tokens_in(following).next()?;
    following.starts_with(token).then(|| token.to_owned())
}

/// Whether what a prompt adds to the same conversation begins as the opening of a model's turn
/// does. Reasoning after that may be opened in one prompt and closed in another.
fn opens_as(text: &str, closed: Option<&str>, opening: &str) -> bool {
    let head = marks(opening)
        .next()
        .map_or(opening, |(at, _)| opening.cut(..at));
    let head = head.trim_end();
    closed
        .and_then(|closed| text.strip_prefix(closed))
        .is_some_and(|added| !added.trim().is_empty() && added.starts_with(head))
}
