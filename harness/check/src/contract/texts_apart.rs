use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::calls::unread_json;
use crate::probe::catalogue::{
    CALL_RESULT, CALL_TURN_USER, CALL_WITH_TEXT, PARALLEL, SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_USER,
    TOOLS, TWO_ASSISTANTS, TWO_DOCUMENTS, TWO_SYSTEM, TWO_TURNS, TWO_USERS, USER,
};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "texts-apart",
    meaning: "texts, tools, calls and documents are separated from the text next to them",
    guards_against: "a system text that runs into the instructions about tools",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("texts_apart.md"),
    judge: |tally, prober, _| {
        for (plain, tools, word, who) in [
            (SYSTEM_USER, SYSTEM_TOOLS, words::SYSTEM, "a system message"),
            (USER, TOOLS, words::USER, "a question"),
        ] {
            let (plain, tools) = (prober.see(plain), prober.see(tools));
            if tally.text(&plain).is_none() || tally.text(&tools).is_none() {
                continue;
            }
            if !plain.has(word) || !tools.has(word) {
                tally.skip(format!("{who} is not in the prompt"));
                continue;
            }
            let before = |seen: &ProbeOutcome| seen.before(word)?.chars().next_back();
            let after = |seen: &ProbeOutcome| seen.after(word)?.chars().next();
            let glued = |place: &dyn Fn(&ProbeOutcome) -> Option<char>| {
                let (tools, plain) = (place(&tools), place(&plain));
                let is_space = |c: Option<char>| c.is_some_and(char::is_whitespace);
                is_glued(tools) && !is_glued(plain)
                    || is_space(plain) && tools.is_some() && !is_space(tools)
            };
            let how = match (glued(&before), glued(&after)) {
                (false, false) => None,
                (true, _) => Some("with tools, words of the template end where"),
                (false, true) => Some("with tools, words of the template begin right after"),
            };
            tally.demand(how.is_none(), || {
                let what = match how {
                    Some(how) if how.ends_with("where") => {
                        format!("{how} {who} begins, without a space")
                    }
                    other => format!("{} {who}, without a space", other.unwrap_or_default()),
                };
                Evidence::one(what, &tools).at(tools.find(word))
            });
        }
        messages_apart(tally, prober);
        words_apart(tally, prober);
        objects_apart(tally, prober);
    },
};

/// Whether a character is a part of words: a text that touches it runs into them.
fn is_glued(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '!' | '?' | '#'))
}

/// Demands that something is between the texts of two messages.
fn messages_apart(tally: &mut Tally, prober: &Prober<'_>) {
    const SPOKEN: [&str; 8] = [
        words::SYSTEM,
        words::SECOND_SYSTEM,
        words::USER,
        words::SECOND_USER,
        words::ASSISTANT,
        words::SECOND_ASSISTANT,
        words::RESULT,
        words::SECOND_RESULT,
    ];
    for probe in [
        SYSTEM_USER,
        SYSTEM_TURNS,
        TWO_SYSTEM,
        TWO_USERS,
        TWO_ASSISTANTS,
        TWO_TURNS,
        SYSTEM_TOOLS,
        CALL_TURN_USER,
        PARALLEL,
    ] {
        let seen = prober.see(probe);
        let touching = SPOKEN.iter().find_map(|word| {
            let place = seen.find(word)?;
            let after = seen.text()?.get(place.end..)?.to_ascii_lowercase();
            let next = words::ALL.iter().find(|next| after.starts_with(**next))?;
            Some(place.start..place.end + next.len())
        });
        if seen.text().is_some() {
            tally.demand(touching.is_none(), || {
                let what = format!("the texts of two messages touch: {}", probe.about);
                Evidence::one(what, &seen).at(touching.clone())
            });
        }
    }
}

/// Demands that no letter is right before the text of a message, and none right after it.
fn words_apart(tally: &mut Tally, prober: &Prober<'_>) {
    for (probe, word, who) in [
        (USER, words::USER, "a question"),
        (TWO_TURNS, words::ASSISTANT, "an answer"),
        (TWO_TURNS, words::SECOND_USER, "a second question"),
        (SYSTEM_USER, words::SYSTEM, "a system message"),
        (
            SYSTEM_USER,
            words::USER,
            "a question after a system message",
        ),
        (CALL_WITH_TEXT, words::ASSISTANT, "an answer with a call"),
        (CALL_RESULT, words::RESULT, "a result"),
        (PARALLEL, words::SECOND_RESULT, "a second result"),
    ] {
        let seen = prober.see(probe);
        let (Some(place), Some(text)) = (seen.find(word), seen.text()) else {
            continue;
        };
        // Within JSON, a line break is written with a letter.
        let before = text.cut(..place.start);
        let is_escape = before.chars().rev().nth(1) == Some('\\');
        let (before, after) = (
            before.to_ascii_lowercase(),
            text.cut(place.end..).to_ascii_lowercase(),
        );
        // Two texts of messages that touch are reported as such.
        let is_other = words::ALL
            .iter()
            .any(|word| before.ends_with(word) || after.starts_with(word));
        let is_before = before.ends_with(char::is_alphanumeric) && !is_escape && !is_other;
        let is_after = after.starts_with(char::is_alphanumeric) && !is_other;
        tally.demand(!is_before && !is_after, || {
            let how = if is_before { "before" } else { "after" };
            let what =
                format!("a word of the prompt is right {how} {who}, without anything between them");
            Evidence::one(what, &seen).at(Some(place.clone()))
        });
    }
}

/// Demands that something is between two tools, calls or documents that are written as JSON.
fn objects_apart(tally: &mut Tally, prober: &Prober<'_>) {
    for (probe, first, second, what) in [
        (TOOLS, words::TOOL, words::SECOND_TOOL, "two tools"),
        (
            PARALLEL,
            words::SECOND_VALUE,
            words::THIRD_VALUE,
            "two calls",
        ),
        (
            PARALLEL,
            words::FIRST_VALUE,
            words::THIRD_VALUE,
            "two calls",
        ),
        (
            TWO_DOCUMENTS,
            words::DOCUMENT,
            words::SECOND_DOCUMENT,
            "two documents",
        ),
    ] {
        let seen = prober.see(probe);
        let (Some(from), Some(between)) = (seen.find(first), seen.between(first, second)) else {
            continue;
        };
        let at = between.find("}{").map(|at| from.end + at);
        let said = seen.after(words::USER);
        let is_unread = said.is_some_and(|said| unread_json(said).is_some());
        if at.is_some() && probe == PARALLEL && is_unread {
            tally.skip("calls-whole reports that the calls cannot be read");
            continue;
        }
        tally.demand(at.is_none(), || {
            let what = format!("{what} touch, as in `}}{{`");
            Evidence::one(what, &seen).at(at.map(|at| at..at + 2))
        });
    }
}
