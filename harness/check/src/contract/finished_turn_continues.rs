use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::prefix::{ANSWERED, continues, gone};
use super::shared::purpose::{INSTRUCTS_LAST, instructs_last};
use super::shared::reasoning::{is_for_glm, marks};
use super::shared::spelling::{shown, spelt};
use super::shared::tokens::end_of_answers;
use crate::probe::catalogue::USER;
use crate::probe::{ProbeOutcome, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "finished-turn-continues",
    meaning: "a conversation with its answer begins with the prompt that asked for the answer",
    guards_against: "a lost prompt cache, and training on prompts that the model never sees at \
                     inference time",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("finished_turn_continues.md"),
    judge: |tally, prober, _| {
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
        for answered in ANSWERED {
            let (open, finished) = (prober.see(answered.open), prober.see(answered.finished));
            let is_lost = open.has(words::SYSTEM) && !finished.has(words::SYSTEM);
            if prober.dialect() == Dialect::Jinja && is_lost && finished.text().is_some() {
                tally.skip("messages-kept reports that the system message is lost");
                continue;
            }
            let closing = end_of_answers(prober);
            let end = open.text().zip(closing.as_deref());
            if end.is_some_and(|(text, closing)| text.trim_end().ends_with(closing)) {
                tally.skip("open-model-turn reports that the prompt closes a turn");
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
                tally,
                prober,
                [&open, &finished],
                until,
                &what,
                |rest| rest,
                None,
            );
            lacks_no_line_break(tally, &open, &finished, answered.word);
        }
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
