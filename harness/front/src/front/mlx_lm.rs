//! mlx-lm 0.32.2: the endpoint `/v1/chat/completions` of its server, for a model that takes no images.
//!
//! The server asks whether the vocabulary has tokens for thoughts. A template that writes them stands for
//! a vocabulary that has them.

use rolecall_core::{CONTENT, Dialect};
use serde_json::{Value, json};

use super::change::{Change, ChangeKind, Request, ServedRules, Source, parts, refused, text_of};
use super::chat::is_true;
use super::definition::{FrontDefinition, PreparationRules};
use super::named;
use super::transformers::METHOD;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "mlx-lm",
    description: "/v1/chat/completions of mlx-lm 0.32.2",
    dialect: Some(Dialect::Jinja),
    others: &[],
    choose: named::of_tokenizer,
    alternative: named::for_tools,
    preparation: PreparationRules::Changes(ServedRules {
        changes: CHANGES,
        then: |case| METHOD.prepare(case),
        probes: false,
    }),
};

const SERVER: &str = "mlx_lm/server.py";
const TOKENIZER: &str = "mlx_lm/tokenizer_utils.py";

const CHANGES: &[Change] = &[
    Change {
        name: "an empty list of tools is none",
        sentence: "An empty list of tools is as none.",
        source: Source(SERVER, "1764"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.case.tools.take_if(|tools| tools.is_empty());
            Ok(())
        },
    },
    Change {
        name: "only messages and tools",
        sentence: "Documents, `reasoning_effort` and `tool_choice` have no effect: the server reads \
                   messages, tools and `chat_template_kwargs`.",
        source: Source(SERVER, "1760"),
        kind: ChangeKind::Lost,
        make: |request| {
            let case = &mut request.case;
            case.documents = None;
            for name in ["reasoning_effort", "tool_choice"] {
                case.variables.shift_remove(name);
            }
            Ok(())
        },
    },
    Change {
        name: "always a new message",
        sentence: "The model always begins a new message, also where the request continues the last one.",
        source: Source(SERVER, "679"),
        kind: ChangeKind::Lost,
        make: |request| {
            request.case.continue_final_message = None;
            request.case.add_generation_prompt = true;
            Ok(())
        },
    },
    Change {
        name: "arguments in variables",
        sentence: "A variable `documents` is the argument of that name. Others of the server's own \
                   arguments are refused.",
        source: Source(SERVER, "654"),
        kind: ChangeKind::Refused,
        make: arguments_in_variables,
    },
    Change {
        name: "only texts",
        sentence: "A content with anything but texts is refused.",
        source: Source(SERVER, "233"),
        kind: ChangeKind::Refused,
        make: |request| {
            let messages = &request.case.messages;
            if !messages.iter().all(Value::is_object) {
                return refused("'str' object has no attribute 'get'");
            }
            request.each(|message| {
                let mut parts = parts(message).into_iter().flatten();
                if parts.any(|part| text_of(part).is_none()) {
                    return refused("Only 'text' content type is supported.");
                }
                Ok(())
            })
        },
    },
    Change {
        name: "parts become a text",
        sentence: "The texts of a content are joined, with nothing between them.",
        source: Source(SERVER, "234"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                if let Some(parts) = parts(message) {
                    let joined: String = parts.iter().filter_map(text_of).collect();
                    message.insert(CONTENT.to_owned(), joined.into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "no content is an empty one",
        sentence: "A content that is null or missing becomes an empty text.",
        source: Source(SERVER, "236"),
        kind: ChangeKind::Intended,
        make: |request| {
            request.each(|message| {
                if message.get(CONTENT).is_none_or(Value::is_null) {
                    message.insert(CONTENT.to_owned(), "".into());
                }
                Ok(())
            })
        },
    },
    Change {
        name: "arguments become values",
        sentence: "Arguments of calls become what their text says. A text that is no JSON is refused, and \
                   so are calls that are no objects.",
        source: Source(SERVER, "243"),
        kind: ChangeKind::Intended,
        make: |request| request.each(|message| read_calls(message.get_mut("tool_calls"))),
    },
    Change {
        name: "thinking is on or off",
        sentence: "`enable_thinking` is true if the model has tokens for thoughts, and false if not, \
                   unless the request sets it.",
        source: Source(TOKENIZER, "395"),
        kind: ChangeKind::Invented,
        make: |request| {
            let thinks = request.facts.has_thoughts;
            let variables = &mut request.case.variables;
            variables
                .entry("enable_thinking")
                .or_insert_with(|| thinks.into());
            Ok(())
        },
    },
    Change {
        name: "every message needs a role",
        sentence: "A request is refused if its last message, or a message before the first that is not \
                   the system's, has no role.",
        source: Source(SERVER, "713"),
        kind: ChangeKind::Refused,
        make: |request| {
            let messages = &request.case.messages;
            let (Some(last), system) = (messages.last(), system_messages(messages)) else {
                return Ok(());
            };
            let after = messages.get(system).filter(|_| last["role"] == "user");
            let mut needed = [Some(last), after].into_iter().flatten();
            if needed.any(|message| message.get("role").is_none()) {
                request.late = Some("'role'".to_owned());
            }
            Ok(())
        },
    },
    Change {
        name: "the system's text has to stand alone",
        sentence: "The system's messages are rendered a second time, before an empty question. A template \
                   that refuses this refuses the request.",
        source: Source(SERVER, "718"),
        kind: ChangeKind::Refused,
        make: |request| {
            let messages = &request.case.messages;
            let system = system_messages(messages);
            if system > 0 && messages.last().is_some_and(|last| last["role"] == "user") {
                let mut beside = request.case.clone();
                beside.messages.truncate(system);
                beside.messages.push(json!({"role": "user", "content": ""}));
                beside.add_generation_prompt = false;
                request.beside = Some(beside);
            }
            Ok(())
        },
    },
];

fn system_messages(messages: &[Value]) -> usize {
    let is_system = |message: &&Value| message["role"] == "system";
    messages.iter().take_while(is_system).count()
}

fn arguments_in_variables(request: &mut Request) -> Result<(), String> {
    let case = &mut request.case;
    for name in ["tools", "tokenize", "add_generation_prompt"] {
        if case.variables.contains_key(name) {
            return refused(format!("got multiple values for keyword argument '{name}'"));
        }
    }
    if let Some(continues) = case.variables.shift_remove("continue_final_message")
        && is_true(&continues)
    {
        return refused("continue_final_message and add_generation_prompt are not compatible.");
    }
    case.variables.shift_remove("return_dict");
    if let Some(Value::Array(documents)) = case.variables.shift_remove("documents") {
        case.documents = Some(documents);
    }
    Ok(())
}

/// Reads the arguments of calls. An empty value of any kind is as good as none.
fn read_calls(calls: Option<&mut Value>) -> Result<(), String> {
    let Some(calls) = calls.filter(|calls| is_true(calls)) else {
        return Ok(());
    };
    let calls = calls.as_array_mut().ok_or("the calls are no list")?;
    for call in calls {
        let call = call.as_object_mut().ok_or("a call is no object")?;
        let Some(function) = call.get_mut("function").filter(|value| is_true(value)) else {
            continue;
        };
        let function = function.as_object_mut().ok_or("a function is no object")?;
        if let Some(arguments) = function.get_mut("arguments")
            && let Some(text) = arguments.as_str().filter(|text| !text.is_empty())
        {
            *arguments = serde_json::from_str(text).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
