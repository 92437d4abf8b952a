use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::content::{PartHandling, part_handling};
use super::shared::working::is_failure;
use crate::probe::catalogue::{
    ASSISTANT_PARTS, ASSISTANT_TWO_PARTS, CALL_RESULT, RESULT_PARTS, SYSTEM_PARTS,
    SYSTEM_TWO_PARTS, SYSTEM_USER, TWO_PARTS, USER, USER_ASSISTANT_USER, USER_PARTS,
};
use crate::probe::{Content, Probe, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "text-part-is-text",
    meaning: "content as one text part gives the same prompt as the text itself",
    guards_against: "text parts that vanish, or are printed as a list",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("text_part_is_text.md"),
    judge: |tally, prober, _| {
        if prober.input_style().content == Content::Parts {
            return tally.skip("the template takes parts only");
        }
        let user = part_handling(&prober.see(USER), &prober.see(USER_PARTS), words::USER);
        if user == Some(PartHandling::AsList) {
            let (text, parts) = (prober.see(USER), prober.see(USER_PARTS));
            // A template that takes them elsewhere has forgotten them here.
            let elsewhere = [
                (SYSTEM_USER, SYSTEM_PARTS, words::SYSTEM),
                (USER_ASSISTANT_USER, ASSISTANT_PARTS, words::ASSISTANT),
            ];
            let is_taken = |(text, parts, word): &(Probe, Probe, &str)| {
                let how = part_handling(&prober.see(*text), &prober.see(*parts), word);
                how == Some(PartHandling::AsText)
            };
            tally.broken(if elsewhere.iter().any(is_taken) {
                let what = "a question as a text part is in the prompt as a list, and other \
                            messages are not";
                Evidence::differ(what, &text, &parts)
            } else {
                let source = prober.source_without_comments();
                let knows_parts = ["== 'text'", "== \"text\""]
                    .iter()
                    .any(|test| source.contains(test));
                let (what, severity) = if knows_parts {
                    let what = "text parts are in the prompt as Python or JSON prints them, though the template looks at the types of parts";
                    (what, Severity::Error)
                } else {
                    let what = "text parts are in the prompt as a list: the template takes texts only";
                    (what, Severity::Limitation)
                };
                Evidence::differ(what, &text, &parts).with(severity)
            });
        }
        // It is one limitation, however many roles have it.
        let mut is_failure_told = user == Some(PartHandling::AsList);
        for (text, parts, word, who) in [
            (USER, USER_PARTS, words::USER, "a question"),
            (
                USER_ASSISTANT_USER,
                ASSISTANT_PARTS,
                words::ASSISTANT,
                "an answer",
            ),
            (SYSTEM_USER, SYSTEM_PARTS, words::SYSTEM, "a system message"),
            (CALL_RESULT, RESULT_PARTS, words::RESULT, "a tool's result"),
        ] {
            if prober.dialect() == Dialect::Go && parts == RESULT_PARTS {
                // Ollama forgets whose result it is before a template sees it.
                continue;
            }
            let (text, parts) = (prober.see(text), prober.see(parts));
            if is_failure(&parts) && !text.is_refused() {
                if !std::mem::replace(&mut is_failure_told, true) {
                    let what = format!(
                        "{who} as a text part: {}, the template takes texts only",
                        parts.refusal()
                    );
                    tally.broken(Evidence::differ(what, &text, &parts).with(Severity::Limitation));
                }
                continue;
            }
            let Some(how) = part_handling(&text, &parts, word) else {
                let mut refused = [&text, &parts].into_iter();
                tally.skip(refused.find(|seen| seen.is_refused()).map_or_else(
                    || format!("{who} is not in the prompt as a text either"),
                    |seen| seen.refusal(),
                ));
                continue;
            };
            let (severity, what) = match (how, user) {
                (PartHandling::AsText, _) => {
                    tally.holds();
                    continue;
                }
                // The limitation to plain texts is reported only once.
                (PartHandling::AsList, Some(PartHandling::AsList)) => continue,
                (PartHandling::Lost, _) => (Severity::Error, "is not in the prompt"),
                (PartHandling::AsList, Some(_)) => (Severity::Error, "is in the prompt as a list"),
                (PartHandling::AsList, None) => (Severity::Warning, "is in the prompt as a list"),
                (PartHandling::OtherSpace, _) => {
                    (Severity::Note, "has other white space around it")
                }
                (PartHandling::Otherwise, _) => (Severity::Warning, "gives another prompt"),
            };
            // Within an object that the template writes itself, a list is JSON like the text.
            let quoted = [
                format!("\"{word}\""),
                format!("{{\"type\": \"text\", \"text\": \"{word}\"}}"),
            ];
            let is_json =
                how == PartHandling::AsList && text.has(&quoted[0]) && parts.has(&quoted[1]);
            let severity = if is_json { Severity::Note } else { severity };
            let what = format!("a text part {what}: {}", parts.about);
            tally.broken(Evidence::differ(what, &text, &parts).with(severity));
        }
        for (two, one, word, who) in [
            (TWO_PARTS, USER_PARTS, words::USER, "a question"),
            (
                ASSISTANT_TWO_PARTS,
                ASSISTANT_PARTS,
                words::ASSISTANT,
                "an answer",
            ),
            (
                SYSTEM_TWO_PARTS,
                SYSTEM_PARTS,
                words::SYSTEM,
                "a system message",
            ),
        ] {
            // Where one part is lost, two are lost for the same reason.
            let is_taken = user != Some(PartHandling::AsList) && prober.see(one).has(word);
            let seen = prober.see(two);
            if !is_taken || tally.text(&seen).is_none() {
                continue;
            }
            let (before, after) = (seen.find(words::BEFORE), seen.find(words::AFTER));
            let what = match (before, after) {
                (Some(before), Some(after)) if before.start < after.start => {
                    tally.holds();
                    continue;
                }
                (Some(_), Some(_)) => "are not in the prompt in their order",
                (Some(_), None) => "are not both in the prompt: the second is lost",
                (None, Some(_)) => "are not both in the prompt: the first is lost",
                (None, None) => "are not in the prompt",
            };
            let what = format!("two text parts of {who} {what}");
            tally.broken(Evidence::one(what, &seen));
        }
    },
};
