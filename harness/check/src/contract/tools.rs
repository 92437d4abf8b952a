//! Contracts about tools, calls and results: nothing of them vanishes.

use std::rc::Rc;

use rolecall_core::{Case, Cut, Dialect, Outcome, Stage};
use serde_json::json;

use super::calls::unread_json_around;
use super::definition::Contract;
use super::evidence::Evidence;
use super::judgement::Judgement;
use super::mentions::{speaks_of_tools, turns_tools_off};
use super::severity::Severity;
use super::tally::Tally;
use crate::capability::Capabilities;
use crate::probe::catalogue::{
    ASSISTANT_FIRST_TOOLS, CALL, CALL_RESULT, CALL_RESULT_CLOSED, CALL_TURN_USER, CALL_WITH_TEXT,
    EMPTY_CALLS, LONG_IDS, NO_IDS, NO_NAME, NO_TOOLS, NULL_CALLS, OTHER_QUESTION, PARALLEL,
    QUOTED_RESULT, REASONED_CALL, REASONED_CALL_WITH_TEXT, RESULT_ALONE, SYSTEM_TOOLS, TOOLS, USER,
    USER_ASSISTANT_USER, quoted_result,
};
use crate::probe::input_style::{closed, open, tool, with_tools};
use crate::probe::{InputStyle, Probe, ProbeOutcome, Prober, Requirement, words};

pub(super) static TOOLS_KEPT: Contract = Contract {
    id: "tools-kept",
    meaning: "tools are in the prompt, with what they do and their parameters, or refused",
    guards_against: "a model that never learns which tools it has",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/tools-kept.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let seen = prober.see(TOOLS);
        if !supports_tools(prober, capabilities) {
            if tally.text(&seen).is_some() {
                let what = "tools, calls and results are not in the prompt";
                tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
            }
            return tally.judgement();
        }
        if !seen.has(words::TOOL) && turns_tools_off(prober) {
            let what = "the tools are not in the prompt: the template sets them to an empty list";
            tally.broken(Evidence::one(what, &seen).with(Severity::Limitation));
            return tally.judgement();
        }
        if tally.text(&seen).is_some() {
            let missing: Vec<_> = [
                (words::TOOL, "the first tool"),
                (words::SECOND_TOOL, "the second tool"),
                (words::TOOL_ABOUT, "what a tool does"),
                (words::FIRST_KEY, "the first parameter"),
                (words::SECOND_KEY, "the second parameter"),
            ]
            .into_iter()
            .filter(|(word, _)| !seen.has(word))
            .map(|(_, name)| name)
            .collect();
            let what = match missing.as_slice() {
                [] => None,
                all if all.len() == 5 => Some("the tools are not in the prompt".to_owned()),
                some => Some(format!("not in the prompt: {}", some.join(", "))),
            };
            match what {
                None => tally.holds(),
                Some(what) if missing.len() < 5 && seen.has(words::TOOL) => {
                    tally.broken(Evidence::one(what, &seen).with(Severity::Warning));
                }
                Some(what) => tally.broken(Evidence::one(what, &seen)),
            }
        }
        let with_system = prober.see(SYSTEM_TOOLS);
        if seen.has(words::TOOL) && tally.text(&with_system).is_some() {
            tally.demand(with_system.has(words::TOOL), || {
                let what = "the tools are not in the prompt when there is a system message";
                Evidence::one(what, &with_system)
            });
        }
        for (probe, word, when) in [
            (
                ASSISTANT_FIRST_TOOLS,
                words::USER,
                "if the assistant speaks first",
            ),
            (
                OTHER_QUESTION,
                words::SECOND_USER,
                "with the second question",
            ),
            (
                CALL_RESULT,
                words::RESULT,
                "any more when a result is there",
            ),
        ] {
            let later = prober.see(probe);
            if seen.has(words::TOOL_ABOUT) && later.has(word) {
                tally.demand(later.has(words::TOOL_ABOUT), || {
                    Evidence::one(format!("the tools are not in the prompt {when}"), &later)
                });
            }
        }
        tally.judgement()
    },
};

/// Why a contract about tools says nothing about a template.
const NO_TOOLS_HERE: &str = "the template does nothing about tools";

