use rolecall_core::{Case, Dialect};
use rolecall_go::GoProgram;
use rolecall_go::answer::CallTag;
use serde_json::Value;

use super::frame::{Contract, Evidence, Severity, Tally};
use super::shared::answers::{NamedArguments, WrittenAnswer, reader};
use crate::probe::catalogue::{CALL, PARALLEL, TOOLS};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CONTRACT: Contract = Contract {
    id: "calls-recognised",
    meaning: "Ollama recognises a call that is written as the template writes it",
    guards_against: "calls that reach the user as text, or get lost",
    severity: Severity::Error,
    dialects: &[Dialect::Go],
    page: include_str!("calls_recognised.md"),
    judge: |tally, prober, capabilities| {
        if !capabilities.tool_calls.single.is_kept() || !capabilities.tools.is_kept() {
            return tally.skip("tools and calls are not both in the prompt");
        }
        let Some(program) = reader(prober, tally) else {
            return;
        };
        let single = prober.see(CALL);
        calls_come_back(tally, &program, prober, &single);
        // Several calls go wrong as one does.
        if capabilities.tool_calls.parallel.is_kept() && !tally.is_broken() {
            let seen = prober.see(PARALLEL);
            let asked = without_results(&seen.asked);
            let several = prober.ask(seen.probe, "two calls at once", asked);
            calls_come_back(tally, &program, prober, &several);
        }
    },
};

/// Demands that Ollama reads the calls of the last message.
fn calls_come_back(
    tally: &mut Tally,
    program: &GoProgram,
    prober: &Prober<'_>,
    seen: &ProbeOutcome,
) {
    let asked = prober.see(TOOLS);
    let (Some(_), Some(_)) = (tally.text(&asked), tally.text(seen)) else {
        return;
    };
    let tools = seen.asked.tools.as_deref().unwrap_or_default();
    let (Some(written), Some(expected)) =
        (WrittenAnswer::find(&asked, seen), calls_of(&seen.asked))
    else {
        tally.skip("the call cannot be found in the prompt");
        return;
    };
    let read = written.each_ref().map(|one| one.calls(program, tools));
    tally.demand(read.contains(&Some(expected.clone())), || {
        let tag = program.call_tag();
        let [read, _] = read;
        let [written, _] = written;
        let what = match read.unwrap_or_default() {
            none if none.is_empty() => unseen(&tag, &written),
            read => misread(&read, &expected),
        };
        Evidence::one(what, seen).in_line(tag.line)
    });
}

/// Why Ollama reads no call.
fn unseen(tag: &CallTag, written: &WrittenAnswer<'_>) -> String {
    let begins = written.beginning();
    let text = &tag.text;
    let before_name = written.text.split(words::TOOL).next().unwrap_or_default();
    let has_tag = if tag.is_bare() {
        before_name.trim_start().starts_with(text)
    } else {
        before_name.contains(text)
    };
    if has_tag {
        return format!(
            "Ollama recognises the beginning of a call, `{text}`, and finds no JSON object with \
             its arguments after the name: the call begins with `{begins}`"
        );
    }
    match (tag.line, tag.is_bare()) {
        (None, _) => format!(
            "Ollama finds no `{{{{ if .ToolCalls }}}}` in the template, so that only `{text}` at the \
             beginning of an answer begins a call; the template begins it with `{begins}`"
        ),
        (Some(_), true) => format!(
            "Ollama finds no text at the beginning of `{{{{ if .ToolCalls }}}}`, so that only \
             `{text}` at the beginning of an answer begins a call; the template begins it with \
             `{begins}`"
        ),
        (Some(_), false) => format!(
            "Ollama takes `{text}` for the beginning of a call, and the template begins it with \
             `{begins}`"
        ),
    }
}

/// How the calls that Ollama reads are other ones.
fn misread(read: &[NamedArguments], expected: &[NamedArguments]) -> String {
    if read.len() != expected.len() {
        return format!(
            "of {} calls Ollama reads {}: {}",
            expected.len(),
            read.len(),
            shown(read)
        );
    }
    format!(
        "Ollama reads another call: {}; it knows arguments by the key `arguments` or `parameters` \
         next to a key `name`",
        shown(read)
    )
}

fn shown(calls: &[NamedArguments]) -> String {
    let shown = calls
        .iter()
        .map(|(name, arguments)| format!("`{name}` with {}", Value::from(arguments.clone())));
    shown.collect::<Vec<_>>().join(", ")
}

/// The calls of the last message.
fn calls_of(case: &Case) -> Option<Vec<NamedArguments>> {
    let calls = case.messages.last()?["tool_calls"].as_array()?;
    let calls = calls.iter().map(|call| {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::Object(arguments) => arguments.clone(),
            Value::String(text) => serde_json::from_str(text).ok()?,
            _ => return None,
        };
        Some((function["name"].as_str()?.to_owned(), arguments))
    });
    calls.collect()
}

/// A conversation up to its first message with calls.
fn without_results(case: &Case) -> Case {
    let mut case = case.clone();
    let last = case
        .messages
        .iter()
        .position(|message| !message["tool_calls"].is_null());
    case.messages.truncate(last.map_or(0, |last| last + 1));
    case.add_generation_prompt = false;
    case
}
