//! Contracts about content: another spelling of the same gives the same, and a text
//! arrives as it was sent.

use rolecall_model::Dialect;

use super::definition::{Contract, Severity};
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    ASSISTANT_PARTS, ASSISTANT_SPACES, CALL_RESULT, EMPTY_ANSWER, EMPTY_CALL, MISSING_ANSWER,
    MISSING_CALL, NULL_ANSWER, NULL_CALL, RESULT_PARTS, RESULT_SPACES, SPACES, SPACES_BEHIND,
    SYSTEM_PARTS, SYSTEM_SPACES, SYSTEM_USER, THINK_TAG, TWO_PARTS, USER, USER_ASSISTANT_USER,
    USER_CRLF, USER_PARTS, USER_SPACES,
};
use crate::probe::{Content, Probe, Prober, Seen, words};

pub(super) static EMPTY_CONTENT_ALIKE: Contract = Contract {
    id: "empty-content-alike",
    meaning: "beside tool calls, content that is null, missing or empty gives the same prompt",
    guards_against: "clients that send null with a call, as `OpenAI`'s do, and get an error",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
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
                    Evidence::differ(what, &empty, &other)
                });
            }
        }
    }
    // Without calls nobody needs to accept an answer that says nothing.
    let empty = prober.see(EMPTY_ANSWER);
    for (probe, what) in [(NULL_ANSWER, "null"), (MISSING_ANSWER, "missing")] {
        let what = format!("an answer that is {what} gives another prompt than an empty one");
        tally.same(&empty, &prober.see(probe), &what);
    }
    tally.judgement()
}

pub(super) static TEXT_PART_IS_TEXT: Contract = Contract {
    id: "text-part-is-text",
    meaning: "content as one text part gives the same prompt as the text itself",
    guards_against: "clients that send parts, and get lists in their prompts or nothing at all",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    judge: |prober, _| {
        let mut tally = Tally::default();
        if prober.manner().content == Content::Parts {
            tally.skip("the template takes parts only");
            return tally.judgement();
        }
        for (text, parts, who) in [
            (USER, USER_PARTS, "a question"),
            (USER_ASSISTANT_USER, ASSISTANT_PARTS, "an answer"),
            (SYSTEM_USER, SYSTEM_PARTS, "a system message"),
            (CALL_RESULT, RESULT_PARTS, "a tool's result"),
        ] {
            if prober.dialect() == Dialect::Go && parts == RESULT_PARTS {
                // Ollama forgets whose result it is before a template sees it.
                continue;
            }
            let what = format!("{who} as a text part gives another prompt");
            tally.same(&prober.see(text), &prober.see(parts), &what);
        }
        let two = prober.see(TWO_PARTS);
        if tally.text(&two).is_some() {
            let (before, behind) = (two.find(words::BEFORE), two.find(words::BEHIND));
            let in_order = matches!((before, behind), (Some(before), Some(behind)) if before.start < behind.start);
            tally.demand(in_order, || {
                Evidence::one("two text parts are not both in the prompt, in order", &two)
            });
        }
        tally.judgement()
    },
};

pub(super) static WHITESPACE_VERBATIM: Contract = Contract {
    id: "whitespace-verbatim",
    meaning: "white space around a text arrives as it was sent",
    guards_against: "code and patches that lose their first indentation or their last line break",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
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

fn whitespace(tally: &mut Tally, seen: &Seen, word: &str, who: &str) {
    let (Some(before), Some(behind)) = (seen.before(word), seen.behind(word)) else {
        tally.skip(seen.refusal());
        return;
    };
    // A text within JSON has its white space escaped.
    let arrived = |text: &str, check: &dyn Fn(&str) -> bool| {
        check(text) || check(&text.escape_default().to_string())
    };
    let leads = arrived(SPACES, &|spaces| before.ends_with(spaces));
    let trails = arrived(SPACES_BEHIND, &|spaces| behind.starts_with(spaces));
    let where_not = match (leads, trails) {
        (true, true) => return tally.holds(),
        (false, false) => "around",
        (false, true) => "before",
        (true, false) => "behind",
    };
    let what = format!("white space {where_not} {who} is not as it was sent");
    tally.broken(Evidence::one(what, seen));
}

pub(super) static CRLF_VERBATIM: Contract = Contract {
    id: "crlf-verbatim",
    meaning: "line breaks as Windows writes them arrive as they were sent",
    guards_against: "files that a model shall edit and can no longer match",
    severity: Severity::Note,
    dialects: &Dialect::ALL,
    judge: |prober, _| {
        let mut tally = Tally::default();
        let seen = prober.see(USER_CRLF);
        match seen.behind(words::BEFORE) {
            Some(behind) => {
                let is_kept = behind.starts_with(&format!("\r\n{}", words::BEHIND))
                    || behind.starts_with(&format!("\\r\\n{}", words::BEHIND));
                tally.demand(is_kept, || {
                    Evidence::one("the line break in a question is another one", &seen)
                });
            }
            None => tally.skip(seen.refusal()),
        }
        tally.judgement()
    },
};

pub(super) static THINK_TAG_VERBATIM: Contract = Contract {
    id: "think-tag-verbatim",
    meaning: "an earlier answer that mentions `</think>` is in the prompt as a whole",
    guards_against: "answers about reasoning models that lose everything before the word",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    judge: |prober, _| {
        const PROBE: Probe = THINK_TAG;
        let mut tally = Tally::default();
        let seen = prober.see(PROBE);
        if tally.text(&seen).is_some() {
            let what = match (seen.has(words::BEFORE), seen.has(words::BEHIND)) {
                (true, true) => None,
                (false, true) => Some("what an answer says before `</think>` is not in the prompt"),
                (true, false) => Some("what an answer says behind `</think>` is not in the prompt"),
                (false, false) => Some("an answer that holds `</think>` is not in the prompt"),
            };
            match what {
                None => tally.holds(),
                Some(what) => tally.broken(Evidence::one(what, &seen)),
            }
        }
        tally.judgement()
    },
};
