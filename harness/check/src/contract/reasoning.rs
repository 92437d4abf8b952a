//! The marks around the reasoning of models, such as `<think>` and `</think>`, and the contract
//! that history has them as prompts open and close them.

use rolecall_core::{Cut, Dialect};

use super::definition::Contract;
use super::evidence::Evidence;
use super::severity::Severity;
use super::tally::Tally;
use super::tokens::control_tokens_in;
use crate::capability::{Capabilities, Switch};
use crate::probe::catalogue::{
    INLINE_REASONING, INLINE_REASONING_USER, REASONED, REASONED_CALL, REASONED_USER, USER,
    USER_ASSISTANT,
};
use crate::probe::{ProbeOutcome, Prober, words};

/// A mark at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its length in bytes.
    pub(super) len: usize,
    /// Whether reasoning begins after it.
    pub(super) opens: bool,
}

/// Marks whose form does not tell what they are.
const UNUSUAL: [(&str, bool); 4] = [
    ("<|channel>thought", true),
    ("<channel|>", false),
    ("<|channel|>analysis", true),
    ("<|channel|>final", false),
];

/// The longest mark of the usual form, in bytes.
const LONGEST: usize = 40;

/// The mark at the beginning of a text. Marks of the usual form are in brackets and speak of
/// thinking; those that close reasoning have a slash or speak of an end.
pub(super) fn mark_at(text: &str) -> Option<Mark> {
    let unusual = UNUSUAL.iter().find(|(mark, _)| text.starts_with(mark));
    if let Some((mark, opens)) = unusual {
        return Some(Mark {
            len: mark.len(),
            opens: *opens,
        });
    }
    let open = text.chars().next()?;
    let close = match open {
        '<' => '>',
        '[' => ']',
        '◁' => '▷',
        _ => return None,
    };
    let after = text.cut(open.len_utf8()..);
    let end = after.find(close).filter(|end| *end < LONGEST)?;
    let name = after.cut(..end).trim_matches('|').to_ascii_lowercase();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | ':' | '-');
    let speaks = ["think", "thought", "reasoning"];
    let is_mark = name.chars().all(is_name) && speaks.iter().any(|word| name.contains(word));
    is_mark.then(|| Mark {
        len: open.len_utf8() + end + close.len_utf8(),
        opens: !name.starts_with('/') && !name.starts_with("end"),
    })
}

/// The marks in a text, each with its place.
pub(super) fn marks(text: &str) -> impl DoubleEndedIterator<Item = (usize, Mark)> + '_ {
    let starts = text.match_indices(['<', '[', '◁']);
    starts.filter_map(|(at, _)| Some((at, mark_at(text.cut(at..))?)))
}

/// Whether a text ends within reasoning.
pub(super) fn is_within(text: &str) -> bool {
    marks(text).next_back().is_some_and(|(_, mark)| mark.opens)
}

/// Whether a prompt is for GLM. After the role in its turns there may be the name of a tool, and then
/// a line break. The model writes both itself, so no prompt ends with the line break.
pub(super) fn is_for_glm(prompt: &str) -> bool {
    prompt.starts_with("[gMASK]")
}

pub(super) static REASONING_ALIKE: Contract = Contract {
    id: "thoughts-alike",
    meaning: "reasoning in the history has the marks and line breaks that the prompt gives it",
    guards_against: "an answer that begins with other tokens than in training, and a lost cache",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/thoughts-alike.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        for (prober, with) in under_settings(prober, capabilities) {
            let (open, reasoned) = (prober.see(USER), prober.see(REASONED));
            let writes_line_breaks = open.text().is_some_and(is_for_glm);
            let answered = prober.see(USER_ASSISTANT);
            if writes_line_breaks {
                // Of the white space around its marks nothing can be said.
                ends_alike(&mut tally, &with, [&open, &answered], |seen| {
                    end_of_reasoning(seen).map(str::trim)
                });
                continue;
            }
            begin_alike(&mut tally, &with, &open, &reasoned);
            begin_once(&mut tally, &with, [&open, &answered]);
            begin_once(&mut tally, &with, [&open, &reasoned]);
            // A model may have another form for reasoning without a word in it: an answer without
            // reasoning shows it, if any does.
            if end_of_reasoning(&answered).is_some() {
                end_alike(&mut tally, &with, &open, &answered);
            } else {
                close_alike(&mut tally, &with, &open, &reasoned);
            }
        }
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
        }
        tally.judgement()
    },
};

