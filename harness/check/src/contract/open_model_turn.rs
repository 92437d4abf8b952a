use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::prefix::{ANSWERED, Answered};
use super::shared::reasoning::marks;
use super::shared::spelling::{shown, spelt};
use super::shared::tokens::{control_tokens, end_of_answers, special_token};
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_WITH_TEXT, SYSTEM_USER, USER, USER_ASSISTANT_USER,
};
use crate::probe::{Prober, words};

/// A prompt ends in an open turn if it ends like the prompt of a single question, if the finished
/// conversation continues it directly with the answer, or if what it adds to the same conversation
/// begins as the opening of a model's turn does: reasoning after that may differ. A result may
/// belong to the model's own turn. Then there is no opening, and nothing that closes a turn either.
pub(super) static CONTRACT: Contract = Contract {
    id: "open-model-turn",
    meaning: "however a conversation ends, its prompt ends where the model continues",
    guards_against: "a model that writes outside any turn, for example after a tool's result",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("open_model_turn.md"),
    judge: |tally, prober, capabilities| {
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
            let takes_tools = capabilities.tool_results.single.is_kept()
                && capabilities.tool_calls.single.is_kept();
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
        thoughts_begin_alike(tally, prober, capabilities);
    },
};

/// Demands that a prompt opens or closes reasoning after a tool's result, if one does after a question. A
/// model that has never seen the other beginning takes its answer for thoughts, or its thoughts for an
/// answer.
fn thoughts_begin_alike(tally: &mut Tally, prober: &Prober<'_>, capabilities: &Capabilities) {
    let GenerationPrompt::Suffix { text: question } = &capabilities.generation_prompt else {
        return;
    };
    let Some(result) = &capabilities.after_result else {
        return;
    };
    let last = |text: &str| marks(text).next_back().map(|(_, mark)| mark.opens);
    let (seen, finished) = (prober.see(CALL_RESULT), prober.see(CALL_RESULT_ASSISTANT));
    let text = seen.text().unwrap_or_default();
    // The model's turn is open still, and only marks around no reasoning are missing.
    let goes_on = finished.text().is_some_and(|all| all.starts_with(text));
    let is_open = result.is_empty() && last(question) == Some(false) && goes_on;
    let severity = if is_open {
        Severity::Note
    } else {
        Severity::Warning
    };
    tally.demand_with(severity, last(question) == last(result), || {
        let (result, question) = (spelt(result), shown(question));
        let what =
            format!("{result} is added after a tool's result, and {question} after a question");
        Evidence::one(what, &seen)
    });
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
