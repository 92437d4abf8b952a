//! Contracts about content: two spellings of the same content give the same prompt, and a text
//! arrives as it was sent.

use rolecall_core::{Cut, Dialect, Outcome};

use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::mentions::speaks_of;
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::{Capabilities, GenerationPrompt};
use crate::probe::catalogue::{
    ASSISTANT_INSIDE, ASSISTANT_PARTS, ASSISTANT_SPACES, ASSISTANT_TWO_PARTS, CALL_RESULT,
    EMPTY_ANSWER, EMPTY_CALL, INSIDE, MISSING_ANSWER, MISSING_CALL, NULL_ANSWER, NULL_CALL,
    RESULT_PARTS, RESULT_SPACES, SPACES, SPACES_AFTER, SYSTEM_INSIDE, SYSTEM_PARTS, SYSTEM_SPACES,
    SYSTEM_TWO_PARTS, SYSTEM_USER, THINK_TAG, TWO_PARTS, USER, USER_ASSISTANT_USER, USER_CRLF,
    USER_INSIDE, USER_PARTS, USER_SPACES,
};
use crate::probe::{Content, InputStyle, Probe, ProbeOutcome, Prober, words};

pub(super) static EMPTY_CONTENT_ALIKE: Contract = Contract {
    id: "empty-content-alike",
    meaning: "with tool calls, content that is null, missing or empty gives the same prompt",
    guards_against: "an error for clients that send null content with a call, as OpenAI's do",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/empty-content-alike.md"),
    judge: empty_content_alike,
};

fn empty_content_alike(prober: &Prober<'_>, capabilities: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    if capabilities.tool_calls.single.is_kept() {
        let empty = prober.see(EMPTY_CALL);
        for (probe, what) in [(NULL_CALL, "null"), (MISSING_CALL, "missing")] {
            let other = prober.see(probe);
            if empty.is_refused() && other.is_refused() {
                tally.skip(empty.refusal());
            } else {
                tally.demand(empty.outcome == other.outcome, || {
                    let what = match (empty.text(), other.text()) {
                        (Some(_), Some(_)) => {
                            format!(
                                "content that is {what} gives another prompt than empty content"
                            )
                        }
                        (None, _) => {
                            format!("content that is {what} is accepted, empty content is not")
                        }
                        _ => format!("content that is {what}: {}", other.refusal()),
                    };
                    let evidence = Evidence::differ(what, &empty, &other);
                    if empty.is_refused() {
                        evidence.with(Severity::Warning)
                    } else {
                        evidence
                    }
                });
            }
        }
    }
    // Without calls nobody needs to send an answer that says nothing.
    let empty = prober.see(EMPTY_ANSWER);
    for (probe, what) in [(NULL_ANSWER, "null"), (MISSING_ANSWER, "missing")] {
        let other = prober.see(probe);
        if let (Some(one), Some(text)) = (tally.text(&empty), tally.text(&other)) {
            tally.demand_with(Severity::Note, one == text, || {
                let what =
                    format!("an answer that is {what} gives another prompt than an empty one");
                Evidence::differ(what, &empty, &other)
            });
        }
    }
    tally.judgement()
}

pub(super) static TEXT_PART_IS_TEXT: Contract = Contract {
    id: "text-part-is-text",
    meaning: "content as one text part gives the same prompt as the text itself",
    guards_against: "text parts that vanish, or are printed as a list",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/text-part-is-text.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        if prober.input_style().content == Content::Parts {
            tally.skip("the template takes parts only");
            return tally.judgement();
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
            let what = format!("{who} as a text part {what}");
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
        tally.judgement()
    },
};

/// How a template handles content as a text part, compared with the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartHandling {
    /// The same prompt.
    AsText,
    /// The same but for white space.
    OtherSpace,
    AsList,
    /// The text is not in the prompt.
    Lost,
    /// Another prompt.
    Otherwise,
}

/// How a template handles content as a text part. None if there is no prompt to compare, or if the
/// text itself is lost.
pub(super) fn part_handling(
    text: &ProbeOutcome,
    parts: &ProbeOutcome,
    word: &str,
) -> Option<PartHandling> {
    let (one, other) = (text.text()?, parts.text()?);
    let without_space =
        |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    // A list of tools may hold the same marks: only what the part adds counts.
    let marks = ["'type': 'text'", "\"type\": \"text\"", "\"type\":\"text\""];
    let is_list = || {
        let mut marks = marks.iter();
        marks.any(|mark| parts.count(mark) > text.count(mark))
    };
    Some(if one == other {
        PartHandling::AsText
    } else if !text.has(word) {
        return None;
    } else if is_list() {
        PartHandling::AsList
    } else if !parts.has(word) {
        PartHandling::Lost
    } else if without_space(one) == without_space(other) {
        PartHandling::OtherSpace
    } else {
        PartHandling::Otherwise
    })
}

