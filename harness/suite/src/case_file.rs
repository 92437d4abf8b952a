//! Case files: one family of cases each. Every problem is reported with its place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jsonc_parser::ast;
use rolecall_core::{CONTENT, Case, CaseId, Dialect, Moment};
use serde_json::Value;
use walkdir::WalkDir;

use rolecall_core::file::{MOST_CASES, is_there, read_text, read_text_of};
use rolecall_core::json::{self, JsonDocument};
use rolecall_core::naming::is_portable;
use rolecall_core::problem::{Problem, did_you_mean};
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
    pub tool_files: Vec<PathBuf>,
    /// Everything that is wrong with the file.
    pub problems: Vec<Problem>,
}

/// Reads one case file. Tool names are looked up in `tool_folders`; the first folder that
/// has the file wins.
pub fn read_family(path: &Path, tool_folders: &[PathBuf]) -> Family {
    match read_text_of(path, MOST_CASES) {
        Ok(text) => family_of(path, &text, tool_folders),
        Err(problem) => Family::broken(problem),
    }
}

/// Reads one case file as [`read_family`] does. It must lie in a folder, also by its links.
pub(crate) fn read_family_in(root: &Root, path: &Path, tool_folders: &[PathBuf]) -> Family {
    match text_within(Some(root), path, MOST_CASES) {
        Ok(text) => family_of(path, &text, tool_folders),
        Err(problem) => Family::broken(problem),
    }
}

/// The family of a file with a text.
fn family_of(path: &Path, text: &str, tool_folders: &[PathBuf]) -> Family {
    let family = path.file_stem().unwrap_or_default().to_string_lossy();
    if !CaseId::allows(&family) || !is_portable(&family) {
        return Family::broken(
            Problem::new(path, format!("`{family}` is not a valid family name")).help(format!(
                "a family is named by its file: {}, and no device of Windows",
                name_rule()
            )),
        );
    }
    let mut reader = CaseFileReader {
        path,
        family: &family,
        tool_folders,
        tools: HashMap::new(),
        found: Family::default(),
    };
    let examined = json::examine(path, text, |document, root| reader.file(document, root));
    let mut found = reader.found;
    found.about = examined.value;
    found.problems.extend(examined.problems);
    found
}

impl Family {
    fn broken(problem: Problem) -> Family {
        Family {
            problems: vec![problem],
            ..Family::default()
        }
    }
}

static FILE_KEYS: LazyLock<Vec<String>> = LazyLock::new(|| json::keys(SCHEMA, ""));
static ENTRY_KEYS: LazyLock<Vec<String>> = LazyLock::new(|| json::keys(SCHEMA, "/$defs/CaseEntry"));

struct CaseFileReader<'r> {
    path: &'r Path,
    family: &'r str,
    tool_folders: &'r [PathBuf],
    /// The tool files that were read, by name.
    tools: HashMap<String, Option<Value>>,
    found: Family,
}

