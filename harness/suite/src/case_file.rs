//! Case files: one family of cases each. Every problem is reported with its place.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rolecall_core::{CONTENT, Case, CaseId, Dialect, Moment};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use walkdir::WalkDir;

use rolecall_core::document::{self, Document};
use rolecall_core::file::{MOST_CASES, is_there, read_text, read_text_of};
use rolecall_core::json::{self, Field, Node, NodeKind};
use rolecall_core::naming::is_portable;
use rolecall_core::problem::{Note, Position, Problem, did_you_mean, meant, misspelt};
use rolecall_core::root::{Root, text_within};

/// The JSON Schema of a case file.
pub const SCHEMA: &str = include_str!("cases.schema.json");

/// The contents of a case file.
#[derive(Debug, Default)]
pub struct Family {
    /// What its cases have in common.
    pub about: Option<String>,
    /// The cases that could be read, in the order of the file.
    pub cases: Vec<Case>,
    /// The tool files that its cases use.
    pub tool_files: BTreeSet<PathBuf>,
    /// Everything that is wrong with the file.
    pub problems: Vec<Problem>,
    /// Roles and keys of messages that are probably misspelt.
    pub notes: Vec<Note>,
}

/// The folders of tools, of which the first one that has a file wins, and the sound files that were read.
#[derive(Debug, Default)]
pub(crate) struct ToolFiles {
    folders: Vec<PathBuf>,
    // Most files with cases name the same few tools.
    known: RefCell<HashMap<String, (PathBuf, Value)>>,
}

impl From<Vec<PathBuf>> for ToolFiles {
    fn from(folders: Vec<PathBuf>) -> ToolFiles {
        let known = RefCell::default();
        ToolFiles { folders, known }
    }
}

/// Reads one case file. Tool names are looked up in `tool_folders`; the first folder that
/// has the file wins.
pub fn read_family(path: &Path, tool_folders: &[PathBuf]) -> Family {
    read_family_in(None, path, &tool_folders.to_vec().into())
}

/// Reads one case file as [`read_family`] does. It must lie in the folder, also by its links.
pub(crate) fn read_family_in(root: Option<&Root>, path: &Path, tools: &ToolFiles) -> Family {
    match text_within(root, path, MOST_CASES) {
        Ok(text) => family_of(path, &text, tools),
        Err(problem) => Family::broken(problem),
    }
}

/// The family of a file with a text.
fn family_of(path: &Path, text: &str, tool_files: &ToolFiles) -> Family {
    let family = path.file_stem().unwrap_or_default().to_string_lossy();
    if !CaseId::allows(&family) || !is_portable(&family) {
        return Family::broken(
            Problem::new(path, format!("`{family}` is not a valid family name")).help(format!(
                "a family is named by its file: {}, and no device of Windows",
                name_rule()
            )),
        );
    }
    let reader = || CaseFileReader {
        path,
        family: &family,
        tool_files,
        unusable: HashSet::new(),
        found: Family::default(),
    };
    // Places cost most of the time that reading takes, and only what is wrong needs one.
    let sound = reader().sound_file(text);
    sound.unwrap_or_else(|| reader().any_file(text))
}

/// A case file in which nothing is wrong. These types allow nothing that [`SCHEMA`] refuses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainFile {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    about: String,
    #[serde(deserialize_with = "entries")]
    cases: Vec<(String, PlainCase)>,
}

/// A case as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCase {
    about: Option<String>,
    messages: Vec<Value>,
    tools: Option<Vec<Value>>,
    documents: Option<Vec<Value>>,
    add_generation_prompt: Option<bool>,
    continue_final_message: Option<Value>,
    variables: Option<Map<String, Value>>,
    now: Option<String>,
    dialects: Option<Vec<String>>,
}

impl PlainCase {
    /// A case that follows the schema. serde reads no numbers exactly out of another value.
    fn of(case: &Node<'_>) -> PlainCase {
        let list = |key| Some(case.get(key)?.items().iter().map(Node::value).collect());
        let texts = |list: &Node<'_>| {
            let texts = list.items().iter().filter_map(Node::text);
            texts.map(str::to_owned).collect()
        };
        let is_true = |value: &Node<'_>| matches!(value.kind, NodeKind::Boolean(true));
        let variables = case.get("variables").map(Node::value);
        PlainCase {
            about: case.text_of("about"),
            messages: list("messages").unwrap_or_default(),
            tools: list("tools"),
            documents: list("documents"),
            add_generation_prompt: case.get("add_generation_prompt").map(is_true),
            continue_final_message: case.get("continue_final_message").map(Node::value),
            variables: variables.and_then(|variables| match variables {
                Value::Object(variables) => Some(variables),
                _ => None,
            }),
            now: case.text_of("now"),
            dialects: case.get("dialects").map(texts),
        }
    }
}

