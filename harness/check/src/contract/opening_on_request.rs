use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::reasoning::marks;
use super::shared::spelling::shown;
use crate::capability::GenerationPrompt;
use crate::probe::catalogue::{
    CALL, REASONED, TWO_TURNS, USER, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{ProbeOutcome, Prober, words};

/// A template without any opening, such as one whose questions end with `[/INST]`, cannot break
/// this: the model answers after the question.
pub(super) static CONTRACT: Contract = Contract {
    id: "opening-on-request",
    meaning: "a model turn is opened where an answer is asked for, and nowhere else",
    guards_against: "a turn that nobody asked for, or an answer that the model has to open itself",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("opening_on_request.md"),
    judge: |tally, prober, capabilities| {
        let (asked, finished) = (prober.see(USER), prober.see(USER_ASSISTANT));
        let (Some(open), Some(text)) = (tally.text(&asked), tally.text(&finished)) else {
            return;
        };
        opens_as_history(tally, prober);
        opens_once(tally, prober);
        if prober.dialect() == Dialect::Go {
            return tally.skip("the prompts do not show how a model's turn opens");
        }
        let opening = match &capabilities.generation_prompt {
            GenerationPrompt::Suffix { text } => Some(text.trim()),
            // The text before an answer, from its last control token on.
            _ => finished.before(words::ASSISTANT).and_then(|before| {
                let token = control_tokens_in(before).next_back()?;
                let opening = before.cut(before.rfind(token)?..).trim();
                // What ends an answer, too, opens none.
                let closing = finished.after(words::ASSISTANT)?.trim();
                let is_opening =
                    open.trim_end().ends_with(opening) && !closing.starts_with(opening);
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
            return tally.broken(Evidence::one(what, &finished).at(at));
        }
        match opening.filter(|opening| !opening.is_empty()) {
            Some(opening) => tally.demand(!text.trim_end().ends_with(opening), || {
                let shown = common_end(open.trim_end(), text.trim_end());
                let what = format!("`{shown}` is at the end, although no answer was asked for");
                Evidence::one(what, &finished)
            }),
            None => tally.skip("the prompts do not show how a model's turn opens"),
        }
    },
};

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
        // `turns-closed` reports a token that ends answers, too.
        let turns = prober.see(TWO_TURNS);
        let ending = turns
            .after(words::ASSISTANT)
            .unwrap_or_default()
            .trim_start();
        let twice = doubled(between).filter(|twice| !ending.starts_with(twice.trim_end()));
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
