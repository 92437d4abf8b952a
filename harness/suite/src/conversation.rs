//! Conversations from outside: requests of clients of OpenAI, lists of messages, and logs with one
//! of them on each line.

use std::path::{Path, PathBuf};

use rolecall_model::{CONTENT, Case, CaseId, Dialect, Moment};
use serde_json::{Map, Value};

use rolecall_base::json;
use rolecall_base::naming::is_portable;
use rolecall_base::problem::{Position, Problem};

/// The most conversations of a file.
pub const MOST_CONVERSATIONS: usize = 100_000;

/// The keys under which logs and batch files keep a request.
const WRAPPERS: [&str; 4] = ["body", "request", "params", "kwargs"];

/// What a conversation may look like, for messages.
const SHAPES: &str = "a conversation is a list of messages, an object with `messages`, or a line of \
                      JSON Lines with one of them";

/// A conversation as a file has it, and where it begins there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The messages, and what else a request says of the prompt: `tools`, `documents`,
    /// `add_generation_prompt`, `continue_final_message`, `variables`. These are the keys of a case.
    pub fields: Map<String, Value>,
    /// The line, from 1.
    pub line: usize,
}

/// Reads the conversations of a text.
///
/// # Errors
///
/// The text is neither JSON nor JSON Lines, or a value in it is no conversation.
pub fn read(path: &Path, text: &str) -> Result<Vec<Conversation>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if json::has_too_many(text) {
        return Err(Problem::new(path, "the file has too many values"));
    }
    let whole: Result<Value, serde_json::Error> = serde_json::from_str(text);
    let conversations = match whole {
        Ok(Value::Array(elements)) if !elements.iter().all(is_message) => elements
            .into_iter()
            .map(|element| conversation(path, element, 1))
            .collect::<Result<Vec<_>, _>>()?,
        Ok(value) => vec![conversation(path, value, 1)?],
        Err(error) => {
            let lines = lines(path, text)?;
            // One line that cannot be read is a broken JSON text, not JSON Lines.
            lines.ok_or_else(|| json::syntax_problem(path, text, &error))?
        }
    };
    if conversations.is_empty() {
        return Err(Problem::new(path, "the file has no conversation").help(SHAPES));
    }
    if conversations.len() > MOST_CONVERSATIONS {
        let message = format!(
            "the file has {} conversations, where at most {MOST_CONVERSATIONS} are expected",
            conversations.len()
        );
        return Err(Problem::new(path, message));
    }
    Ok(conversations)
}

/// The conversations of JSON Lines. None if the first line is no JSON.
fn lines(path: &Path, text: &str) -> Result<Option<Vec<Conversation>>, Problem> {
    let mut conversations = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(value) => conversations.push(conversation(path, value, at + 1)?),
            Err(_) if conversations.is_empty() => return Ok(None),
            Err(error) => {
                let place = Position {
                    line: at + 1,
                    column: error.column().max(1),
                };
                let message = format!("this line is not JSON: {error}");
                return Err(Problem::new(path, message).at(place));
            }
        }
    }
    Ok(Some(conversations))
}

fn is_message(value: &Value) -> bool {
    value.get("role").is_some() && value.get("messages").is_none()
}

/// A conversation of a value that begins at a line.
fn conversation(path: &Path, value: Value, line: usize) -> Result<Conversation, Problem> {
    let here = |message: &str| {
        Problem::new(path, message)
            .at(Position { line, column: 1 })
            .help(SHAPES)
    };
    let mut object = match value {
        Value::Array(messages) => Map::from_iter([("messages".to_owned(), messages.into())]),
        Value::Object(object) => object,
        _ => return Err(here("neither a list nor an object")),
    };
    if !object.contains_key("messages") {
        let inner = WRAPPERS
            .iter()
            .find_map(|key| object.get(*key).filter(|inner| inner.is_object()).cloned());
        if let Some(Value::Object(inner)) = inner {
            object = inner;
        }
    }
    let messages = match object.remove("messages") {
        Some(Value::Array(messages)) => messages,
        Some(_) => return Err(here("`messages` is not a list")),
        None if object.contains_key("cases") => {
            return Err(Problem::new(path, "this is a case file")
                .help("name it with --cases, or put it into the folder of cases"));
        }
        None => return Err(here("it has no `messages`")),
    };
    if let Some(at) = messages.iter().position(|message| !message.is_object()) {
        return Err(here(&format!("message {} is not an object", at + 1)));
    }
    let mut fields = Map::new();
    fields.insert("messages".to_owned(), Value::Array(messages));
    for key in ["tools", "documents"] {
        match object.remove(key) {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) if list.iter().all(Value::is_object) => {
                fields.insert(key.to_owned(), list.into());
            }
            Some(_) => return Err(here(&format!("`{key}` is not a list of objects"))),
        }
    }
    for key in ["add_generation_prompt", "continue_final_message"] {
        match object.remove(key) {
            None | Some(Value::Null) => {}
            Some(Value::Bool(value)) => {
                fields.insert(key.to_owned(), value.into());
            }
            Some(_) => return Err(here(&format!("`{key}` is neither true nor false"))),
        }
    }
    // vLLM and others take the variables of a template there.
    let variables = object.remove("chat_template_kwargs");
    match variables.or_else(|| object.remove("variables")) {
        None | Some(Value::Null) => {}
        Some(Value::Object(variables)) if variables.is_empty() => {}
        Some(Value::Object(variables)) => {
            fields.insert("variables".to_owned(), variables.into());
        }
        Some(_) => return Err(here("`chat_template_kwargs` is not an object")),
    }
    Ok(Conversation { fields, line })
}