/// The entries of an object in their order.
fn entries<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, PlainCase)>, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, PlainCase)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut all = Vec::new();
            while let Some(entry) = map.next_entry()? {
                all.push(entry);
            }
            Ok(all)
        }
    }
    from.deserialize_map(Entries)
}

impl Family {
    fn broken(problem: Problem) -> Family {
        Family {
            problems: vec![problem],
            ..Family::default()
        }
    }
}

static RULES: LazyLock<Value> = LazyLock::new(|| document::schema(SCHEMA));

struct CaseFileReader<'r> {
    path: &'r Path,
    family: &'r str,
    tool_files: &'r ToolFiles,
    /// The names of tool files that cannot be used: each is reported once.
    unusable: HashSet<String>,
    found: Family,
}

/// A key or a role in the messages of a case.
struct Word<'c> {
    kind: &'static str,
    text: &'c str,
}

impl Word<'_> {
    /// Where the word first is in a value.
    fn place_in(&self, value: &Node<'_>) -> Option<usize> {
        let of_field = |field: &Field<'_>| {
            let is_role = field.name == "role" && field.value.text() == Some(self.text);
            match self.kind {
                "key" if field.name == self.text => Some(field.range.start),
                "role" if is_role => Some(field.value.range.start),
                _ => self.place_in(&field.value),
            }
        };
        let in_fields = value.fields().iter().find_map(of_field);
        in_fields.or_else(|| value.items().iter().find_map(|item| self.place_in(item)))
    }
}

/// The elements of a list under a key.
fn elements<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    let list = value[key].as_array();
    list.map(Vec::as_slice).unwrap_or_default()
}

/// What is wrong with a value, and perhaps what to do about it.
type Wrong = (String, Option<String>);