/// Whether a template means to support tools: it reads them, or tools or calls are in the prompt.
/// One that shows nothing of them except with documents, or that sets its tools to nothing, does
/// not.
fn supports_tools(prober: &Prober<'_>, capabilities: &Capabilities) -> bool {
    let is_kept = capabilities.tools.is_kept() || capabilities.tool_calls.single.is_kept();
    let shows_result = prober.see(CALL_RESULT).has(words::RESULT);
    let with_documents = InputStyle {
        given: Requirement::Documents,
        ..prober.input_style()
    };
    let is_elsewhere =
        || turns_tools_off(prober) || prober.see_in(TOOLS, with_documents).has(words::TOOL);
    is_kept || speaks_of_tools(prober) && (shows_result || !is_elsewhere())
}

pub(super) static NO_TOOLS_ALIKE: Contract = Contract {
    id: "no-tools-alike",
    meaning: "tools that are null, absent or an empty list give the same prompt",
    guards_against: "instructions for tools that nobody offers, servers that leave tools out",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/no-tools-alike.md"),
    judge: no_tools_alike,
};

fn no_tools_alike(prober: &Prober<'_>, _: &Capabilities) -> Judgement {
    let mut tally = Tally::default();
    if prober.input_style().given == Requirement::Tools {
        tally.skip("the template wants tools");
        return tally.judgement();
    }
    let without = prober.see(USER);
    let empty = prober.see(NO_TOOLS);
    tally.demand(without.outcome == empty.outcome, || {
        let what = match empty.text() {
            Some(_) => "an empty list of tools gives another prompt than no tools".to_owned(),
            None => format!("an empty list of tools: {}", empty.refusal()),
        };
        Evidence::differ(what, &without, &empty)
    });
    if prober.dialect() == Dialect::Jinja {
        // transformers always defines `tools`; other servers leave it out.
        if let Some(absent) = without_tools(prober, &without) {
            tally.demand(absent.outcome == without.outcome, || {
                let what = match absent.text() {
                    Some(_) => {
                        "tools that are not defined give another prompt than null".to_owned()
                    }
                    None => format!("tools that are not defined: {}", absent.refusal()),
                };
                Evidence::differ(what, &without, &absent)
            });
        }
    }
    tally.judgement()
}

/// What the template makes of a question where `tools` is not defined. For an engine that always
/// defines it, a tag at the beginning of the template sets it to an undefined variable. None if
/// such a tag alone changes the prompt.
fn without_tools(prober: &Prober<'_>, usual: &ProbeOutcome) -> Option<Rc<ProbeOutcome>> {
    if let Some(seen) = prober.see_without(USER, "tools") {
        return Some(seen);
    }
    let source = &prober.template().source;
    let with = |variable: &str| {
        let source = format!("{{% set {variable} = rolecall_absent +%}}{source}");
        prober.with_source(&source, &[USER]).into_iter().next()
    };
    let other = with("rolecall_other")?;
    (other.outcome == usual.outcome).then(|| with("tools"))?
}

pub(super) static TOOLS_ONCE: Contract = Contract {
    id: "tools-once",
    meaning: "a longer conversation has its tools in the prompt as often as a short one",
    guards_against: "prompts that grow by all tools with each question",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/tools-once.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tools.is_kept() {
            tally.skip("tools are not in the prompt");
            return tally.judgement();
        }
        brackets_are_paired(&mut tally, prober);
        let (short, long) = (prober.see(TOOLS), prober.see(OTHER_QUESTION));
        if tally.text(&short).is_none() || tally.text(&long).is_none() {
            return tally.judgement();
        }
        let (first, second) = (
            short.count(words::TOOL_ABOUT),
            long.count(words::TOOL_ABOUT),
        );
        tally.demand(second <= first, || {
            let what = "the tools are in the prompt again with the second question";
            Evidence::one(what, &long).at(long.find_again(words::TOOL_ABOUT))
        });
        let alone = Case {
            tools: Some(vec![tool(words::TOOL)]),
            ..open(vec![prober.input_style().user()])
        };
        let one = prober.ask("one-tool", "a question with one tool", alone);
        if tally.text(&one).is_some() {
            tally.demand_with(
                Severity::Error,
                short.count(words::TOOL) <= one.count(words::TOOL),
                || {
                    let what = "with a second tool, the first one is in the prompt more often";
                    Evidence::one(what, &short).at(short.find_again(words::TOOL))
                },
            );
        }
        tally.judgement()
    },
};

