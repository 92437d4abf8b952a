use rolecall_core::Dialect;
use rolecall_go::answer::Answer;

use super::frame::{Contract, Evidence, Severity};
use super::shared::answers::{WrittenAnswer, reader};
use crate::probe::catalogue::{REASONED, USER};
use crate::probe::words;

pub(super) static CONTRACT: Contract = Contract {
    id: "thoughts-recognised",
    meaning: "Ollama separates reasoning from the answer as the template writes it",
    guards_against: "reasoning that reaches the user as a part of the answer, with its tags",
    severity: Severity::Error,
    dialects: &[Dialect::Go],
    page: include_str!("thoughts_recognised.md"),
    judge: |tally, prober, capabilities| {
        if capabilities.reasoning.fields.is_empty() {
            return tally.skip("reasoning is not in the prompt");
        }
        let Some(program) = reader(prober, tally) else {
            return;
        };
        let (asked, seen) = (prober.see(USER), prober.see(REASONED));
        let (Some(_), Some(_)) = (tally.text(&asked), tally.text(&seen)) else {
            return;
        };
        let Some(written) = WrittenAnswer::find(&asked, &seen) else {
            return tally.skip("the answer cannot be found in the prompt");
        };
        let tags = program.thinking_tags();
        if !tags.are_found() {
            let what = format!(
                "Ollama does not find both texts that are around the reasoning: {}",
                match (&*tags.opening, &*tags.closing) {
                    ("", "") => "neither before `.Thinking` nor after it".to_owned(),
                    (opening, "") => format!("`{opening}` before `.Thinking`, and none after it"),
                    (_, closing) => format!("`{closing}` after `.Thinking`, and none before it"),
                }
            );
            return tally.broken(Evidence::one(what, &seen));
        }
        let has = |text: &str, word| text.to_ascii_lowercase().contains(word);
        let is_apart = |answer: Answer| {
            has(&answer.thinking, words::REASONING)
                && !has(&answer.content, words::REASONING)
                && !has(&answer.thinking, words::ASSISTANT)
        };
        let mut read = written.iter().filter_map(|one| one.read(&program, &[]));
        tally.demand(read.any(is_apart), || {
            let what = format!(
                "Ollama takes `{}` and `{}` for the tags of reasoning, and does not find the \
                 reasoning between them",
                tags.opening, tags.closing
            );
            Evidence::one(what, &seen)
        });
    },
};
