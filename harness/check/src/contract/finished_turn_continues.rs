use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::prefix::{ANSWERED, REWRITTEN, continues, goes_on, gone, is_lost_with_calls};
use super::shared::purpose::{INSTRUCTS_LAST, instructs_last};
use super::shared::reasoning::{is_for_glm, marks};
use super::shared::spelling::{shown, spelt};
use super::shared::tokens::end_of_answers;
use crate::probe::catalogue::{
    CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_RESULT_CLOSED, CALL_WITH_TEXT, USER,
};
use crate::probe::{ProbeOutcome, common, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "finished-turn-continues",
    meaning: "a conversation with its answer begins with the prompt that asked for the answer",
    guards_against: "a lost prompt cache, and training on prompts that the model never sees at \
                     inference time",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("finished_turn_continues.md"),
    judge: |tally, prober, capabilities| {
        let asked = prober.see(USER);
        let head = asked.text().and_then(|text| text.strip_suffix(' '));
        let is_blank = head.is_some_and(|head| !head.ends_with(char::is_whitespace));
        tally.demand(!is_blank, || {
            let what = "the prompt ends with a blank: in the text that a model learns, a blank belongs to the word after it";
            Evidence::one(what, &asked)
        });
        if instructs_last(prober) {
            return tally.skip(INSTRUCTS_LAST);
        }
        let pair = (CALL_RESULT_CLOSED, CALL_RESULT_ASSISTANT);
        let mut of_tools = Tally::default();
        goes_on(
            &mut of_tools,
            prober,
            capabilities,
            pair,
            words::RESULT,
            REWRITTEN,
        );
        let result_changes =
            capabilities.tool_calls.single.is_kept() && of_tools.is_reported(REWRITTEN);
        for answered in ANSWERED {
            let (open, finished) = (prober.see(answered.open), prober.see(answered.finished));
            let [prompt, all] = [&open, &finished].map(|seen| seen.text().unwrap_or_default());
            let is_lost = open.has(words::SYSTEM) && !finished.has(words::SYSTEM);
            let thoughts = marks(prompt).next_back().filter(|(_, mark)| mark.opens);
            let head = thoughts
                .map_or(prompt, |(at, _)| prompt.cut(..at))
                .trim_end();
            let closing = end_of_answers(prober).unwrap_or_default();
            // What else differs is said without the token that is there twice.
            let once = prompt.replace(&closing.repeat(2), &closing);
            let gone = gone(&open, &finished);
            let reported = if prober.dialect() == Dialect::Jinja && is_lost && !all.is_empty() {
                "messages-kept reports that the system message is lost"
            } else if gone.is_some_and(|name| is_lost_with_calls(prober, name)) {
                "messages-kept or tools-kept reports what is lost"
            } else if result_changes && [CALL_RESULT, CALL_WITH_TEXT].contains(&answered.open) {
                "history-stable-tools reports that the result changes"
            } else if !closing.is_empty() && head.ends_with(&closing) {
                "open-model-turn reports that the prompt closes a turn"
            } else if once != prompt && all.starts_with(&once) {
                "turns-closed reports a token that is there twice"
            } else {
                ""
            };
            if !reported.is_empty() {
                tally.skip(reported);
                continue;
            }
            let rest = prompt.cut(common(prompt, all)..);
            let after = all.cut(prompt.len() - rest.len()..).to_ascii_lowercase();
            let what = match (gone, other_break(&once, all)) {
                (Some(name), _) => {
                    format!("{name} is not in the prompt any more when the answer is there")
                }
                (None, Some((end, gap))) => format!(
                    "the prompt ends with {}, and answers follow {}: {}",
                    shown(end),
                    spelt(gap),
                    open.about
                ),
                (None, None) if after.starts_with(answered.word) => format!(
                    "the prompt begins the answer with {}, and a finished answer does not: {}",
                    shown(rest),
                    open.about
                ),
                _ => format!("the answer does not continue the prompt: {}", open.about),
            };
            let pair = [&*open, &*finished];
            continues(tally, prober, pair, prompt.len(), &what, |rest| rest, None);
            lacks_no_line_break(tally, &open, &finished, answered.word);
        }
    },
};

/// The white space at the end of a prompt, and the white space there before the answer, if they
/// differ and nothing before them does.
fn other_break<'o>(text: &'o str, finished: &'o str) -> Option<(&'o str, &'o str)> {
    let stem = text.trim_end();
    let following = finished.strip_prefix(stem)?;
    let gap = following.cut(..following.len() - following.trim_start().len());
    let end = text.cut(stem.len()..);
    (!end.is_empty() && !following.starts_with(end)).then_some((end, gap))
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