/// Demands that what tools add to a prompt has its brackets in pairs.
fn brackets_are_paired(tally: &mut Tally, prober: &Prober<'_>) {
    let (plain, tools) = (prober.see(USER), prober.see(TOOLS));
    let (Some(plain), Some(text)) = (plain.text(), tools.text()) else {
        return;
    };
    for (opens, closes) in [('[', ']'), ('{', '}')] {
        let odd = |text: &str| {
            text.matches(opens)
                .count()
                .abs_diff(text.matches(closes).count())
        };
        tally.demand(odd(text) <= odd(plain), || {
            let what = format!("with tools, `{opens}` and `{closes}` are not there equally often");
            Evidence::one(what, &tools)
        });
    }
}

pub(super) static NO_CALLS_ALIKE: Contract = Contract {
    id: "no-calls-alike",
    meaning: "an answer with null or empty `tool_calls` gives the same prompt as one without",
    guards_against: "plain answers that look like calls because a client writes every field",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/no-calls-alike.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        let without = prober.see(USER_ASSISTANT_USER);
        if tally.text(&without).is_none() {
            return tally.judgement();
        }
        for (probe, what) in [(EMPTY_CALLS, "an empty list"), (NULL_CALLS, "null")] {
            let seen = prober.see(probe);
            let severity = match &*seen.outcome {
                Outcome::Failed {
                    stage: Stage::Input,
                    ..
                } => {
                    tally.skip(seen.refusal());
                    continue;
                }
                Outcome::Rendered { .. } => Severity::Error,
                // The call is refused, so nothing is lost silently.
                _ if capabilities.tool_calls.single.is_kept() => Severity::Warning,
                _ => Severity::Limitation,
            };
            tally.demand_with(severity, seen.outcome == without.outcome, || {
                let how = match seen.text() {
                    Some(_) => "it gives another prompt than an answer without calls".to_owned(),
                    None => seen.refusal(),
                };
                let what = format!("an answer whose tool calls are {what}: {how}");
                Evidence::differ(what, &without, &seen)
            });
        }
        tally.judgement()
    },
};

pub(super) static TOOL_CALLS_KEPT: Contract = Contract {
    id: "tool-calls-kept",
    meaning: "an earlier tool call is in the prompt, with its name and arguments, or refused",
    guards_against: "a model that does not know what it did, and does it again",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/tool-calls-kept.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !supports_tools(prober, capabilities) {
            tally.skip(NO_TOOLS_HERE);
            return tally.judgement();
        }
        for probe in [CALL_RESULT, CALL] {
            let seen = prober.see(probe);
            if tally.text(&seen).is_none() {
                continue;
            }
            let values = [words::FIRST_VALUE, words::SECOND_VALUE];
            let kept = values.iter().filter(|value| seen.has(value)).count();
            match kept {
                0 => tally.broken(Evidence::one("the call is not in the prompt", &seen)),
                1 => tally.broken(Evidence::one(
                    "an argument of the call is not in the prompt",
                    &seen,
                )),
                // Both tools are listed, but only one is called.
                _ if probe == CALL && seen.count(words::TOOL) <= seen.count(words::SECOND_TOOL) => {
                    let what = "the name of the called tool is not in the prompt";
                    tally.broken(Evidence::one(what, &seen));
                }
                _ => tally.holds(),
            }
        }
        nothing_is_a_value(&mut tally, prober);
        // Whoever writes tools into the prompt gets calls.
        let refused = prober.see(CALL_RESULT);
        let is_refusal = |probe: &Probe| {
            let seen = prober.see(*probe);
            matches!(&*seen.outcome, Outcome::Raised { .. })
        };
        if capabilities.tools.is_kept() && [CALL, CALL_RESULT].iter().all(is_refusal) {
            let what = format!(
                "tools are in the prompt, and every conversation with a call is refused: {}",
                refused.refusal()
            );
            tally.broken(Evidence::one(what, &refused).with(Severity::Warning));
        }
        tally.judgement()
    },
};

