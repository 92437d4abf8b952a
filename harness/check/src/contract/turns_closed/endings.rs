//! How turns end in every conversation: with tools, calls and results, documents and reasoning.
//!
//! Three plain turns show which token closes a turn and which one opens the next. Both are then
//! expected everywhere else. A template whose plain turns do not have such a pair is left alone.

use std::ops::Range;

use rolecall_answers::control_tokens::control_tokens_in;
use rolecall_core::{Cut, Dialect};

use crate::contract::frame::{Evidence, Severity, Tally};
use crate::contract::shared::reasoning::marks;
use crate::contract::shared::spelling::{shown, spelt};
use crate::contract::shared::tokens::special_token;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_RESULT_ASSISTANT, CALL_TURN_USER, CALL_WITH_TEXT,
    CALL_WITH_TEXT_ASSISTANT, DOCUMENT, DOCUMENT_TOOLS_TURN, DOCUMENT_TURN, OTHER_QUESTION,
    PARALLEL, PARALLEL_TURN, REASONED_LOOP, REASONED_TURN_USER, SYSTEM_CALL_RESULT,
    SYSTEM_CALL_TURN, SYSTEM_DOCUMENT, SYSTEM_DOCUMENT_TOOLS, SYSTEM_OTHER_QUESTION,
    SYSTEM_PARALLEL_TURN, SYSTEM_TOOLS, SYSTEM_TURNS, SYSTEM_TWO_ROUNDS_TURN, SYSTEM_USER,
    SYSTEM_USER_ASSISTANT, TOOLS, TOOLS_TURN, TWO_ROUNDS, TWO_ROUNDS_TURN, TWO_TURNS,
    TWO_TURNS_USER_CLOSED, USER, USER_ASSISTANT, USER_ASSISTANT_USER,
};
use crate::probe::{Probe, ProbeOutcome, Prober, words};

/// Demands of every conversation what the plain ones show about the ends of turns.
pub(super) fn end_alike(tally: &mut Tally, prober: &Prober<'_>) {
    answers_end_as_questions(tally, prober);
    calls_end_as_answers(tally, prober);
    questions_end_alike(tally, prober);
    turns_alternate(tally, prober);
    headings_alike(tally, prober);
    results_open_alike(tally, prober);
    roles_are_named(tally, prober);
    tokens_are_not_doubled(tally, prober);
    results_are_closed(tally, prober);
    system_is_opened(tally, prober);
    default_system_is_closed(tally, prober);
    answers_open_as_asked(tally, prober);
    begins_alike(tally, prober);
}

/// Demands that a prompt with tools begins with a token if the prompt without tools does.
fn begins_alike(tally: &mut Tally, prober: &Prober<'_>) {
    let (plain, tools) = (prober.see(USER), prober.see(TOOLS));
    let (Some(one), Some(other)) = (plain.text(), tools.text()) else {
        return;
    };
    let first = control_tokens_in(one).next();
    if first.is_some_and(|token| one.starts_with(token)) {
        let rest = other.trim_start();
        let is_outside = rest.len() < other.len()
            && !control_tokens_in(rest)
                .next()
                .is_some_and(|token| rest.starts_with(token));
        tally.demand(!is_outside, || {
            let what = "with tools, the prompt begins outside of a turn";
            Evidence::differ(what, &plain, &tools)
        });
    }
}

/// The control tokens between two words.
fn tokens_between<'s>(seen: &'s ProbeOutcome, first: &str, second: &str) -> Option<Vec<&'s str>> {
    Some(control_tokens_in(seen.between(first, second)?).collect())
}

/// The token that closes turns, and the one that opens them.
#[derive(Debug)]
struct TurnTokens {
    closing: String,
    opening: String,
}

impl TurnTokens {
    /// The tokens that are between the turns of a plain conversation.
    fn of(prober: &Prober<'_>) -> Option<TurnTokens> {
        let turns = prober.see(TWO_TURNS_USER_CLOSED);
        let gaps = [
            tokens_between(&turns, words::USER, words::ASSISTANT)?,
            tokens_between(&turns, words::ASSISTANT, words::SECOND_USER)?,
            tokens_between(&turns, words::SECOND_ASSISTANT, words::THIRD_USER)?,
        ];
        let [closing, opening] = gaps[0].get(..2)?.try_into().ok()?;
        let is_alike = gaps.iter().all(|gap| gap.first() == Some(&closing))
            && gaps[1].get(1) == Some(&opening);
        let tokens = TurnTokens {
            closing: closing.to_owned(),
            opening: opening.to_owned(),
        };
        let plain = [USER, USER_ASSISTANT, TWO_TURNS, TWO_TURNS_USER_CLOSED];
        let holds = |probe: &Probe| tokens.fault(&prober.see(*probe)).is_none();
        (is_alike && closing != opening && plain.iter().all(holds)).then_some(tokens)
    }

