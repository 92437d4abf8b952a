//! Conversations from outside: requests of clients, lists of messages, files for training, and logs
//! with one of them on each line.

mod record;
mod sharegpt;

mod clients;
mod responses;
mod training;

mod shapes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rolecall_core::{CONTENT, Case, CaseId, Cut, Dialect, Moment};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use record::{Read, Record, is_nothing};
use rolecall_core::file::{self, read_bytes};
use rolecall_core::json;
use rolecall_core::naming::is_portable;
use rolecall_core::problem::{Note, Position, Problem};

/// The most conversations of a file.
pub const MOST_CONVERSATIONS: usize = 100_000;

/// The largest log, in bytes.
pub const MOST_LOG: u64 = 256 << 20;

/// The most values in a log. Each takes more memory than it takes bytes.
pub const MOST_LOG_VALUES: usize = 8_000_000;

/// What a conversation may look like, for messages.
const SHAPES: &str = "a conversation is a list of messages, a request of OpenAI's, Anthropic's or \
                      Ollama's, an object with `messages`, `conversations`, `prompt` and \
                      `completion` or `chosen` and `rejected`, or a line of JSON Lines with one of them";

/// A conversation as a file has it, and where in the file it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The messages, and what else a request says of the prompt: `tools`, `documents`,
    /// `add_generation_prompt`, `continue_final_message`, `variables`. These are the keys of a case.
    pub fields: Map<String, Value>,
    /// The number of the line where it begins. If a line has several, the later ones have a second
    /// number, such as `1-2`; two answers to compare have `3-chosen` and `3-rejected`.
    pub name: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversations {
    /// Those that can be read. There is at least one.
    pub read: Vec<Conversation>,
    /// What is wrong with the others.
    pub problems: Vec<Problem>,
    /// What became of fields that a case has under other names, in how many conversations.
    became: BTreeMap<&'static str, usize>,
    /// What is not read, in how many conversations.
    unread: BTreeMap<String, usize>,
}

/// The text of a file with conversations. None if the file is a case file, or none at all.
pub(crate) fn text_of(path: &Path) -> Option<Result<String, Problem>> {
    if !path.is_file() {
        return None;
    }
    if let Some((extension, name, command)) = converted(path) {
        let new = path.with_extension(match *extension {
            "gz" | "zst" => "",
            _ => "jsonl",
        });
        let [old, new] = [path, &new].map(|path| path.display().to_string());
        let command = command.replace("OLD", &old).replace("NEW", &new);
        let problem = Problem::new(path, format!("{name} is not read"));
        return Some(Err(
            problem.help(format!("make JSON Lines of it: {command}"))
        ));
    }
    match read_bytes(path, MOST_LOG).and_then(|bytes| decoded(path, bytes)) {
        Err(problem) => is_log(path).then_some(Err(problem)),
        Ok(text) => (is_log(path) || !is_case_file(&text)).then_some(Ok(text)),
    }
}

/// This character stands for bytes that are not UTF-8. JSON allows it nowhere, so no other line has it.
const NO_TEXT: char = '\u{1a}';

/// The bytes of a file as a text. In lines of JSON, U+001A stands for bytes that are not UTF-8, so that
/// only their lines are not read.
pub fn decoded(path: &Path, bytes: Vec<u8>) -> Result<String, Problem> {
    if str::from_utf8(&bytes).is_err() {
        let mut marked = String::new();
        for chunk in bytes.utf8_chunks() {
            marked.push_str(chunk.valid());
            marked.extend((!chunk.invalid().is_empty()).then_some(NO_TEXT));
        }
        if is_lines(&marked) {
            return Ok(marked);
        }
    }
    file::text_of(path, bytes)
}