pub(super) static PLAIN_CONTENT_KEPT: Contract = Contract {
    id: "plain-content-kept",
    meaning: "plain text content is in the prompt, not only content in parts",
    guards_against: "ordinary messages that vanish, or that are printed letter by letter",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/plain-content-kept.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        if prober.input_style().content == Content::String {
            tally.holds();
            return tally.judgement();
        }
        let plain = InputStyle {
            content: Content::String,
            ..prober.input_style()
        };
        for (probe, word, who) in [
            (USER, words::USER, "a question"),
            (USER_ASSISTANT_USER, words::ASSISTANT, "an answer"),
            (SYSTEM_USER, words::SYSTEM, "a system message"),
        ] {
            // If the text part is lost too, there is another reason.
            if !prober.see(probe).has(word) {
                continue;
            }
            let seen = prober.see_in(probe, plain);
            if seen.has(word) {
                tally.holds();
                continue;
            }
            let (severity, how) = match &*seen.outcome {
                Outcome::Rendered { text } if letters(text).contains(word) => {
                    (Severity::Error, "is printed letter by letter".to_owned())
                }
                Outcome::Rendered { .. } => (Severity::Error, "is not in the prompt".to_owned()),
                Outcome::Raised { .. } => (Severity::Limitation, seen.refusal()),
                _ => (Severity::Warning, seen.refusal()),
            };
            let what = format!("{who} as a plain text: {how}");
            tally.broken(Evidence::one(what, &seen).with(severity));
            // The others fail with it.
            if seen.is_refused() {
                break;
            }
        }
        tally.judgement()
    },
};

/// The letters of a text, in lower case, without all other characters.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

pub(super) static WHITESPACE_VERBATIM: Contract = Contract {
    id: "whitespace-verbatim",
    meaning: "white space around a text arrives as it was sent",
    guards_against: "code and patches that lose their first indentation or their last line break",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("pages/whitespace-verbatim.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (probe, word, who) in [
            (USER_SPACES, words::USER, "a question"),
            (ASSISTANT_SPACES, words::ASSISTANT, "an answer"),
            (SYSTEM_SPACES, words::SYSTEM, "a system message"),
            (RESULT_SPACES, words::RESULT, "a tool's result"),
        ] {
            whitespace(&mut tally, &prober.see(probe), word, who);
        }
        tally.judgement()
    },
};

fn whitespace(tally: &mut Tally, seen: &ProbeOutcome, word: &str, who: &str) {
    let (Some(before), Some(after)) = (seen.before(word), seen.after(word)) else {
        tally.skip(seen.refusal());
        return;
    };
    // A text within JSON has its white space escaped.
    let arrived = |text: &str, check: &dyn Fn(&str) -> bool| {
        check(text) || check(&text.escape_default().to_string())
    };
    let leads = arrived(SPACES, &|spaces| before.ends_with(spaces));
    let trails = arrived(SPACES_AFTER, &|spaces| after.starts_with(spaces));
    let where_not = match (leads, trails) {
        (true, true) => return tally.holds(),
        (false, false) => "around",
        (false, true) => "before",
        (true, false) => "after",
    };
    let what = format!("white space {where_not} {who} is not as it was sent");
    tally.broken(Evidence::one(what, seen));
}

