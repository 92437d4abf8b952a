//! Contracts about turns: each is opened in its role, and closed.

use rolecall_core::{Cut, Dialect};

use super::agents::are_joined_alike;
use super::definition::Contract;
use super::endings::{end_alike, shown, spelt};
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::reasoning::marks;
use super::rounds::SECOND_ROUND_ALIKE;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::{control_tokens_in, special_token};
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{
    ASSISTANT_FIRST, ASSISTANT_FIRST_TOOLS, CALL, OTHER_QUESTION, REASONED, SAME_QUESTION,
    SYSTEM_TURNS, TWO_TURNS, TWO_TURNS_USER_CLOSED, USER, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{ProbeOutcome, Prober, words};

/// Demands that the same white space comes after the token that closes a question as after the same
/// token where it closes an answer.
fn turns_apart_alike(tally: &mut Tally, seen: &ProbeOutcome) {
    let gap = |word: &str| {
        let text = seen.text()?;
        let end = seen.find(word)?.end;
        let after = text.cut(end..).trim_start();
        let token = control_tokens_in(after)
            .next()
            .filter(|token| after.starts_with(token))?;
        let rest = after.cut(token.len()..);
        // The next turn follows, with a token of its own.
        let next = rest.trim_start();
        let gap = rest.cut(..rest.len() - next.len());
        next.starts_with(['<', '[']).then_some((token, gap))
    };
    let (question, answer) = (gap(words::USER), gap(words::ASSISTANT));
    if let (Some((one, after_question)), Some((other, after_answer))) = (question, answer)
        && one == other
    {
        let what = format!(
            "`{one}` is followed by {} after a question, and by {} after an answer",
            spelt(after_question),
            spelt(after_answer)
        );
        tally.demand_with(Severity::Warning, after_question == after_answer, || {
            Evidence::one(what, seen)
        });
    }
}

pub(super) static TURNS_CLOSED: Contract = Contract {
    id: "turns-closed",
    meaning: "every turn ends with the token that ends the others",
    guards_against: "instructions or answers that run into the next turn, as no model has seen it",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/turns-closed.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let opening = match &capabilities.generation_prompt {
            GenerationPrompt::Suffix { text } => text.as_str(),
            _ => "",
        };
        for probe in [SYSTEM_TURNS, TWO_TURNS] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_some() {
                turns_closed(&mut tally, prober, opening, &seen);
            }
        }
        turns_apart_alike(&mut tally, &prober.see(TWO_TURNS_USER_CLOSED));
        end_alike(&mut tally, prober);
        let rounds = (SECOND_ROUND_ALIKE.judge)(prober, capabilities);
        are_joined_alike(&mut tally, prober, matches!(rounds, Judgement::Broken(_)));
        tally.judgement()
    },
};

/// A turn: who speaks, the control token before it, the first one after it, and the text from its
/// words to the next turn's words.
struct PromptTurn<'s> {
    name: &'static str,
    opening: &'s str,
    end: &'s str,
    /// The byte of the prompt at which that is.
    end_at: usize,
    between: &'s str,
}

fn turn<'s>(seen: &'s ProbeOutcome, name: &'static str, word: &str) -> Option<PromptTurn<'s>> {
    // The first of them: a template may print a message more than once.
    let from = seen.find(word)?.end;
    let after = seen.text()?.cut(from..);
    let others = words::ALL.iter().filter_map(|word| seen.find(word));
    let next = others
        .map(|place| place.start)
        .filter(|start| *start > from);
    let after_at = seen.text()?.len() - after.len();
    let end = control_tokens_in(after).next()?;
    let between = after.cut(..next.min().map_or(after.len(), |start| start - from));
    Some(PromptTurn {
        name,
        opening: control_tokens_in(seen.before(word)?).next_back()?,
        end,
        end_at: after_at + after.find(end)?,
        between,
    })
}