    /// The first place, after the first message, document or tool, where the tokens do not alternate.
    /// Either a turn is opened before the last one is closed, or a text is between two turns.
    fn fault(&self, seen: &ProbeOutcome) -> Option<(String, Range<usize>)> {
        let text = seen.text()?;
        let said = [
            words::SYSTEM,
            words::DOCUMENT,
            words::TOOL_ABOUT,
            words::USER,
        ];
        let first = said
            .iter()
            .filter_map(|word| Some(seen.find(word)?.start))
            .min()?;
        let mut is_open = false;
        let mut rest = 0;
        for token in control_tokens_in(text) {
            let at = rest + text.cut(rest..).find(token)?;
            rest = at + 1;
            let end = at + token.len();
            if token == self.opening {
                if is_open && at > first && is_content(text.cut(..at)) {
                    let what = format!(
                        "`{}` opens a turn before the last one is closed by `{}`",
                        self.opening, self.closing
                    );
                    return Some((what, at..end));
                }
                is_open = true;
            } else if token == self.closing {
                let next = text.cut(end..).trim_start();
                if at > first && !next.is_empty() && !next.starts_with(&self.opening) {
                    let what = format!(
                        "`{}` closes a turn, and no `{}` follows it",
                        self.closing, self.opening
                    );
                    return Some((what, at..end));
                }
                is_open = false;
            }
        }
        None
    }
}

/// Whether a text ends with something that a turn holds: a word of a message, a tag or a bracket. It
/// does not if the last call ends with a token of its own.
fn is_content(text: &str) -> bool {
    let text = text.trim_end();
    let is_closing_tag = text.ends_with('>')
        && text.rfind('<').is_some_and(|at| {
            let name = text.cut(at..).strip_prefix("</").unwrap_or_default();
            name.starts_with(char::is_alphabetic)
        });
    is_closing_tag
        || text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '}' | ']' | ')'))
            && !control_tokens_in(text)
                .next_back()
                .is_some_and(|token| text.ends_with(token))
}

/// The conversations in which turns have to alternate.
const EVERYWHERE: [Probe; 29] = [
    USER_ASSISTANT_USER,
    SYSTEM_USER,
    SYSTEM_USER_ASSISTANT,
    SYSTEM_TURNS,
    TOOLS,
    SYSTEM_TOOLS,
    TOOLS_TURN,
    OTHER_QUESTION,
    SYSTEM_OTHER_QUESTION,
    CALL,
    CALL_RESULT,
    CALL_RESULT_ASSISTANT,
    CALL_TURN_USER,
    CALL_WITH_TEXT_ASSISTANT,
    SYSTEM_CALL_RESULT,
    SYSTEM_CALL_TURN,
    PARALLEL,
    PARALLEL_TURN,
    SYSTEM_PARALLEL_TURN,
    TWO_ROUNDS,
    TWO_ROUNDS_TURN,
    SYSTEM_TWO_ROUNDS_TURN,
    REASONED_LOOP,
    REASONED_TURN_USER,
    DOCUMENT,
    DOCUMENT_TURN,
    SYSTEM_DOCUMENT,
    SYSTEM_DOCUMENT_TOOLS,
    DOCUMENT_TOOLS_TURN,
];

fn turns_alternate(tally: &mut Tally, prober: &Prober<'_>) {
    let Some(tokens) = TurnTokens::of(prober).filter(|_| !tally.is_broken()) else {
        return;
    };
    for probe in EVERYWHERE {
        let seen = prober.see(probe);
        // Lost texts are reported elsewhere.
        let has_results = seen.asked.messages.iter().any(|one| one["role"] == "tool");
        if seen.text().is_none() || has_results && !seen.has(words::RESULT) {
            continue;
        }
        let fault = tokens.fault(&seen);
        let (what, at) = fault.map_or((String::new(), None), |(what, at)| (what, Some(at)));
        tally.demand(at.is_none(), || {
            Evidence::one(format!("{what}: {}", probe.about), &seen).at(at.clone())
        });
        if at.is_some() {
            return;
        }
    }
}

