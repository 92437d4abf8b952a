//! Answers that Ollama reads back. It reads the answers of a model with what it finds in the template:
//! the text before calls, and the texts around reasoning. An answer in the history shows how the model
//! writes.

use rolecall_core::Cut;
use rolecall_go::answer::Answer;
use rolecall_go::endpoint::has_own_parser;
use rolecall_go::{GoEngine, GoProgram};
use serde_json::{Map, Value};

use crate::contract::frame::Tally;
use crate::probe::{ProbeOutcome, Prober, common, words};

/// The template as Ollama reads answers with it. None if Ollama reads them in another way.
pub(in crate::contract) fn reader(prober: &Prober<'_>, tally: &mut Tally) -> Option<GoProgram> {
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

pub(in crate::contract) type NamedArguments = (String, Map<String, Value>);

/// An answer as the template writes it, and the prompt before it.
pub(in crate::contract) struct WrittenAnswer<'s> {
    prompt: &'s str,
    pub(in crate::contract) text: &'s str,
}

impl<'s> WrittenAnswer<'s> {
    /// Finds the answer to a question: what the prompt of the question does not have. Only the text
    /// after the question counts, because a template may write the tools elsewhere when the
    /// question is not the last message. Where the two part within the opening of the answer, it
    /// may begin there, or at the mark or line in which they part.
    pub(in crate::contract) fn find(
        asked: &ProbeOutcome,
        answered: &'s ProbeOutcome,
    ) -> Option<[WrittenAnswer<'s>; 2]> {
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
    pub(in crate::contract) fn read(&self, program: &GoProgram, tools: &[Value]) -> Option<Answer> {
        let mut reading = program.reading(tools, None, self.prompt).ok()?;
        let mut buffer = [0; 4];
        for character in self.text.chars() {
            reading.add(character.encode_utf8(&mut buffer)).ok()?;
        }
        let (_, answer) = reading.end().ok()?;
        Some(answer)
    }

    /// The calls that Ollama reads in it.
    pub(in crate::contract) fn calls(
        &self,
        program: &GoProgram,
        tools: &[Value],
    ) -> Option<Vec<NamedArguments>> {
        let calls = self.read(program, tools)?.calls.into_iter();
        Some(calls.map(|call| (call.name, call.arguments)).collect())
    }

    /// How it begins, in a few characters.
    pub(in crate::contract) fn beginning(&self) -> String {
        const MOST: usize = 24;
        let text = self.text.trim_start();
        let line = text.lines().next().unwrap_or_default();
        line.chars().take(MOST).collect()
    }
}