pub(super) static TEXT_VERBATIM: Contract = Contract {
    id: "text-verbatim",
    meaning: "letters, blank lines and signs such as `<` and `&` in a text arrive as they were sent",
    guards_against: "code that arrives with other lines, or escaped as HTML",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/text-verbatim.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for (probe, who) in [
            (USER_INSIDE, "a question"),
            (ASSISTANT_INSIDE, "an answer"),
            (SYSTEM_INSIDE, "a system message"),
        ] {
            let seen = prober.see(probe);
            let Some(text) = tally.text(&seen) else {
                continue;
            };
            let (Some(from), Some(to)) = (seen.find(words::BEFORE), seen.find(words::AFTER)) else {
                let is_part = seen.has(words::BEFORE) || seen.has(words::AFTER);
                tally.demand(!is_part, || {
                    let what = format!("only a part of {who} with blank lines is in the prompt");
                    Evidence::one(what, &seen)
                });
                continue;
            };
            let found = text.get(from.end..to.start).unwrap_or_default();
            if found.contains("\\n") {
                // Within JSON or Python's notation, where every sign has another form. A text that is
                // no value of an object or a list needs none.
                let before = text.cut(..from.start).trim_end_matches(['"', '\'']);
                let is_quoted = before.len() < from.start;
                let is_value = before.trim_end().ends_with([':', ',', '[', '(', '=']);
                tally.demand_with(Severity::Warning, is_value || !is_quoted, || {
                    let what =
                        format!("{who} is in quotes, and its line breaks are written as `\\n`");
                    Evidence::one(what, &seen).at(Some(from.start..to.end))
                });
                tally.skip(format!("{who} is written as a value, not as a text"));
                continue;
            }
            tally.demand(found == INSIDE, || {
                let what = format!("{who} is changed inside: {}", change(found));
                Evidence::one(what, &seen).at(Some(from.start..to.end))
            });
        }
        tally.judgement()
    },
};

/// What became of the inside of a text, in words.
fn change(found: &str) -> &'static str {
    if found.contains("&lt;") || found.contains("&amp;") {
        "signs are escaped as in HTML"
    } else if found.split_whitespace().eq(INSIDE.split_whitespace()) {
        "blank lines or spaces are gone"
    } else if found.to_lowercase() == INSIDE.to_lowercase() {
        "capital letters are small, or the reverse"
    } else {
        "signs are other ones, or gone"
    }
}

pub(super) static CRLF_VERBATIM: Contract = Contract {
    id: "crlf-verbatim",
    meaning: "line breaks as Windows writes them arrive as they were sent",
    guards_against: "edits that fail, because the model never saw the file's own line breaks",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    page: include_str!("pages/crlf-verbatim.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let seen = prober.see(USER_CRLF);
        match seen.after(words::BEFORE) {
            Some(after) => {
                let is_kept = after.starts_with(&format!("\r\n{}", words::AFTER))
                    || after.starts_with(&format!("\\r\\n{}", words::AFTER));
                tally.demand(is_kept, || {
                    Evidence::one("the line break in a question is changed", &seen)
                });
            }
            None => tally.skip(seen.refusal()),
        }
        tally.judgement()
    },
};

/// Whether each answer begins within a tag that the prompt opens, such as `<think>`.
fn begins_in_a_tag(capabilities: &Capabilities) -> bool {
    let GenerationPrompt::Suffix { text } = &capabilities.generation_prompt else {
        return false;
    };
    let text = text.trim_end();
    let tag = text.rfind('<').map_or("", |at| text.cut(at..));
    let name = tag.trim_start_matches('<').trim_end_matches('>');
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-');
    tag.ends_with('>') && !name.is_empty() && name.chars().all(is_name)
}

pub(super) static THINK_TAG_VERBATIM: Contract = Contract {
    id: "think-tag-verbatim",
    meaning: "an earlier answer that mentions `</think>` is in the prompt as a whole",
    guards_against: "answers that only mention the tag, and lose everything before it",
    severity: Severity::Limitation,
    dialects: &Dialect::ALL,
    page: include_str!("pages/think-tag-verbatim.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let seen = prober.see(THINK_TAG);
        if tally.text(&seen).is_some() {
            match (seen.has(words::BEFORE), seen.has(words::AFTER)) {
                (true, true) => tally.holds(),
                // Such a template takes the text before the tag for reasoning that a client left
                // there. Where it knows a field for reasoning, a client need not leave it there.
                (false, true) => {
                    let names = ["reasoning", "reasoning_content", "thinking"];
                    let severity = if speaks_of(prober, &names) && !begins_in_a_tag(capabilities) {
                        Severity::Note
                    } else {
                        Severity::Limitation
                    };
                    let what = "what an answer says before `</think>` is not in the prompt";
                    tally.broken(Evidence::one(what, &seen).with(severity));
                }
                (is_before, _) => {
                    let what = if is_before {
                        "what an answer says after `</think>` is not in the prompt"
                    } else {
                        "an answer that holds `</think>` is not in the prompt"
                    };
                    tally.broken(Evidence::one(what, &seen).with(Severity::Warning));
                }
            }
        }
        tally.judgement()
    },
};