impl CaseFileReader<'_> {
    fn file(&mut self, document: &mut JsonDocument<'_>, root: &ast::Value<'_>) -> Option<String> {
        let fields = document.fields(root, "the case file", &FILE_KEYS)?;
        let about = if let Some(value) = fields.get("about") {
            document.string(value, "`about`")
        } else {
            document.problem(root, "the case file has no `about`");
            None
        };
        let Some(cases) = fields.get("cases") else {
            document.problem(root, "the case file has no `cases`");
            return about;
        };
        let entries = document.entries(cases, "`cases`")?;
        if entries.is_empty() {
            document.problem(cases, "`cases` is empty, so the file tests nothing");
        }
        for (name, property) in entries {
            if !CaseId::allows(name) {
                document.problem_with(
                    &property.name,
                    format!("`{name}` is not a valid case name"),
                    Some(format!("use {}", name_rule())),
                );
                continue;
            }
            let before = document.problem_count();
            if let Some(case) = self.case(document, name, &property.value)
                && document.problem_count() == before
            {
                self.found.cases.push(case);
            }
        }
        about
    }

    fn case(
        &mut self,
        document: &mut JsonDocument<'_>,
        name: &str,
        value: &ast::Value<'_>,
    ) -> Option<Case> {
        let what = format!("case `{name}`");
        let fields = document.fields(value, &what, &ENTRY_KEYS)?;
        let about = fields
            .get("about")
            .and_then(|value| document.string(value, "`about`"));
        let messages = if let Some(value) = fields.get("messages") {
            Self::objects(document, value, "`messages`", "a message")
        } else {
            document.problem(value, format!("{what} has no `messages`"));
            None
        };
        let tools = fields
            .get("tools")
            .and_then(|value| self.tools(document, value));
        let documents = fields
            .get("documents")
            .and_then(|value| Self::objects(document, value, "`documents`", "a document"));
        let continue_final_message = fields
            .get("continue_final_message")
            .and_then(|value| continued(document, value));
        let add_generation_prompt = match fields.get("add_generation_prompt") {
            None => continue_final_message.is_none(),
            Some(value) => document
                .boolean(value, "`add_generation_prompt`")
                .unwrap_or(true),
        };
        let variables = fields
            .get("variables")
            .and_then(|value| document.verbatim_object(value, "`variables`"))
            .unwrap_or_default();
        let now = match fields.get("now") {
            None => Moment::default(),
            Some(value) => match document.string(value, "`now`")?.parse() {
                Ok(now) => now,
                Err(error) => {
                    document.problem(value, format!("`now`: {error}"));
                    return None;
                }
            },
        };
        let dialects = match fields.get("dialects") {
            None => Dialect::ALL.to_vec(),
            Some(value) => dialects(document, value)?,
        };
        Some(Case {
            id: CaseId::new(self.family, name),
            path: self.path.to_path_buf(),
            about,
            messages: messages?,
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            variables,
            now,
            dialects,
            front: None,
        })
    }

    fn objects(
        document: &mut JsonDocument<'_>,
        value: &ast::Value<'_>,
        what: &str,
        one: &str,
    ) -> Option<Vec<Value>> {
        let elements = document.array(value, what)?;
        all(elements
            .iter()
            .map(|element| document.verbatim_object(element, one).map(Value::Object)))
    }

    fn tools(
        &mut self,
        document: &mut JsonDocument<'_>,
        value: &ast::Value<'_>,
    ) -> Option<Vec<Value>> {
        let elements = document.array(value, "`tools`")?;
        all(elements.iter().map(|element| match element {
            ast::Value::StringLit(literal) => self.named_tool(document, element, &literal.value),
            ast::Value::Object(_) => document.verbatim(element),
            _ => {
                document.wrong_type(element, "a tool", "an object or the name of a tool file");
                None
            }
        }))
    }

    fn named_tool(
        &mut self,
        document: &mut JsonDocument<'_>,
        at: &ast::Value<'_>,
        name: &str,
    ) -> Option<Value> {
        let is_plain = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if let Some(known) = self.tools.get(name).filter(|_| is_plain) {
            if known.is_none() {
                document.problem(at, format!("tool file `{name}` cannot be used"));
            }
            return known.clone();
        }
        let file = self
            .tool_folders
            .iter()
            .map(|folder| (folder, folder.join(format!("{name}.json"))))
            .find(|(_, file)| is_plain && is_there(file));
        let Some((folder, file)) = file else {
            let known = known_tools(self.tool_folders);
            let listed = match known.as_slice() {
                [] => "there are no tool files".to_owned(),
                known => format!("there are {}", known.join(", ")),
            };
            let help = did_you_mean(name, &known).unwrap_or(listed);
            document.problem_with(at, format!("no tool file is named `{name}`"), Some(help));
            return None;
        };
        self.found.tool_files.push(file.clone());
        let text = Root::new(folder).and_then(|root| root.text(&file));
        let text = text.map_err(|problem| vec![problem]);
        let tool = match text.and_then(|text| tool_of(&file, &text.unwrap_or_default())) {
            Ok(tool) => Some(tool),
            Err(problems) => {
                // A tool file that several cases use is reported once.
                self.found.problems.extend(problems);
                document.problem(at, format!("tool file `{name}` cannot be used"));
                None
            }
        };
        self.tools.insert(name.to_owned(), tool.clone());
        tool
    }
}

