//! Files of recorded answers: what models write, and what parsers should make of it.
//!
//! Their form is that of the unified fixtures of Dynamo, in `conformance/fixtures-unified-v2` of
//! `ai-dynamo/frontend-crates` (as of 2026-11): a folder for each family, with its inputs and the
//! expected parts in `inputs_and_golden.yaml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rolecall_answers::meaning::Call;
use rolecall_answers::recorded::{AnswerPart, RecordedAnswer, Start};
use rolecall_core::file::{read_text, write_below};
#[cfg(feature = "yaml")]
use rolecall_core::problem::Position;
use rolecall_core::problem::Problem;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The name of the file in a family's folder.
const FILE: &str = "inputs_and_golden.yaml";

/// The last piece of an answer says only that it ends.
const END: &str = "‹finish›";

/// The recorded answers of a family.
#[derive(Debug)]
pub struct RecordedFamily {
    pub name: String,
    pub path: PathBuf,
    pub answers: Vec<RecordedAnswer>,
    /// How many cases are left out: they are retired, or the model's output is checked against
    /// JSON, which is not the form that a response template reads.
    pub left_out: usize,
}

#[derive(Deserialize)]
struct FamilyFile {
    #[serde(default)]
    input_document: InputDocument,
    cases: BTreeMap<String, CaseEntry>,
}

#[derive(Default, Deserialize)]
struct InputDocument {
    family: Option<String>,
}

#[derive(Deserialize)]
struct CaseEntry {
    lifecycle: Option<String>,
    request: Request,
    golden: Option<Golden>,
}

#[derive(Deserialize)]
struct Request {
    input: String,
    #[serde(default)]
    init: Init,
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    chunks: Vec<Chunk>,
}

#[derive(Default, Deserialize)]
struct Init {
    starting_state: Option<String>,
    tool_output_mode: Option<String>,
}

#[derive(Deserialize)]
struct Chunk {
    delta_text: String,
}

#[derive(Deserialize)]
struct Golden {
    assembled: Option<Vec<GoldenPart>>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum GoldenPart {
    Reasoning {
        text: String,
    },
    Text {
        text: String,
    },
    ToolCall {
        name: String,
        #[serde(default)]
        arguments: Value,
    },
}

/// Reads the families below a folder, or the one in a file.
///
/// # Errors
///
/// There is none, or a file is not in this form.
pub fn read_families(path: &Path) -> Result<Vec<RecordedFamily>, Vec<Problem>> {
    if !path.is_dir() {
        return read_family(path)
            .map(|family| vec![family])
            .map_err(|it| vec![it]);
    }
    let found = walkdir::WalkDir::new(path).max_depth(4).sort_by_file_name();
    let files = found
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path);
    let files: Vec<PathBuf> = files
        .filter(|file| file.file_name().is_some_and(|name| name == FILE))
        .collect();
    if files.is_empty() {
        let problem = Problem::new(path, format!("there is no {FILE} in this folder"));
        return Err(vec![problem.help(
            "name `conformance/fixtures-unified-v2` of a clone of ai-dynamo/frontend-crates, or a file",
        )]);
    }
    let mut problems = Vec::new();
    let mut families = Vec::new();
    for file in files {
        match read_family(&file) {
            Ok(family) => families.push(family),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(families)
    } else {
        Err(problems)
    }
}

/// Writes the answers of a family into a folder. Returns the file, which is JSON, and so YAML.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_family(
    folder: &Path,
    name: &str,
    answers: &[RecordedAnswer],
) -> Result<PathBuf, Problem> {
    let cases = answers
        .iter()
        .map(|answer| (answer.name.clone(), entry(answer)));
    let file = json!({
        "input_document": {"family": name},
        "cases": cases.collect::<Map<_, _>>(),
    });
    let path = folder.join(name).join(FILE);
    write_below(folder, &path, as_yaml(&format!("{file:#}\n")))?;
    Ok(path)
}

