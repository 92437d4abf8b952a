//! The conversations that a server may be asked about.

use std::time::SystemTime;

use rolecall_core::{CONTENT, Case, Moment};
use rolecall_front::program::FrontProgram;
use serde_json::Value;

use crate::probe::catalogue::{self, USER};
use crate::probe::{InputStyle, Probe};

/// The names of the variables with which users switch thinking.
pub(super) const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// A conversation that may be sent, as clients of OpenAI's API could send it.
#[derive(Debug)]
pub struct Question {
    /// The name of its probe, or of the variable that it sets.
    pub name: String,
    pub case: Case,
    /// Its place among all questions, by which what is known of it is found again.
    pub(super) number: usize,
}

/// The conversations that clients may send: the probes, each asking for an answer, and a question with each
/// switch that a template reads.
pub(super) fn questions(programs: &[FrontProgram<'_>]) -> Vec<Question> {
    let now = Moment::from(SystemTime::now());
    let asked = |probe: &Probe| {
        let mut case = probe.case(InputStyle::PLAIN);
        case.add_generation_prompt = true;
        case.now = now;
        read(&mut case);
        Question {
            name: probe.name.to_owned(),
            case,
            number: 0,
        }
    };
    let mut all: Vec<Question> = catalogue::ALL.iter().map(asked).collect();
    let has_media = |message: &Value| {
        let parts = message[CONTENT].as_array().into_iter().flatten();
        parts.into_iter().any(|part| part["type"] != "text")
    };
    all.retain(|one| one.case.documents.is_none() && !one.case.messages.iter().any(has_media));
    let variables = programs
        .iter()
        .flat_map(|program| program.without_front().variables());
    let variables: Vec<String> = variables.collect();
    for name in SWITCHES {
        for value in [false, true] {
            if variables.iter().any(|own| own == name) {
                let mut question = asked(&USER);
                question.name = format!("{name}: {value}");
                question
                    .case
                    .variables
                    .insert(name.to_owned(), value.into());
                all.push(question);
            }
        }
    }
    let mut seen = Vec::new();
    all.retain(|one| {
        let sight = (
            one.case.messages.clone(),
            one.case.tools.clone(),
            one.case.variables.clone(),
        );
        let is_new = !seen.contains(&sight);
        seen.push(sight);
        is_new
    });
    for (number, question) in all.iter_mut().enumerate() {
        question.number = number;
    }
    all
}

/// Makes of a conversation what all servers make of a request: arguments of calls, which clients send as JSON
/// texts, are objects, and an empty list of tools is none. So no question is about this.
fn read(case: &mut Case) {
    case.tools.take_if(|tools| tools.is_empty());
    for message in &mut case.messages {
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten() {
            let Some(arguments) = call.pointer_mut("/function/arguments") else {
                continue;
            };
            let read = arguments
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok());
            if let Some(read @ Value::Object(_)) = read {
                *arguments = read;
            }
        }
    }
}
