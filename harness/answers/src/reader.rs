//! The reader of this process, and readers for a declared response template.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::guard::on_large_stack;
use rolecall_core::{Answer, AnswerReader, Limit, ReadOutcome, TemplateReader};
use rolecall_response::{
    Kind, Message, Options, ParseError, ResponseTemplate, TemplateError, TemplateErrorKind,
};
use serde_json::{Map, Value};

/// Reads answers with `rolecall-response`, as transformers 5.24 reads them.
#[derive(Debug, Default)]
pub struct OwnReader {
    /// The response templates that were loaded, by their texts.
    loaded: Mutex<HashMap<String, Arc<Loaded>>>,
}

/// A response template that was loaded.
#[derive(Debug)]
struct Loaded {
    /// The response template, or why it cannot be used.
    template: Result<ResponseTemplate, TemplateError>,
    /// How many answers exceeded the limit.
    exceeded: AtomicUsize,
}

/// After so many answers beyond the limit, the response template reads no other. Each would take as
/// long.
const MOST_EXCEEDED: usize = 5;

/// How many response templates a reader keeps.
const MOST_LOADED: usize = 64;

impl OwnReader {
    fn load(&self, response_template: &Value) -> Arc<Loaded> {
        let text = response_template.to_string();
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = loaded.get(&text) {
            return Arc::clone(known);
        }
        if loaded.len() == MOST_LOADED {
            loaded.clear();
        }
        let new = Arc::new(Loaded {
            template: ResponseTemplate::from_json(response_template),
            exceeded: AtomicUsize::new(0),
        });
        loaded.insert(text, Arc::clone(&new));
        new
    }
}

impl AnswerReader for OwnReader {
    fn read(&self, response_template: &Value, answer: &Answer<'_>) -> ReadOutcome {
        self.outcome(response_template, |template| {
            template.parse(answer.text, &options(answer))
        })
    }

    fn read_streamed(&self, response_template: &Value, answer: &Answer<'_>) -> Option<ReadOutcome> {
        let mut buffer = [0; 4];
        Some(self.outcome(response_template, |template| {
            let mut stream = template.stream(&options(answer))?;
            for character in answer.text.chars() {
                stream.feed(character.encode_utf8(&mut buffer))?;
            }
            Ok(stream.finish()?.1)
        }))
    }
}

impl OwnReader {
    fn outcome(
        &self,
        response_template: &Value,
        read: impl FnOnce(&ResponseTemplate) -> Result<Message, ParseError>,
    ) -> ReadOutcome {
        on_large_stack(|| {
            let loaded = self.load(response_template);
            let template = match &loaded.template {
                Ok(template) => template,
                Err(error) => return refused(error),
            };
            // Time is what the steps of a search are about.
            let exceeded = ReadOutcome::Exceeded { limit: Limit::Fuel };
            if loaded.exceeded.load(Ordering::Relaxed) >= MOST_EXCEEDED {
                return exceeded;
            }
            match read(template) {
                Ok(message) => ReadOutcome::Read {
                    message: message.to_json(),
                },
                Err(ParseError::Raised { kind, message }) => failed(kind, message),
                Err(ParseError::LimitExceeded { .. }) => {
                    loaded.exceeded.fetch_add(1, Ordering::Relaxed);
                    exceeded
                }
                Err(other) => ReadOutcome::Unsupported {
                    message: other.to_string(),
                },
            }
        })
    }
}

fn options<'a>(answer: &Answer<'a>) -> Options<'a> {
    Options {
        prompt: Some(answer.prompt),
        tools: answer.tools.unwrap_or_default(),
        ..Options::default()
    }
}

/// Reads the answers of one chat template with its response template.
pub struct DeclaredReader<'r> {
    pub reader: &'r dyn AnswerReader,
    pub response_template: &'r Value,
    /// Whether the reader gets answers as a server does.
    pub is_server: bool,
}

impl<'r> DeclaredReader<'r> {
    /// A reader that gets answers as the model writes them.
    pub fn new(reader: &'r dyn AnswerReader, response_template: &'r Value) -> DeclaredReader<'r> {
        DeclaredReader {
            reader,
            response_template,
            is_server: false,
        }
    }
}

impl TemplateReader for DeclaredReader<'_> {
    fn read(&self, answer: &Answer<'_>, _: &Map<String, Value>) -> ReadOutcome {
        self.reader.read(self.response_template, answer)
    }

    fn read_streamed(&self, answer: &Answer<'_>) -> Option<ReadOutcome> {
        self.reader.read_streamed(self.response_template, answer)
    }

    fn is_server(&self) -> bool {
        self.is_server
    }
}

/// Why transformers refuses a response template, with the place in it. None if it is one, also if
/// this reader cannot use it.
pub fn refusal(response_template: &Value) -> Option<String> {
    let error = ResponseTemplate::from_json(response_template).err()?;
    (!error.kind.may_be_sound()).then(|| error.to_string())
}

fn refused(error: &TemplateError) -> ReadOutcome {
    match error.kind {
        TemplateErrorKind::Refused(kind) => failed(kind, error.to_string()),
        _ => ReadOutcome::Unsupported {
            message: error.to_string(),
        },
    }
}

fn failed(kind: Kind, message: String) -> ReadOutcome {
    // `regex.error` is no class of Python itself; its base is.
    let kind = match kind {
        Kind::Pattern => "Exception",
        kind => kind.python_name(),
    };
    ReadOutcome::Failed {
        kind: kind.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(response_template: &Value, text: &str) -> ReadOutcome {
        let answer = Answer {
            prompt: "A:",
            text,
            tools: None,
        };
        OwnReader::default().read(response_template, &answer)
    }

    #[test]
    fn answers_are_read_or_refused() {
        let template = json!({
            "start_anchor": "A:",
            "fields": {"content": {}, "tool_calls": {"open": "<c>", "close": "</c>", "content": "json"}},
        });
        assert_eq!(
            read(&template, "a<c>{\"x\": NaN}</c>"),
            ReadOutcome::Read {
                message: json!({"content": "a", "tool_calls": {"x": {"$float": "nan"}}})
            }
        );
        let kind = |outcome| match outcome {
            ReadOutcome::Failed { kind, .. } => kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(read(&template, "a<c>{")), "ValueError");
        assert_eq!(kind(read(&json!({}), "a")), "ValueError");
        let other = json!({"start_anchor_pattern": "(?&x)", "fields": {"content": {}}});
        assert!(matches!(
            read(&other, "a"),
            ReadOutcome::Unsupported { .. } | ReadOutcome::Failed { .. }
        ));
    }

    #[test]
    fn a_response_template_beyond_the_limit_reads_no_more() {
        let template = json!({
            "start_anchor": "A:",
            "fields": {"content": {"close_pattern": "a(?:[^!]|[^!][^!])+!"}},
        });
        let reader = OwnReader::default();
        let read = |text: &str| {
            let answer = Answer {
                prompt: "A:",
                text,
                tools: None,
            };
            reader.read(&template, &answer)
        };
        let exceeded = ReadOutcome::Exceeded { limit: Limit::Fuel };
        assert!(matches!(read("b"), ReadOutcome::Read { .. }));
        for _ in 0..MOST_EXCEEDED {
            assert_eq!(read(&"a".repeat(60)), exceeded);
        }
        assert_eq!(read("b"), exceeded);
        // Another response template is not concerned.
        let other = json!({"start_anchor": "A:", "fields": {"content": {}}});
        let answer = Answer {
            prompt: "A:",
            text: "b",
            tools: None,
        };
        assert!(matches!(
            reader.read(&other, &answer),
            ReadOutcome::Read { .. }
        ));
    }
}