/// Where the turns of questions and of answers open with the same token, they end with the same one.
fn answers_end_as_questions(tally: &mut Tally, prober: &Prober<'_>) {
    let turns = prober.see(TWO_TURNS_USER_CLOSED);
    let question = tokens_between(&turns, words::USER, words::ASSISTANT);
    let answer = tokens_between(&turns, words::ASSISTANT, words::SECOND_USER);
    let (Some(question), Some(answer)) = (question, answer) else {
        return;
    };
    let what = match (question.as_slice(), answer.as_slice()) {
        ([one, opening, ..], [other, next, ..]) if opening == next => (one != other)
            .then(|| format!("a question ends with `{one}`, and an answer with `{other}`")),
        ([opening], [closing, next, ..]) if opening == next => Some(format!(
            "an answer is closed by `{closing}`, and a question is not"
        )),
        ([closing, opening, ..], [next]) if opening == next => Some(format!(
            "a question is closed by `{closing}`, and an answer is not"
        )),
        _ => return,
    };
    let severity = if only_answers_end(prober) {
        Severity::Note
    } else {
        Severity::Error
    };
    tally.demand_with(severity, what.is_none(), || {
        Evidence::one(what.unwrap_or_default(), &turns).at(turns.find(words::ASSISTANT))
    });
}

/// Whether only answers end with a token: a system message has none, and opens with another token than the
/// question after it. A few models were trained in this way.
pub(super) fn only_answers_end(prober: &Prober<'_>) -> bool {
    let seen = prober.see(SYSTEM_USER);
    let before = seen.before(words::SYSTEM).unwrap_or_default();
    let own = control_tokens_in(before).next_back();
    let next = tokens_between(&seen, words::SYSTEM, words::USER).unwrap_or_default();
    own.is_some() && next.len() == 1 && own != next.first().copied()
}

/// If an answer ends with a token, a call does not end with a plain tag or with nothing. If a call
/// ends with the token for the end of a text, an answer ends with a token.
fn calls_end_as_answers(tally: &mut Tally, prober: &Prober<'_>) {
    let (call, answer) = (prober.see(CALL), prober.see(USER_ASSISTANT));
    let last_value = [words::FIRST_VALUE, words::SECOND_VALUE]
        .into_iter()
        .filter_map(|word| Some(call.find(word)?.end))
        .max();
    let after_call = last_value.and_then(|at| call.text()?.get(at..));
    let (Some(after_call), Some(after_answer)) = (after_call, answer.after(words::ASSISTANT))
    else {
        return;
    };
    let last = |text| control_tokens_in(text).next_back();
    let eos = special_token(prober.template(), "eos_token");
    let (what, seen) = match (last(after_call), last(after_answer)) {
        (None, Some(closing)) => (
            Some(format!(
                "an answer is closed by `{closing}`, and a call is not"
            )),
            call,
        ),
        (Some(tag), Some(closing)) if tag.starts_with("</") && tag != closing => (
            Some(format!(
                "an answer is closed by `{closing}`, and a call ends with `{tag}`"
            )),
            call,
        ),
        (Some(closing), None) if Some(closing) == eos => (
            Some(format!(
                "a call is closed by `{closing}`, and an answer is not"
            )),
            answer,
        ),
        (Some(_), Some(_)) => (None, call),
        _ => return,
    };
    tally.demand(what.is_none(), || {
        Evidence::one(what.unwrap_or_default(), &seen)
    });
}

/// If a token is right after a plain question, it also is there in conversations with a system
/// message, with tools or with documents.
fn questions_end_alike(tally: &mut Tally, prober: &Prober<'_>) {
    let after = |seen: &ProbeOutcome| -> Option<String> {
        Some(seen.after(words::USER)?.trim_start().to_owned())
    };
    let Some(plain) = after(&prober.see(USER)) else {
        return;
    };
    let Some(token) = control_tokens_in(&plain)
        .next()
        .filter(|token| plain.starts_with(token))
    else {
        return;
    };
    for probe in [SYSTEM_USER, TOOLS, SYSTEM_TOOLS, DOCUMENT, SYSTEM_DOCUMENT] {
        let seen = prober.see(probe);
        if let Some(after) = after(&seen) {
            tally.demand(after.starts_with(token), || {
                let what = format!(
                    "`{token}` follows a plain question, and not this one: {}",
                    probe.about
                );
                Evidence::one(what, &seen).at(seen.find(words::USER))
            });
        }
    }
}

