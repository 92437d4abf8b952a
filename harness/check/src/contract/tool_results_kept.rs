use rolecall_core::{Cut, Dialect, Outcome, Stage};

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::tools::{NO_TOOLS_HERE, supports_tools};
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    CALL, CALL_RESULT, CALL_RESULT_CLOSED, CALL_TURN_USER, LONG_IDS, NO_IDS, NO_NAME, RESULT_ALONE,
};
use crate::probe::input_style::{closed, open, with_tools};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "tool-results-kept",
    meaning: "a tool's result is in the prompt, or refused",
    guards_against: "a model that waits for its tools, or makes their results up",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("tool_results_kept.md"),
    judge: |tally, prober, capabilities| {
        if !supports_tools(prober, capabilities) && !prober.see(CALL_RESULT).has(words::RESULT) {
            return tally.skip(NO_TOOLS_HERE);
        }
        for (probe, without) in [
            (CALL_RESULT, ""),
            (NO_IDS, " without an ID"),
            (NO_NAME, " without its name"),
            (LONG_IDS, " with a long ID"),
            (RESULT_ALONE, " without its call"),
            (CALL_TURN_USER, " in an earlier turn"),
        ] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            // Mistral's version 2 was trained so: what tools did before the last question is gone.
            let is_gone = probe == CALL_TURN_USER && !seen.has(words::FIRST_VALUE);
            // A client that sends a result without its call cut the conversation in the wrong
            // place. Most applications refuse that.
            let severity = if probe == RESULT_ALONE || is_gone {
                Severity::Note
            } else {
                Severity::Error
            };
            let is_kept = seen.has(words::RESULT);
            tally.demand_with(severity, is_kept, || {
                let result = match in_letters(&seen) {
                    Some(letters) => {
                        format!("is in the prompt letter by letter, as in `{letters}`")
                    }
                    None if is_gone => "is not in the prompt, and neither is the call".to_owned(),
                    None => "is not in the prompt".to_owned(),
                };
                Evidence::one(format!("the result of a tool{without} {result}"), &seen)
            });
            // What becomes of every result becomes of these, too.
            if probe == CALL_RESULT && !is_kept {
                break;
            }
        }
        nameless(tally, prober);
        empty_stays(tally, prober);
        reads_as_another(tally, prober, capabilities);
    },
};

/// The first letters of a result whose letters are apart, as where a template goes through a text as if
/// it were a list.
fn in_letters(seen: &ProbeOutcome) -> Option<&str> {
    let text = seen.text()?;
    let letters = || text.char_indices().filter(|(_, c)| c.is_alphabetic());
    let all: String = letters().map(|(_, c)| c).collect();
    let before = all.cut(..all.find(words::RESULT)?).chars().count();
    let mut places = letters().skip(before).map(|(at, _)| at);
    text.get(places.next()?..=places.nth(1)?)
}

/// A tool that gives nothing has been called, too: its empty result is a turn.
#[allow(clippy::indexing_slicing)] // A result is an object.
fn empty_stays(tally: &mut Tally, prober: &Prober<'_>) {
    let m = prober.input_style();
    let mut result = m.result();
    result["content"] = m.content("");
    let about = "a result that is the empty text";
    let seen = prober.ask(
        "empty-result",
        about,
        with_tools(closed(vec![m.user(), m.call(), result])),
    );
    let (without, usual) = (prober.see(CALL), prober.see(CALL_RESULT_CLOSED));
    if usual.has(words::RESULT) && without.text().is_some() && seen.text().is_some() {
        tally.demand_with(Severity::Warning, seen.text() != without.text(), || {
            Evidence::differ(
                "an empty result is not in the prompt, as if none had come",
                &without,
                &seen,
            )
        });
    }
}

/// A result need not name its tool: OpenAI's clients send its ID alone.
fn nameless(tally: &mut Tally, prober: &Prober<'_>) {
    let (named, seen) = (prober.see(CALL_RESULT), prober.see(NO_NAME));
    if !named.has(words::RESULT) {
        return;
    }
    let is_failure = matches!(&*seen.outcome,
        Outcome::Failed { stage, .. } if *stage != Stage::Input
    );
    tally.demand(!is_failure, || {
        let what = format!("a result that does not name its tool: {}", seen.refusal());
        Evidence::one(what, &seen)
    });
    // After the call, only the name is gone.
    let after = |seen: &ProbeOutcome| {
        let value = [words::FIRST_VALUE, words::SECOND_VALUE];
        let ends = value.iter().filter_map(|word| Some(seen.find(word)?.end));
        seen.text()
            .and_then(|text| Some(text.cut(ends.max()?..).to_owned()))
    };
    if let (Some(with), Some(without)) = (after(&named), after(&seen)) {
        let is_unknown =
            with.contains(words::TOOL) && with.replacen(words::TOOL, "unknown", 1) == without;
        tally.demand_with(Severity::Warning, !is_unknown, || {
            let what = "a result that does not name its tool is called `unknown`, though its ID tells the call";
            Evidence::differ(what, &named, &seen)
        });
        let is_hole = with != without && with.replacen(words::TOOL, "", 1) == without;
        tally.demand_with(Severity::Warning, !is_hole, || {
            let what = "a result that does not name its tool leaves a hole in the place of the \
                        name";
            Evidence::differ(what, &named, &seen)
        });
    }
}

/// A result reads neither as an answer of the model nor as a question.
fn reads_as_another(tally: &mut Tally, prober: &Prober<'_>, capabilities: &Capabilities) {
    let seen = prober.see(CALL_RESULT);
    if !seen.has(words::RESULT) {
        return;
    }
    let m = prober.input_style();
    for (role, name, who) in [
        ("assistant", "result-as-answer", "an answer of the model"),
        ("user", "result-as-question", "a question"),
    ] {
        let messages = vec![m.user(), m.call(), m.message(role, words::RESULT)];
        let about = "the words of a result in another role";
        let other = prober.ask(name, about, with_tools(open(messages)));
        // A template that knows no tools takes every role for one that it knows.
        let severity = match role {
            _ if !capabilities.tools.is_kept() => Severity::Limitation,
            "assistant" => Severity::Error,
            _ => Severity::Warning,
        };
        tally.demand_with(severity, seen.text() != other.text(), || {
            let what = format!("a result reads exactly as {who}");
            Evidence::one(what, &seen).at(seen.find(words::RESULT))
        });
    }
}
