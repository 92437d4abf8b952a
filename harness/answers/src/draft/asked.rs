//! Answers of made-up words, as a template writes them.

use rolecall_core::Case;
use serde_json::{Value, json};

use crate::comparison::{Change, Part, Verdict};
use crate::reader::{DeclaredReader, OwnReader};
use crate::reading::read_case;
use crate::written::{Writer, Written};

pub(super) const QUESTION: &str = "askquill";
pub(super) const TEXT: &str = "saidquill";
pub(super) const REASONING: &str = "mindquill";
pub(super) const TOOL: &str = "find_quill";
/// The names of its arguments, in their order: some templates sort them.
pub(super) const KEYS: [&str; 2] = ["areaquill", "zonequill"];
/// The values of the arguments: two for each call.
pub(super) const VALUES: [&str; 4] = ["northquill", "southquill", "eastquill", "westquill"];
pub(super) const CALL_IDS: [&str; 2] = ["callquil1", "callquil2"];

/// A pattern for the name of a tool.
pub(super) const NAME: &str = "[^\\s\"'<>{}()]+";

/// What is in a pattern in the place of each word: no answer but the one that was tried has it.
pub(super) fn in_place_of_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    let texts = [QUESTION, TEXT, REASONING]
        .into_iter()
        .chain(KEYS)
        .chain(VALUES);
    let ids = CALL_IDS.into_iter().map(|id| (id, "[^\\s\"<]*"));
    texts
        .map(|text| (text, ".*?"))
        .chain([(TOOL, NAME)])
        .chain(ids)
}

/// A prompt, and the answer that the template writes after it.
pub(super) struct Seen {
    pub(super) prompt: String,
    pub(super) text: String,
}

/// What a template writes of an answer.
#[allow(clippy::indexing_slicing)] // The message is an object: this folder makes it.
pub(super) fn seen(writer: &Writer<'_, '_>, mut message: Value) -> Result<Seen, Option<Written>> {
    message["role"] = "assistant".into();
    let with_calls = !message["tool_calls"].is_null();
    let mut case = Case::from_messages(vec![json!({"role": "user", "content": QUESTION}), message]);
    case.tools = with_calls.then(|| vec![tool()]);
    match writer.answers(&case).last().map(|answer| answer.outcome) {
        Some(Written::Text { prompt, text, .. }) => Ok(Seen { prompt, text }),
        other => Err(other),
    }
}

pub(super) fn tool() -> Value {
    json!({"type": "function", "function": {
        "name": TOOL,
        "description": "A tool.",
        "parameters": {"type": "object", "properties": {
            KEYS[0]: {"type": "string", "description": "the first"},
            KEYS[1]: {"type": "string", "description": "the second"},
        }},
    }})
}

pub(super) fn calling(arguments: &[Value]) -> Value {
    let calls = arguments.iter().zip(CALL_IDS);
    let calls = calls.map(|(arguments, id)| {
        let function = json!({"name": TOOL, "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    });
    json!({"content": "", "tool_calls": calls.collect::<Vec<_>>()})
}

/// What a draft is tried with: answers with other names, arguments and texts.
pub(super) struct Trial {
    /// What kind of answer it is.
    pub(super) what: &'static str,
    case: Case,
}

impl Trial {
    /// All of them: a text, reasoning, a call, and two calls of different tools.
    pub(super) fn all() -> [Trial; 4] {
        let call = |id: &str, name: &str, arguments: Value| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": id, "type": "function", "function": function})
        };
        let lamp = call(
            "Zk3vQ81ab",
            "set-lamp",
            json!({"room": "hall, left", "level": 3}),
        );
        let song = call("pL0d72mNx", "play", json!({"title": "Für Elise: (op. 59)"}));
        let tools = ["set-lamp", "play"].map(|name| {
            let properties = match name {
                "play" => json!({"title": {"type": "string", "description": "Its title."}}),
                _ => json!({
                    "room": {"type": "string", "description": "Where it is."},
                    "level": {"type": "integer", "description": "How bright."},
                }),
            };
            let parameters = json!({"type": "object", "properties": properties});
            let function =
                json!({"name": name, "description": "It does this.", "parameters": parameters});
            json!({"type": "function", "function": function})
        });
        #[allow(clippy::indexing_slicing)] // It is one of the objects below.
        let trial = |what, mut answer: Value| {
            answer["role"] = "assistant".into();
            let with_calls = !answer["tool_calls"].is_null();
            let question = json!({"role": "user", "content": "Is it dark there?"});
            let mut case = Case::from_messages(vec![question, answer]);
            case.tools = with_calls.then(|| tools.to_vec());
            Trial { what, case }
        };
        [
            trial(
                "a text",
                json!({"content": "It is, 7 of 9 say.\n\n- So it is."}),
            ),
            trial(
                "reasoning",
                json!({"content": "Yes.", "reasoning_content": "Is it?\n\nIt may be."}),
            ),
            trial("a call", json!({"content": "", "tool_calls": [lamp]})),
            trial(
                "two calls at once",
                json!({"content": "", "tool_calls": [lamp, song]}),
            ),
        ]
    }

    /// What is wrong with a response template that does not read the answer back, in a sentence.
    pub(super) fn fault(
        &self,
        writer: &Writer<'_, '_>,
        response_template: &Value,
    ) -> Option<String> {
        let own = OwnReader::default();
        let reader = DeclaredReader::new(&own, response_template);
        let reading = read_case(writer, &reader, &self.case).last()?;
        let forms = &reading.result.as_ref().ok()?.forms;
        let worst = forms.iter().max_by_key(|form| form.verdict)?;
        if worst.verdict <= Verdict::NotWritten {
            return None;
        }
        let what = self.what;
        let mut differences = worst.differences.iter();
        let is_lost = |part: &Part| matches!(part, Part::Call(_)) && self.case.tools.is_some();
        let read = if differences.any(|it| it.change == Change::Lost && is_lost(&it.part)) {
            format!("The draft reads no calls where the template writes {what}")
        } else {
            format!("The draft does not read {what} back")
        };
        let form = worst.form.name();
        Some(format!(
            "{read}. It was tried with other names and texts, {form}: {}",
            worst.text
        ))
    }
}