/// Demands a token between a result and the answer after it, if one is between all turns and one opens the
/// result.
fn results_are_closed(tally: &mut Tally, prober: &Prober<'_>) {
    let (turns, seen) = (prober.see(TWO_TURNS), prober.see(CALL_RESULT_ASSISTANT));
    let are_apart = |seen: &ProbeOutcome, one: &str, other: &str| {
        tokens_between(seen, one, other).is_none_or(|tokens| !tokens.is_empty())
    };
    let before = seen.before(words::RESULT).unwrap_or_default();
    let is_end = |token: &&str| {
        ["/", "end", "END", "suffix"]
            .iter()
            .any(|end| token.contains(end))
    };
    if let Some(opening) = control_tokens_in(before)
        .next_back()
        .filter(|token| !is_end(token))
        && are_apart(&turns, words::USER, words::ASSISTANT)
        && are_apart(&turns, words::ASSISTANT, words::SECOND_USER)
    {
        let is_closed = are_apart(&seen, words::RESULT, words::SECOND_ASSISTANT);
        tally.demand_with(Severity::Warning, is_closed, || {
            let what =
                format!("nothing closes the result behind `{opening}`, and the answer follows it");
            Evidence::one(what, &seen).at(seen.find(words::RESULT))
        });
    }
}

/// Demands that a system message which ends as a question does has an opening, as the question has.
fn system_is_opened(tally: &mut Tally, prober: &Prober<'_>) {
    let (seen, turns) = (prober.see(SYSTEM_USER), prober.see(TWO_TURNS));
    let (Some(before), Some(between)) = (
        seen.before(words::SYSTEM),
        seen.between(words::SYSTEM, words::USER),
    ) else {
        return;
    };
    let closing = tokens_between(&turns, words::USER, words::ASSISTANT)
        .and_then(|tokens| tokens.first().copied());
    let mut tokens = control_tokens_in(between);
    let (first, second) = (tokens.next(), tokens.next());
    if first.is_none() || first != closing || second.is_none() {
        return;
    }
    let bos = special_token(prober.template(), "bos_token").unwrap_or_default();
    let is_bare = before.strip_prefix(bos).unwrap_or(before).trim().is_empty();
    tally.demand_with(Severity::Warning, !is_bare, || {
        let what = "a system message is closed as a question is, and nothing opens it";
        Evidence::one(what, &seen).at(seen.find(words::SYSTEM))
    });
}

/// Demands that a default system message ends with the tokens with which the user's own ends.
fn default_system_is_closed(tally: &mut Tally, prober: &Prober<'_>) {
    let (own, seen) = (prober.see(SYSTEM_USER), prober.see(USER));
    let heading = own.before(words::SYSTEM).unwrap_or_default();
    let default = seen
        .before(words::USER)
        .and_then(|head| head.strip_prefix(heading));
    let tokens = tokens_between(&own, words::SYSTEM, words::USER).unwrap_or_default();
    // More may come after the user's own message, such as a budget.
    let is_one = tokens
        .first()
        .is_some_and(|closing| !tokens.iter().skip(1).any(|token| token == closing));
    let Some(default) = default.filter(|text| !text.is_empty() && is_one && tokens.len() > 1)
    else {
        return;
    };
    if control_tokens_in(heading).next().is_none() {
        return;
    }
    let ends: Vec<&str> = control_tokens_in(default).collect();
    tally.demand_with(Severity::Warning, ends.ends_with(&tokens), || {
        let tokens: Vec<String> = tokens.iter().map(|token| format!("`{token}`")).collect();
        let what = format!(
            "{} are between a system message and a question, and not after the template's own system message",
            tokens.join(", ")
        );
        Evidence::differ(what, &own, &seen)
    });
}