impl CaseFileReader<'_> {
    /// The family of a file in which nothing is wrong.
    fn sound_file(mut self, text: &str) -> Option<Family> {
        let file: PlainFile = json::read(self.path, text, "").ok()?;
        self.found.about = Some(file.about);
        let mut seen = HashSet::new();
        for (name, case) in file.cases {
            if !CaseId::allows(&name) || !seen.insert(name.clone()) {
                return None;
            }
            let case = self.case(&name, case)?;
            // A note needs a place, which only the slower reader knows.
            if !self.misspelt(&case).is_empty() {
                return None;
            }
            self.found.cases.push(case);
        }
        let is_sound = !self.found.cases.is_empty() && self.found.problems.is_empty();
        is_sound.then_some(self.found)
    }

    /// The sound cases of a file, and everything that is wrong with it.
    fn any_file(mut self, text: &str) -> Family {
        let path = self.path;
        let read = document::read(path, text, &RULES, "the case file", |document, root| {
            self.file(document, root);
        });
        self.found.problems.extend(read.err().into_iter().flatten());
        self.found
    }

    fn file(&mut self, document: &mut Document<'_>, root: &Node<'_>) {
        self.found.about = root.text_of("about");
        let Some(cases) = root.get("cases") else {
            return;
        };
        if matches!(&cases.kind, NodeKind::Object(cases) if cases.is_empty()) {
            let message = "`cases` is empty, so the file tests nothing";
            document.problem(cases.range.start, message, None);
        }
        for field in cases.fields() {
            let name = &*field.name;
            if !CaseId::allows(name) {
                let message = format!("`{name}` is not a valid case name");
                let help = format!("use {}", name_rule());
                document.problem(field.range.start, message, Some(help));
                continue;
            }
            self.check(document, &field.value);
            // One bad case leaves the others.
            if document.is_sound(&field.range) {
                let case = self.case(name, PlainCase::of(&field.value));
                if let Some(case) = case {
                    self.note_misspelt(document, &case, &field.value);
                    self.found.cases.push(case);
                }
            }
        }
    }

    /// Reports what the schema of a case does not say.
    fn check(&mut self, document: &mut Document<'_>, case: &Node<'_>) {
        let tools = case.get("tools").map(Node::items).unwrap_or_default();
        for tool in tools {
            let wrong = tool.text().and_then(|name| self.named_tool(name).err());
            if let Some((message, help)) = wrong {
                document.problem(tool.range.start, message, help);
            }
        }
        if let Some(value) = case.get("now")
            && let Some(now) = value.text()
            && let Err(error) = now.parse::<Moment>()
        {
            document.problem(value.range.start, format!("`now`: {error}"), None);
        }
    }

    /// A case as it is written. None if something is wrong with it.
    fn case(&mut self, name: &str, written: PlainCase) -> Option<Case> {
        let mut tools = written.tools;
        for tool in tools.iter_mut().flatten() {
            if let Value::String(name) = tool {
                *tool = self.named_tool(name).ok()?;
            }
        }
        let continue_final_message = match written.continue_final_message {
            None | Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(CONTENT.to_owned()),
            Some(Value::String(field)) if !field.is_empty() => Some(field),
            Some(_) => return None,
        };
        let now = written.now.map(|now| now.parse::<Moment>().ok());
        let dialects = written.dialects.unwrap_or_else(|| {
            let all = Dialect::ALL.iter();
            all.map(|dialect| dialect.name().to_owned()).collect()
        });
        let dialects = dialects.iter().map(|name| Dialect::named(name));
        let dialects = dialects.collect::<Option<Vec<Dialect>>>()?;
        let lists = [
            Some(&written.messages),
            tools.as_ref(),
            written.documents.as_ref(),
        ];
        let is_sound = lists.into_iter().flatten().flatten().all(Value::is_object);
        (is_sound && !dialects.is_empty()).then_some(())?;
        Some(Case {
            id: CaseId::new(self.family, name),
            path: self.path.to_path_buf(),
            about: written.about,
            messages: written.messages,
            tools,
            documents: written.documents,
            add_generation_prompt: written
                .add_generation_prompt
                // transformers refuses both together: a message that goes on has no new turn after it.
                .unwrap_or(continue_final_message.is_none()),
            continue_final_message,
            variables: written.variables.unwrap_or_default(),
            undefined: Vec::new(),
            now: match now {
                Some(now) => now?,
                None => Moment::default(),
            },
            dialects,
            front: None,
        })
    }

    /// The roles and keys of a case's messages that are nearly known ones, with what is nearly meant. Not
    /// those that its `about`, or that of the family, mentions and so says that they are meant.
    fn misspelt<'c>(&self, case: &'c Case) -> Vec<(Word<'c>, String)> {
        // Nearly all words are known, and to compare letters takes long.
        let mut words: Vec<(Word<'c>, &[&str])> = Vec::new();
        let mut add = |of: &'c Value, known: &'static [&str]| {
            let keys = of.as_object().into_iter().flat_map(Map::keys);
            let keys = keys.filter(|key| !known.contains(&key.as_str()));
            words.extend(keys.map(|text| (Word { kind: "key", text }, known)));
        };
        for message in &case.messages {
            add(message, &KEYS);
            for part in elements(message, CONTENT) {
                add(part, &PART_KEYS);
            }
            for call in elements(message, "tool_calls") {
                add(call, &CALL_KEYS);
                add(&call["function"], &CALL_KEYS);
            }
        }
        let roles = case.messages.iter().filter_map(|one| one["role"].as_str());
        let roles = roles.filter(|role| !ROLES.contains(role));
        words.extend(roles.map(|text| (Word { kind: "role", text }, ROLES.as_slice())));
        let abouts = [&case.about, &self.found.about];
        let is_meant = |word: &Word<'_>| {
            let mut abouts = abouts.into_iter().flatten();
            abouts.any(|about| about.contains(word.text.trim()))
        };
        let unknown = words.into_iter().filter(|(word, _)| !is_meant(word));
        let found = unknown.filter_map(|(word, known)| {
            let near = misspelt(word.text, known.iter().copied())?.to_owned();
            Some((word, near))
        });
        found.collect()
    }

    /// Notes what is misspelt in a case.
    fn note_misspelt(&mut self, document: &Document<'_>, case: &Case, value: &Node<'_>) {
        for (word, near) in self.misspelt(case) {
            let message = format!(
                "the {} `{}`: {} If not, mention it in the `about` of the case",
                word.kind,
                word.text,
                meant(near)
            );
            let place = value.get("messages").and_then(|all| word.place_in(all));
            let place = document.position(place.unwrap_or(value.range.start));
            let notes = &mut self.found.notes;
            let is_known = notes.iter().any(|note| note.message == message);
            if !is_known && notes.len() < MOST_NOTES {
                notes.push(Note::new(self.path, message).at(place));
            }
        }
    }

    /// The tool in the file of a name.
    fn named_tool(&mut self, name: &str) -> Result<Value, Wrong> {
        let unusable = || (format!("tool file `{name}` cannot be used"), None);
        // A name with a slash or with dots would lead out of the folder of tools.
        let is_plain = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if self.unusable.contains(name) {
            return Err(unusable());
        }
        if let Some((file, tool)) = self.tool_files.known.borrow().get(name) {
            self.found.tool_files.insert(file.clone());
            return Ok(tool.clone());
        }
        let file = self
            .tool_files
            .folders
            .iter()
            .map(|folder| (folder, folder.join(format!("{name}.json"))))
            .find(|(_, file)| is_plain && is_there(file));
        let Some((folder, file)) = file else {
            let known = known_tools(&self.tool_files.folders);
            let listed = match known.as_slice() {
                [] => "there are no tool files".to_owned(),
                known => format!("there are {}", known.join(", ")),
            };
            let help = did_you_mean(name, &known).unwrap_or(listed);
            return Err((format!("no tool file is named `{name}`"), Some(help)));
        };
        self.found.tool_files.insert(file.clone());
        let text = Root::new(folder).and_then(|root| root.text(&file));
        let tool = text.and_then(|text| tool_of(&file, &text.unwrap_or_default()));
        let tool = tool.map_err(|problem| {
            self.found.problems.push(problem);
            self.unusable.insert(name.to_owned());
            unusable()
        })?;
        let mut known = self.tool_files.known.borrow_mut();
        known.insert(name.to_owned(), (file, tool.clone()));
        Ok(tool)
    }
}