/// JSON in which all characters are escaped that YAML does not allow as they are.
fn as_yaml(json: &str) -> String {
    let mut yaml = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '\n' => yaml.push('\n'),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}'..) =>
            {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(yaml, "\\u{unit:04x}");
                }
            }
            c => yaml.push(c),
        }
    }
    yaml
}

/// A case of a file.
fn entry(answer: &RecordedAnswer) -> Value {
    let pieces = answer.pieces.iter().map(String::as_str).chain([END]);
    let chunks = pieces.map(|piece| json!({"delta_text": piece}));
    let parts = answer.parts.iter().map(|part| match part {
        AnswerPart::Reasoning(text) => json!({"kind": "reasoning", "text": text}),
        AnswerPart::Text(text) => json!({"kind": "text", "text": text}),
        AnswerPart::Call(call) => {
            json!({"kind": "tool_call", "name": call.name, "arguments": call.arguments})
        }
    });
    json!({
        "lifecycle": "active",
        "request": {
            "input": answer.text,
            "init": {
                "starting_state": match answer.start {
                    Start::Open => Value::Null,
                    Start::Reasoning => "Reasoning".into(),
                    Start::Text => "Response".into(),
                },
                "tool_output_mode": "Native",
                "named_tool": null,
            },
            "tools": answer.tools,
            "chunks": chunks.collect::<Vec<_>>(),
        },
        "golden": {"assembled": parts.collect::<Vec<_>>()},
    })
}

fn read_family(path: &Path) -> Result<RecordedFamily, Problem> {
    let text = read_text(path)?;
    // JSON keeps every digit of a number. The parser of YAML has no integers beyond 64 bits.
    let file = match serde_json::from_str::<FamilyFile>(&text) {
        Ok(file) => file,
        Err(_) => from_yaml(path, &text)?,
    };
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map(|name| name.to_string_lossy().into_owned());
    let all = file.cases.len();
    let cases = file.cases.into_iter();
    let answers: Vec<RecordedAnswer> = cases
        .filter_map(|(name, case)| answer(name, case))
        .collect();
    Ok(RecordedFamily {
        name: file.input_document.family.or(folder).unwrap_or_default(),
        path: path.to_path_buf(),
        left_out: all - answers.len(),
        answers,
    })
}

#[cfg(not(feature = "yaml"))]
fn from_yaml(path: &Path, _: &str) -> Result<FamilyFile, Problem> {
    let message = "this program was built without the feature `yaml`, and reads only JSON";
    Err(Problem::new(path, message)
        .help("in the repository, `cargo run --package rolecall-cli --` has it"))
}

#[cfg(feature = "yaml")]
fn from_yaml(path: &Path, text: &str) -> Result<FamilyFile, Problem> {
    // Python writes these files, and `y` is a text there.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options::<FamilyFile>(text, options).map_err(|error| {
        let place = error.location().map(|location| {
            let of = |number: u64| usize::try_from(number).unwrap_or(1);
            Position {
                line: of(location.line()),
                column: of(location.column()),
            }
        });
        let problem = Problem::new(
            path,
            format!("no file of recorded answers: {}", first_line(&error)),
        )
        .help("each case has `request.input`, and `golden.assembled` with the expected parts");
        match place {
            Some(place) => problem.at(place),
            None => problem,
        }
    })
}