/// Demands in a template for Ollama that an earlier answer follows the words with which a prompt asks for
/// one, but for white space and marks of reasoning.
fn answers_open_as_asked(tally: &mut Tally, prober: &Prober<'_>) {
    let (asked, history) = (prober.see(USER), prober.see(USER_ASSISTANT_USER));
    let (Some(end), Some(between)) = (
        asked.after(words::USER),
        history.between(words::USER, words::ASSISTANT),
    ) else {
        return;
    };
    let is_plain = marks(end).next().is_none() && marks(between).next().is_none();
    if prober.dialect() != Dialect::Go
        || !is_plain
        || end.trim().is_empty()
        || between.trim().is_empty()
    {
        return;
    }
    // Some models have more words before the answer that is asked for.
    let (end_words, other_words) = (letters(end), letters(between));
    let last = control_tokens_in(between).next_back();
    let has_last = last.is_none_or(|token| end.contains(token));
    let is_alike = end.trim() == between.trim() || end_words != other_words && has_last;
    tally.demand_with(Severity::Warning, is_alike, || {
        let what = format!(
            "a prompt asks for an answer with {}, and an earlier answer follows {}",
            shown(end.trim()),
            shown(between.trim())
        );
        Evidence::one(what, &history).at(history.find(words::ASSISTANT))
    });
}

/// The letters and digits of a text.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Demands that no control token follows itself.
fn tokens_are_not_doubled(tally: &mut Tally, prober: &Prober<'_>) {
    for probe in [
        USER,
        TWO_TURNS,
        CALL,
        CALL_RESULT_ASSISTANT,
        PARALLEL,
        TWO_ROUNDS,
    ] {
        let seen = prober.see(probe);
        let (Some(text), Some(question)) = (seen.text(), seen.find(words::USER)) else {
            continue;
        };
        let is_call = seen
            .asked
            .messages
            .iter()
            .any(|one| one["tool_calls"].is_array());
        if is_call && !seen.has(words::FIRST_VALUE) {
            continue;
        }
        let said = text.cut(question.end..);
        let mut from = 0;
        let twice = control_tokens_in(said).find_map(|token| {
            let at = from + said.cut(from..).find(token)?;
            from = at + token.len();
            let rest = said.cut(from..).trim_start();
            rest.starts_with(token).then(|| (at + question.end, token))
        });
        if let Some((at, token)) = twice {
            let what = format!("`{token}` is there twice in a row: {}", probe.about);
            let evidence = Evidence::one(what, &seen).at(Some(at..at + token.len()));
            tally.broken(evidence.with(Severity::Warning));
        }
    }
}

/// Demands that a text has the same heading in all conversations: the last control token before it, and what is
/// between them. A token that is right before questions and system messages has the same white space after it.
fn headings_alike(tally: &mut Tally, prober: &Prober<'_>) {
    /// A longer text has instructions or reasoning in it.
    const LONGEST: usize = 40;
    const ASKED: [Probe; 8] = [
        USER,
        USER_ASSISTANT_USER,
        SYSTEM_USER,
        SYSTEM_TURNS,
        TOOLS,
        SYSTEM_TOOLS,
        OTHER_QUESTION,
        CALL_TURN_USER,
    ];
    const ANSWERED: [Probe; 4] = [
        USER_ASSISTANT,
        USER_ASSISTANT_USER,
        CALL_WITH_TEXT,
        CALL_WITH_TEXT_ASSISTANT,
    ];
    const RESULTS: [Probe; 4] = [CALL_RESULT, PARALLEL, TWO_ROUNDS, CALL_TURN_USER];
    let mut known: Vec<(String, &str, String)> = Vec::new();
    for (word, who, probes) in [
        (words::SYSTEM, "a system message", ASKED.as_slice()),
        (words::USER, "a question", &ASKED),
        (words::SECOND_USER, "a question", &ASKED),
        (words::ASSISTANT, "an answer", &ANSWERED),
        (words::RESULT, "a result", &RESULTS),
    ] {
        for probe in probes {
            let seen = prober.see(*probe);
            let before = seen.before(word).unwrap_or_default();
            let Some((head, token)) = control_tokens_in(before)
                .next_back()
                .and_then(|token| Some((before.cut(before.rfind(token)?..), token)))
            else {
                continue;
            };
            let gap = head.cut(token.len()..);
            let is_own = head.len() <= LONGEST && !head.to_lowercase().contains("quill");
            if !is_own || marks(head).next().is_some() {
                continue;
            }
            let is_right_before = gap.trim().is_empty() && *probes == ASKED;
            let of = if is_right_before { "" } else { who };
            let mut alike = known.iter().filter(|one| one.0 == token && one.1 == of);
            let Some((.., usual)) = alike.next() else {
                known.push((token.to_owned(), of, gap.to_owned()));
                continue;
            };
            tally.demand_with(Severity::Warning, usual == gap, || {
                let what = if is_right_before {
                    format!(
                        "`{token}` is followed by {} in one place, and by {} in another",
                        spelt(usual),
                        spelt(gap)
                    )
                } else {
                    format!(
                        "{who} follows {} in one conversation, and {} in another: {}",
                        shown(&format!("{token}{usual}")),
                        shown(head),
                        probe.about
                    )
                };
                Evidence::one(what, &seen).at(seen.find(word))
            });
        }
    }
}

