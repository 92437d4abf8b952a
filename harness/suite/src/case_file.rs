//! Case files: one family of cases each. Every problem is reported with its place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rolecall_core::{CONTENT, Case, CaseId, Dialect};
use serde_json::{Map, Value};
use walkdir::WalkDir;

use rolecall_core::document::{self, Document};
use rolecall_core::file::{MOST_CASES, is_there, read_text, read_text_of};
use rolecall_core::json::{self, Node, NodeKind};
use rolecall_core::naming::is_portable;
use rolecall_core::problem::{Position, Problem, did_you_mean};
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
    let read = document::read(path, text, &RULES, "the case file", |document, root| {
        reader.file(document, root);
    });
    let mut found = reader.found;
    found.problems.extend(read.err().into_iter().flatten());
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

static RULES: LazyLock<Value> = LazyLock::new(|| document::schema(SCHEMA));

struct CaseFileReader<'r> {
    path: &'r Path,
    family: &'r str,
    tool_folders: &'r [PathBuf],
    /// The tool files that were read, by name.
    tools: HashMap<String, Option<Value>>,
    found: Family,
}

impl CaseFileReader<'_> {
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
            let case = self.case(document, name, &field.value);
            // One bad case leaves the others.
            if document.is_sound(&field.range) {
                self.found.cases.push(case);
            }
        }
    }

    /// A case, of which the schema's problems are reported already.
    fn case(&mut self, document: &mut Document<'_>, name: &str, value: &Node<'_>) -> Case {
        let list = |key: &str| Some(value.get(key)?.items().iter().map(Node::value).collect());
        let tools = value.get("tools").map(|tools| {
            let tools = tools.items().iter();
            let tools = tools.filter_map(|tool| match tool.text() {
                Some(name) => self.named_tool(document, tool.range.start, name),
                None => Some(tool.value()),
            });
            tools.collect()
        });
        let continued = value.get("continue_final_message");
        let continue_final_message = continued.and_then(|value| match &value.kind {
            NodeKind::Boolean(true) => Some(CONTENT.to_owned()),
            NodeKind::Text(field) => Some(field.to_string()),
            _ => None,
        });
        let is_opened = value.get("add_generation_prompt").map(Node::value);
        let variables = value.get("variables").map(Node::value);
        let now = value.get("now").and_then(|value| {
            let now = value.text()?.parse();
            let now = now.map_err(|error| {
                document.problem(value.range.start, format!("`now`: {error}"), None);
            });
            now.ok()
        });
        let dialects = value.get("dialects").map(|dialects| {
            let dialects = dialects.items().iter();
            let dialects = dialects.filter_map(|one| Dialect::named(one.text()?));
            dialects.collect()
        });
        Case {
            id: CaseId::new(self.family, name),
            path: self.path.to_path_buf(),
            about: value.text_of("about"),
            messages: list("messages").unwrap_or_default(),
            tools,
            documents: list("documents"),
            add_generation_prompt: is_opened.map_or(continue_final_message.is_none(), |is| {
                is == Value::Bool(true)
            }),
            continue_final_message,
            variables: match variables {
                Some(Value::Object(variables)) => variables,
                _ => Map::new(),
            },
            undefined: Vec::new(),
            now: now.unwrap_or_default(),
            dialects: dialects.unwrap_or_else(|| Dialect::ALL.to_vec()),
            front: None,
        }
    }

    fn named_tool(&mut self, document: &mut Document<'_>, at: usize, name: &str) -> Option<Value> {
        let is_plain = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if let Some(known) = self.tools.get(name).filter(|_| is_plain) {
            if known.is_none() {
                document.problem(at, format!("tool file `{name}` cannot be used"), None);
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
            document.problem(at, format!("no tool file is named `{name}`"), Some(help));
            return None;
        };
        self.found.tool_files.push(file.clone());
        let text = Root::new(folder).and_then(|root| root.text(&file));
        let tool = match text.and_then(|text| tool_of(&file, &text.unwrap_or_default())) {
            Ok(tool) => Some(tool),
            Err(problem) => {
                // A tool file that several cases use is reported once.
                self.found.problems.push(problem);
                document.problem(at, format!("tool file `{name}` cannot be used"), None);
                None
            }
        };
        self.tools.insert(name.to_owned(), tool.clone());
        tool
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
pub fn read_tool(path: &Path) -> Result<Value, Problem> {
    tool_of(path, &read_text(path)?)
}

/// The tool of a file with a text.
fn tool_of(path: &Path, text: &str) -> Result<Value, Problem> {
    let tool = json::parse(path, text)?;
    if matches!(tool.kind, NodeKind::Object(_)) {
        return Ok(tool.value());
    }
    let at = Position::of(text, tool.range.start);
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
