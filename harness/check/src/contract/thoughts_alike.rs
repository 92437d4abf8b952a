use rolecall_core::{Cut, Dialect};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::reasoning::{is_for_glm, marks};
use super::shared::spelling::shown;
use crate::capability::{Capabilities, Switch};
use crate::probe::catalogue::{REASONED, USER, USER_ASSISTANT};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "thoughts-alike",
    meaning: "reasoning in the history has the marks and line breaks that the prompt gives it",
    guards_against: "an answer that begins with other tokens than in training, and a lost cache",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("thoughts_alike.md"),
    judge: |tally, prober, capabilities| {
        for (prober, with) in under_settings(prober, capabilities) {
            let (open, reasoned) = (prober.see(USER), prober.see(REASONED));
            let writes_line_breaks = open.text().is_some_and(is_for_glm);
            let answered = prober.see(USER_ASSISTANT);
            if writes_line_breaks {
                // Of the white space around its marks nothing can be said.
                ends_alike(tally, &with, [&open, &answered], |seen| {
                    end_of_reasoning(seen).map(str::trim)
                });
                continue;
            }
            begin_alike(tally, &with, &open, &reasoned);
            begin_once(tally, &with, [&open, &answered]);
            begin_once(tally, &with, [&open, &reasoned]);
            // A model may have another form for reasoning without a word in it: an answer without
            // reasoning shows it, if any does.
            if end_of_reasoning(&answered).is_some() {
                end_alike(tally, &with, &open, &answered);
            } else {
                close_alike(tally, &with, &open, &reasoned);
            }
        }
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
        }
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
            let evidence = |what: String| {
                left_to_models(Evidence::no_prefix(what, open, reasoned), prompt, before)
            };
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
        let evidence =
            |what: String| left_to_models(Evidence::differ(what, one, other), first, second);
        demand(tally, first == second, (with, &what), evidence);
    }
}

/// The evidence, which is a note where a prompt ends with a mark, and the history goes on with white space:
/// the model may write that itself.
fn left_to_models(evidence: Evidence, prompt: &str, history: &str) -> Evidence {
    let added = history.strip_prefix(prompt).map(str::trim);
    if added == Some("") && !prompt.ends_with(char::is_whitespace) {
        evidence.with(Severity::Note)
    } else {
        evidence
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