/// The template as it is, and under each setting of a switch for thinking, with the words for that.
fn under_settings<'t>(
    prober: &Prober<'t>,
    capabilities: &Capabilities,
) -> Vec<(Prober<'t>, String)> {
    let switches = capabilities.switches.iter();
    let settings = switches
        .filter(|switch| switch.is_for_thinking())
        .flat_map(Switch::settings);
    let set = settings.map(|setting| {
        let with = format!("with {setting}: ");
        (prober.with_setting(&setting), with)
    });
    let usual = (prober.again(), String::new());
    [usual].into_iter().chain(set).collect()
}

/// Demands that no mark opens reasoning between a prompt that has such a mark at its end and the answer
/// to it.
fn begin_once(tally: &mut Tally, with: &str, [open, finished]: [&ProbeOutcome; 2]) {
    let (Some(prompt), Some(before)) = (open.text(), finished.before(words::ASSISTANT)) else {
        return;
    };
    let has_mark = open
        .after(words::USER)
        .is_some_and(|end| marks(end).next().is_some());
    let Some(added) = before.strip_prefix(prompt).filter(|_| has_mark) else {
        return;
    };
    let again = marks(added).find(|(_, mark)| mark.opens);
    let mark = again.map_or("", |(at, mark)| added.cut(at..at + mark.len));
    let what = format!(
        "the prompt has marks of reasoning at its end, and `{mark}` follows before the answer"
    );
    let evidence = |what: String| Evidence::no_prefix(what, open, finished).with(Severity::Error);
    demand(tally, again.is_none(), (with, &what), evidence);
}

/// Demands that the reasoning of an answer begins as the prompt that asked for it opens it.
fn begin_alike(tally: &mut Tally, with: &str, open: &ProbeOutcome, reasoned: &ProbeOutcome) {
    let (Some(prompt), Some(finished)) = (tally.text(open), tally.text(reasoned)) else {
        return;
    };
    let Some(reasoning) = reasoned.find(words::REASONING) else {
        return;
    };
    let before = finished.cut(..reasoning.start);
    let (Some((place, _)), Some(asked)) = (marks(before).next_back(), open.find(words::USER))
    else {
        return;
    };
    // The mark may belong to the template's own instructions.
    let opened = marks(prompt).next_back().filter(|(at, _)| *at > asked.end);
    match opened {
        Some((at, mark))
            if mark.opens
                && prompt.cut(at + mark.len..).trim().is_empty()
                && before.starts_with(prompt.cut(..at + mark.len)) =>
        {
            let what = format!(
                "the prompt opens the reasoning with {}, and the history with {}",
                shown(prompt.cut(at..)),
                shown(before.cut(place..))
            );
            let evidence = |what: String| Evidence::no_prefix(what, open, reasoned);
            demand(tally, before == prompt, (with, &what), evidence);
        }
        None if before.cut(..place).trim_end() == prompt.trim_end() => {
            let is_gap = |text: &str| text.contains('\n') && text.trim().is_empty();
            let (gap, what) = if prompt.len() < place {
                let what = "the history has line breaks before its reasoning that are not at the \
                            end of the prompt";
                (before.cut(prompt.len()..place), what)
            } else {
                let what = "the prompt ends with line breaks that the history has not before its \
                            reasoning";
                (prompt.cut(place..), what)
            };
            let evidence = |what: String| Evidence::no_prefix(what, open, reasoned);
            demand(tally, !is_gap(gap), (with, what), evidence);
        }
        _ => {}
    }
}

/// Demands that reasoning without a word is alike before the answers of two prompts, where both
/// have some.
fn end_alike(tally: &mut Tally, with: &str, one: &ProbeOutcome, other: &ProbeOutcome) {
    ends_alike(tally, with, [one, other], end_of_reasoning);
}

/// Demands that the mark that closes reasoning is followed by the same white space in two prompts.
fn close_alike(tally: &mut Tally, with: &str, one: &ProbeOutcome, other: &ProbeOutcome) {
    let close = |seen| {
        let block = end_of_reasoning(seen)?;
        let (at, _) = marks(block).next_back()?;
        Some(block.cut(at..))
    };
    ends_alike(tally, with, [one, other], close);
}