/// Files in a folder of cases that nobody reads and that were probably meant to be read: JSON with
/// another ending than `.json`, JSON in folders below, and what looks like cases. `others` are all files
/// and folders with cases: what one of them reads is read.
pub(crate) fn unread(folder: &Path, others: &[PathBuf]) -> Vec<Problem> {
    let is_read = |path: &Path| {
        let real = path.canonicalize().ok();
        let mut others = others.iter();
        others.any(|other| real.is_some() && other.canonicalize().ok() == real)
    };
    let mut problems = Vec::new();
    let below = WalkDir::new(folder).min_depth(1).max_depth(MOST_LEVELS);
    let below = below.sort_by_file_name().into_iter().filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        // Tools are next to the cases, or in a folder below.
        let is_of_tools = entry.depth() == 1 && name == TOOLS;
        !name.starts_with('.') && !is_of_tools && !is_read(entry.path())
    });
    // A folder that cannot be read is a problem already.
    for entry in below.flatten().filter(|entry| !entry.file_type().is_dir()) {
        let path = entry.path();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let is_json = ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
        if !is_json && !has_messages(path) || entry.depth() == 1 && ending == "json" {
            continue;
        }
        let help = if entry.depth() == 1 {
            "a case file is named <family>.json"
        } else {
            "case files are in the folder of cases itself: move it there, or name its folder in \
             `own` of rolecall.toml"
        };
        problems.push(Problem::new(path, "nobody reads this file").help(help));
    }
    problems
}

/// Case files beside a suite's `rolecall.toml` that nobody reads.
pub(crate) fn unread_beside(configuration: &Path, others: &[PathBuf]) -> Vec<Problem> {
    let root = configuration.parent().unwrap_or(Path::new(""));
    let others = others.iter().filter_map(|path| path.canonicalize().ok());
    let others: Vec<PathBuf> = others.collect();
    let is_case_file = |path: &Path| {
        let text = read_text_of(path, MOST_CASES).unwrap_or_default();
        let file = serde_json::from_str::<Value>(&text).unwrap_or_default();
        let cases = file.get("cases").and_then(Value::as_object);
        cases.is_some_and(|cases| cases.values().any(|case| case.get("messages").is_some()))
    };
    let entries = std::fs::read_dir(Path::new(".").join(root))
        .into_iter()
        .flatten();
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let unread = names
        .into_iter()
        .map(|name| root.join(name))
        .filter(|path| {
            let is_json = path
                .extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            let mut above = path.canonicalize().into_iter();
            let is_read = above.any(|path| {
                path.ancestors()
                    .take(2)
                    .any(|one| others.iter().any(|other| one == other))
            });
            is_json && path.is_file() && !is_read && is_case_file(path)
        });
    let help = "move it into the folder of cases, or name it in `own` of rolecall.toml";
    unread
        .map(|path| Problem::new(path, "nobody reads this case file").help(help))
        .collect()
}