pub(super) static PARALLEL_CALLS_KEPT: Contract = Contract {
    id: "parallel-calls-kept",
    meaning: "two parallel calls are both in the prompt, with both results, or refused",
    guards_against: "results without calls, calls without results",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/parallel-calls-kept.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.single.is_kept() {
            tally.skip("a single call is not in the prompt");
            return tally.judgement();
        }
        let seen = prober.see(PARALLEL);
        if tally.text(&seen).is_some() {
            let mut wanted = vec![
                (words::FIRST_VALUE, "the first call"),
                (words::THIRD_VALUE, "the second call"),
            ];
            if capabilities.tool_results.single.is_kept() {
                wanted.push((words::RESULT, "the first result"));
                wanted.push((words::SECOND_RESULT, "the second result"));
            }
            for (word, name) in wanted {
                tally.demand(seen.has(word), || {
                    Evidence::one(format!("{name} of two is not in the prompt"), &seen)
                });
            }
        }
        tally.judgement()
    },
};

pub(super) static CONTENT_BESIDE_CALLS: Contract = Contract {
    id: "content-beside-calls",
    meaning: "the assistant's text with a call is in the prompt, before the call",
    guards_against: "explanations that vanish, or appear after the result",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/content-beside-calls.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.single.is_kept() {
            tally.skip("a call is not in the prompt");
            return tally.judgement();
        }
        let seen = prober.see(CALL_WITH_TEXT);
        if tally.text(&seen).is_some() {
            let text = seen.find(words::ASSISTANT);
            let call = seen.find(words::FIRST_VALUE);
            let broken = |what| Evidence::one(what, &seen);
            match (text, call) {
                (None, _) => tally.broken(broken("the text with a call is not in the prompt")),
                (Some(_), None) => {
                    tally.broken(broken("a call with a text is not in the prompt"));
                }
                // A message does not say which of the two was first.
                (Some(text), Some(call)) => {
                    tally.demand_with(Severity::Warning, text.start < call.start, || {
                        broken("the text with a call comes after the call").at(Some(text))
                    });
                }
            }
        }
        with_reasoning_too(&mut tally, prober);
        tally.judgement()
    },
};

/// An agent's usual message has reasoning, a text and a call. Each of them stays that stays alone.
fn with_reasoning_too(tally: &mut Tally, prober: &Prober<'_>) {
    let seen = prober.see(REASONED_CALL_WITH_TEXT);
    let (text, reasoned) = (prober.see(CALL_WITH_TEXT), prober.see(REASONED_CALL));
    let (true, true) = (text.text().is_some(), reasoned.text().is_some()) else {
        return;
    };
    tally.demand_with(Severity::Warning, seen.text().is_some(), || {
        let what = format!("a call with reasoning and text: {}", seen.refusal());
        Evidence::one(what, &seen)
    });
    if seen.text().is_none() {
        return;
    }
    for (alone, word, what) in [
        (&text, words::ASSISTANT, "the text"),
        (&text, words::FIRST_VALUE, "the call"),
        (&reasoned, words::REASONING, "the reasoning"),
    ] {
        tally.demand(!alone.has(word) || seen.has(word), || {
            let what = format!("{what} of a call with reasoning and text is not in the prompt");
            Evidence::differ(what, alone, &seen)
        });
    }
}

pub(super) static TOOL_RESULTS_KEPT: Contract = Contract {
    id: "tool-results-kept",
    meaning: "a tool's result is in the prompt, or refused",
    guards_against: "a model that waits for its tools, or makes their results up",
    severity: Severity::Error,
    dialects: &Dialect::ALL,
    page: include_str!("pages/tool-results-kept.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !supports_tools(prober, capabilities) && !prober.see(CALL_RESULT).has(words::RESULT) {
            tally.skip(NO_TOOLS_HERE);
            return tally.judgement();
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
            if tally.text(&seen).is_some() {
                // A client that sends a result without its call cut the conversation in the wrong
                // place. Most applications refuse that.
                let severity = if probe == RESULT_ALONE {
                    Severity::Note
                } else {
                    Severity::Error
                };
                tally.demand_with(severity, seen.has(words::RESULT), || {
                    let what = format!("the result of a tool{without} is not in the prompt");
                    Evidence::one(what, &seen)
                });
            }
        }
        nameless(&mut tally, prober);
        empty_stays(&mut tally, prober);
        reads_as_another(&mut tally, prober, capabilities);
        tally.judgement()
    },
};

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