/// Some models have turns without an end token, some have one for certain roles only. So a missing
/// end is reported only if all turns begin with the same token and one of them ends with another,
/// or if two turns end with the same token.
fn turns_closed(tally: &mut Tally, prober: &Prober<'_>, opening: &str, seen: &ProbeOutcome) {
    let bos = special_token(prober.template(), "bos_token");
    let turns = [
        (words::USER, "a question"),
        (words::SYSTEM, "a system message"),
        (words::ASSISTANT, "an answer"),
    ];
    let turns = turns.into_iter();
    let turns: Vec<_> = turns
        .filter_map(|(word, name)| turn(seen, name, word))
        // What is right at the beginning may be no turn.
        .filter(|turn| Some(turn.opening) != bos)
        .collect();
    let opens = |token: &str| {
        let mut openings = turns.iter().map(|turn| turn.opening);
        openings.any(|opening| opening == token)
            || control_tokens_in(opening).any(|opening| opening == token)
    };
    let ends: Vec<&str> = turns.iter().map(|turn| turn.end).collect();
    let count = |end: &str| ends.iter().filter(|other| **other == end).count();
    let closings = ends.iter().filter(|end| !opens(end));
    let Some(closing) = closings.max_by_key(|end| count(end)) else {
        tally.skip("turns have no tokens that end them");
        return;
    };
    let mut pairs = turns.iter().zip(turns.iter().skip(1));
    let is_alike = turns.len() > 1 && pairs.all(|(one, next)| one.opening == next.opening);
    if !is_alike && count(closing) < 2 {
        tally.skip("the prompts do not show how turns end");
        return;
    }
    // In a few models only answers have an end.
    let severity = if count(closing) < 2 && turns.first().is_some_and(|first| first.end != *closing)
    {
        Severity::Warning
    } else {
        Severity::Error
    };
    for turn in &turns {
        let is_closed = turn.between.contains(closing) || !opens(turn.end);
        tally.demand_with(severity, is_closed, || {
            let PromptTurn {
                name, end, end_at, ..
            } = turn;
            let what = format!("{name} is not closed: `{end}` follows, not `{closing}`");
            Evidence::one(what, seen).at(Some(*end_at..end_at + end.len()))
        });
    }
}

pub(super) static SAME_QUESTION_TWICE: Contract = Contract {
    id: "same-question",
    meaning: "a question that was asked before is treated as any other",
    guards_against: "messages that are recognised by their text, and tools printed twice",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/same-question.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let (other, same) = (prober.see(OTHER_QUESTION), prober.see(SAME_QUESTION));
        if let (Some(text), Some(found)) = (tally.text(&other), tally.text(&same)) {
            if other.has(words::USER) && other.has(words::SECOND_USER) {
                let expected = text.replace(words::SECOND_USER, words::USER);
                tally.demand(expected == found, || {
                    let what = "a question that repeats the first one changes more than \
                                the question";
                    Evidence::differ(what, &other, &same)
                });
            } else {
                tally.skip("not every question is in the prompt");
            }
        }
        tally.judgement()
    },
};

pub(super) static ROLES_STAND: Contract = Contract {
    id: "roles-stand",
    meaning: "an answer is in the same turn with tools as without",
    guards_against: "a greeting of the assistant that ends up in the user's turn",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/roles-stand.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let (plain, tools) = (
            prober.see(ASSISTANT_FIRST),
            prober.see(ASSISTANT_FIRST_TOOLS),
        );
        if tally.text(&plain).is_none() || tally.text(&tools).is_none() {
            return tally.judgement();
        }
        let turns = prober.see(TWO_TURNS);
        let opening = |seen: &ProbeOutcome| {
            let before = seen.before(words::ASSISTANT)?;
            let token = control_tokens_in(before).next_back()?;
            let at = before.rfind(token)?;
            // A token that two turns have only once opens no answer.
            let opens_turns = turns.count(&token.to_ascii_lowercase()) > 1;
            opens_turns.then(|| before.cut(at..).to_owned())
        };
        match (opening(&plain), tools.before(words::ASSISTANT)) {
            // Other texts may come before the opening.
            (Some(one), Some(before)) => tally.demand(before.ends_with(&one), || {
                let what = format!(
                    "with tools, the first answer follows {}, not {}",
                    last_opening(before),
                    shown(&one)
                );
                Evidence::differ(what, &plain, &tools)
            }),
            _ => tally.skip("answers have no opening, or are not in the prompt"),
        }
        tally.judgement()
    },
};

/// The last control tokens of a text with what comes after them, if it is not too long to read.
fn last_opening(before: &str) -> String {
    const LONGEST: usize = 60;
    let tokens: Vec<&str> = control_tokens_in(before).collect();
    let starts = tokens
        .iter()
        .rev()
        .take(2)
        .filter_map(|token| before.rfind(token));
    let start = starts.filter(|at| before.len() - at <= LONGEST).min();
    start.map_or_else(|| "another text".to_owned(), |at| shown(before.cut(at..)))
}