/// The first line of an error: the others show a part of the file.
#[cfg(feature = "yaml")]
fn first_line(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn answer(name: String, case: CaseEntry) -> Option<RecordedAnswer> {
    let is_native = |mode: &String| mode == "Native";
    let init = case.request.init;
    if case
        .lifecycle
        .is_some_and(|lifecycle| lifecycle != "active")
        || !init.tool_output_mode.as_ref().is_none_or(is_native)
    {
        return None;
    }
    let parts = case.golden?.assembled?.into_iter().map(part).collect();
    let pieces = case
        .request
        .chunks
        .into_iter()
        .map(|chunk| chunk.delta_text);
    let mut pieces: Vec<String> = pieces.filter(|piece| piece != END).collect();
    if pieces.is_empty() {
        pieces.push(case.request.input.clone());
    }
    Some(RecordedAnswer {
        name,
        start: match init.starting_state.as_deref() {
            Some("Reasoning") => Start::Reasoning,
            Some("Response") => Start::Text,
            _ => Start::Open,
        },
        text: case.request.input,
        pieces,
        tools: case.request.tools,
        parts,
    })
}

fn part(part: GoldenPart) -> AnswerPart {
    match part {
        GoldenPart::Reasoning { text } => AnswerPart::Reasoning(text),
        GoldenPart::Text { text } => AnswerPart::Text(text),
        GoldenPart::ToolCall { name, arguments } => AnswerPart::Call(Call {
            name,
            arguments: if arguments.is_null() {
                Value::Object(Map::new())
            } else {
                arguments
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let (folder, outside) = (root.path().join("answers"), root.path().join("outside"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, folder.join("t")).unwrap();
        let refused = write_family(&folder, "t", &[]).unwrap_err();
        assert!(refused.to_string().contains("a link"), "{refused}");
        assert_eq!(std::fs::read_dir(outside).unwrap().count(), 0);
        write_family(&folder, "other", &[]).unwrap();
    }

    const FAMILY: &str = "\
input_document:
  family: small
cases:
  b_call:
    lifecycle: active
    request:
      input: '<c>f

        x</c>'
      init: {starting_state: Reasoning, tool_output_mode: Native, named_tool: null}
      tools:
      - name: f
        parameters: {type: object}
      chunks:
      - delta_text: <c>f
      - delta_text: '

          x</c>'
      - delta_text: ‹finish›
    golden:
      assembled:
      - {kind: reasoning, text: 'yes'}
      - {kind: tool_call, name: f, arguments: {n: 1, x: 2.0, s: '3', l: [true, null]}}
  a_text:
    request: {input: Hi}
    golden: {assembled: [{kind: text, text: Hi}]}
  held_to_json:
    request: {input: '{}', init: {tool_output_mode: GuidedJson}}
    golden: {assembled: []}
  old:
    lifecycle: retired
    request: {input: Hi}
    golden: {assembled: []}
";

    fn family(text: &str) -> Result<RecordedFamily, Problem> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, text).unwrap();
        let found = read_families(folder.path());
        found
            .map(|mut all| all.remove(0))
            .map_err(|mut all| all.remove(0))
    }

    #[test]
    fn a_family_has_its_answers_and_their_parts() {
        let family = family(FAMILY).unwrap();
        assert_eq!((family.name.as_str(), family.left_out), ("small", 2));
        let [text, call] = family.answers.as_slice() else {
            panic!("{:?}", family.answers);
        };
        assert_eq!(
            (text.start, text.pieces.as_slice()),
            (Start::Open, &["Hi".to_owned()][..])
        );
        assert_eq!(
            (call.name.as_str(), call.start),
            ("b_call", Start::Reasoning)
        );
        assert_eq!(
            (call.text.as_str(), call.pieces.concat().as_str()),
            ("<c>f\nx</c>", "<c>f\nx</c>")
        );
        let arguments = r#"{"n":1,"x":2.0,"s":"3","l":[true,null]}"#;
        assert_eq!(call.parts[0], AnswerPart::Reasoning("yes".to_owned()));
        let AnswerPart::Call(read) = &call.parts[1] else {
            panic!("{:?}", call.parts);
        };
        assert_eq!(read.arguments.to_string(), arguments);
    }

    #[test]
    fn what_is_no_such_file_is_reported_with_its_place() {
        let place = |text: &str| {
            let problem = family(text).unwrap_err();
            (
                problem.position.map(|place| place.to_string()),
                problem.message,
            )
        };
        let (at, message) = place("cases:\n  a:\n    request: {output: Hi}\n");
        assert!(
            message.contains("input") && at.is_some_and(|at| at.starts_with(":3:")),
            "{message}"
        );
        let (at, _) = place("cases: [\n");
        assert!(at.is_some());
        let unknown = FAMILY.replace("kind: text", "kind: image");
        assert!(place(&unknown).1.contains("image"), "{:?}", place(&unknown));
    }
}