/// Demands that arguments which count as nothing are in the prompt like others: 0, false and the empty text.
fn nothing_is_a_value(tally: &mut Tally, prober: &Prober<'_>) {
    let m = prober.input_style();
    let keys = [words::INNER_KEY, words::OBJECT_ABOUT, words::INNER_ABOUT];
    let arguments = json!({keys[0]: 0, keys[1]: false, keys[2]: ""});
    let call = m.call_with(&m.arguments(&arguments));
    let case = with_tools(closed(vec![m.user(), call]));
    let seen = prober.ask(
        "falsy-arguments",
        "a call with the arguments 0, false and \"\"",
        case,
    );
    if !prober.see(CALL).has(words::FIRST_VALUE) || seen.text().is_none() {
        return;
    }
    let lost: Vec<&str> = keys
        .into_iter()
        .zip(["0", "false", "\"\""])
        .filter(|(key, _)| !seen.has(key))
        .map(|(_, value)| value)
        .collect();
    tally.demand(lost.is_empty(), || {
        let what = format!("an argument is lost if it is {}", lost.join(" or "));
        Evidence::one(what, &seen)
    });
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

pub(super) static RESULT_VERBATIM: Contract = Contract {
    id: "result-verbatim",
    meaning: "a tool's result arrives as it was sent",
    guards_against: "results full of backslashes, files that come back as one line",
    severity: Severity::Warning,
    dialects: &Dialect::ALL,
    page: include_str!("pages/result-verbatim.md"),
    judge: |prober, _| {
        let mut tally = Tally::default();
        let seen = prober.see(QUOTED_RESULT);
        if let Some(text) = tally.text(&seen) {
            if !seen.has(words::RESULT) {
                tally.skip("results are not in the prompt");
            } else if let Some((plain, at, why)) = unread_around_result(prober) {
                let what = format!("the JSON around a result cannot be read: {why}");
                tally.broken(Evidence::one(what, &plain).at(Some(at..at + 1)));
            } else if let Some(at) = text.find(&quoted_result()) {
                let after = text.cut(at + quoted_result().len()..);
                let is_bare = !(is_in_json(text.cut(..at)) && after.starts_with('"'));
                tally.demand(is_bare, || {
                    let what = "a result stands in quotes that the template writes, and a quote in \
                                it is not escaped";
                    Evidence::one(what, &seen).at(Some(at..at + quoted_result().len()))
                });
            } else if let Some(at) = text.find(r#"\\\"C"#) {
                let what = "quotes and line breaks of a result are escaped twice";
                let evidence = Evidence::one(what, &seen).at(Some(at..at + 5));
                tally.broken(evidence.with(Severity::Error));
            } else if let Some(at) = text.find("\\\"C\\\"") {
                let what = "quotes and line breaks of a result are escaped";
                let evidence = Evidence::one(what, &seen).at(Some(at..at + "\\\"C\\\"".len()));
                tally.broken(if is_in_json(text.cut(..at)) {
                    evidence.with(Severity::Note)
                } else {
                    evidence
                });
            } else {
                tally.skip("the result is written differently");
            }
        }
        tally.judgement()
    },
};

/// The first JSON around a result that is no JSON: the prompt, the place and why. It begins after the
/// calls, which may be broken themselves.
fn unread_around_result(prober: &Prober<'_>) -> Option<(Rc<ProbeOutcome>, usize, String)> {
    [CALL_RESULT, PARALLEL].iter().find_map(|probe| {
        let seen = prober.see(*probe);
        let called = [
            words::FIRST_VALUE,
            words::SECOND_VALUE,
            words::THIRD_VALUE,
            words::FOURTH_VALUE,
        ];
        let ends = called.iter().filter_map(|word| Some(seen.find(word)?.end));
        let from = ends.max()?;
        let (at, why) = unread_json_around(seen.text()?.get(from..)?, words::RESULT)?;
        Some((seen, from + at, why))
    })
}

/// Whether a prompt ends inside a JSON string. Such a template writes results into an object or a
/// list, and its model was trained that way.
fn is_in_json(before: &str) -> bool {
    let outside = before.rsplit_once('"').map_or("", |(outside, _)| outside);
    outside.trim_end().ends_with([':', '[', ','])
}