/// The files with conversations that have to be converted first: how their names end, what they are, and
/// the command that makes the file `NEW` of the file `OLD`.
const CONVERTED: [(&str, &str, &str); 8] = [
    (
        "parquet",
        "Parquet",
        "python -c \"import pandas; pandas.read_parquet('OLD').to_json('NEW', orient='records', \
         lines=True)\"",
    ),
    ("gz", "gzip", "gunzip --keep OLD"),
    ("zst", "Zstandard", "zstd --decompress OLD"),
    (
        "csv",
        "CSV",
        "python -c \"import pandas; pandas.read_csv('OLD').to_json('NEW', orient='records', \
         lines=True)\"",
    ),
    (
        "tsv",
        "TSV",
        "python -c \"import pandas; pandas.read_table('OLD').to_json('NEW', orient='records', \
         lines=True)\"",
    ),
    ("yaml", "YAML", YAML),
    ("yml", "YAML", YAML),
    (
        "arrow",
        "Arrow",
        "python -c \"import datasets; datasets.Dataset.from_file('OLD').to_json('NEW')\"",
    ),
];

const YAML: &str = "python -c \"import json, yaml; json.dump(yaml.safe_load(open('OLD')), \
                    open('NEW', 'w'), default=str)\"";

/// The row of a file that has to be converted first.
fn converted(path: &Path) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let extension = path.extension()?.to_ascii_lowercase();
    CONVERTED.iter().find(|(known, ..)| extension == *known)
}

/// Whether the name of a file says that it has conversations: no template and no case file is JSON Lines.
pub fn is_log(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    extension == "jsonl" || extension == "ndjson" || converted(path).is_some()
}

/// Whether a text is that of a case file, perhaps of a broken one.
fn is_case_file(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Keys {
        about: Option<IgnoredAny>,
        cases: Option<IgnoredAny>,
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    match serde_json::from_str::<Keys>(text) {
        // Serde also takes a list for an object.
        Ok(keys) => text.starts_with('{') && (keys.about.is_some() || keys.cases.is_some()),
        Err(_) => serde_json::from_str::<IgnoredAny>(text).is_err() && !is_lines(text),
    }
}

/// Whether most lines of a text are objects or lists of their own: few are in a broken JSON text.
fn is_lines(text: &str) -> bool {
    let (mut whole, mut all) = (0, 0);
    for (_, line) in lines(text) {
        let is_value = serde_json::from_str::<IgnoredAny>(line).is_ok();
        whole += usize::from(is_value && line.trim_start().starts_with(['{', '[']));
        all += 1;
    }
    all > 1 && 2 * whole >= all
}

/// Reads the conversations of a file.
///
/// # Errors
///
/// As [`read`], or the file cannot be read or is too large.
pub fn read_file(path: &Path) -> Result<Conversations, Vec<Problem>> {
    let bytes = || decoded(path, read_bytes(path, MOST_LOG)?);
    let text = text_of(path).unwrap_or_else(bytes);
    read(path, &text.map_err(|problem| vec![problem])?)
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
    if json::values_in(text.as_bytes()) > MOST_LOG_VALUES {
        return Err(alone(Problem::new(path, "the file has too many values")));
    }
    let mut reader = Reader {
        path,
        text,
        at: (0, Position { line: 1, column: 1 }),
        names: BTreeMap::new(),
        found: Conversations::default(),
    };
    let records: Vec<&str> = match serde_json::from_str::<IgnoredAny>(text) {
        // These are slices of the text, so that their places are known.
        Ok(_) => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(elements) if !elements.iter().all(|one| is_message(one.get())) => {
                elements.into_iter().map(RawValue::get).collect()
            }
            _ => vec![text.trim()],
        },
        Err(_) if is_lines(text) => lines(text).map(|(_, line)| line).collect(),
        Err(error) => return Err(alone(json::syntax_problem(path, text, &error))),
    };
    let check_count = |count: usize| match count {
        0..=MOST_CONVERSATIONS => Ok(()),
        _ => Err(alone(Problem::new(
            path,
            format!(
                "the file has {count} conversations, where at most {MOST_CONVERSATIONS} are expected"
            ),
        ))),
    };
    // Each record that is none would be a problem, which takes more memory than the record.
    check_count(records.len())?;
    for record in records {
        reader.add(record);
    }
    let found = reader.found;
    if found.read.is_empty() && found.problems.is_empty() {
        let problem = Problem::new(path, "the file has no conversation").help(SHAPES);
        return Err(alone(problem));
    }
    if found.read.is_empty() {
        return Err(found.problems);
    }
    // A record may have two conversations, one for each of two answers.
    check_count(found.read.len())?;
    Ok(found)
}