fn ends_alike<'s>(
    tally: &mut Tally,
    with: &str,
    [one, other]: [&'s ProbeOutcome; 2],
    end: fn(&'s ProbeOutcome) -> Option<&'s str>,
) {
    let ends = [one, other].map(end);
    if let [Some(first), Some(second)] = ends {
        let what = format!(
            "reasoning ends with {} in one prompt and with {} in another",
            shown(first),
            shown(second)
        );
        let evidence = |what: String| Evidence::differ(what, one, other);
        demand(tally, first == second, (with, &what), evidence);
    }
}

pub(super) static REASONING_WHOLE: Contract = Contract {
    id: "thoughts-whole",
    meaning: "reasoning comes before its answer, and between both of its marks",
    guards_against: "an answer that the model takes for reasoning, or reasoning without an end",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/thoughts-whole.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        for probe in [
            REASONED,
            REASONED_USER,
            INLINE_REASONING,
            INLINE_REASONING_USER,
            REASONED_CALL,
        ] {
            let seen = prober.see(probe);
            let (Some(_), Some(reasoning)) = (tally.text(&seen), seen.find(words::REASONING))
            else {
                continue;
            };
            if let Some(answer) = seen.find(words::ASSISTANT) {
                tally.demand(reasoning.start < answer.start, || {
                    let what = format!("the reasoning comes after the answer: {}", probe.about);
                    Evidence::one(what, &seen).at(Some(reasoning.clone()))
                });
            }
            let half = half_marked(&seen);
            tally.demand(half.is_none(), || {
                let what = format!("{}: {}", half.unwrap_or_default(), probe.about);
                Evidence::one(what, &seen).at(Some(reasoning))
            });
        }
        tally.skip("the reasoning is not in the prompt");
        tally.judgement()
    },
};

/// What is wrong if reasoning has one of its marks and not the other.
fn half_marked(seen: &ProbeOutcome) -> Option<&'static str> {
    let (text, reasoning) = (seen.text()?, seen.find(words::REASONING)?);
    let from = seen.find(words::USER).map_or(0, |asked| asked.end);
    let before = text.get(from..reasoning.start)?;
    let rest = text.cut(reasoning.end..);
    let answer = seen.find(words::ASSISTANT).map(|answer| answer.start);
    let until = answer.and_then(|at| at.checked_sub(reasoning.end));
    let after = rest.cut(..until.unwrap_or(rest.len()));
    let is_opened = marks(before)
        .next_back()
        .is_some_and(|(_, mark)| mark.opens);
    // Some models end reasoning with a token that ends other things, too.
    let ends = |token: &str| token.to_lowercase().contains("end");
    let is_closed = marks(after).next().is_some_and(|(_, mark)| !mark.opens)
        || control_tokens_in(after).next().is_some_and(ends);
    match (is_opened, is_closed) {
        (true, false) => Some("a mark opens the reasoning, and none closes it"),
        (false, true) if marks(after).next().is_some() => {
            Some("a mark closes the reasoning, and none opens it")
        }
        _ => None,
    }
}

/// Demands something under a setting. What is so without it too is reported once.
fn demand(
    tally: &mut Tally,
    is_so: bool,
    (with, what): (&str, &str),
    evidence: impl FnOnce(String) -> Evidence,
) {
    if is_so || with.is_empty() || !tally.is_reported(what) {
        tally.demand(is_so, || evidence(format!("{with}{what}")));
    }
}

/// The closing mark before the first answer, and the white space after it. In a prompt that asks
/// for an answer it is at the end.
fn end_of_reasoning(seen: &ProbeOutcome) -> Option<&str> {
    let text = seen.text()?;
    let before = seen.before(words::ASSISTANT).unwrap_or(text);
    let mut all = marks(before);
    let (at, mark) = all.next_back()?;
    let is_after_question = seen.find(words::USER).is_some_and(|asked| asked.end < at);
    let is_last = before.cut(at + mark.len..).trim().is_empty();
    // Without reasoning between them, both marks count.
    let opening = all
        .next_back()
        .filter(|(opened, mark)| mark.opens && before.cut(opened + mark.len..at).trim().is_empty());
    let from = opening.map_or(at, |(opened, _)| opened);
    (!mark.opens && is_after_question && is_last).then(|| before.cut(from..))
}

/// A mark with its white space.
fn shown(text: &str) -> String {
    format!("`{}`", text.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_known_by_their_form() {
        let mark = |text: &str| mark_at(text).map(|mark| (mark.len, mark.opens));
        assert_eq!(mark("<think>\n"), Some((7, true)));
        assert_eq!(mark("</seed:think>x"), Some((13, false)));
        assert_eq!(mark("<|START_THINKING|>"), Some((18, true)));
        assert_eq!(mark("<|END_THINKING|>"), Some((16, false)));
        assert_eq!(mark("[/THINK]"), Some((8, false)));
        assert_eq!(mark("◁/think▷"), Some(("◁/think▷".len(), false)));
        assert_eq!(mark("<channel|>"), Some((10, false)));
        for text in ["", "think", "<|im_start|>", "<think", "<do think of it>"] {
            assert_eq!(mark(text), None, "{text}");
        }
        assert!(is_within("a<think>\nb") && !is_within("<think>a</think>b"));
    }
}