/// Whether a file of another kind looks like cases. Pages and programs may show some.
fn has_messages(path: &Path) -> bool {
    const OTHERS: [&str; 7] = ["html", "js", "md", "py", "rs", "sh", "ts"];
    let is_other = |ending: &std::ffi::OsStr| OTHERS.iter().any(|other| ending == *other);
    if path.extension().is_some_and(is_other) {
        return false;
    }
    let text = read_text_of(path, MOST_CASES).unwrap_or_default();
    text.contains("messages") && text.contains("role")
}

type Words = LazyLock<Vec<&'static str>>;

/// The roles that templates and applications know.
static ROLES: Words = LazyLock::new(|| {
    "assistant developer document function ipython model observation system tool \
    tool_results user"
        .split(' ')
        .collect()
});

/// The keys of messages that templates and applications know.
static KEYS: Words = LazyLock::new(|| {
    "audio content function_call id images name reasoning reasoning_content \
    refusal role thinking tool_call_id tool_calls tool_name tool_responses"
        .split(' ')
        .collect()
});

/// The keys of calls, and of the function in a call.
static CALL_KEYS: Words =
    LazyLock::new(|| "arguments function id index name type".split(' ').collect());

/// The keys of the parts of a content.
static PART_KEYS: Words = LazyLock::new(|| {
    "audio file image image_url input_audio path text thinking type url video \
    video_url"
        .split(' ')
        .collect()
});

/// The most notes about one file.
const MOST_NOTES: usize = 20;

/// The folder of tools in a folder of cases.
const TOOLS: &str = "tools";

/// The endings of files with JSON in them, as people name them.
const ENDINGS: [&str; 5] = ["json", "json5", "jsonc", "jsonl", "ndjson"];

/// How many levels of folders below a folder of cases are looked through.
const MOST_LEVELS: usize = 8;

/// Reads a tool file: one object, taken verbatim.
pub fn read_tool(path: &Path) -> Result<Value, Problem> {
    tool_of(path, &read_text(path)?)
}

/// The tool of a file with a text.
fn tool_of(path: &Path, text: &str) -> Result<Value, Problem> {
    let tool: Value = json::read(path, text, "")?;
    if tool.is_object() {
        return Ok(tool);
    }
    let at = Position::of(text, text.len() - text.trim_start().len());
    Err(Problem::new(path, "a tool file must be an object").at(at))
}

