//! Contracts about answers: Ollama reads them back as the template writes them.
//!
//! Ollama reads the answers of a model with what it finds in the template: the text before calls,
//! and the texts around reasoning. An answer in the history shows how the model writes.

use rolecall_core::{Case, Cut, Dialect};
use rolecall_go::answer::{Answer, CallTag};
use rolecall_go::endpoint::has_own_parser;
use rolecall_go::{GoEngine, GoProgram};
use serde_json::{Map, Value};

use super::definition::Contract;
use super::evidence::{Evidence, common};
use super::severity::Severity;
use super::tally::Tally;
use crate::probe::catalogue::{CALL, PARALLEL, REASONED, TOOLS, USER};
use crate::probe::{ProbeOutcome, Prober, words};

pub(super) static CALLS_RECOGNISED: Contract = Contract {
    id: "calls-recognised",
    meaning: "Ollama recognises a call that is written as the template writes it",
    guards_against: "calls that reach the user as text, or get lost",
    severity: Severity::Error,
    dialects: &[Dialect::Go],
    page: include_str!("pages/calls-recognised.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if !capabilities.tool_calls.single.is_kept() || !capabilities.tools.is_kept() {
            tally.skip("tools and calls are not both in the prompt");
            return tally.judgement();
        }
        let Some(program) = reader(prober, &mut tally) else {
            return tally.judgement();
        };
        let single = prober.see(CALL);
        calls_come_back(&mut tally, &program, prober, &single);
        if capabilities.tool_calls.parallel.is_kept() {
            let seen = prober.see(PARALLEL);
            let asked = without_results(&seen.asked);
            let several = prober.ask(seen.probe, "two calls at once", asked);
            calls_come_back(&mut tally, &program, prober, &several);
        }
        tally.judgement()
    },
};

pub(super) static REASONING_RECOGNISED: Contract = Contract {
    id: "thoughts-recognised",
    meaning: "Ollama separates reasoning from the answer as the template writes it",
    guards_against: "reasoning that reaches the user as a part of the answer, with its tags",
    severity: Severity::Error,
    dialects: &[Dialect::Go],
    page: include_str!("pages/thoughts-recognised.md"),
    judge: |prober, capabilities| {
        let mut tally = Tally::default();
        if capabilities.reasoning.fields.is_empty() {
            tally.skip("reasoning is not in the prompt");
            return tally.judgement();
        }
        let Some(program) = reader(prober, &mut tally) else {
            return tally.judgement();
        };
        let (asked, seen) = (prober.see(USER), prober.see(REASONED));
        let (Some(_), Some(_)) = (tally.text(&asked), tally.text(&seen)) else {
            return tally.judgement();
        };
        let Some(written) = WrittenAnswer::find(&asked, &seen) else {
            tally.skip("the answer cannot be found in the prompt");
            return tally.judgement();
        };
        let tags = program.thinking_tags();
        if !tags.are_found() {
            let what = format!(
                "Ollama does not find both texts that are around the reasoning: {}",
                match (&*tags.opening, &*tags.closing) {
                    ("", "") => "neither before `.Thinking` nor after it".to_owned(),
                    (opening, "") => format!("`{opening}` before `.Thinking`, and none after it"),
                    (_, closing) => format!("`{closing}` after `.Thinking`, and none before it"),
                }
            );
            tally.broken(Evidence::one(what, &seen));
            return tally.judgement();
        }
        let has = |text: &str, word| text.to_ascii_lowercase().contains(word);
        let is_apart = |answer: Answer| {
            has(&answer.thinking, words::REASONING)
                && !has(&answer.content, words::REASONING)
                && !has(&answer.thinking, words::ASSISTANT)
        };
        let mut read = written.iter().filter_map(|one| one.read(&program, &[]));
        tally.demand(read.any(is_apart), || {
            let what = format!(
                "Ollama takes `{}` and `{}` for the tags of reasoning, and does not find the \
                 reasoning between them",
                tags.opening, tags.closing
            );
            Evidence::one(what, &seen)
        });
        tally.judgement()
    },
};

/// The template as Ollama reads answers with it. None if Ollama reads them in another way.
fn reader(prober: &Prober<'_>, tally: &mut Tally) -> Option<GoProgram> {
    if has_own_parser(prober.template()) {
        tally.skip("Ollama reads the answers of this model with its own parser");
        return None;
    }
    let program = GoEngine::new().program(prober.template()).ok();
    if program.is_none() {
        tally.skip("the template cannot be read");
    }
    program
}

type NamedArguments = (String, Map<String, Value>);

/// An answer as the template writes it, and the prompt before it.
struct WrittenAnswer<'s> {
    prompt: &'s str,
    text: &'s str,
}

impl<'s> WrittenAnswer<'s> {
    /// Finds the answer to a question: what the prompt of the question does not have. Only the text
    /// after the question counts, because a template may write the tools elsewhere when the
    /// question is not the last message. Where the two part within the opening of the answer, it
    /// may begin there, or at the mark or line in which they part.
    fn find(asked: &ProbeOutcome, answered: &'s ProbeOutcome) -> Option<[WrittenAnswer<'s>; 2]> {
        let opening = asked.after(words::USER)?;
        let said = answered.after(words::USER)?;
        let whole = answered.text()?;
        let shared = common(opening, said);
        let begin = if shared == opening.len() {
            shared
        } else {
            let boundary = said.cut(..shared).rfind(['>', ']', '\n']);
            boundary.map_or(0, |at| at + 1)
        };
        Some([begin, shared].map(|begin| {
            let (prompt, text) = whole.split_at(whole.len() - said.len() + begin);
            WrittenAnswer { prompt, text }
        }))
    }

    /// What Ollama reads in it, a character at a time; a model writes it in pieces, too. None if a
    /// limit runs out.
    fn read(&self, program: &GoProgram, tools: &[Value]) -> Option<Answer> {
        let mut reading = program.reading(tools, None, self.prompt).ok()?;
        let mut buffer = [0; 4];
        for character in self.text.chars() {
            reading.add(character.encode_utf8(&mut buffer)).ok()?;
        }
        let (_, answer) = reading.end().ok()?;
        Some(answer)
    }

    /// The calls that Ollama reads in it.
    fn calls(&self, program: &GoProgram, tools: &[Value]) -> Option<Vec<NamedArguments>> {
        let calls = self.read(program, tools)?.calls.into_iter();
        Some(calls.map(|call| (call.name, call.arguments)).collect())
    }

    /// How it begins, in a few characters.
    fn beginning(&self) -> String {
        const MOST: usize = 24;
        let text = self.text.trim_start();
        let line = text.lines().next().unwrap_or_default();
        line.chars().take(MOST).collect()
    }
}

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