/// The field of the last message that the model should continue, if there is one.
fn continued(document: &mut JsonDocument<'_>, value: &ast::Value<'_>) -> Option<String> {
    match value {
        ast::Value::BooleanLit(literal) => literal.value.then(|| CONTENT.to_owned()),
        ast::Value::StringLit(literal) if !literal.value.is_empty() => {
            Some(literal.value.to_string())
        }
        _ => {
            let expected = "true, false or the name of a field";
            document.wrong_type(value, "`continue_final_message`", expected);
            None
        }
    }
}

/// Files in a folder of cases that nobody reads and that were probably meant to be read: JSON with
/// another ending than `.json`, and JSON in folders below. `others` are all files and folders with
/// cases: what one of them reads is read.
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
        if !is_json || entry.depth() == 1 && ending == "json" {
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

/// The folder of tools in a folder of cases.
const TOOLS: &str = "tools";

/// The endings of files with JSON in them, as people name them.
const ENDINGS: [&str; 5] = ["json", "json5", "jsonc", "jsonl", "ndjson"];

/// How many levels of folders below a folder of cases are looked through.
const MOST_LEVELS: usize = 8;

/// Reads a tool file: one object, taken verbatim.
pub fn read_tool(path: &Path) -> Result<Value, Vec<Problem>> {
    let text = read_text(path).map_err(|problem| vec![problem])?;
    tool_of(path, &text)
}

/// The tool of a file with a text.
fn tool_of(path: &Path, text: &str) -> Result<Value, Vec<Problem>> {
    let examined = json::examine(path, text, |document, root| {
        document.verbatim_object(root, "a tool file")
    });
    match examined.value {
        Some(tool) if examined.problems.is_empty() => Ok(Value::Object(tool)),
        _ => Err(examined.problems),
    }
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

fn dialects(document: &mut JsonDocument<'_>, value: &ast::Value<'_>) -> Option<Vec<Dialect>> {
    let elements = document.array(value, "`dialects`")?;
    if elements.is_empty() {
        document.problem(value, "`dialects` is empty: the case would never run");
    }
    all(elements.iter().map(|element| {
        let name = document.string(element, "a dialect")?;
        let dialect = Dialect::named(&name);
        if dialect.is_none() {
            let message = format!("`{name}` is not a dialect; there are `jinja` and `go`");
            document.problem(element, message);
        }
        dialect
    }))
}

/// All elements, or none if one is missing. Unlike `collect`, it evaluates every element,
/// so that all problems are reported.
fn all<T>(elements: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let elements: Vec<Option<T>> = elements.collect();
    elements.into_iter().collect()
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
            "f.json:5:14: unknown key `mesages` in case `typo`\n  did you mean `messages`?",
            "f.json:5:13: case `typo` has no `messages`",
            "f.json:7:5: `twice` occurs twice in `cases`, first at 6:5",
            "f.json:8:28: a message must be an object, not a string",
            "f.json:8:60: `add_generation_prompt` must be true or false, not a string",
            "f.json:8:80: `python` is not a dialect; there are `jinja` and `go`",
            "f.json:9:38: `now`: `today` is not a date and time such as 2026-01-02T03:04:05Z",
            "f.json:10:40: no tool file is named `nope`",
            "f.json:11:59: `continue_final_message` must be true, false or the name of a field, not a number",
            "f.json:10:48: a tool must be an object or the name of a tool file, not a number",
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
            ["f.json:3:1: not JSON: key must be a string"]
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