fn known_tools(folders: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn name_rule() -> String {
    format!(
        "at most {} lower-case letters, digits and single dashes",
        CaseId::MOST_CHARACTERS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Family {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a-family.json");
        std::fs::write(&path, text).unwrap();
        let mut family = read_family(&path, &[]);
        for problem in &mut family.problems {
            problem.path = "f.json".into();
        }
        family
    }

    fn problems(text: &str) -> Vec<String> {
        read(text)
            .problems
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn values_are_kept_exactly_as_written() {
        let text = r#"{"about": "x", "cases": {"a": {"messages": [
            {"zeta": 1.0, "alpha": 1E5, "big": 123456789012345678901234567890, "n": null, "content": " a\r\n "}]}}}"#;
        let family = read(text);
        assert_eq!(family.problems, []);
        assert_eq!(
            family.cases[0].messages[0].to_string(),
            r#"{"zeta":1.0,"alpha":1e+5,"big":123456789012345678901234567890,"n":null,"content":" a\r\n "}"#
        );
        assert!(family.cases[0].add_generation_prompt);
        assert!(family.cases[0].tools.is_none());
    }

    #[test]
    fn a_sound_file_is_read_alike_with_and_without_places() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
        let tools = vec![cases.join("tools")].into();
        let mut count = 0;
        for entry in std::fs::read_dir(cases.join("conversations")).unwrap() {
            let path = entry.unwrap().path();
            let text = read_text(&path).unwrap();
            let sound = reader(&path, &tools).sound_file(&text);
            let sound = sound.expect("nothing is wrong");
            let any = reader(&path, &tools).any_file(&text);
            assert_eq!(format!("{sound:?}"), format!("{any:?}"));
            count += sound.cases.len();
        }
        assert!(count > 800, "{count}");
    }

    fn reader<'r>(path: &'r Path, tool_files: &'r ToolFiles) -> CaseFileReader<'r> {
        CaseFileReader {
            path,
            family: "a-family",
            tool_files,
            unusable: HashSet::new(),
            found: Family::default(),
        }
    }

    #[test]
    fn what_the_schema_refuses_is_not_sound() {
        let of_case = |case: &str| format!(r#"{{"about": "x", "cases": {{"a": {{{case}}}}}}}"#);
        let cases = [
            "",
            r#""messages": null"#,
            r#""messages": [1]"#,
            r#""messages": [], "messages": []"#,
            r#""messages": [], "about": 1"#,
            r#""messages": [], "tools": [1]"#,
            r#""messages": [], "tools": ["none"]"#,
            r#""messages": [], "documents": ["a"]"#,
            r#""messages": [], "continue_final_message": "" "#,
            r#""messages": [], "continue_final_message": 1"#,
            r#""messages": [], "add_generation_prompt": "yes" "#,
            r#""messages": [], "variables": []"#,
            r#""messages": [], "now": "today" "#,
            r#""messages": [], "dialects": []"#,
            r#""messages": [], "dialects": ["python"]"#,
            r#""messages": [], "mesages": []"#,
        ];
        let files = [
            r#"{"cases": {"a": {"messages": []}}}"#,
            r#"{"about": "x", "cases": {}}"#,
            r#"{"about": "x", "cases": {"A": {"messages": []}}}"#,
            r#"{"about": "x", "cases": {"a": {"messages": []}, "a": {"messages": []}}}"#,
            r#"{"about": "x", "more": 1, "cases": {"a": {"messages": []}}}"#,
        ];
        let cases = cases.iter().map(|case| of_case(case));
        for text in cases.chain(files.map(str::to_owned)) {
            let path = Path::new("f.json");
            assert!(
                reader(path, &ToolFiles::default())
                    .sound_file(&text)
                    .is_none(),
                "{text}"
            );
            assert_ne!(
                reader(path, &ToolFiles::default()).any_file(&text).problems,
                [],
                "{text}"
            );
        }
    }

    #[test]
    fn a_message_is_continued_instead_of_opening_another() {
        let family = read(
            r#"{"about": "x", "cases": {
            "yes": {"messages": [], "continue_final_message": true},
            "field": {"messages": [], "continue_final_message": "thinking"},
            "no": {"messages": [], "continue_final_message": false},
            "both": {"messages": [], "continue_final_message": true, "add_generation_prompt": true}}}"#,
        );
        assert_eq!(family.problems, []);
        let asked: Vec<_> = family
            .cases
            .iter()
            .map(|case| {
                (
                    case.continue_final_message.as_deref(),
                    case.add_generation_prompt,
                )
            })
            .collect();
        let expected = [
            (Some("content"), false),
            (Some("thinking"), false),
            (None, true),
            (Some("content"), true),
        ];
        assert_eq!(asked, expected);
    }

    #[test]
    fn one_bad_case_leaves_the_others() {
        let family = read(
            r#"{"about": "x", "cases": {"good": {"messages": []}, "bad": {"messages": 3}, "fine": {"messages": []}}}"#,
        );
        let names: Vec<_> = family.cases.iter().map(|case| case.id.name()).collect();
        assert_eq!(names, ["good", "fine"]);
        assert_eq!(family.problems.len(), 1);
    }

    #[test]
    fn every_problem_of_a_file_is_reported_with_its_place() {
        let text = r#"{
  "about": "x",
  "cases": {
    "Upper": {"messages": []},
    "typo": {"mesages": []},
    "twice": {"messages": []},
    "twice": {"messages": []},
    "types": {"messages": ["hi"], "add_generation_prompt": "yes", "dialects": ["python"]},
    "clock": {"messages": [], "now": "today"},
    "tool": {"messages": [], "tools": ["nope", 3]},
    "goes-on": {"messages": [], "continue_final_message": 3}
  }
}"#;
        let problems = problems(text);
        let expected = [
            "f.json:4:5: `Upper` is not a valid case name",
            "f.json:5:14: unknown key `mesages` in `cases.typo`\n  did you mean `messages`?",
            "f.json:7:5: `twice` occurs twice in `cases`, first at 6:5",
            "f.json:8:28: `cases.types.messages[0]` must be an object, not a string",
            "f.json:8:60: `cases.types.add_generation_prompt` must be true or false, not a string",
            "f.json:8:80: `cases.types.dialects[0]` must be `jinja` or `go`, not `python`",
            "f.json:9:38: `now`: `today` is not a date and time such as 2026-01-02T03:04:05Z",
            "f.json:10:40: no tool file is named `nope`",
            "f.json:11:59: `cases.goes-on.continue_final_message` must be true or false, or a string, not a number",
            "f.json:10:48: `cases.tool.tools[1]` must be a string or an object, not a number",
        ];
        for expected in expected {
            assert!(
                problems.iter().any(|problem| problem.starts_with(expected)),
                "missing: {expected}\nfound:\n{}",
                problems.join("\n")
            );
        }
    }

    #[test]
    fn what_nobody_reads_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        };
        for name in [
            "good.json",
            "README.md",
            "tools/mine.json",
            ".hidden/a.json",
            "read/a.json",
            "LOUD.JSON",
            "b.jsonc",
            "c.jsonl",
            "deep/er/d.json",
            "deep/notes.txt",
        ] {
            write(name);
        }
        let others = [folder.path().to_path_buf(), folder.path().join("read")];
        let unread = unread(folder.path(), &others[..1]);
        assert_eq!(unread.len(), 5, "{unread:#?}");
        let unread: Vec<String> = super::unread(folder.path(), &others)
            .iter()
            .map(|problem| {
                let below = problem.path.strip_prefix(folder.path()).unwrap();
                below.display().to_string().replace('\\', "/")
            })
            .collect();
        assert_eq!(
            unread,
            ["LOUD.JSON", "b.jsonc", "c.jsonl", "deep/er/d.json"]
        );
    }

    #[test]
    fn a_file_without_a_case_is_a_problem() {
        let problems = problems(r#"{"about": "x", "cases": {}}"#);
        assert_eq!(
            problems,
            ["f.json:1:25: `cases` is empty, so the file tests nothing"]
        );
    }

    #[test]
    fn broken_json_has_a_place() {
        assert_eq!(problems(""), ["f.json: the file is empty"]);
        assert_eq!(
            problems("{\n  \"about\": \"x\",\n}"),
            [
                "f.json:3:1: not JSON: key must be a string\n  delete the comma before it: JSON has none after the last entry"
            ]
        );
        assert!(problems("\u{FEFF}{}")[0].contains("byte order mark"));
        assert!(problems(r#"{"about": "\ud800"}"#)[0].contains("not JSON"));
        assert!(problems("// c\n{}")[0].contains("not JSON"));
    }

    /// Names become files, so no name may lead elsewhere, on any system.
    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "x".repeat(300);
        for name in [
            "../../x",
            "/etc/passwd",
            "a/b",
            "a\\\\b",
            "",
            ".",
            "..",
            "A",
            "a b",
            "e\\u0301",
            "\\u00e9",
            "\\u0000",
            "a\\n",
            "\\u202ea",
            &long,
        ] {
            let found = problems(&format!(
                r#"{{"about": "x", "cases": {{"{name}": {{"messages": []}}}}}}"#
            ));
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert!(found[0].contains("f.json:1:26: `"), "{}", found[0]);
            assert!(
                found[0].contains("is not a valid case name\n  use at most 64"),
                "{}",
                found[0]
            );
        }
        for name in [
            "../../etc/passwd",
            "/etc/passwd",
            "",
            ".",
            "a\\\\b",
            "\\u0000",
        ] {
            let found = problems(&format!(
                r#"{{"about": "x", "cases": {{"a": {{"messages": [], "tools": ["{name}"]}}}}}}"#
            ));
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert!(found[0].contains("no tool file is named"), "{}", found[0]);
        }
    }
}