/// Where the turns of questions and answers begin with a token and a role, so do those of results and
/// of system messages: not with the token alone.
fn roles_are_named(tally: &mut Tally, prober: &Prober<'_>) {
    let turns = prober.see(TWO_TURNS);
    let slot = |word: &str| {
        let head = turns.before(word)?.trim_end();
        let mut tokens = control_tokens_in(head).rev();
        let last = tokens.next()?;
        let opening = if head.ends_with(last) {
            tokens.next()?
        } else {
            last
        };
        let role = head
            .cut(head.rfind(opening)? + opening.len()..)
            .trim_end_matches(last);
        let is_role = !role.is_empty() && role.chars().all(char::is_alphanumeric);
        is_role.then(|| {
            (
                opening.to_owned(),
                head.ends_with(last).then(|| last.to_owned()),
            )
        })
    };
    let (Some(question), Some(answer)) = (slot(words::SECOND_USER), slot(words::ASSISTANT)) else {
        return;
    };
    if question != answer {
        return;
    }
    let empty = format!("{}{}", question.0, question.1.unwrap_or_default());
    for (probe, word, who) in [
        (CALL_RESULT, words::RESULT, "a result"),
        (SYSTEM_USER, words::SYSTEM, "a system message"),
        (CALL, words::FIRST_VALUE, "a call"),
    ] {
        let seen = prober.see(probe);
        let Some(before) = seen.before(word) else {
            continue;
        };
        let at = before
            .rfind(&question.0)
            .filter(|at| before.cut(*at..).starts_with(&empty));
        let after = at.map_or("", |at| before.cut(at + empty.len()..));
        let is_empty = at.is_some() && !after.starts_with(char::is_alphanumeric);
        tally.demand(!is_empty, || {
            let what = format!("`{empty}` opens the turn of {who}, and no role is in it");
            Evidence::one(what, &seen).at(at.map(|at| at..at + empty.len()))
        });
    }
}

/// Where the turn of a result opens as a question does, the same white space comes after it.
fn results_open_alike(tally: &mut Tally, prober: &Prober<'_>) {
    let (turns, called) = (prober.see(USER_ASSISTANT_USER), prober.see(CALL_RESULT));
    let opening = turns.before(words::SECOND_USER).and_then(|before| {
        let head = before.trim_end();
        let token = control_tokens_in(head).next_back()?;
        let role = head.cut(head.rfind(token)? + token.len()..);
        let is_role = !role.is_empty() && role.chars().all(char::is_alphanumeric);
        is_role.then(|| (format!("{token}{role}"), before.cut(head.len()..)))
    });
    let (Some((opening, gap)), Some(before)) = (opening, called.before(words::RESULT)) else {
        return;
    };
    let Some(at) = before.rfind(&opening).map(|at| at + opening.len()) else {
        return;
    };
    let is_after_call = called
        .find(words::FIRST_VALUE)
        .is_some_and(|value| value.end < at);
    let rest = before.cut(at..);
    if gap.is_empty() || !is_after_call || rest.starts_with(char::is_alphanumeric) {
        return;
    }
    tally.demand_with(
        Severity::Warning,
        rest.starts_with(char::is_whitespace),
        || {
            let what = format!(
                "`{opening}` is followed by {} before a question, and by nothing before a result",
                spelt(gap)
            );
            Evidence::one(what, &called).at(Some(at - opening.len()..at))
        },
    );
}