pub(super) static OPENING_ON_REQUEST: Contract = Contract {
    id: "opening-on-request",
    meaning: "a model turn is opened where an answer is asked for, and nowhere else",
    guards_against: "a turn that nobody asked for, or an answer that the model has to open itself",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/opening-on-request.md"),
    judge: opening_on_request,
};

/// A template without any opening, such as one whose questions end with `[/INST]`, cannot break
/// this: the model answers after the question.
fn opening_on_request(prober: &Prober<'_>, capabilities: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    let (asked, finished) = (prober.see(USER), prober.see(USER_ASSISTANT));
    let (Some(open), Some(text)) = (tally.text(&asked), tally.text(&finished)) else {
        return tally.judgement();
    };
    opens_as_history(&mut tally, prober);
    opens_once(&mut tally, prober);
    if prober.dialect() == Dialect::Go {
        tally.skip("the prompts do not show how a model's turn opens");
        return tally.judgement();
    }
    let opening = match &capabilities.generation_prompt {
        GenerationPrompt::Suffix { text } => Some(text.trim()),
        // The text before an answer, from its last control token on.
        _ => finished.before(words::ASSISTANT).and_then(|before| {
            let token = control_tokens_in(before).next_back()?;
            let opening = before.cut(before.rfind(token)?..).trim();
            // What ends an answer, too, opens none.
            let closing = finished.after(words::ASSISTANT)?.trim();
            let is_opening = open.trim_end().ends_with(opening) && !closing.starts_with(opening);
            is_opening.then_some(opening)
        }),
    };
    // What opens an answer may go on in the history, such as with reasoning.
    let opens = matches!(
        capabilities.generation_prompt,
        GenerationPrompt::Suffix { .. }
    );
    // Before a call or reasoning there is another opening: the model chooses.
    let is_chosen = |opening: &str| {
        [(CALL, words::FIRST_VALUE), (REASONED, words::REASONING)]
            .iter()
            .any(|(probe, word)| {
                let seen = prober.see(*probe);
                let before = seen.before(word).unwrap_or_default();
                let added = before
                    .find(words::USER)
                    .and_then(|at| before.get(at..))
                    .unwrap_or_default();
                control_tokens_in(added).next().is_some() && !added.contains(opening)
            })
    };
    if !opens
        && let Some(opening) =
            missing_opening(open, &finished).filter(|opening| !is_chosen(opening))
    {
        let what = format!(
            "an earlier answer is opened by `{opening}`, and the answer that is asked for by nothing"
        );
        tally.broken(Evidence::no_prefix(what, &asked, &finished));
    }
    if let Some(token) = opens_again(&finished, &prober.see(TWO_TURNS)) {
        let what = format!("`{token}` is at the end, although no answer was asked for");
        let at = text.rfind(token).map(|at| at..at + token.len());
        tally.broken(Evidence::one(what, &finished).at(at));
        return tally.judgement();
    }
    match opening.filter(|opening| !opening.is_empty()) {
        Some(opening) => tally.demand(!text.trim_end().ends_with(opening), || {
            let shown = common_end(open.trim_end(), text.trim_end());
            let what = format!("`{shown}` is at the end, although no answer was asked for");
            Evidence::one(what, &finished)
        }),
        None => tally.skip("the prompts do not show how a model's turn opens"),
    }
    tally.judgement()
}

