mod endings;

use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Judgement, Severity, Tally};
use super::second_round_alike;
use super::shared::agents::are_joined_alike;
use super::shared::prefix::{ANSWERED, Answered};
use super::shared::spelling::spelt;
use super::shared::tokens::special_token;
use crate::capability::GenerationPrompt;
use crate::probe::catalogue::{SYSTEM_TURNS, TWO_TURNS, TWO_TURNS_USER_CLOSED};
use crate::probe::{ProbeOutcome, Prober, words};
use endings::{end_alike, only_answers_end};

pub(super) static CONTRACT: Contract = Contract {
    id: "turns-closed",
    meaning: "every turn ends with the token that ends the others",
    guards_against: "instructions or answers that run into the next turn, as no model has seen it",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("turns_closed.md"),
    judge: |tally, prober, capabilities| {
        let opening = match &capabilities.generation_prompt {
            GenerationPrompt::Suffix { text } => text.as_str(),
            _ => "",
        };
        for probe in [SYSTEM_TURNS, TWO_TURNS] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_some() {
                turns_closed(tally, prober, opening, &seen);
            }
        }
        closed_when_last(tally, prober);
        turns_apart_alike(tally, &prober.see(TWO_TURNS_USER_CLOSED));
        end_alike(tally, prober);
        let rounds = second_round_alike::CONTRACT.judgement(prober, capabilities);
        let is_reported = tally.is_broken() || matches!(rounds, Judgement::Broken(_));
        are_joined_alike(tally, prober, is_reported);
    },
};

/// A token may close a question before its answer. Demands that it also closes the question that is the last
/// message: the model has learned to answer after it.
fn closed_when_last(tally: &mut Tally, prober: &Prober<'_>) {
    let questions = [words::USER, words::USER, words::SECOND_USER];
    for (
        question,
        Answered {
            open,
            finished,
            word,
            ..
        },
    ) in questions.into_iter().zip(ANSWERED)
    {
        let (open, finished) = (prober.see(open), prober.see(finished));
        let (Some(end), Some(between)) = (open.after(question), finished.between(question, word))
        else {
            continue;
        };
        let tokens: Vec<&str> = control_tokens_in(between).collect();
        if let [closing, _, ..] = tokens.as_slice()
            && between.trim_start().starts_with(closing)
        {
            tally.demand(end.contains(closing), || {
                let what = format!("`{closing}` closes a question that its answer follows, and not the last question");
                Evidence::differ(what, &open, &finished)
            });
        }
    }
}

/// Where one token closes questions and answers, demands the same white space after it, as templates lose a line
/// break that write the two in different branches. If a question does not touch the token, an answer may not either.
fn turns_apart_alike(tally: &mut Tally, seen: &ProbeOutcome) {
    let around = |word: &str| {
        let text = seen.after(word)?;
        let after = text.trim_start();
        let token = control_tokens_in(after).next()?;
        let rest = after.strip_prefix(token)?;
        let next = rest.trim_start();
        let gap = rest.cut(..rest.len() - next.len());
        // White space counts where a token follows it, which begins the next turn.
        let gap = next.starts_with(['<', '[']).then_some(gap);
        Some((token, text.cut(..text.len() - after.len()), gap))
    };
    let (Some((one, before, gap)), Some((other, before_other, gap_other))) =
        (around(words::USER), around(words::ASSISTANT))
    else {
        return;
    };
    if one != other {
        return;
    }
    let pairs = [
        gap.zip(gap_other)
            .map(|(gap, other)| ("followed", gap, other, gap == other)),
        Some((
            "preceded",
            before,
            before_other,
            before.is_empty() || !before_other.is_empty(),
        )),
    ];
    for (how, question, answer, is_alike) in pairs.into_iter().flatten() {
        tally.demand_with(Severity::Warning, is_alike, || {
            let what = format!(
                "`{one}` is {how} by {} after a question, and by {} after an answer",
                spelt(question),
                spelt(answer)
            );
            Evidence::one(what, seen)
        });
    }
}

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
    let ends_alone = count(closing) < 2 && turns.first().is_some_and(|first| first.end != *closing);
    // Where neither a question nor a system message ends with a token, that is the format.
    let opens_next = turns.first().is_some_and(|first| count(first.end) > 1);
    let severity = match ends_alone {
        true if only_answers_end(prober) || opens_next => Severity::Note,
        true => Severity::Warning,
        false => Severity::Error,
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