/// The lines that are not empty, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines.filter(|(_, line)| !line.trim().is_empty())
}

fn is_message(text: &str) -> bool {
    let value: Result<Value, _> = serde_json::from_str(text);
    value.is_ok_and(|value| {
        let says = |key: &str| value.get(key).is_some();
        (says("role") && !says("messages")) || (says("from") && says("value"))
    })
}

/// Reads the records of a text, from its beginning to its end.
struct Reader<'t> {
    path: &'t Path,
    text: &'t str,
    /// Where the last record begins, as an offset and as a place.
    at: (usize, Position),
    /// How many records begin in each line that has one.
    names: BTreeMap<usize, usize>,
    found: Conversations,
}

impl Reader<'_> {
    /// Reads a record, which is a part of the text.
    fn add(&mut self, text: &str) {
        let offset = text.as_ptr() as usize - self.text.as_ptr() as usize;
        // From the last record on: counting from the beginning each time takes quadratic time.
        let between = self.text.cut(self.at.0..offset);
        let mut place = self.at.1;
        match between.rsplit_once('\n') {
            Some((_, last)) => {
                place.line += between.matches('\n').count();
                place.column = 1 + last.chars().count();
            }
            None => place.column += between.chars().count(),
        }
        self.at = (offset, place);
        let count = self.names.entry(place.line).or_default();
        *count += 1;
        let name = match *count {
            1 => place.line.to_string(),
            count => format!("{}-{count}", place.line),
        };
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                let (mut column, mut message) = (
                    error.column().max(1),
                    format!("this line is not JSON: {}", json::words(&error)),
                );
                if let Some((before, _)) = text.split_once(NO_TEXT) {
                    column = before.chars().count() + 1;
                    message = String::from("this line has bytes that are not UTF-8");
                }
                let column = place.column + column - 1;
                let at = Position { column, ..place };
                self.found
                    .problems
                    .push(Problem::new(self.path, message).at(at));
                return;
            }
        };
        // Whatever the other value says would be lost.
        if let Some(key) = json::repeated_key(text, &value) {
            let message = format!("an object has the key `{key}` twice");
            self.found
                .problems
                .push(Problem::new(self.path, message).at(place));
            return;
        }
        if let Value::Object(object) = &value
            && object.contains_key("cases")
        {
            let problem = Problem::new(self.path, "this is a case file").at(place);
            let help = "name it with --cases, or put it into the folder of cases";
            self.found.problems.push(problem.help(help));
            return;
        }
        let mut record = Record::default();
        match shapes::read(value, &mut record) {
            Ok(read) => self.found.take(read, &name, record),
            Err(wrong) => {
                // The value is used up. What is left of it goes first: both would be twice as large.
                let has_shape = record.has_shape;
                drop(record);
                let value = serde_json::from_str(text).unwrap_or_default();
                let help = shapes::hint(&value, has_shape);
                let help = help.unwrap_or_else(|| SHAPES.to_owned());
                let problem = Problem::new(self.path, wrong).at(place).help(help);
                self.found.problems.push(problem);
            }
        }
    }
}

impl Conversations {
    /// Takes the conversations of a record.
    fn take(&mut self, read: Read, name: &str, record: Record) {
        for words in record.became {
            *self.became.entry(words).or_default() += read.len();
        }
        let unread = record.rest.iter().filter(|(_, value)| !is_nothing(value));
        let unread = unread.map(|(key, _)| format!("`{key}`"));
        for name in unread.chain(record.skipped) {
            *self.unread.entry(name).or_default() += read.len();
        }
        for (ending, messages) in read {
            let mut fields = Map::from_iter([("messages".to_owned(), messages.into())]);
            fields.extend(record.fields.clone());
            self.read.push(Conversation {
                fields,
                name: format!("{name}{ending}"),
            });
        }
    }