/// Demands that a prompt that asks for an answer goes on up to the answer, as the history does.
/// What a model may write itself, such as the mark of its reasoning, is left to it.
fn opens_as_history(tally: &mut Tally, prober: &Prober<'_>) {
    let reasoning = prober.see(REASONED);
    for (asked, question, finished, answer) in [
        (USER, words::USER, USER_ASSISTANT, words::ASSISTANT),
        (
            USER_ASSISTANT_USER,
            words::SECOND_USER,
            TWO_TURNS,
            words::SECOND_ASSISTANT,
        ),
    ] {
        let (asked, finished) = (prober.see(asked), prober.see(finished));
        let (Some(open), Some(before)) = (asked.text(), finished.before(answer)) else {
            continue;
        };
        let Some(gap) = before.strip_prefix(open).map(str::trim) else {
            continue;
        };
        // Before the reasoning is another mark: the model chooses.
        let is_chosen = reasoning
            .before(words::REASONING)
            .and_then(|before| before.strip_prefix(prober.see(USER).text()?))
            .is_some_and(|other| !other.trim().starts_with(gap));
        if gap.is_empty() || marks(gap).next().is_some() || is_chosen {
            continue;
        }
        let is_opening = match prober.dialect() {
            Dialect::Jinja => {
                control_tokens_in(gap)
                    .next()
                    .is_some_and(|token| gap.starts_with(token))
                    && asked
                        .before(question)
                        .is_some_and(|before| before.trim_end().ends_with(gap))
            }
            Dialect::Go => {
                let is_mark = ["channel", "RESPONSE", "think"]
                    .iter()
                    .any(|word| gap.contains(word));
                gap.contains(char::is_alphanumeric) && !is_mark
            }
        };
        tally.demand(!is_opening, || {
            let what = format!(
                "an earlier answer follows {}, and the prompt ends before that",
                shown(gap)
            );
            Evidence::no_prefix(what, &asked, &finished)
        });
    }
}

/// Demands that no opening is twice in a row between a question and its answer.
fn opens_once(tally: &mut Tally, prober: &Prober<'_>) {
    for probe in [USER, USER_ASSISTANT, USER_ASSISTANT_USER] {
        let seen = prober.see(probe);
        let until = seen.find(words::ASSISTANT).map(|answer| answer.start);
        let text = seen.text().zip(seen.find(words::USER));
        let Some(between) =
            text.and_then(|(text, asked)| text.get(asked.end..until.unwrap_or(text.len())))
        else {
            continue;
        };
        let twice = doubled(between);
        tally.demand(twice.is_none(), || {
            let what = format!(
                "{} is there twice in a row",
                shown(twice.unwrap_or_default())
            );
            Evidence::one(what, &seen)
        });
    }
}

/// A control token with the text after it, if both follow once more.
fn doubled(text: &str) -> Option<&str> {
    let tokens: Vec<&str> = control_tokens_in(text).collect();
    let mut from = 0;
    for token in tokens {
        let at = from + text.cut(from..).find(token)?;
        from = at + token.len();
        let Some(again) = text.cut(from..).find(token).map(|gap| from + gap) else {
            continue;
        };
        let first = text.cut(at..again);
        let is_short =
            first.len() - token.len() <= 20 && !first.cut(token.len()..).contains(['<', '[']);
        if is_short && marks(first).next().is_none() && text.cut(again..).starts_with(first) {
            return Some(first);
        }
    }
    None
}

/// The token after a finished answer that opens a model's turn: one that is between a question and
/// its answer, and not between an answer and the next question.
fn opens_again<'s>(finished: &'s ProbeOutcome, turns: &ProbeOutcome) -> Option<&'s str> {
    let last = control_tokens_in(finished.after(words::ASSISTANT)?).next_back()?;
    let between = |seen: &ProbeOutcome, first: &str, second: &str| {
        let (first, second) = (seen.find(first)?, seen.find(second)?);
        let text = seen.text()?.get(first.end..second.start)?;
        Some(control_tokens_in(text).any(|token| token == last))
    };
    let opens = between(finished, words::USER, words::ASSISTANT)?;
    let closes = between(turns, words::ASSISTANT, words::SECOND_USER)?;
    (opens && !closes).then_some(last)
}

/// What opens an answer in the history, if a prompt that asks for an answer ends before it.
fn missing_opening<'s>(open: &str, finished: &'s ProbeOutcome) -> Option<&'s str> {
    let opening = finished
        .before(words::ASSISTANT)?
        .strip_prefix(open)?
        .trim();
    control_tokens_in(opening).next()?;
    Some(opening)
}

/// What two texts end with alike, from its first control token on.
fn common_end<'t>(one: &str, other: &'t str) -> &'t str {
    let ends = one.bytes().rev().zip(other.bytes().rev());
    let same = ends.take_while(|(a, b)| a == b).count();
    let end = other.cut(other.ceil_char_boundary(other.len() - same)..);
    let token = control_tokens_in(end).next();
    token
        .and_then(|token| end.find(token))
        .map_or(end, |at| end.cut(at..))
}
