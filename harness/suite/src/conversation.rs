//! Conversations from outside: requests of clients of OpenAI, lists of messages, and logs with one
//! of them on each line.

use std::path::{Path, PathBuf};

use rolecall_core::{CONTENT, Case, CaseId, Dialect, Moment};
use serde_json::{Map, Value};

use rolecall_core::json;
use rolecall_core::naming::is_portable;
use rolecall_core::problem::{Position, Problem};

/// The most conversations of a file.
pub const MOST_CONVERSATIONS: usize = 100_000;

/// The keys under which logs and batch files keep a request.
const WRAPPERS: [&str; 4] = ["body", "request", "params", "kwargs"];

/// What a conversation may look like, for messages.
const SHAPES: &str = "a conversation is a list of messages, an object with `messages`, or a line of \
                      JSON Lines with one of them";

/// A conversation as a file has it, and which of the file's it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The messages, and what else a request says of the prompt: `tools`, `documents`,
    /// `add_generation_prompt`, `continue_final_message`, `variables`. These are the keys of a case.
    pub fields: Map<String, Value>,
    /// The line of JSON Lines, or the number in a list; from 1.
    pub number: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversations {
    /// Those that can be read. There is at least one.
    pub read: Vec<Conversation>,
    /// What is wrong with the others.
    pub problems: Vec<Problem>,
}

/// Reads the conversations of a text. A line of JSON Lines that is no conversation, or an element of a
/// list, is one problem, and the others are read.
///
/// # Errors
///
/// The text is neither JSON nor JSON Lines, or nothing in it is a conversation.
pub fn read(path: &Path, text: &str) -> Result<Conversations, Vec<Problem>> {
    let alone = |problem| vec![problem];
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if json::has_too_many(text) {
        return Err(alone(Problem::new(path, "the file has too many values")));
    }
    let whole: Result<Value, serde_json::Error> = serde_json::from_str(text);
    let mut found = Conversations::default();
    match whole {
        Ok(Value::Array(elements)) if !elements.iter().all(is_message) => {
            for (number, element) in (1..).zip(elements) {
                let here =
                    |message: &str| Problem::new(path, format!("conversation {number}: {message}"));
                found.add(conversation(element, number, here));
            }
        }
        Ok(value) => {
            let here =
                |message: &str| Problem::new(path, message).at(Position { line: 1, column: 1 });
            found.add(conversation(value, 1, here));
        }
        Err(error) => {
            let values: Vec<(usize, Result<Value, serde_json::Error>)> = lines(text).collect();
            let is_value = |(_, value): &&(usize, Result<Value, _>)| {
                matches!(value, Ok(Value::Object(_) | Value::Array(_)))
            };
            // In a broken JSON text, few lines are whole objects or lists.
            if values.len() < 2 || 2 * values.iter().filter(is_value).count() < values.len() {
                return Err(alone(json::syntax_problem(path, text, &error)));
            }
            for (line, value) in values {
                let at = |column| Position { line, column };
                let here = |message: &str| Problem::new(path, message).at(at(1));
                match value {
                    Ok(value) => found.add(conversation(value, line, here)),
                    Err(error) => {
                        let message = format!("this line is not JSON: {error}");
                        let problem = Problem::new(path, message).at(at(error.column().max(1)));
                        found.problems.push(problem);
                    }
                }
            }
        }
    }
    if found.read.is_empty() && found.problems.is_empty() {
        let problem = Problem::new(path, "the file has no conversation").help(SHAPES);
        return Err(alone(problem));
    }
    if found.read.is_empty() {
        return Err(found.problems);
    }
    if found.read.len() > MOST_CONVERSATIONS {
        let message = format!(
            "the file has {} conversations, where at most {MOST_CONVERSATIONS} are expected",
            found.read.len()
        );
        return Err(alone(Problem::new(path, message)));
    }
    Ok(found)
}

/// The lines that are not empty, with their numbers from 1, as JSON.
fn lines(text: &str) -> impl Iterator<Item = (usize, Result<Value, serde_json::Error>)> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| (number, serde_json::from_str(line)))
}

fn is_message(value: &Value) -> bool {
    value.get("role").is_some() && value.get("messages").is_none()
}

/// A conversation of a value. `problem` makes a problem of what is wrong with it.
fn conversation(
    value: Value,
    number: usize,
    problem: impl Fn(&str) -> Problem,
) -> Result<Conversation, Problem> {
    let here = |message: &str| problem(message).help(SHAPES);
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
            return Err(problem("this is a case file")
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
    // A case keeps the fields of a request that concern the prompt among its variables.
    for key in ["reasoning_effort", "tool_choice"] {
        if let Some(value) = object.remove(key).filter(|value| !value.is_null()) {
            let variables = fields
                .entry("variables")
                .or_insert_with(|| Map::new().into());
            if let Some(variables) = variables.as_object_mut() {
                variables.insert(key.to_owned(), value);
            }
        }
    }
    Ok(Conversation { fields, number })
}

impl Conversations {
    fn add(&mut self, found: Result<Conversation, Problem>) {
        match found {
            Ok(conversation) => self.read.push(conversation),
            Err(problem) => self.problems.push(problem),
        }
    }
}

impl Conversation {
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
            undefined: Vec::new(),
            now: Moment::default(),
            dialects: Dialect::ALL.to_vec(),
            front: None,
        }
    }
}

/// The conversations of a file as cases. The family is named after the file, the cases by the numbers
/// of their lines.
pub fn cases(path: &Path, conversations: &[Conversation]) -> Vec<Case> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let family = case_name(&stem).unwrap_or_else(|| "conversation".to_owned());
    conversations
        .iter()
        .map(|conversation| {
            let id = CaseId::new(&family, &conversation.number.to_string());
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
        let found = read(Path::new("x.json"), text).unwrap();
        assert_eq!(found.problems, []);
        found
            .read
            .into_iter()
            .map(|one| Value::Object(one.fields))
            .collect()
    }

    fn error(text: &str) -> String {
        read(Path::new("x.json"), text).unwrap_err()[0].to_string()
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
                "add_generation_prompt": false, "chat_template_kwargs": {"enable_thinking": false},
                "reasoning_effort": "low", "tool_choice": null}"#,
        );
        assert_eq!(
            all,
            [json!({
                "messages": [], "tools": [{"type": "function"}], "add_generation_prompt": false,
                "variables": {"enable_thinking": false, "reasoning_effort": "low"}
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
        assert!(error("").contains("x.json"));
        // A broken text is not taken for lines.
        let broken = "{\n\"messages\": [\n{}\n],\n\"x\": 1,,\n}";
        assert!(error(broken).starts_with("x.json:5:"), "{}", error(broken));
    }

    #[test]
    fn what_is_wrong_with_one_line_is_one_problem() {
        for (text, numbers, place) in [
            ("[]\n[]\n{", vec![1, 2], "x.json:3:"),
            ("{\"mess\n\n[]\n[]", vec![3, 4], "x.json:1:"),
            ("[]\n3\n[]", vec![1, 3], "x.json:2:"),
            ("[]\n{\"prompt\": \"x\"}\n[]", vec![1, 3], "x.json:2:"),
            ("[[], 3, []]", vec![1, 3], "x.json: conversation 2: "),
        ] {
            let found = read(Path::new("x.json"), text).unwrap();
            let read: Vec<usize> = found.read.iter().map(|one| one.number).collect();
            assert_eq!(read, numbers, "{text}");
            let [problem] = found.problems.as_slice() else {
                panic!("{text}: {:?}", found.problems);
            };
            assert!(problem.to_string().starts_with(place), "{problem}");
        }
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