    /// What became of the fields of a file, and which are not read. None if there is nothing to say.
    pub fn note(&self, path: &Path) -> Option<Note> {
        const MOST: usize = 12;
        let all = self.read.len();
        let count = |of: usize| {
            if of == all {
                String::new()
            } else {
                format!(" ({of} of {all})")
            }
        };
        let became = self.became.iter();
        let mut parts: Vec<String> = became
            .map(|(words, of)| format!("{words}{}", count(*of)))
            .collect();
        let mut unread: Vec<_> = self.unread.iter().collect();
        unread.sort_by_key(|(name, of)| (std::cmp::Reverse(**of), *name));
        let shown = unread.iter().take(MOST);
        let shown: Vec<String> = shown
            .map(|(name, of)| format!("{name}{}", count(**of)))
            .collect();
        if !shown.is_empty() {
            let more = match unread.len().saturating_sub(MOST) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("not read: {}{more}", shown.join(", ")));
        }
        let message = parts.join("; ");
        let path = path.to_path_buf();
        (!message.is_empty()).then(|| Note::new(path, message))
    }
}

impl Conversation {
    /// The conversation as a case. Unless it says more, a prompt asks for an answer.
    pub fn case(mut self, id: CaseId, path: PathBuf) -> Case {
        let mut list = |key: &str| match self.fields.remove(key) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        };
        let (messages, tools, documents) = (list("messages"), list("tools"), list("documents"));
        let is = |key: &str| self.fields.get(key).and_then(Value::as_bool);
        let continues = is("continue_final_message") == Some(true);
        let variables = self.fields.get("variables").and_then(Value::as_object);
        Case {
            id,
            path,
            about: None,
            messages: messages.unwrap_or_default(),
            tools,
            documents,
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
/// of their lines: see [`Conversation::name`].
pub fn cases(path: &Path, conversations: Vec<Conversation>) -> Vec<Case> {
    let of = |one: Conversation| {
        let id = id(path, &one.name);
        one.case(id, path.to_path_buf())
    };
    conversations.into_iter().map(of).collect()
}

/// The name of a case in a file with conversations.
pub fn id(path: &Path, name: &str) -> CaseId {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let family = case_name(&stem);
    CaseId::new(family.as_deref().unwrap_or("conversation"), name)
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
        let list = r#"[{"messages": []}, [{"role": "user", "content": ""}]]"#;
        assert_eq!(fields(list).len(), 2);
        let all = fields(
            r#"{"messages": [], "tools": [{"type": "function", "function": {}}], "documents": null,
                "add_generation_prompt": false, "chat_template_kwargs": {"enable_thinking": false},
                "reasoning_effort": "low", "tool_choice": null}"#,
        );
        assert_eq!(
            all,
            [json!({
                "messages": [], "tools": [{"type": "function", "function": {}}], "add_generation_prompt": false,
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
        for (text, names, place) in [
            ("[]\n[]\n{", ["1", "2"], "x.json:3:"),
            ("{\"mess\n\n[]\n[]", ["3", "4"], "x.json:1:"),
            ("[]\n3\n[]", ["1", "3"], "x.json:2:"),
            ("[]\n{\"prompt\": \"x\"}\n[]", ["1", "3"], "x.json:2:"),
            ("[[], 3, []]", ["1", "1-3"], "x.json:1:6: "),
            ("[\n [],\n 3,\n []]", ["2", "4"], "x.json:3:2: "),
        ] {
            let found = read(Path::new("x.json"), text).unwrap();
            let read: Vec<&str> = found.read.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(read, names, "{text}");
            let [problem] = found.problems.as_slice() else {
                panic!("{text}: {:?}", found.problems);
            };
            assert!(problem.to_string().starts_with(place), "{problem}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_cost_one_line() {
        let path = Path::new("x.jsonl");
        let of = |bytes: &[u8]| decoded(path, bytes.to_vec());
        let found = read(path, &of(b"[]\n[\"\xc3\xa9\xe9\"]\n[]").unwrap()).unwrap();
        let problem = found.problems[0].to_string();
        assert_eq!((found.read.len(), found.problems.len()), (2, 1));
        assert_eq!(
            problem,
            "x.jsonl:2:4: this line has bytes that are not UTF-8"
        );
        for other in [&b"\xff\xfe[\0]\0"[..], b"[\"\xe9\"]", b"\x1f\x8b[]\n"] {
            assert!(of(other).is_err(), "{other:?}");
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