impl Conversation {
    /// The conversation as a case.
    pub fn case(&self, id: CaseId, path: PathBuf) -> Case {
        let list = |key: &str| self.fields.get(key).and_then(Value::as_array).cloned();
        let is = |key: &str| self.fields.get(key).and_then(Value::as_bool);
        let continues = is("continue_final_message") == Some(true);
        let variables = self.fields.get("variables").and_then(Value::as_object);
        Case {
            id,
            path,
            about: None,
            messages: list("messages").unwrap_or_default(),
            tools: list("tools"),
            documents: list("documents"),
            add_generation_prompt: is("add_generation_prompt").unwrap_or(!continues),
            continue_final_message: continues.then(|| CONTENT.to_owned()),
            variables: variables.cloned().unwrap_or_default(),
            now: Moment::default(),
            dialects: Dialect::ALL.to_vec(),
            front: None,
        }
    }
}

/// The conversations of a file as cases. The family is named after the file, the cases by numbers.
pub fn cases(path: &Path, conversations: &[Conversation]) -> Vec<Case> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let family = case_name(&stem).unwrap_or_else(|| "conversation".to_owned());
    let numbered = conversations.iter().zip(1..);
    numbered
        .map(|(conversation, number)| {
            let id = CaseId::new(&family, &format!("{number}"));
            conversation.case(id, path.to_path_buf())
        })
        .collect()
}

/// A name for a case or a family that is as much like a text as the rules allow.
pub fn case_name(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .to_lowercase()
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let mut name = words.join("-");
    name.truncate(CaseId::MOST_CHARACTERS);
    let name = name.trim_matches('-').to_owned();
    (CaseId::allows(&name) && is_portable(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(text: &str) -> Vec<Value> {
        let read = read(Path::new("x.json"), text).unwrap();
        read.into_iter()
            .map(|one| Value::Object(one.fields))
            .collect()
    }

    fn error(text: &str) -> String {
        read(Path::new("x.json"), text).unwrap_err().to_string()
    }

    #[test]
    fn a_conversation_comes_in_many_shapes() {
        let hi = json!({"messages": [{"role": "user", "content": "Hi"}]});
        for text in [
            r#"[{"role": "user", "content": "Hi"}]"#,
            r#"{"model": "x", "temperature": 0, "messages": [{"role": "user", "content": "Hi"}]}"#,
            r#"{"custom_id": "1", "body": {"messages": [{"role": "user", "content": "Hi"}]}}"#,
        ] {
            assert_eq!(fields(text), std::slice::from_ref(&hi), "{text}");
            let twice = format!("{text}\n\n{text}\n");
            assert_eq!(fields(&twice), [hi.clone(), hi.clone()], "{twice}");
        }
        let list = r#"[{"messages": []}, [{"role": "user"}]]"#;
        assert_eq!(fields(list).len(), 2);
        let all = fields(
            r#"{"messages": [], "tools": [{"type": "function"}], "documents": null,
                "add_generation_prompt": false, "chat_template_kwargs": {"enable_thinking": false}}"#,
        );
        assert_eq!(
            all,
            [json!({
                "messages": [], "tools": [{"type": "function"}],
                "add_generation_prompt": false, "variables": {"enable_thinking": false}
            })]
        );
    }

    #[test]
    fn what_is_no_conversation_is_said_with_its_place() {
        assert!(error("[").starts_with("x.json:1:1: "), "{}", error("["));
        assert!(error("{}").contains("it has no `messages`"));
        assert!(error("3").contains("neither a list nor an object"));
        assert!(error(r#"{"messages": [1]}"#).contains("message 1 is not an object"));
        assert!(error(r#"{"messages": [], "tools": ["x"]}"#).contains("list of objects"));
        assert!(error(r#"{"about": "x", "cases": {}}"#).contains("this is a case file"));
        assert!(
            error("[]\n[]\n{").starts_with("x.json:3:"),
            "{}",
            error("[]\n[]\n{")
        );
        assert!(error("").contains("x.json"));
    }

    #[test]
    fn names_are_as_near_to_a_text_as_the_rules_allow() {
        assert_eq!(
            case_name("My Log (2).json").as_deref(),
            Some("my-log-2-json")
        );
        assert_eq!(case_name("---"), None);
    }
}
