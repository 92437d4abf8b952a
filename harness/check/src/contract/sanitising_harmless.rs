use rolecall_core::{Case, Dialect};
use rolecall_front::sanitizing::{ControlTokens, without_marks};
use serde_json::json;

use super::frame::{Contract, Evidence, Severity};
use super::shared::reasoning::mark_at;
use super::shared::tokens::control_tokens;
use crate::probe::input_style::open;
use crate::probe::{Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "sanitising-harmless",
    meaning: "with `sanitize_control_tokens` the prompt of an ordinary conversation stays the same",
    guards_against: "earlier reasoning that stays in the prompt, or a result that is taken for a \
                     question",
    severity: Severity::Note,
    dialects: &[Dialect::Jinja],
    page: include_str!("sanitising_harmless.md"),
    judge: |tally, prober, _| {
        let Some(reading) = prober.reading() else {
            return tally.skip("the template cannot be read");
        };
        let written: Vec<String> = reading
            .texts
            .iter()
            .flat_map(|text| control_tokens(text))
            .collect();
        // Without the vocabulary, all that the template writes and that looks like one counts.
        let tokens = prober
            .tokenizer()
            .and_then(|tokenizer| tokenizer.control_tokens(&prober.template().source))
            .unwrap_or_else(|| ControlTokens::new(written.clone()));
        for (about, case) in conversations(prober, &written) {
            let plain = prober.ask("unmarked", about, case.clone());
            let marked = prober.ask("marked", about, tokens.mark(&case));
            if let (Some(one), Some(other)) = (tally.text(&plain), tally.text(&marked)) {
                tally.demand(one == without_marks(other), || {
                    let what =
                        format!("`sanitize_control_tokens` changes more than the tokens: {about}");
                    Evidence::differ(what, &plain, &marked)
                });
            }
        }
        if written.is_empty() {
            tally.skip("the template writes no control tokens");
        }
    },
};

/// Conversations in which messages have control tokens although nobody means harm: an earlier answer
/// as the model wrote it, and a result that a client sends as a question.
fn conversations(prober: &Prober<'_>, written: &[String]) -> Vec<(&'static str, Case)> {
    let m = prober.input_style();
    let mut found = Vec::new();
    let mark = |opens: bool| {
        let mut marks = written.iter();
        marks.find(|token| {
            mark_at(token).is_some_and(|mark| mark.len == token.len() && mark.opens == opens)
        })
    };
    if let (Some(begin), Some(end)) = (mark(true), mark(false)) {
        let answer = format!(
            "{begin}\n{}\n{end}\n\n{}",
            words::REASONING,
            words::ASSISTANT
        );
        let messages = vec![m.user(), m.message("assistant", &answer), m.second_user()];
        found.push((
            "an earlier answer with its reasoning, as the model wrote it",
            open(messages),
        ));
    }
    if written.iter().any(|token| token == "<tool_response>") {
        let result = format!("<tool_response>\n{}\n</tool_response>", words::RESULT);
        let call = json!({
            "role": "assistant", "content": m.content(""), "reasoning_content": words::REASONING,
            "tool_calls": m.call().get("tool_calls"),
        });
        let messages = vec![m.user(), call, m.message("user", &result)];
        found.push((
            "a result that a client sends as a question, between its tags",
            open(messages),
        ));
    }
    found
}
