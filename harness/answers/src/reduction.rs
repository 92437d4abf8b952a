//! The smallest conversation whose answer is not parsed as meant for the same cause.

use rolecall_core::shrinking::Shrinker;
use rolecall_core::{Case, TemplateReader};
use serde_json::{Value, json};

use crate::cause;
use crate::reading::{MessageReading, read_case};
use crate::written::Writer;

/// The most conversations that are tried.
const MOST_TRIED: usize = 1_500;

/// A conversation that ends with an answer that is not parsed as meant.
#[derive(Debug, Clone)]
pub struct Counterexample {
    pub case: Case,
    /// The parse of its last message.
    pub reading: MessageReading,
    /// Why it is not parsed as meant.
    pub cause: String,
}

impl Counterexample {
    /// Makes the conversation of an answer smaller while its cause stays. The answer is a message
    /// of the case, by its index. None if it is parsed.
    pub fn reduced(
        writer: &Writer<'_, '_>,
        reader: &dyn TemplateReader,
        case: &Case,
        index: usize,
    ) -> Option<Counterexample> {
        let messages = case.messages.get(..=index)?.to_vec();
        let case = case.saying(messages, case.tools.clone(), case.variables.clone());
        let reading = read_case(writer, reader, &case).last()?;
        let why = cause::first_cause(&reading)?.0;
        let mut best = reading;
        let mut keeps = |case: &Case| {
            let read = read_case(writer, reader, case).last();
            let read = read.filter(|read| read.id.index + 1 == case.messages.len());
            let Some(read) = read.filter(|_| case.messages.iter().all(is_message)) else {
                return false;
            };
            let is_same = cause::first_cause(&read).is_some_and(|(cause, _)| cause == why);
            if is_same {
                best = read;
            }
            is_same
        };
        let mut shrinker = Shrinker::new(case, MOST_TRIED, &mut keeps);
        if let Some(answer) = shrinker.best.messages.last().cloned() {
            let mut short = shrinker.best.clone();
            short.messages = vec![json!({"role": "user", "content": "Hi"}), answer];
            shrinker.offer_smaller(short);
        }
        shrinker.options();
        shrinker.repeat(|shrinker| shrinker.values(0));
        let case = shrinker.best;
        Some(Counterexample {
            case,
            reading: best,
            cause: why,
        })
    }
}

/// Whether a message is one that an application could send: it keeps its role, a question is not
/// empty, and calls keep their form.
fn is_message(message: &Value) -> bool {
    let has_role = match message["role"].as_str() {
        Some("assistant") => true,
        Some("system" | "developer" | "user" | "tool") => {
            let content = &message["content"];
            content.as_str().is_some_and(|text| !text.is_empty()) || content.is_array()
        }
        _ => false,
    };
    let calls = message["tool_calls"].as_array();
    let mut calls = calls.into_iter().flatten();
    has_role
        && calls.all(|call| {
            let function = &call["function"];
            call["type"] == "function"
                && function["name"]
                    .as_str()
                    .is_some_and(|name| !name.is_empty())
                && !function["arguments"].is_null()
        })
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_front::engines::Engines;
    use rolecall_front::program::FrontProgram;

    use super::*;
    use crate::reader::{DeclaredReader, OwnReader};

    #[test]
    fn the_smallest_message_still_shows_the_cause() {
        let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}\
            {% if add_generation_prompt %}<assistant>{% endif %}";
        let template = Template::from_source("t", Dialect::Jinja, source)
            .with_special_token("eos_token", "<end>");
        let response = json!({
            "start_anchor": "<assistant>",
            "fields": {"content": {"close_pattern": "<end>|\n\n"}},
        });
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let program = FrontProgram::load(engine, &template);
        let writer = Writer::new(&program);
        let own = OwnReader::default();
        let reader = DeclaredReader::new(&own, &response);
        let case = Case::from_messages(vec![
            json!({"role": "system", "content": "Be kind."}),
            json!({"role": "user", "content": "What is there?"}),
            json!({"role": "assistant", "content": "Two things.\n\nOne and another one."}),
            json!({"role": "user", "content": "Thanks."}),
        ]);
        let reduced = Counterexample::reduced(&writer, &reader, &case, 2).unwrap();
        assert_eq!(reduced.cause, "content: changed");
        let messages = &reduced.case.messages;
        assert_eq!(messages[0]["role"], "user");
        let content = messages[1]["content"].as_str().unwrap();
        assert!(
            content.len() <= 5 && content.contains("\n\n"),
            "{content:?}"
        );
        // A message that is parsed shows nothing.
        let fine = Case::from_messages(vec![
            json!({"role": "user", "content": "Hi"}),
            json!({"role": "assistant", "content": "Hi"}),
        ]);
        assert!(Counterexample::reduced(&writer, &reader, &fine, 1).is_none());
    }
}
